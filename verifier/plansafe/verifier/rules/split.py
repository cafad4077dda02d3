"""Splitting a rule into parts, so that findings name objects wherever they can (docs/language.md, "Parts")."""

from __future__ import annotations

from collections.abc import Iterator

from plansafe.verifier.compile.normal import negate, subformulas
from plansafe.verifier.model.nodes import And, Formula, Not, Or, Quantified, Temporal, Truth, Variable

PAST_OPERATORS = frozenset(("yesterday", "weak-yesterday", "once", "historically", "since"))


def required(
    formula: Formula, parameters: tuple[Variable, ...], below_always: bool = False
) -> Iterator[tuple[tuple[Variable, ...], Formula]]:
    """The conjuncts of a formula that must hold, each with the parameters of the quantifiers moved out.

    Conjuncts below one ``always`` are parts of their own; an ``always`` below another is not looked into.
    """
    formula = turned_over(formula)
    if isinstance(formula, And):
        for part in formula.parts:
            yield from required(part, parameters, below_always)
    elif isinstance(formula, Quantified) and formula.universal and not _shadows(formula, parameters):
        yield from required(formula.body, (*parameters, *formula.variables), below_always)
    elif isinstance(formula, Temporal) and formula.operator == "always" and not below_always:
        for inner_parameters, body in required(formula.operands[0], parameters, True):
            yield inner_parameters, Temporal("always", (body,))
    elif not (isinstance(formula, Truth) and formula.value):
        yield parameters, formula


def turned_over(formula: Formula) -> Formula:
    """Push one negation inwards where that gives a conjunction, a ``forall`` or nothing."""
    while isinstance(formula, Not):
        body = formula.body
        if isinstance(body, Not):
            formula = body.body
        elif isinstance(body, Or):
            return And(tuple([negate(part) for part in body.parts]))
        elif isinstance(body, And):
            return Or(tuple([negate(part) for part in body.parts]))
        elif isinstance(body, Quantified):
            return Quantified(not body.universal, body.variables, negate(body.body))
        elif isinstance(body, Truth):
            return negate(body)
        else:
            return formula
    return formula


def _shadows(formula: Quantified, parameters: tuple[Variable, ...]) -> bool:
    names = {"_", *[v.name for v in parameters]}  # ``_`` matches anything and is bound to nothing
    return any([v.name in names for v in formula.variables])


def past_only(formula: Formula) -> bool:
    """Whether no temporal operator but past ones occurs."""
    operators = {part.operator for part in subformulas(formula) if isinstance(part, Temporal)}
    return operators <= PAST_OPERATORS


def mode_of(formula: Formula) -> tuple[str, Formula]:
    """The mode of a trajectory formula.

    ``always`` of a past formula has occurrences, anything else is judged as a whole.
    """
    if isinstance(formula, Temporal) and formula.operator == "always" and past_only(formula.operands[0]):
        return "always", formula.operands[0]
    return "whole", formula
