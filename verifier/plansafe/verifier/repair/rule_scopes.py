"""What the parts of rules read: single states, a trace, a deadline or a number of steps."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, assert_never

from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Operator,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import find_signed_subformulas, is_stutter_sensitive, mentions, subformulas
from plansafe.verifier.rules.model import RulePart

_DEADLINE_OPERATORS = frozenset({"within", "always-within"})
"""Operators that further steps can only make false."""
_LETTERS_BESIDES_BOUND = 3
"""The letters of a missed deadline besides its bound, at most: those before, at and after the bounded letters."""


class ScopeKind(IntEnum):
    """What a part of a rule reads, which decides which edits can repair a violation; the most specific kind first."""

    STATE = 0
    """Single states."""
    TRACE = 1
    """The trace without repetitions of a state."""
    DEADLINE = 2
    """The number of steps up to a deadline."""
    STEP_COUNT = 3
    """Numbers of steps in another way, or certain steps of the trace."""


class RuleScope(NamedTuple):
    """What a part of a rule reads; for deadlines, the greatest number of ``letters`` up to a missed one."""

    kind: ScopeKind
    letters: int = 0


def find_rule_scope(part: RulePart, action_predicates: frozenset[int]) -> RuleScope:
    """Find what a part of a rule reads."""
    formulas = [part.body] if part.guard is None else [part.body, part.guard]
    temporal = [f for formula in formulas for f in subformulas(formula) if isinstance(f, Temporal)]
    if any([is_stutter_sensitive(f.operator) and f.operator not in _DEADLINE_OPERATORS for f in temporal]):
        return RuleScope(ScopeKind.STEP_COUNT)  # any inserted or removed step may change its verdict
    if mentions(part.body, action_predicates):
        signs = _find_step_signs(part.body, action_predicates)
        counts_steps = part.after or (part.mode == "whole" and signs) or (part.mode == "always" and True in signs)
        if counts_steps or not all([_ignores_other_steps(f, action_predicates) for f in temporal]):
            return RuleScope(ScopeKind.STEP_COUNT)
    bounds = [f.bounds[0] for f in temporal if f.operator in _DEADLINE_OPERATORS]
    if bounds:
        return RuleScope(ScopeKind.DEADLINE, int(max(bounds)) + _LETTERS_BESIDES_BOUND)
    return RuleScope(ScopeKind.TRACE if temporal or part.mode == "whole" else ScopeKind.STATE)


def _find_step_signs(formula: Formula, action_predicates: frozenset[int]) -> set[bool]:
    """The signs with which a formula reads the step of the present letter, outside temporal operators."""
    return {
        sign
        for part, sign in find_signed_subformulas(formula, True)
        if isinstance(part, Atom) and part.predicate in action_predicates
    }


def _find_allowed_signs(operator: Operator) -> tuple[bool, ...]:
    """For each operand, whether it may mention a step positively (``True``) or negatively (``False``).

    With these signs, a letter without such a step changes nothing: ``always`` may mention it only negatively, as in
    ``(always (not (action-go ?r)))``. Empty: no operand may mention a step.
    """
    match operator:
        case "always" | "historically":
            return (False,)
        case "sometime" | "once" | "within":
            return (True,)
        case "until" | "since":
            return False, True
        case "release":
            return True, False
        case "sometime-before" | "sometime-after" | "always-within":
            return True, True
        case "at-end" | "at-most-once" | "next" | "weak-next" | "yesterday" | "weak-yesterday":
            return ()
        case "hold-during" | "hold-after":
            return ()
        case _:
            assert_never(operator)


def _ignores_other_steps(formula: Temporal, action_predicates: frozenset[int]) -> bool:
    """Whether additional letters, with steps that the formula does not read, do not change its value."""
    signs = _find_allowed_signs(formula.operator)
    signs_by_operand = [_find_step_signs(operand, action_predicates) for operand in formula.operands]
    if not signs:
        return formula.operator == "at-end" or not any(signs_by_operand)
    if not all([read_signs <= {sign} for read_signs, sign in zip(signs_by_operand, signs, strict=True)]):
        return False
    # If the second operand (of sometime-before the first) mentions a step, the formula reads the other operand at each
    # additional letter: it must not depend on the state there.
    if formula.operator in ("until", "since", "release", "sometime-before"):
        state_operand, step_operand = (1, 0) if formula.operator == "sometime-before" else (0, 1)
        return not signs_by_operand[step_operand] or all(
            [
                isinstance(part, Truth | Equal | Not | And | Or | Quantified)
                or (isinstance(part, Atom) and part.predicate in action_predicates)
                for part in subformulas(formula.operands[state_operand])
            ]
        )
    return True
