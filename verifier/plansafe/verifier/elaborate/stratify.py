"""Stratification of derived predicates: negation may not pass through recursion (PDDL 2.2, section 3)."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.conditions import Symbols
from plansafe.verifier.elaborate.context import At, Context
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.operations import signed_subformulas


def stratify(
    context: Context, symbols: Symbols, axioms: list[model.Axiom], where: list[At]
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
