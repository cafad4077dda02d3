"""Derived predicates: their axioms, and the strata in which these are computed."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.conditions import ConditionReader
from plansafe.verifier.elaborate.context import (
    Context,
    Place,
    did_you_mean,
    token_text,
)
from plansafe.verifier.elaborate.symbols import Scope, Symbols
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.operations import signed_subformulas


def find_derived_predicates(symbols: Symbols, many: list[tuple[str, Place]]) -> frozenset[int]:
    """The predicates that some ``:derived`` rule defines."""
    out = set()
    for kind, at in many:
        if kind == ":derived" and len(at.node) == 3 and isinstance(at.node[1], list) and at.node[1]:
            head = at.node[1][0]
            if isinstance(head, str) and head in symbols.predicate_index:
                out.add(symbols.predicate_index[head])
    return frozenset(out)


def read_axiom(symbols: Symbols, at: Place) -> model.Axiom | None:
    """One ``(:derived (p ?x - t ..) body)``."""
    node, context = at.node, symbols.context
    if len(node) != 3 or not isinstance(node[1], list) or not node[1] or not isinstance(node[1][0], str):
        context.error(SC.STRUCTURE, "expected `(:derived (predicate ?x ..) condition)`", at, "not a derived predicate")
        return None
    head = node[1]
    index = symbols.predicate_index.get(token_text(head[0]))
    if index is None:
        context.error(
            SC.UNKNOWN_PREDICATE,
            f"unknown predicate `{head[0]}`",
            Place(head, 0),
            "not declared",
            help=did_you_mean(token_text(head[0]), symbols.predicate_index),
        )
        return None
    scope = Scope()
    conditions = ConditionReader(symbols, scope)
    declared = symbols.predicates[index]
    parameters = conditions.bind(head, Place(head), 1)
    if len(parameters) != len(declared.types):
        other = (Place(declared.node), "declared here") if isinstance(declared.node, list) else None
        context.error(
            SC.ARITY,
            f"predicate `{declared.name}` takes {len(declared.types)} arguments, not {len(parameters)}",
            Place(head),
            f"{len(parameters)} given",
            other=other,
        )
        return None
    narrowed = []
    untyped = "-" not in head
    for parameter, domain, types in zip(parameters, declared.domains, declared.types, strict=True):
        if untyped:
            scope.visible[parameter.name] = (parameter.slot, types, scope.visible[parameter.name][2])
            parameter = parameter._replace(domain=domain)
        elif not symbols.types.variable_fits(scope.visible[parameter.name][1], types):
            context.type_error(
                f"`{parameter.name}` does not have the declared type `{symbols.types.text(types)}`",
                Place(head),
                "another type",
            )
        narrowed.append(parameter)
    body = conditions.formula(node[2], Place(node, 2))
    return model.Axiom(index, tuple(narrowed), body)


def stratify(
    context: Context, symbols: Symbols, axioms: list[model.Axiom], where: list[Place]
) -> tuple[tuple[model.Axiom, ...], ...]:
    """Group axioms so that each group reads, negatively, only groups before it. Reports recursion through negation.

    Levels are raised until nothing changes: at most as often as there are derived predicates, squared.
    """
    derived = {axiom.predicate for axiom in axioms}
    level = dict.fromkeys(derived, 0)
    reads = [_reads(axiom.body, derived) for axiom in axioms]
    changed = True
    while changed:
        changed = False
        for axiom, read, at in zip(axioms, reads, where, strict=True):
            for predicate, negative in read:
                wanted = level[predicate] + negative
                if level[axiom.predicate] < wanted:
                    if wanted > len(derived):
                        name = symbols.predicates[axiom.predicate].name
                        context.error(
                            SC.NOT_STRATIFIED,
                            f"derived predicate `{name}` depends on its own negation",
                            at,
                            "recursion through `not`",
                        )
                        return ()
                    level[axiom.predicate] = wanted
                    changed = True
    groups: dict[int, list[model.Axiom]] = {}
    for axiom in axioms:
        groups.setdefault(level[axiom.predicate], []).append(axiom)
    return tuple([tuple(groups[key]) for key in sorted(groups)])


def _reads(formula: model.Formula, derived: set[int]) -> set[tuple[int, bool]]:
    return {
        (part.predicate, not positive)
        for part, positive in signed_subformulas(formula)
        if isinstance(part, model.Atom) and part.predicate in derived
    }
