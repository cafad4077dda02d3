"""Check where temporal operators occur in the formula of a rule."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.context import Context, Place
from plansafe.verifier.model.nodes import Formula, Temporal
from plansafe.verifier.model.operations import PAST_OPERATORS, TRACE_OPERATORS, children

MAX_TEMPORAL_DEPTH = 200


def check_past_operands(context: Context, formula: Formula, at: Place, *, only_past: bool) -> bool:
    """Report a future operator inside a past operator; with ``only_past``, report any future operator.

    Return whether the formula is correct. ``only_past`` is for the kinds of rules that are checked letter by letter.
    """
    stack: list[tuple[Formula, bool, int]] = [(formula, only_past, 0)]
    while stack:
        part, must_be_past, depth = stack.pop()
        if depth > MAX_TEMPORAL_DEPTH:
            message = f"temporal operators nested deeper than {MAX_TEMPORAL_DEPTH}"
            context.error(SC.UNSUPPORTED, message, at, "too deep", help="split the formula into several rules")
            return False
        if isinstance(part, Temporal):
            if must_be_past and part.operator not in PAST_OPERATORS:
                code = SC.MISPLACED_OPERATOR if only_past else SC.FUTURE_IN_PAST
                where = "in this kind of rule" if only_past else "inside a past operator"
                message = f"the future operator `{part.operator}` is not allowed {where}"
                help = "use a `:trajectory` rule" if only_past else None
                context.error(code, message, at, "state and past formulas only", help=help)
                return False
            must_be_past = must_be_past or part.operator in PAST_OPERATORS or part.operator in TRACE_OPERATORS
            depth += 1
        stack += [(operand, must_be_past, depth) for operand in children(part)]
    return True


def check_trace_operators(context: Context, formula: Formula, at: Place) -> bool:
    """Report an operator about the whole trace inside a temporal operator; return whether there is none."""
    stack: list[tuple[Formula, bool]] = [(formula, False)]
    while stack:
        part, is_inside = stack.pop()
        if isinstance(part, Temporal):
            if part.operator in TRACE_OPERATORS and is_inside:
                name = part.operator.replace("at-end", "at end")
                message = f"`{name}` is about the whole trace and is not allowed inside a temporal operator"
                label, help = f"`{name}` is too deep in this formula", "move it to the top of the formula"
                context.error(SC.MISPLACED_OPERATOR, message, at, label, help=help)
                return False
            is_inside = True
        stack += [(operand, is_inside) for operand in children(part)]
    return True
