"""What parts of rules look at, which decides how a violation can be mended: states, the trace, or numbers of steps."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.model.nodes import And, Atom, Equal, Formula, Not, Operator, Or, Quantified, Temporal, Truth
from plansafe.verifier.model.operations import is_stutter_sensitive, mentions, signed_subformulas, subformulas
from plansafe.verifier.rules.model import Part

_DEADLINES = frozenset(("within", "always-within"))
"""Operators that only lose by further steps."""
STATE, TRACE, DEADLINE, LETTERS = range(4)
"""What a part of a rule looks at: single states, the trace but for repetitions, numbers of steps up to a deadline, or
numbers of steps in any manner."""


def view_of(part: Part, action_predicates: frozenset[int]) -> tuple[int, int]:
    """What a part looks at, and for deadlines how many letters back."""
    operators = [f for g in (part.body, part.guard) if g is not None for f in subformulas(g) if isinstance(f, Temporal)]
    if any([is_stutter_sensitive(f.operator) and f.operator not in _DEADLINES for f in operators]):
        return LETTERS, 0  # any inserted or removed step may change its verdict
    if mentions(part.body, action_predicates):
        polarity = _polarity(part.body, action_predicates, True)
        certain = part.after or (part.mode == "whole" and polarity) or (part.mode == "always" and True in polarity)
        if certain or not all([_steady(f, action_predicates) for f in operators]):
            return LETTERS, 0
    bounds = [f.bounds[0] for f in operators if f.operator in _DEADLINES]
    if bounds:
        return DEADLINE, int(max(bounds)) + 3
    return (TRACE, 0) if operators or part.mode == "whole" else (STATE, 0)


def _polarity(formula: Formula, action_predicates: frozenset[int], positive: bool) -> set[bool]:
    """The signs with which a formula reads the step of the present letter, not looking into temporal operators."""
    return {
        sign
        for part, sign in signed_subformulas(formula, positive)
        if isinstance(part, Atom) and part.predicate in action_predicates
    }


def _signs(operator: Operator) -> tuple[bool, ...]:
    """The sign with which each operand may read a step, so that a letter without such a step changes nothing.

    Empty: no operand may.
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


def _steady(formula: Temporal, action_predicates: frozenset[int]) -> bool:
    """Whether further letters, with steps that the formula does not read, leave its value alone."""
    signs = _signs(formula.operator)
    if not signs:
        return formula.operator == "at-end" or not any(
            [_polarity(f, action_predicates, True) for f in formula.operands]
        )
    if not all(
        [_polarity(f, action_predicates, True) <= {sign} for f, sign in zip(formula.operands, signs, strict=True)]
    ):
        return False
    # Where the second operand (of sometime-before the first) reads a step, a letter more means that the other one is
    # read in a further place: that must not depend on the state.
    if formula.operator in ("until", "since", "release", "sometime-before"):
        other, stepping = formula.operands[:: -1 if formula.operator == "sometime-before" else 1]
        return not _polarity(stepping, action_predicates, True) or all(
            [
                isinstance(f, Truth | Equal | Not | And | Or | Quantified) or _is_step(f, action_predicates)
                for f in subformulas(other)
            ]
        )
    return True


def _is_step(formula: Formula, action_predicates: frozenset[int]) -> bool:
    return isinstance(formula, Atom) and formula.predicate in action_predicates
