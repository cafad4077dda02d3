"""The operators about whole traces (PDDL3) as automata of two to four states, and their verdicts on prefixes."""

from __future__ import annotations

from typing import Literal, NamedTuple, assert_never

from plansafe.verifier.model.nodes import Number, TraceOperator

PERMANENTLY_VIOLATED, PRESENTLY_VIOLATED, PRESENTLY_SATISFIED, PERMANENTLY_SATISFIED = range(4)
VIOLATED_FOR_GOOD, SATISFIED_FOR_GOOD = "bad", "good"
"""The final states of an operator."""


class LetterTime(NamedTuple):
    """The number and time of a letter, and whether the trace is timed.

    ``shared``: an action without duration has just started, and may end in another letter of the same time.
    """

    letter: int
    time: Number
    timed: bool
    shared: bool = False

    def later_at_most(self, bound: Number) -> bool:
        """Whether a later letter may have a time <= ``bound``."""
        if not self.timed:
            return self.time + 1 <= bound
        return self.time < bound or ((self.letter == 0 or self.shared) and self.time <= bound)

    def later_before(self, bound: Number) -> bool:
        """Whether a later letter may have a time < ``bound``."""
        return self.time + 1 < bound if not self.timed else self.time < bound


class BooleanExpression(NamedTuple):
    """A Boolean expression over leaves and past subformulas, or over components, which it names by their numbers.

    The number of a constant is its value.
    """

    kind: str
    number: int = 0
    parts: tuple[BooleanExpression, ...] = ()


ComponentState = Number | str | None
"""A residual formula, or the state of an operator (see :func:`advance_component`)."""


class Component(NamedTuple):
    """One operator at the top of a formula over the trace, with the past formulas it reads."""

    kind: Literal["ltl"] | TraceOperator
    values: list[BooleanExpression]
    bounds: tuple[Number, ...]
    start: ComponentState


def find_start_state(operator: TraceOperator) -> ComponentState:
    """The state of a whole-trace operator before the first letter."""
    match operator:
        case "at-most-once" | "sometime-before" | "within":
            return 0
        case "at-end":
            return False
        case "always-within" | "hold-during" | "hold-after":
            return None
        case _:
            assert_never(operator)


def advance_component(
    component: Component, state: ComponentState, values: list[bool], flags: int, letter_time: LetterTime
) -> ComponentState:
    """The next state of a whole-trace operator; the two final states do not change.

    ``at-end`` and ``hold-*``: the last value. ``at-most-once``: 0 before, 1 in, 2 after the block. ``sometime-before``
    and ``within``: 0 until decided. ``always-within``: the time of the first unanswered trigger, or ``None``.
    """
    if state is VIOLATED_FOR_GOOD or state is SATISFIED_FOR_GOOD:
        return state
    first = values[0]
    match component.kind:
        case "at-end":
            return first
        case "at-most-once":
            if first:
                return VIOLATED_FOR_GOOD if state == 2 else 1
            return 0 if state == 0 else 2
        case "sometime-before":
            return VIOLATED_FOR_GOOD if first else SATISFIED_FOR_GOOD if values[1] else 0
        case "within":
            return SATISFIED_FOR_GOOD if first and flags & 1 else state if flags & 2 else VIOLATED_FOR_GOOD
        case "always-within":
            return _advance_always_within(state, first, values[1], component.bounds[0], letter_time)
        case "hold-during" | "hold-after":
            return _advance_hold(state, first, flags, for_good=component.kind == "hold-after")
        case "ltl":
            raise AssertionError("LTLf formulas are progressed")
        case _:
            assert_never(component.kind)


def _advance_hold(state: ComponentState, first: bool, flags: int, *, for_good: bool) -> ComponentState:
    at_most, later_at_most, before, later_before = bool(flags & 1), bool(flags & 2), bool(flags & 4), bool(flags & 8)
    if at_most:
        if later_at_most:
            return first
        if not first:
            return VIOLATED_FOR_GOOD
        return first if for_good or later_before else SATISFIED_FOR_GOOD
    if state is False:
        return VIOLATED_FOR_GOOD
    if for_good:
        return first or VIOLATED_FOR_GOOD
    if not before:
        return SATISFIED_FOR_GOOD
    return VIOLATED_FOR_GOOD if not first else True if later_before else SATISFIED_FOR_GOOD


def _advance_always_within(
    state: ComponentState, trigger: bool, answer: bool, bound: Number, letter_time: LetterTime
) -> ComponentState:
    due = state if state is not None else (letter_time.time if trigger else None)
    if due is None:
        return None
    assert not isinstance(due, bool | str)
    deadline = due + bound
    if answer and letter_time.time <= deadline:
        return None
    if letter_time.time > deadline:
        return VIOLATED_FOR_GOOD
    return due if letter_time.later_at_most(deadline) else VIOLATED_FOR_GOOD


def find_component_verdict(component: Component, state: ComponentState) -> int:
    """The prefix verdict of a whole-trace operator in a state."""
    if state is VIOLATED_FOR_GOOD:
        return PERMANENTLY_VIOLATED
    if state is SATISFIED_FOR_GOOD:
        return PERMANENTLY_SATISFIED
    match component.kind:
        case "at-end" | "hold-during" | "hold-after":
            return PRESENTLY_SATISFIED if state else PRESENTLY_VIOLATED
        case "within":
            return PRESENTLY_VIOLATED
        case "always-within":
            return PRESENTLY_SATISFIED if state is None else PRESENTLY_VIOLATED
        case "at-most-once" | "sometime-before":
            return PRESENTLY_SATISFIED
        case "ltl":
            raise AssertionError("the progression decides whether a residual accepts the empty trace")
        case _:
            assert_never(component.kind)
