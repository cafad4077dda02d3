"""Declared names: objects, predicates and functions."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.context import Place, format_token, is_name, is_variable
from plansafe.verifier.elaborate.symbols import RESERVED, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list, report_missing_space
from plansafe.verifier.model.nodes import Predicate


def declare_objects(symbols: Symbols, entries: list[TypedName]) -> None:
    """Add constants or objects; an object may be declared again in the other section, with the same types."""
    last_entry: TypedName | None = None
    types: tuple[int, ...] = (0,)
    for entry in entries:
        if last_entry is None or entry.types_at is not last_entry.types_at:  # the same type is reported once
            types = symbols.types.resolve(entry.types, entry.types_at)
        last_entry = entry
        number = symbols.object_index.get(entry.name)
        if number is None:
            symbols.object_index[entry.name] = len(symbols.objects)
            symbols.objects.append(entry.name)
            symbols.object_types.append(types)
            symbols.object_at.append(entry.at)
        elif symbols.object_types[number] != types:
            _redeclare_object(symbols, number, entry, types)
        elif symbols.object_at[number].node is entry.at.node:
            symbols.context.report_redeclaration(f"object `{entry.name}`", entry.at, symbols.object_at[number])


def _redeclare_object(symbols: Symbols, number: int, entry: TypedName, types: tuple[int, ...]) -> None:
    """Declare an object again with other types: it has all types, if they have a common supertype."""
    first_types, format_types = symbols.object_types[number], symbols.types.format_types
    message = (
        f"object `{entry.name}` is declared twice, as `{format_types(first_types)}` and as `{format_types(types)}`"
    )
    related = (symbols.object_at[number], "first here")
    all_types = tuple(sorted({*first_types, *types}))
    if related[0].node is entry.at.node and symbols.types.are_related(first_types, types):
        help = f"write `{entry.name} - {format_types(all_types)}`, or rename one of the two"
        read_as = "read as an object of all these types"
        symbols.context.report_dialect("types", message, entry.at, read_as, help=help, related=related, name=entry.name)
        symbols.object_types[number] = all_types
        return
    symbols.context.error(
        SC.DECLARED_TWICE, message, entry.at, "again here", related=related, help="rename one of the two"
    )


def declare_predicates(symbols: Symbols, at: Place) -> None:
    """Add the predicates of a ``:predicates`` section."""
    for child in range(1, len(at.node)):
        _declare(symbols, Place(at.node, child), "predicate", symbols.predicate_index, symbols.predicates)


def declare_functions(symbols: Symbols, at: Place) -> None:
    """Add the numeric fluents of a ``:functions`` section, ``- number`` or untyped."""
    context, nodes = symbols.context, at.node
    child = 1
    while child < len(nodes):
        node, node_at = nodes[child], Place(nodes, child)
        if node == "-number":
            report_missing_space(context, node, node_at)
            child += 1
        elif node == "-":
            result_type = nodes[child + 1] if child + 1 < len(nodes) else None
            if (is_name(result_type) and result_type != "number") or isinstance(result_type, list):
                context.report_unsupported("object fluents", node_at, "only `- number`")
            elif result_type != "number":
                context.report_malformed("a type is missing after `-`", node_at, "only `- number`")
            child += 2
        else:
            _declare(symbols, node_at, "function", symbols.function_index, symbols.functions)
            child += 1


def _declare(symbols: Symbols, at: Place, kind: str, index: dict[str, int], declared: list[Predicate]) -> None:
    """Add a predicate or function; ``kind`` is the word for it."""
    context, node = symbols.context, at.subtree
    if not isinstance(node, list) or not node or not is_name(node[0]):
        context.report_malformed(f"expected a {kind} such as `(name ?x - type)`", at, f"not a {kind}")
        return
    name = format_token(node[0])
    if name in RESERVED and kind == "predicate":
        context.report_malformed(f"`{name}` may not name a predicate", Place(node, 0), "an operator of the language")
        return
    parameters = parse_typed_list(context, node, 1, is_variable, "a variable") if len(node) > 1 else []
    first_places: dict[str, Place] = {}
    for parameter in parameters:
        first = first_places.setdefault(parameter.name, parameter.at)
        if first is not parameter.at:
            message = f"variable `{parameter.name}` is declared twice"
            read_as, help = "read as another argument", "name each argument differently"
            context.report_dialect("repeated", message, parameter.at, read_as, help=help, related=(first, "first here"))
    if name in index:
        first_node = declared[index[name]].node
        context.report_redeclaration(
            f"{kind} `{name}`", at, Place(first_node) if isinstance(first_node, list) else None
        )
        return
    types = tuple([symbols.types.resolve(parameter.types, parameter.types_at) for parameter in parameters])
    index[name] = len(declared)
    declared.append(
        Predicate(name, types, tuple([symbols.types.get_domain(type_number) for type_number in types]), node)
    )
