"""Split the formula of a rule into parts, so that findings name objects wherever possible.

docs/language.md, "Parts", defines them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import (
    PAST_OPERATORS,
    negate,
    push_negation,
    subformulas,
)
from plansafe.verifier.rules.model import RulePart


def find_required_conjuncts(
    formula: Formula, parameters: tuple[Variable, ...], below_always: bool = False
) -> Iterator[tuple[tuple[Variable, ...], Formula]]:
    """Yield the conjuncts of a formula, each with its parameters and the variables of the quantifiers moved out of it.

    Conjuncts below one ``always`` are separate parts; an ``always`` below another is not split.
    """
    match conjunct := push_outer_negation(formula):
        case Truth() if conjunct.value:
            return
        case And():
            for part in conjunct.parts:
                yield from find_required_conjuncts(part, parameters, below_always)
        case Quantified() if conjunct.universal and not _shadows(conjunct, parameters):
            yield from find_required_conjuncts(conjunct.body, (*parameters, *conjunct.variables), below_always)
        case Temporal() if conjunct.operator == "always" and not below_always:
            for inner_parameters, body in find_required_conjuncts(conjunct.operands[0], parameters, True):
                yield inner_parameters, Temporal("always", (body,))
        case Truth() | Atom() | Equal() | Compare() | Not() | Or() | Quantified() | Temporal():
            yield parameters, conjunct
        case _:
            assert_never(conjunct)


def push_outer_negation(formula: Formula) -> Formula:
    """Push one negation inwards where the result is a conjunction, a ``forall`` or a constant."""
    while isinstance(formula, Not):
        match body := formula.body:
            case Not():
                formula = body.body
            case And() | Or() | Quantified() | Truth():
                return push_negation(body, False, lambda part, _: negate(part))
            case Atom() | Equal() | Compare() | Temporal():
                return formula
            case _:
                assert_never(body)
    return formula


def _shadows(formula: Quantified, parameters: tuple[Variable, ...]) -> bool:
    names = {"_", *[v.name for v in parameters]}  # ``_`` matches every object and binds none
    return any([v.name in names for v in formula.variables])


def is_past_only(formula: Formula) -> bool:
    """Whether all temporal operators of a formula are past operators."""
    operators = {part.operator for part in subformulas(formula) if isinstance(part, Temporal)}
    return operators <= PAST_OPERATORS


def make_trajectory_part(rule: int, parameters: tuple[Variable, ...], formula: Formula) -> RulePart:
    """Make a part of a trajectory rule or a constraint, with the rule's number.

    ``always`` with a past formula is checked at every letter, any other formula on the whole trace.
    """
    if isinstance(formula, Temporal) and formula.operator == "always" and is_past_only(formula.operands[0]):
        return RulePart(rule, parameters, "always", formula.operands[0])
    return RulePart(rule, parameters, "whole", formula)
