"""What a specification leaves open, and what it says of the initial state of every world (docs/worlds.md)."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Place, is_variable, token_text
from plansafe.verifier.elaborate.sections import read_fields
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.elaborate.types import TypedName, parse_typed_list
from plansafe.verifier.model.nodes import TRUE, Atom, Formula, OpenPredicate, Variable, WorldInvariant
from plansafe.verifier.rules.expanded_specs import OpenDeclaration

KINDS = (":holds", ":exactly-one", ":at-most-one")
ANY = (0,)


def open_predicate(symbols: Symbols, plain: OpenDeclaration) -> OpenPredicate | None:
    """An element of ``(:open ..)``; ``None`` after a diagnostic."""
    context, types = symbols.context, symbols.types
    errors = context.errors
    scope = Scope()
    allowed: dict[int, set[int]] = {}
    for entry in parse_typed_list(context, plain.typed, 1, is_variable, "a variable"):
        given = ANY if entry.types is None else types.resolve(entry.types, entry.types_at)
        known = scope.visible.get(entry.name)
        slot = scope.bind(entry, given, types.domain(given)).slot if known is None else known.slot
        own = types.domain_sets[types.domain(given)]
        allowed[slot] = allowed[slot] & own if slot in allowed else set(own)
    if context.errors > errors:
        return None
    atom = ConditionReader(symbols, scope).read_formula(Place(plain.atom))
    if context.errors > errors or not isinstance(atom, Atom):
        return None
    if atom.predicate in symbols.derived:
        name = symbols.predicates[atom.predicate].name
        message = f"derived predicate `{name}` cannot be open"
        help = "open the predicates that it is derived from"
        context.error(SC.STRUCTURE, message, Place(plain.atom, 0), "derived, not given", help=help)
        return None
    if not all(allowed.values()):
        allowed = {slot: set() for slot in allowed}  # also variables that a mapping drops
    numbers: dict[int, int] = {}
    domains = []
    for argument, domain in zip(atom.arguments, symbols.predicates[atom.predicate].domains, strict=True):
        numbers.setdefault(argument, len(numbers))
        own = frozenset((argument,)) if argument >= 0 else frozenset(allowed[-1 - argument])
        domains.append(types.subset(tuple([o for o in types.domains[domain] if o in own])))
    return OpenPredicate(atom.predicate, tuple([numbers[a] for a in atom.arguments]), tuple(domains), Place(plain.atom))


def world_invariant(symbols: Symbols, node: list[Node]) -> WorldInvariant | None:
    """``(:invariant name ..)``; ``None`` after a diagnostic."""
    context = symbols.context
    errors = context.errors
    fields = read_fields(context, node, 2, (":parameters", *KINDS), "an invariant")
    given = [kind for kind in KINDS if kind in fields]
    if len(given) != 1 and context.errors == errors:
        text = "expected one condition" if not given else "an invariant has exactly one condition"
        at = fields[given[1]] if given else Place(node, 1)
        message = "an invariant needs one of `:holds`, `:exactly-one` and `:at-most-one`"
        context.error(SC.STRUCTURE, message, at, text)
    scope = Scope()
    conditions = ConditionReader(symbols, scope)
    parameters: tuple[Variable, ...] = ()
    if ":parameters" in fields:
        parameters = tuple(conditions.bind_variables(fields[":parameters"]))
    formula: Formula = TRUE
    atoms: list[Atom] = []
    counted: list[Variable] = []
    for kind in given:
        if kind == ":holds":
            formula = conditions.read_formula(fields[kind])
        else:
            _atoms(conditions, fields[kind], atoms, counted)
    if context.errors > errors:
        return None
    return WorldInvariant(
        token_text(node[1]), parameters, given[0][1:], formula, tuple(atoms), tuple(counted), Place(node)
    )


def _atoms(conditions: ConditionReader, at: Place, atoms: list[Atom], counted: list[Variable]) -> None:
    """The atoms of a counting invariant; variables that are not parameters are bound for each atom alone."""
    context, symbols, scope = conditions.context, conditions.symbols, conditions.scope
    value = at.subtree
    if not isinstance(value, list) or not value:
        context.error(SC.STRUCTURE, "expected facts to count", at, "expected `((predicate ?x ..) ..)`")
        return
    for child, atom in enumerate(value):
        where = Place(value, child)
        if atom == [] and context.errors:
            return  # its mapping is no fact, which has been said
        if not isinstance(atom, list) or not atom:
            help = "put the fact in a list: `((predicate ?x ..))`" if child == 0 and isinstance(atom, str) else None
            context.error(SC.STRUCTURE, "expected a fact to count", where, "expected `(predicate ?x ..)`", help=help)
            return
        mark, errors = scope.mark(), context.errors
        counted += _bound(symbols, scope, atom)
        formula = conditions.read_formula(where)
        scope.restore(mark)
        if isinstance(formula, Atom) and token_text(atom[0]) in symbols.predicate_index:  # not `(and (p))`
            atoms.append(formula)
        elif context.errors == errors:
            context.error(SC.STRUCTURE, "expected a fact to count", where, "no fact", help="use `:holds`")


def _bound(symbols: Symbols, scope: Scope, atom: list[Node]) -> list[Variable]:
    """Bind the variables of an atom that are not in sight to all objects that the predicate takes in their places."""
    types = symbols.types
    index = symbols.predicate_index.get(token_text(atom[0]))
    declared = symbols.predicates[index] if index is not None else None
    if declared is None or len(declared.types) != len(atom) - 1:
        return []
    places: dict[str, list[int]] = {}
    for place, token in enumerate(atom[1:]):
        if isinstance(token, str) and is_variable(token) and token not in scope.visible:
            places.setdefault(token, []).append(place)
    out = []
    for name, found in places.items():
        domain = declared.domains[found[0]]
        for place in found[1:]:
            both = types.domain_sets[domain] & types.domain_sets[declared.domains[place]]
            domain = types.subset(tuple([o for o in types.domains[domain] if o in both]))
        entry = TypedName(name, Place(atom, found[0] + 1), None, None)
        out.append(scope.bind(entry, declared.types[found[0]], domain))
    return out
