"""The objects that the part of an agent can name in its facts, to separate private facts (:mod:`.factored`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, is_variable
from plansafe.verifier.elaborate.types import parse_typed_list

QUANTIFIERS = ("forall", "exists")
_PARAMETERS = (":parameters", ":vars")
_Types = tuple[str, ...] | None
"""The alternatives of a type; ``None`` for ``object``."""


def find_arguments(
    sections: Iterable[list[Node]], arities: Mapping[str, int], objects_of: Callable[[_Types], set[str]]
) -> dict[str, list[set[str]]]:
    """Return the objects at each argument of some predicates or functions, by the types of variables.

    ``arities``: the names, with the number of their arguments. ``objects_of``: the objects of a type in the part.
    """
    arguments: dict[str, list[set[str]]] = {name: [set() for _ in range(count)] for name, count in arities.items()}
    for section in sections:
        scope = _read_scope(section)
        stack: list[tuple[list[Node], dict[str, _Types]]] = [(section, scope)]
        if section[0] == ":derived" and isinstance(section[1], list) and section[1][0] in arguments:
            for place, types in enumerate(scope.values()):
                arguments[str(section[1][0])][place] |= objects_of(types)
        while stack:
            node, scope = stack.pop()
            head = node[0] if node and isinstance(node[0], str) else ""
            if head in QUANTIFIERS and len(node) > 1 and isinstance(node[1], list):
                scope = scope | _read_variables(node[1], 0)
            if arities.get(head) == len(node) - 1:
                for place, term in enumerate(node[1:]):
                    if isinstance(term, str):
                        is_bound = is_variable(term)
                        arguments[head][place] |= objects_of(scope.get(term)) if is_bound else {term}
            stack += [(child, scope) for child in node if isinstance(child, list)]
    return arguments


def _read_scope(section: list[Node]) -> dict[str, _Types]:
    """Return the variables of an action, process, event or axiom."""
    scope: dict[str, _Types] = {}
    if section[0] == ":derived" and isinstance(section[1], list):
        return _read_variables(section[1], 1)
    for place, key in enumerate(section):
        if place + 1 < len(section) and (key in _PARAMETERS or key == ":agent"):
            value = section[place + 1]
            scope |= _read_variables(value, 0) if isinstance(value, list) else _read_variables(section, place + 1)
    return scope


def _read_variables(node: list[Node], start: int) -> dict[str, _Types]:
    """Return the variables of a typed list; it ends at a keyword."""
    end = next((place for place in range(start, len(node)) if str(node[place]).startswith(":")), len(node))
    entries = parse_typed_list(Context(), node[:end], start, is_variable, "a variable")
    return {entry.name: entry.types for entry in entries}
