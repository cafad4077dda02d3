"""The words of a shipped specification that rules of another specification may use: kinds, facts, events and macros."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_names, spec_path
from plansafe.verifier.elaborate.context import Context, is_variable
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import Vocabulary
from plansafe.verifier.rules.vocabulary import find_declared_words

Parameters = dict[str, tuple[str, ...]]
"""The type alternatives of each variable, in order."""


class LibraryWords(NamedTuple):
    """The words of a specification; macros of the specifications that it extends count as predicates."""

    name: str
    types: frozenset[str]
    predicates: dict[str, Parameters]
    actions: dict[str, Parameters]


def read_library_words(name: str) -> LibraryWords | None:
    """Return the words of a shipped specification; ``None`` if there is none of this name, or it has no vocabulary."""
    names = spec_names()
    if name not in names:
        return None
    pending, visited = [name], {name}
    vocabularies: list[Vocabulary] = []
    predicates: dict[str, Parameters] = {}
    while pending:
        specification = pending.pop()
        for section in _iterate_sections(specification):
            if section[0] == ":vocabulary" and specification == name:
                vocabularies.append(Vocabulary(name, section))
            elif section[0] == ":define" and len(section) > 1 and isinstance(section[1], list):
                predicates[str(section[1][0])] = _read_parameters(section[1])
            elif section[0] == ":extends":
                extended = [word for word in section[1:] if isinstance(word, str) and word in names]
                pending += [word for word in extended if word not in visited]
                visited.update(extended)
    if not vocabularies:
        return None
    types, actions = {"object"}, dict[str, Parameters]()
    for (category, word), declared in find_declared_words(Context(), vocabularies).items():
        parameters = {parameter.name: parameter.types or ("object",) for parameter in declared.parameters}
        if category == "type":
            types.add(word)
        elif category == "action":
            actions[word] = parameters
        elif category == "predicate":
            predicates[word] = parameters
    return LibraryWords(name, frozenset(types), predicates, actions)


def _iterate_sections(specification: str) -> Iterator[list[Node]]:
    for form in parse_nodes(Source.from_path(spec_path(specification))) or []:
        for section in form[2:] if isinstance(form, list) else ():
            if isinstance(section, list) and section:
                yield section


def _read_parameters(declaration: list[Node]) -> Parameters:
    entries = parse_typed_list(Context(), declaration, 1, is_variable, "a variable")
    return {entry.name: entry.types or ("object",) for entry in entries}
