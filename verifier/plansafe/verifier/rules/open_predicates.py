"""Elaborate the open predicates of a specification, and its invariants of every initial state (docs/worlds.md)."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, format_token, is_variable
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list
from plansafe.verifier.model.nodes import TRUE, Atom, Formula, OpenPredicate, Variable, WorldInvariant
from plansafe.verifier.rules.expanded_specs import OpenDeclaration

_INVARIANT_KINDS = (":holds", ":exactly-one", ":at-most-one")
_ANY_TYPE = (0,)


def elaborate_open_predicate(symbols: Symbols, declaration: OpenDeclaration) -> OpenPredicate | None:
    """Elaborate an element of ``(:open ..)``; ``None`` after a diagnostic."""
    context, types = symbols.context, symbols.types
    errors = context.errors
    scope = Scope()
    allowed: dict[int, set[int]] = {}  # slot of a variable -> its objects
    for entry in parse_typed_list(context, declaration.typed, 1, is_variable, "a variable"):
        entry_types = _ANY_TYPE if entry.types is None else types.resolve(entry.types, entry.types_at)
        bound = scope.visible.get(entry.name)
        slot = scope.bind(entry, entry_types, types.get_domain(entry_types)).slot if bound is None else bound.slot
        objects = types.domain_sets[types.get_domain(entry_types)]
        allowed[slot] = allowed[slot] & objects if slot in allowed else set(objects)
    if context.errors > errors:
        return None
    atom = ConditionReader(symbols, scope).read_formula(Place(declaration.atom))
    if context.errors > errors or not isinstance(atom, Atom):
        return None
    if atom.predicate in symbols.derived:
        message = f"derived predicate `{symbols.predicates[atom.predicate].name}` cannot be open"
        help = "open the predicates that it is derived from"
        context.error(SC.STRUCTURE, message, Place(declaration.atom, 0), "derived, not given", help=help)
        return None
    if not all(allowed.values()):
        allowed = {slot: set() for slot in allowed}  # a variable that the mapping drops can have no object
    numbers: dict[int, int] = {}
    domains = []
    for argument, domain in zip(atom.arguments, symbols.predicates[atom.predicate].domains, strict=True):
        numbers.setdefault(argument, len(numbers))
        objects = frozenset((argument,)) if argument >= 0 else frozenset(allowed[-1 - argument])
        domains.append(
            types.get_subset_domain(tuple([object_ for object_ in types.domains[domain] if object_ in objects]))
        )
    arguments = tuple([numbers[argument] for argument in atom.arguments])
    return OpenPredicate(atom.predicate, arguments, tuple(domains), Place(declaration.atom))


def elaborate_invariant(symbols: Symbols, node: list[Node]) -> WorldInvariant | None:
    """Elaborate ``(:invariant name ..)``; ``None`` after a diagnostic."""
    context = symbols.context
    errors = context.errors
    fields = read_fields(context, node, 2, (":parameters", *_INVARIANT_KINDS), "an invariant")
    kinds = [kind for kind in _INVARIANT_KINDS if kind in fields]
    if len(kinds) != 1 and context.errors == errors:
        label = "expected one condition" if not kinds else "an invariant has exactly one condition"
        message = "an invariant needs one of `:holds`, `:exactly-one` and `:at-most-one`"
        context.error(SC.STRUCTURE, message, fields[kinds[1]] if kinds else Place(node, 1), label)
    conditions = ConditionReader(symbols, Scope())
    parameters: tuple[Variable, ...] = ()
    if ":parameters" in fields:
        parameters = tuple(conditions.bind_variables(fields[":parameters"]))
    formula: Formula = TRUE
    atoms: list[Atom] = []
    counted_variables: list[Variable] = []
    for kind in kinds:
        if kind == ":holds":
            formula = conditions.read_formula(fields[kind])
        else:
            _read_counted_atoms(conditions, fields[kind], atoms, counted_variables)
    if context.errors > errors:
        return None
    return WorldInvariant(
        format_token(node[1]), parameters, kinds[0][1:], formula, tuple(atoms), tuple(counted_variables), Place(node)
    )


def _read_counted_atoms(
    conditions: ConditionReader, at: Place, atoms: list[Atom], counted_variables: list[Variable]
) -> None:
    """Add the atoms of a counting invariant; variables that are not parameters are bound in each atom separately."""
    context, symbols, scope = conditions.context, conditions.symbols, conditions.scope
    nodes = at.subtree
    if not isinstance(nodes, list) or not nodes:
        context.error(SC.STRUCTURE, "expected facts to count", at, "expected `((predicate ?x ..) ..)`")
        return
    for child, node in enumerate(nodes):
        place = Place(nodes, child)
        if node == [] and context.errors:
            return  # the mapping replaces it by a formula that is not a fact, which is reported
        if not isinstance(node, list) or not node:
            help = "put the fact in a list: `((predicate ?x ..))`" if child == 0 and isinstance(node, str) else None
            context.error(SC.STRUCTURE, "expected a fact to count", place, "expected `(predicate ?x ..)`", help=help)
            return
        mark, errors = scope.mark(), context.errors
        counted_variables += _bind_free_variables(symbols, scope, node)
        formula = conditions.read_formula(place)
        scope.restore(mark)
        if isinstance(formula, Atom) and format_token(node[0]) in symbols.predicate_index:  # not `(and (p))`
            atoms.append(formula)
        elif context.errors == errors:
            context.error(SC.STRUCTURE, "expected a fact to count", place, "no fact", help="use `:holds`")


def _bind_free_variables(symbols: Symbols, scope: Scope, atom: list[Node]) -> list[Variable]:
    """Bind the free variables of an atom to all objects that the predicate allows as these arguments."""
    types = symbols.types
    index = symbols.predicate_index.get(format_token(atom[0]))
    declared = symbols.predicates[index] if index is not None else None
    if declared is None or len(declared.types) != len(atom) - 1:
        return []
    positions: dict[str, list[int]] = {}
    for position, token in enumerate(atom[1:]):
        if isinstance(token, str) and is_variable(token) and token not in scope.visible:
            positions.setdefault(token, []).append(position)
    variables = []
    for name, (first, *repeated) in positions.items():
        domain = declared.domains[first]
        for position in repeated:
            objects = types.domain_sets[domain] & types.domain_sets[declared.domains[position]]
            domain = types.get_subset_domain(
                tuple([object_ for object_ in types.domains[domain] if object_ in objects])
            )
        variables.append(scope.bind(TypedName(name, Place(atom, first + 1), None, None), declared.types[first], domain))
    return variables
