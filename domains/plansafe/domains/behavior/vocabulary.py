"""What the shipped domains of this world declare: types with their kinds, and predicates.

The types of a shipped domain are its table of affordances: a synset below ``openable`` can be opened. They are read
from the file itself, so that there is one place to change.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.grammar.sexpr import Node, read_all
from plansafe.grammar.source import Source

IGIBSON = "igibson"
OMNIGIBSON = "omnigibson"
DOMAINS = (IGIBSON, OMNIGIBSON)


class Vocabulary(NamedTuple):
    """A shipped domain, as importers need it.

    ``kinds`` gives for each declared type all types above it, itself included; ``predicates`` the number of arguments,
    ``actions`` the types of parameters; ``types_at`` is the offset in ``source`` where more types can be written.
    """

    source: Source
    kinds: dict[str, frozenset[str]]
    predicates: dict[str, int]
    constants: frozenset[str]
    actions: dict[str, tuple[str, ...]]
    types_at: int


@cache
def vocabulary(domain: str) -> Vocabulary:
    """The vocabulary of a shipped domain, by name."""
    path = domain_path(domain)
    with open(path, "rb") as file:
        source = Source.from_bytes(path, file.read())
    top = read_all(source)
    assert top is not None, "a shipped domain is well-formed"
    definition = top[0]
    assert isinstance(definition, list)
    sections = {str(section[0]): section for section in definition if isinstance(section, list)}
    predicates = {
        str(atom[0]): sum([isinstance(token, str) and token[0] == "?" for token in atom])
        for atom in sections[":predicates"]
        if isinstance(atom, list)
    }
    constants = frozenset(_typed(sections.get(":constants", [""])))
    actions = {
        str(section[1]): tuple([kinds[0] for kinds in _typed(["", *section[3]]).values()])
        for section in definition
        if isinstance(section, list) and section[0] == ":action" and isinstance(section[3], list)
    }
    opening = source.text.index("(:types") + len("(:types")
    return Vocabulary(source, _closure(_typed(sections[":types"])), predicates, constants, actions, opening)


def _typed(section: list[Node]) -> dict[str, list[str]]:
    """Read a typed list: the names with their types."""
    found: dict[str, list[str]] = {}
    pending: list[str] = []
    position = 1
    while position < len(section):
        token = section[position]
        if token == "-":
            position += 1
            kind = section[position]
            above = [kind] if isinstance(kind, str) else [str(child) for child in kind[1:]]
            for name in pending:
                found.setdefault(name, []).extend(above)
            pending = []
        else:
            pending.append(str(token))
        position += 1
    for name in pending:
        found.setdefault(name, [])
    return found


def _closure(parents: dict[str, list[str]]) -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = {"object": frozenset(["object"])}
    for name in parents:
        above: set[str] = set()
        waiting = [name]
        while waiting:
            at = waiting.pop()
            if at not in above:
                above.add(at)
                waiting.extend(parents.get(at, ()))
        kinds[name] = frozenset(above | {"object"})
    return kinds
