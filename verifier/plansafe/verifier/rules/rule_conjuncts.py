"""Splitting a rule into parts, so that findings name objects wherever they can (docs/language.md, "Parts")."""

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
from plansafe.verifier.model.operations import PAST_OPERATORS, negate, push_negation, subformulas


def required_conjuncts(
    formula: Formula, parameters: tuple[Variable, ...], below_always: bool = False
) -> Iterator[tuple[tuple[Variable, ...], Formula]]:
    """The conjuncts of a formula that must hold, each with the parameters of the quantifiers moved out.

    Conjuncts below one ``always`` are parts of their own; an ``always`` below another is not looked into.
    """
    match turned := push_outer_negation(formula):
        case Truth() if turned.value:
            return
        case And():
            for part in turned.parts:
                yield from required_conjuncts(part, parameters, below_always)
        case Quantified() if turned.universal and not _shadows(turned, parameters):
            yield from required_conjuncts(turned.body, (*parameters, *turned.variables), below_always)
        case Temporal() if turned.operator == "always" and not below_always:
            for inner_parameters, body in required_conjuncts(turned.operands[0], parameters, True):
                yield inner_parameters, Temporal("always", (body,))
        case Truth() | Atom() | Equal() | Compare() | Not() | Or() | Quantified() | Temporal():
            yield parameters, turned
        case _:
            assert_never(turned)


def push_outer_negation(formula: Formula) -> Formula:
    """Push one negation inwards where that gives a conjunction, a ``forall`` or nothing."""
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
    names = {"_", *[v.name for v in parameters]}  # ``_`` matches anything and is bound to nothing
    return any([v.name in names for v in formula.variables])


def is_past_only(formula: Formula) -> bool:
    """Whether no temporal operator but past ones occurs."""
    operators = {part.operator for part in subformulas(formula) if isinstance(part, Temporal)}
    return operators <= PAST_OPERATORS


def trajectory_mode(formula: Formula) -> tuple[str, Formula]:
    """The mode of a trajectory formula.

    ``always`` of a past formula has occurrences, anything else is judged as a whole.
    """
    if isinstance(formula, Temporal) and formula.operator == "always" and is_past_only(formula.operands[0]):
        return "always", formula.operands[0]
    return "whole", formula
