"""The operators about whole traces (PDDL3) as automata of two to four states, and their verdicts on prefixes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import Number, TraceOperator

PERMANENTLY_VIOLATED, PRESENTLY_VIOLATED, PRESENTLY_SATISFIED, PERMANENTLY_SATISFIED = range(4)
"""The verdicts on a prefix (RV-LTL). They are numbers, because hot loops compare them: ``and`` is the minimum, ``or``
the maximum, and ``not`` the difference from the last one."""


class FinalState(StrEnum):
    """A state of an operator that no letter changes; a text, which has a fast hash and equals no number."""

    VIOLATED = "violated"
    SATISFIED = "satisfied"


class LetterTime(NamedTuple):
    """The number and time of a letter, and whether the trace is timed.

    ``shared``: an action without duration has just started, so that the letter in which it ends has the same time.
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


UNDECIDED = 0
"""The state of ``sometime-before`` and ``within`` until they are decided."""
BEFORE_BLOCK, IN_BLOCK, AFTER_BLOCK = range(3)
"""The states of ``at-most-once``: where a letter is relative to the block of letters in which the operand holds."""


class BoundComparisons(NamedTuple):
    """How the time of a letter, and the times of later letters, compare with the bounds of an operator.

    The lower bound is the only bound of ``within`` and ``hold-after``. The upper bound is that of ``hold-during``; for
    the other operators the comparisons with it are false.
    """

    at_most_low: bool
    later_at_most_low: bool
    """Whether a later letter may have a time at most the lower bound."""
    before_high: bool
    later_before_high: bool
    """Whether a later letter may have a time before the upper bound."""


BOUND_COMPARISONS = tuple([BoundComparisons(*[bool(bits >> n & 1) for n in range(4)]) for bits in range(16)])
"""The comparisons by their encoding in four bits, the first field in the lowest bit."""
NO_COMPARISONS = BOUND_COMPARISONS[0]
"""The comparisons of an operator that is not compared with bounds."""


class BooleanExpression(NamedTuple):
    """A Boolean expression over leaves and past subformulas, or over components.

    ``number``: of a leaf, a past subformula or a component; of a constant, its value. ``parts``: the operands of the
    other kinds.
    """

    kind: Literal["leaf", "past", "component", "constant", "not", "and", "or"]
    number: int = 0
    parts: tuple[BooleanExpression, ...] = ()


ComponentState = Number | FinalState | None
"""The number of a residual formula, or the state of an operator (see :func:`advance_component`)."""


class Component(NamedTuple):
    """A maximal subformula of a formula over the trace that is run as one automaton.

    It is an LTLf formula, or an operator with the past formulas that it reads (``values``) and its ``bounds``.
    ``start`` is its state before the first letter.
    """

    kind: Literal["ltl"] | TraceOperator
    values: list[BooleanExpression]
    bounds: tuple[Number, ...]
    start: ComponentState


def find_start_state(operator: TraceOperator) -> ComponentState:
    """Return the state of a whole-trace operator before the first letter."""
    match operator:
        case "at-most-once":
            return BEFORE_BLOCK
        case "sometime-before" | "within":
            return UNDECIDED
        case "at-end":
            return False
        case "always-within" | "hold-during" | "hold-after":
            return None
        case _:
            assert_never(operator)


def advance_component(
    component: Component,
    state: ComponentState,
    values: list[bool],
    comparisons: BoundComparisons,
    letter_time: LetterTime,
) -> ComponentState:
    """Return the next state of a whole-trace operator. A final state does not change; the other states mean:

    - ``at-end``, ``hold-during`` and ``hold-after``: the last value (``None``: no value counts yet);
    - ``at-most-once``: ``BEFORE_BLOCK``, ``IN_BLOCK`` or ``AFTER_BLOCK``;
    - ``sometime-before`` and ``within``: ``UNDECIDED``;
    - ``always-within``: the time of the first trigger without an answer (``None``: there is none).
    """
    if state is FinalState.VIOLATED or state is FinalState.SATISFIED:
        return state
    value = values[0]
    match component.kind:
        case "at-end":
            return value
        case "at-most-once":
            if value:
                return FinalState.VIOLATED if state == AFTER_BLOCK else IN_BLOCK
            return BEFORE_BLOCK if state == BEFORE_BLOCK else AFTER_BLOCK
        case "sometime-before":
            if value:
                return FinalState.VIOLATED
            return FinalState.SATISFIED if values[1] else UNDECIDED
        case "within":
            if value and comparisons.at_most_low:
                return FinalState.SATISFIED
            return state if comparisons.later_at_most_low else FinalState.VIOLATED
        case "always-within":
            return _advance_always_within(state, value, values[1], component.bounds[0], letter_time)
        case "hold-during" | "hold-after":
            return _advance_hold(state, value, comparisons, has_end=component.kind == "hold-during")
        case "ltl":
            raise AssertionError("LTLf formulas are progressed")
        case _:
            assert_never(component.kind)


def _advance_hold(
    state: ComponentState, value: bool, comparisons: BoundComparisons, *, has_end: bool
) -> ComponentState:
    """Return the next state of ``hold-during`` (``has_end``) or ``hold-after``.

    The operand must hold at the last letter that is not after the lower bound, because its state lasts until the next
    letter, and at all later letters; in ``hold-during``, only at those before the upper bound.
    """
    if comparisons.at_most_low:
        if comparisons.later_at_most_low:
            return value  # a later letter may still be the last one until the bound
        if not value:
            return FinalState.VIOLATED
        return value if not has_end or comparisons.later_before_high else FinalState.SATISFIED
    if state is False:
        return FinalState.VIOLATED
    if not has_end:
        return value or FinalState.VIOLATED
    if not comparisons.before_high:
        return FinalState.SATISFIED
    if not value:
        return FinalState.VIOLATED
    return True if comparisons.later_before_high else FinalState.SATISFIED


def _advance_always_within(
    state: ComponentState, trigger: bool, answer: bool, bound: Number, letter_time: LetterTime
) -> ComponentState:
    """Return the next state of ``always-within``, whose operands are the ``trigger`` and the ``answer``."""
    trigger_time = state
    if trigger_time is None and trigger:
        trigger_time = letter_time.time
    if trigger_time is None:
        return None
    assert not isinstance(trigger_time, bool | FinalState)
    deadline = trigger_time + bound
    if answer and letter_time.time <= deadline:
        return None
    if letter_time.time > deadline:
        return FinalState.VIOLATED
    return trigger_time if letter_time.later_at_most(deadline) else FinalState.VIOLATED


def find_component_verdict(component: Component, state: ComponentState) -> int:
    """Return the verdict on a prefix for a whole-trace operator that has the given state after it."""
    if state is FinalState.VIOLATED:
        return PERMANENTLY_VIOLATED
    if state is FinalState.SATISFIED:
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
