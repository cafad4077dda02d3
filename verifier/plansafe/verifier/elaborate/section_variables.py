"""The variables of a section and their types, and the objects that arguments of atoms may have, read from its tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise

from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, is_variable
from plansafe.verifier.elaborate.types import parse_typed_list

_QUANTIFIERS = ("forall", "exists")
_PARAMETER_KEYS = (":parameters", ":vars", ":agent")
VariableTypes = dict[str, tuple[str, ...] | None]
"""The type alternatives of each variable; ``None`` for ``object``."""


def find_typed_lists(section: list[Node]) -> Iterator[Place]:
    """Yield the typed lists of quantifiers, ``:vars`` and heads of derived predicates."""
    stack: list[list[Node]] = [section]
    if section[0] == ":derived" and isinstance(section[1], list):
        yield Place([section[1][1:]], 0)
    while stack:
        node = stack.pop()
        for child, part in enumerate(node):
            if isinstance(part, list):
                is_variable_list = child == 1 and node[0] in _QUANTIFIERS
                if is_variable_list or (child and node[child - 1] == ":vars"):
                    yield Place(node, child)
                stack.append(part)


def find_argument_objects(
    sections: Iterable[list[Node]],
    arities: Mapping[str, int],
    find_objects: Callable[[tuple[str, ...] | None], set[str]],
) -> dict[str, list[set[str]]]:
    """Return the objects at each argument of some predicates or functions, by the types of variables.

    ``arities``: the names, with the number of their arguments. ``find_objects``: the objects of a type in the part.
    """
    arguments: dict[str, list[set[str]]] = {name: [set() for _ in range(count)] for name, count in arities.items()}
    for section in sections:
        scope = _read_scope(section)
        stack: list[tuple[list[Node], VariableTypes]] = [(section, scope)]
        if section[0] == ":derived" and isinstance(section[1], list) and section[1][0] in arguments:
            for position, types in enumerate(scope.values()):
                arguments[str(section[1][0])][position] |= find_objects(types)
        while stack:
            node, scope = stack.pop()
            head = node[0] if node and isinstance(node[0], str) else ""
            if head in _QUANTIFIERS and len(node) > 1 and isinstance(node[1], list):
                scope = scope | _read_variables(node[1], 0)
            if arities.get(head) == len(node) - 1:
                for position, term in enumerate(node[1:]):
                    if isinstance(term, str):
                        objects = find_objects(scope.get(term)) if is_variable(term) else {term}
                        arguments[head][position] |= objects
            stack += [(child, scope) for child in node if isinstance(child, list)]
    return arguments


def _read_scope(section: list[Node]) -> VariableTypes:
    """Return the variables of an action, process, event or axiom."""
    scope: VariableTypes = {}
    if section[0] == ":derived" and isinstance(section[1], list):
        return _read_variables(section[1], 1)
    for position, (key, value) in enumerate(pairwise(section)):
        if key in _PARAMETER_KEYS:
            scope |= _read_variables(value, 0) if isinstance(value, list) else _read_variables(section, position + 1)
    return scope


def _read_variables(node: list[Node], start: int) -> VariableTypes:
    """Return the variables of a typed list; it ends at a keyword."""
    end = next((n for n in range(start, len(node)) if str(node[n]).startswith(":")), len(node))
    entries = parse_typed_list(Context(), node[:end], start, is_variable, "a variable")
    return {entry.name: entry.types for entry in entries}
