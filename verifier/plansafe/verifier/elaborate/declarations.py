"""Declared names: objects, predicates and functions."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import (
    Place,
    is_name,
    is_variable,
    token_text,
)
from plansafe.verifier.elaborate.symbols import RESERVED, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list, report_missing_space
from plansafe.verifier.model import nodes as model


def declare_objects(symbols: Symbols, entries: list[TypedName]) -> None:
    """Add constants or objects; a constant may come again with the same type."""
    index = symbols.object_index
    last = entries[0].types_at if entries else None
    types: tuple[int, ...] = (0,)
    for number, entry in enumerate(entries):
        if number == 0 or entry.types_at is not last:
            last, types = entry.types_at, symbols.types.resolve(entry.types, entry.types_at)
        known = index.get(entry.name)
        if known is None:
            symbols.object_index[entry.name] = len(symbols.objects)
            symbols.objects.append(entry.name)
            symbols.object_types.append(types)
            symbols.object_at.append(entry.at)
        elif symbols.object_types[known] != types:
            _other_types(symbols, known, entry, types)
        elif symbols.object_at[known].node is entry.at.node:
            symbols.context.error(
                SC.DECLARED_TWICE,
                f"object `{entry.name}` is declared twice",
                entry.at,
                "again here",
                other=(symbols.object_at[known], "first here"),
            )


def _other_types(symbols: Symbols, known: int, entry: TypedName, types: tuple[int, ...]) -> None:
    """An object that is declared again with other types: it has all of them, if they are kinds of one thing."""
    before, text = symbols.object_types[known], symbols.types.text
    message = f"object `{entry.name}` is declared twice, as `{text(before)}` and as `{text(types)}`"
    other = (symbols.object_at[known], "first here")
    both = tuple(sorted({*before, *types}))
    if other[0].node is entry.at.node and symbols.types.related(before, types):
        help = f"write `{entry.name} - {text(both)}`, or rename one of the two"
        read_as = "read as an object of all these types"
        symbols.context.dialect("types", message, entry.at, read_as, help=help, other=other, name=entry.name)
        symbols.object_types[known] = both
        return
    symbols.context.error(SC.DECLARED_TWICE, message, entry.at, "again here", other=other, help="rename one of the two")


def declare_predicates(symbols: Symbols, at: Place) -> None:
    """Add the predicates of a ``:predicates`` section."""
    for child in range(1, len(at.node)):
        node = at.node[child]
        declared = _signature(
            symbols, node, Place(at.node, child), "predicate", symbols.predicate_index, symbols.predicates
        )
        if declared is not None:
            symbols.predicate_index[declared.name] = len(symbols.predicates)
            symbols.predicates.append(declared)


def declare_functions(symbols: Symbols, at: Place) -> None:
    """Add the numeric fluents of a ``:functions`` section, ``- number`` or untyped."""
    context = symbols.context
    child = 1
    while child < len(at.node):
        node = at.node[child]
        if node == "-number":
            report_missing_space(context, node, Place(at.node, child))
            child += 1
            continue
        if node == "-":
            kind = at.node[child + 1] if child + 1 < len(at.node) else None
            if kind != "number":
                code = SC.UNSUPPORTED if is_name(kind) or isinstance(kind, list) else SC.STRUCTURE
                context.error(
                    code,
                    "object fluents are not supported" if code == SC.UNSUPPORTED else "a type is missing after `-`",
                    Place(at.node, child),
                    "only `- number`",
                )
            child += 2
            continue
        declared = _signature(
            symbols, node, Place(at.node, child), "function", symbols.function_index, symbols.functions
        )
        if declared is not None:
            symbols.function_index[declared.name] = len(symbols.functions)
            symbols.functions.append(declared)
        child += 1


def _signature(
    symbols: Symbols, node: Node, at: Place, what: str, index: dict[str, int], table: list[model.Predicate]
) -> model.Predicate | None:
    context = symbols.context
    if not isinstance(node, list) or not node or not is_name(node[0]):
        context.error(SC.STRUCTURE, f"expected a {what} such as `(name ?x - type)`", at, f"not a {what}")
        return None
    name = token_text(node[0])
    if name in RESERVED and what == "predicate":
        context.error(SC.STRUCTURE, f"`{name}` may not name a predicate", Place(node, 0), "an operator of the language")
        return None
    entries = parse_typed_list(context, node, 1, is_variable, "a variable") if len(node) > 1 else []
    seen: dict[str, Place] = {}
    for entry in entries:
        if entry.name in seen:
            message = f"variable `{entry.name}` is declared twice"
            help = "name each argument differently"
            other = (seen[entry.name], "first here")
            context.dialect("repeated", message, entry.at, "read as another argument", help=help, other=other)
        seen.setdefault(entry.name, entry.at)
    if name in index:
        first = table[index[name]].node
        context.error(
            SC.DECLARED_TWICE,
            f"{what} `{name}` is declared twice",
            at,
            "again here",
            other=(Place(first), "first here") if isinstance(first, list) else None,
        )
        return None
    types = tuple([symbols.types.resolve(entry.types, entry.types_at) for entry in entries])
    return model.Predicate(name, types, tuple([symbols.types.domain(t) for t in types]), node)
