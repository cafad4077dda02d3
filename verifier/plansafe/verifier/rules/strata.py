"""Where temporal operators may stand in a rule (docs/language.md, section 5)."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.verifier.elaborate.context import Context, Place
from plansafe.verifier.model.nodes import Formula, Temporal
from plansafe.verifier.model.operations import PAST_OPERATORS, TRACE_OPERATORS, children

MAX_TEMPORAL_DEPTH = 200


def stratified(context: Context, formula: Formula, at: Place, past: bool) -> bool:
    """No future operator below a past one; in all rules but trajectories none at all."""
    depth_first: list[tuple[Formula, bool, int]] = [(formula, past, 0)]
    while depth_first:
        part, only_past, depth = depth_first.pop()
        if depth > MAX_TEMPORAL_DEPTH:
            context.error(SC.UNSUPPORTED, f"temporal operators nested deeper than {MAX_TEMPORAL_DEPTH}", at, "too deep")
            return False
        match part:
            case Temporal():
                if only_past and part.operator not in PAST_OPERATORS:
                    code = SC.FUTURE_IN_PAST if not past else SC.MISPLACED_OPERATOR
                    where = "inside a past operator" if not past else "in this kind of rule"
                    context.error(
                        code,
                        f"the future operator `{part.operator}` is not allowed {where}",
                        at,
                        "state and past formulas only",
                        help="use a `:trajectory` rule" if past else None,
                    )
                    return False
                below = only_past or part.operator in PAST_OPERATORS or part.operator in TRACE_OPERATORS
                depth_first += [(p, below, depth + 1) for p in part.operands]
            case _:
                depth_first += [(p, only_past, depth) for p in children(part)]
    return True


def trace_operators_on_top(context: Context, formula: Formula, at: Place) -> bool:
    """The operators that look at the whole trace stand at the top."""
    stack: list[tuple[Formula, bool]] = [(formula, True)]
    while stack:
        part, top = stack.pop()
        match part:
            case Temporal():
                if part.operator in TRACE_OPERATORS and not top:
                    name = part.operator.replace("at-end", "at end")
                    context.error(
                        SC.MISPLACED_OPERATOR,
                        f"`{name}` is about the whole trace and is not allowed inside a temporal operator",
                        at,
                        f"`{name}` is too deep in this formula",
                    )
                    return False
                stack += [(p, False) for p in part.operands]
            case _:
                stack += [(p, top) for p in children(part)]
    return True
