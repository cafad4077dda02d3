"""Derived predicates: their axioms, and the strata in which these are computed."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import Context, Place, did_you_mean
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.model.nodes import Atom, Axiom, Formula
from plansafe.verifier.model.operations import find_signed_subformulas


def find_derived_predicates(symbols: Symbols, sections: list[tuple[str, Place]]) -> frozenset[int]:
    """Return the predicates that some ``:derived`` section defines."""
    derived = set()
    for kind, at in sections:
        if kind == ":derived" and len(at.node) == 3 and isinstance(at.node[1], list) and at.node[1]:
            head = at.node[1][0]
            if isinstance(head, str) and head in symbols.predicate_index:
                derived.add(symbols.predicate_index[head])
    return frozenset(derived)


def read_axiom(symbols: Symbols, at: Place) -> Axiom | None:
    """Read ``(:derived (p ?x - t ..) body)``; ``None`` after a diagnostic."""
    node, context, types = at.node, symbols.context, symbols.types
    if len(node) != 3 or not isinstance(node[1], list) or not node[1] or not isinstance(node[1][0], str):
        context.report_malformed("expected `(:derived (predicate ?x ..) condition)`", at, "not a derived predicate")
        return None
    head, name = node[1], node[1][0]
    index = symbols.predicate_index.get(name)
    if index is None:
        message, help = f"unknown predicate `{name}`", did_you_mean(name, symbols.predicate_index)
        context.error(SC.UNKNOWN_PREDICATE, message, Place(head, 0), "not declared", help=help)
        return None
    scope = Scope()
    conditions = ConditionReader(symbols, scope)
    declared = symbols.predicates[index]
    variables = conditions.bind_variables(Place(head), 1)
    if len(variables) != len(declared.types):
        name = f"predicate `{declared.name}`"
        context.report_wrong_arity(name, declared.node, len(declared.types), Place(head), len(variables))
        return None
    parameters = []
    for variable, domain, declared_types in zip(variables, declared.domains, declared.types, strict=True):
        scoped_variable = scope.visible[variable.name]
        if "-" not in head:  # without types, the declared ones apply
            scope.visible[variable.name] = scoped_variable._replace(types=declared_types)
            variable = variable._replace(domain=domain)
        elif not types.variable_fits(scoped_variable.types, declared_types):
            message = f"`{variable.name}` does not have the declared type `{types.format_types(declared_types)}`"
            context.report_type_error(message, Place(head), "another type")
        parameters.append(variable)
    return Axiom(index, tuple(parameters), conditions.read_formula(Place(node, 2)))


def stratify(
    context: Context, symbols: Symbols, axioms: list[Axiom], places: list[Place]
) -> tuple[tuple[Axiom, ...], ...]:
    """Group axioms so that each group negates only predicates of earlier groups (PDDL 2.2, section 3).

    Reports recursion through negation. Levels are raised until nothing changes: at most as often as there are derived
    predicates, squared.
    """
    derived = {axiom.predicate for axiom in axioms}
    level = dict.fromkeys(derived, 0)
    dependencies_of_axioms = [_find_dependencies(axiom.body, derived) for axiom in axioms]
    has_changed = True
    while has_changed:
        has_changed = False
        for axiom, dependencies, at in zip(axioms, dependencies_of_axioms, places, strict=True):
            for predicate, is_negative in dependencies:
                least_level = level[predicate] + is_negative
                if level[axiom.predicate] < least_level:
                    if least_level > len(derived):
                        name = symbols.predicates[axiom.predicate].name
                        message = f"derived predicate `{name}` depends on its own negation"
                        context.error(SC.NOT_STRATIFIED, message, at, "recursion through `not`")
                        return ()
                    level[axiom.predicate] = least_level
                    has_changed = True
    groups: dict[int, list[Axiom]] = {}
    for axiom in axioms:
        groups.setdefault(level[axiom.predicate], []).append(axiom)
    return tuple([tuple(groups[key]) for key in sorted(groups)])


def _find_dependencies(formula: Formula, derived: set[int]) -> set[tuple[int, bool]]:
    """Return the derived predicates that a formula reads, each with whether it is negated."""
    return {
        (part.predicate, not positive)
        for part, positive in find_signed_subformulas(formula)
        if isinstance(part, Atom) and part.predicate in derived
    }
