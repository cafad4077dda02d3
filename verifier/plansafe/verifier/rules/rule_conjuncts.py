"""Split the formula of a rule into parts, so that findings name objects wherever possible (docs/language.md, "Parts").

Also check where temporal operators occur in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.context import Context, Place
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
    TRACE_OPERATORS,
    children,
    negate,
    push_negation,
    subformulas,
)

MAX_TEMPORAL_DEPTH = 200


def required_conjuncts(
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
                yield from required_conjuncts(part, parameters, below_always)
        case Quantified() if conjunct.universal and not _shadows(conjunct, parameters):
            yield from required_conjuncts(conjunct.body, (*parameters, *conjunct.variables), below_always)
        case Temporal() if conjunct.operator == "always" and not below_always:
            for inner_parameters, body in required_conjuncts(conjunct.operands[0], parameters, True):
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


def trajectory_mode(formula: Formula) -> tuple[str, Formula]:
    """Return the mode and body of a part of a trajectory rule.

    ``always`` with a past formula is checked at every letter, any other formula on the whole trace.
    """
    if isinstance(formula, Temporal) and formula.operator == "always" and is_past_only(formula.operands[0]):
        return "always", formula.operands[0]
    return "whole", formula


def check_past_operands(context: Context, formula: Formula, at: Place, past: bool) -> bool:
    """Check that operands of past operators have no future operator; with ``past``, that the formula has none."""
    stack: list[tuple[Formula, bool, int]] = [(formula, past, 0)]
    while stack:
        part, only_past, depth = stack.pop()
        if depth > MAX_TEMPORAL_DEPTH:
            context.error(SC.UNSUPPORTED, f"temporal operators nested deeper than {MAX_TEMPORAL_DEPTH}", at, "too deep")
            return False
        if isinstance(part, Temporal):
            if only_past and part.operator not in PAST_OPERATORS:
                code = SC.MISPLACED_OPERATOR if past else SC.FUTURE_IN_PAST
                where = "in this kind of rule" if past else "inside a past operator"
                message = f"the future operator `{part.operator}` is not allowed {where}"
                help = "use a `:trajectory` rule" if past else None
                context.error(code, message, at, "state and past formulas only", help=help)
                return False
            only_past = only_past or part.operator in PAST_OPERATORS or part.operator in TRACE_OPERATORS
            depth += 1
        stack += [(operand, only_past, depth) for operand in children(part)]
    return True


def check_trace_operators(context: Context, formula: Formula, at: Place) -> bool:
    """Check that operators about the whole trace are not inside a temporal operator."""
    stack: list[tuple[Formula, bool]] = [(formula, False)]
    while stack:
        part, is_inside = stack.pop()
        if isinstance(part, Temporal):
            if part.operator in TRACE_OPERATORS and is_inside:
                name = part.operator.replace("at-end", "at end")
                message = f"`{name}` is about the whole trace and is not allowed inside a temporal operator"
                context.error(SC.MISPLACED_OPERATOR, message, at, f"`{name}` is too deep in this formula")
                return False
            is_inside = True
        stack += [(operand, is_inside) for operand in children(part)]
    return True
