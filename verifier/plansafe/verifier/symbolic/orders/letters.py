"""Temporal formulas over the letters of all orders at once.

A letter is a time point of the trace. In general there is a letter before each step, whose action is this step, and a
letter at the end. A formula that reads neither actions nor the next or last letter has the same value however often a
state is repeated. For such a formula, two kinds of letters suffice (*merged* letters): S0, and the time points after
the steps that write facts of its leaves.

An operator is encoded by its definition, over the order of the letters (:mod:`.letter_order`). The size is quadratic
for most operators, and cubic for ``since``, ``until`` and similar ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor
from typing import assert_never

from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import (
    TRACE_OPERATORS,
    is_stutter_sensitive,
    is_temporal,
    subformulas,
    trace_operator,
)
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.letter_order import LetterOrder
from plansafe.verifier.symbolic.orders.partial_order import END
from plansafe.verifier.symbolic.orders.template import TimePoint, TooHard


def ignores_repetition(formula: Formula) -> bool:
    """Whether a formula has the same value however often a state is repeated."""
    parts = [part for part in subformulas(formula) if isinstance(part, Temporal)]
    return not any([is_stutter_sensitive(part.operator) for part in parts])


class Letters(LetterOrder):
    """Encodes the values of one formula at its letters.

    ``encode_leaf(formula, time_point)`` returns the literal of a formula without temporal operators. ``writers``: the
    steps that change what these formulas read; ``None`` if letters may not be merged.
    """

    def __init__(
        self,
        timeline: FactTimeline,
        encode_leaf: Callable[[Formula, TimePoint], Literal],
        writers: Sequence[int] | None,
    ) -> None:
        super().__init__(timeline, writers)
        self.encode_leaf = encode_leaf
        self._values: dict[tuple[int, TimePoint], Literal] = {}
        self._formulas: list[Formula] = []

    # -- at the ends of the trace -------------------------------------------------------------------------------------

    def encode_value_at_start(self, formula: Formula) -> Literal:
        """Return the literal of a formula over the whole trace, at letter 0."""
        circuit = self.circuit
        match formula:
            case _ if not is_temporal(formula):
                return self._encode_at_first_letter(formula)
            case Not():
                return self.encode_value_at_start(formula.body) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.encode_value_at_start(part) for part in formula.parts])
            case Temporal() if formula.operator in TRACE_OPERATORS:
                return self._encode_trace_operator(formula)
            case Temporal() if formula.operator in ("always", "sometime"):
                flip = formula.operator == "always"
                body = formula.operands[0]
                cases = [
                    circuit.both(self.encode_existence(k), self.encode_value_at(body, k) ^ flip) for k in self.letters
                ]
                return circuit.disjunction(cases) ^ flip
            case Temporal() if formula.operator in ("until", "release"):
                return self._encode_operator_at(formula, self.timeline.start)
            case Truth() | Atom() | Equal() | Compare() | Quantified() | Temporal():
                return self._encode_at_first_letter(formula)
            case _:
                assert_never(formula)

    def _encode_at_first_letter(self, formula: Formula) -> Literal:
        if self.has_merged_letters:
            return self.encode_value_at(formula, self.timeline.start)
        circuit = self.circuit
        cases = [
            circuit.both(self.encode_is_first(letter), self.encode_value_at(formula, letter)) for letter in self.letters
        ]
        return circuit.disjunction(cases)

    def encode_value_at_end(self, formula: Formula) -> Literal:
        """Return the literal of a past formula at the last letter."""
        if self.timeline.are_all_taken:
            return self.encode_value_at(formula, END)
        circuit = self.circuit
        return circuit.disjunction(
            [circuit.both(self.encode_is_last(k), self.encode_value_at(formula, k)) for k in self.letters]
        )

    def _encode_trace_operator(self, formula: Temporal) -> Literal:
        """Return the literal of an operator that is about the whole trace."""
        operator = trace_operator(formula)
        match operator:
            case "at-end":
                return self.encode_value_at_end(formula.operands[0])
            case "sometime-before":
                return self._encode_sometime_before(*formula.operands)
            case "at-most-once":
                return self._encode_at_most_once(formula.operands[0])
            case "within":
                return self._encode_within(formula.operands[0], formula.bounds[0])
            case "always-within":
                return self._encode_always_within(formula.operands[0], formula.operands[1], formula.bounds[0])
            case "hold-during" | "hold-after":
                end = formula.bounds[1] if operator == "hold-during" else None
                return self._encode_hold_between(formula.operands[0], formula.bounds[0], end)
            case _:
                assert_never(operator)

    def _encode_sometime_before(self, formula: Formula, earlier: Formula) -> Literal:
        """Return the literal that before each letter at which a formula holds, ``earlier`` holds at some letter."""
        circuit = self.circuit
        violating_cases = []
        for letter in self.letters:
            value = circuit.both(self.encode_existence(letter), self.encode_value_at(formula, letter))
            if value != FALSE:
                no_earlier_match = [
                    circuit.both(self.encode_is_earlier(before, letter), self.encode_value_at(earlier, before)) ^ 1
                    for before in self.letters
                    if before != letter
                ]
                violating_cases.append(circuit.conjunction([value, *no_earlier_match]))
                self.timeline.check_limits()
        return circuit.disjunction(violating_cases) ^ 1

    def _encode_at_most_once(self, formula: Formula) -> Literal:
        """Return the literal that a formula is not false at a letter between two letters at which it is true."""
        circuit = self.circuit
        violating_cases = []
        for letter in self.letters:
            value = self.encode_value_at(formula, letter) ^ 1
            if value != FALSE:
                true_before = [
                    circuit.both(self.encode_is_earlier(j, letter), self.encode_value_at(formula, j))
                    for j in self.letters
                ]
                true_after = [
                    circuit.conjunction(
                        [self.encode_is_earlier(letter, j), self.encode_existence(j), self.encode_value_at(formula, j)]
                    )
                    for j in self.letters
                ]
                violating_cases.append(
                    circuit.conjunction([value, circuit.disjunction(true_before), circuit.disjunction(true_after)])
                )
                self.timeline.check_limits()
        return circuit.disjunction(violating_cases) ^ 1

    # -- operators that count: letter i is at time i ------------------------------------------------------------------

    def _encode_within(self, formula: Formula, bound: Number) -> Literal:
        """Return the literal that a formula holds at some letter up to a time."""
        cases = []
        for letter in self.letters:
            value = self.circuit.both(self.encode_existence(letter), self.encode_value_at(formula, letter))
            if value != FALSE:
                cases.append(self.circuit.both(value, self.encode_number_at_most(letter, floor(bound))))
        return self.circuit.disjunction(cases)

    def _encode_hold_between(self, formula: Formula, start: Number, end: Number | None) -> Literal:
        """Return the literal that a formula holds from ``start`` until before ``end`` (``None``: the end of the trace).

        The value at ``start`` is the value at the last letter up to this time.
        """
        circuit = self.circuit
        first = floor(start)
        violating_cases = []
        for k in self.letters:
            value = circuit.both(self.encode_existence(k), self.encode_value_at(formula, k) ^ 1)
            if value == FALSE:
                continue
            is_early = self.encode_number_at_most(k, first)
            is_last_early = circuit.both(
                is_early, circuit.either(self.encode_number_at_most(k, first - 1) ^ 1, self.encode_is_last(k))
            )
            is_later = is_early ^ 1
            if end is not None:
                is_later = circuit.both(is_later, self.encode_number_at_most(k, ceil(end) - 1))
            violating_cases.append(circuit.both(value, circuit.either(is_last_early, is_later)))
        return circuit.disjunction(violating_cases) ^ 1

    def _encode_always_within(self, formula: Formula, answer: Formula, bound: Number) -> Literal:
        """Return the literal that whenever a formula holds, ``answer`` holds at most ``bound`` letters later."""
        circuit = self.circuit
        violating_cases = []
        for letter in self.letters:
            value = circuit.conjunction(
                [
                    self.encode_existence(letter),
                    self.encode_value_at(formula, letter),
                    self.encode_value_at(answer, letter) ^ 1,
                ]
            )
            if value == FALSE:
                continue
            no_answer_in_time = []
            for later in self.letters:
                is_answered = circuit.conjunction(
                    [
                        self.encode_is_earlier(letter, later),
                        self.encode_existence(later),
                        self.encode_value_at(answer, later),
                    ]
                )
                if is_answered != FALSE:
                    letters_between = [
                        circuit.both(self.encode_is_earlier(letter, between), self.encode_is_earlier(between, later))
                        for between in self.letters
                    ]
                    no_answer_in_time.append(
                        circuit.both(is_answered, self.encode_count_at_most(letters_between, floor(bound) - 1)) ^ 1
                    )
            violating_cases.append(circuit.conjunction([value, *no_answer_in_time]))
        return circuit.disjunction(violating_cases) ^ 1

    # -- values -------------------------------------------------------------------------------------------------------

    def encode_value_at(self, formula: Formula, time_point: TimePoint) -> Literal:
        """Return the literal of a past or future formula at a time point that exists."""
        if not is_temporal(formula):
            return self.encode_leaf(formula, time_point)
        key = (id(formula), time_point)
        value = self._values.get(key)
        if value is None:
            self._formulas.append(formula)  # lives as long as its key
            value = self._values[key] = self._encode_temporal_value(formula, time_point)
            self.timeline.check_limits()
        return value

    def _encode_temporal_value(self, formula: Formula, time_point: TimePoint) -> Literal:
        """Return the literal of a formula with temporal operators at a time point."""
        circuit = self.circuit
        match formula:
            case Not():
                return self.encode_value_at(formula.body, time_point) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.encode_value_at(part, time_point) for part in formula.parts])
            case Temporal():
                return self._encode_operator_at(formula, time_point)
            case Truth() | Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _encode_operator_at(self, formula: Temporal, time_point: TimePoint) -> Literal:
        """Return the literal of a past or future operator at a time point. Raises :class:`.TooHard`."""
        first, second = formula.operands[0], formula.operands[-1]
        match formula.operator:
            case "once":
                return self._encode_sometime(first, time_point, past=True, flip=0)
            case "historically":
                return self._encode_sometime(first, time_point, past=True, flip=1) ^ 1
            case "sometime":
                return self._encode_sometime(first, time_point, past=False, flip=0)
            case "always":
                return self._encode_sometime(first, time_point, past=False, flip=1) ^ 1
            case "since":
                return self._encode_until(first, second, time_point, past=True, flip=0)
            case "until":
                return self._encode_until(first, second, time_point, past=False, flip=0)
            case "release":
                return self._encode_until(first, second, time_point, past=False, flip=1) ^ 1
            case "yesterday" | "next":
                return self._encode_at_adjacent_letter(first, time_point, past=formula.operator == "yesterday", flip=0)
            case "weak-yesterday" | "weak-next":
                return (
                    self._encode_at_adjacent_letter(
                        first, time_point, past=formula.operator == "weak-yesterday", flip=1
                    )
                    ^ 1
                )
            case (
                "at-end"
                | "within"
                | "at-most-once"
                | "sometime-before"
                | "always-within"
                | "hold-during"
                | "hold-after"
                | "sometime-after"
            ):
                raise TooHard(f"`{formula.operator}` below another operator")
            case _:
                assert_never(formula.operator)

    def _encode_at_adjacent_letter(self, body: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """Return the literal that a formula is true (false, with ``flip`` 1) at the letter after a time point.

        ``past``: at the letter before it instead.
        """
        circuit = self.circuit
        cases = []
        for k in self.letters:
            if k == time_point:
                continue
            is_adjacent = self.encode_is_next(k, time_point) if past else self.encode_is_next(time_point, k)
            if is_adjacent == FALSE:
                continue
            if past:
                cases.append(circuit.both(is_adjacent, self.encode_value_at(body, k) ^ flip))
            else:
                cases.append(
                    circuit.conjunction([is_adjacent, self.encode_existence(k), self.encode_value_at(body, k) ^ flip])
                )
        return circuit.disjunction(cases)

    def _encode_sometime(self, body: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """Return the literal that a formula is true (false, with ``flip`` 1) at a time point or some later letter.

        ``past``: at the time point or some earlier letter instead.
        """
        circuit = self.circuit
        cases = [self.encode_value_at(body, time_point) ^ flip]
        for letter in self.letters:
            if letter == time_point or TRUE in cases:
                continue
            is_on_side = self.encode_is_on_side(letter, time_point, past)
            if is_on_side != FALSE:
                cases.append(circuit.both(is_on_side, self.encode_value_at(body, letter) ^ flip))
        return circuit.disjunction(cases)

    def _encode_until(self, stay: Formula, goal: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """Return the worlds in which ``stay`` holds until ``goal`` holds, as in ``until``.

        ``past``: in which ``stay`` has held since ``goal`` held, as in ``since``. ``flip`` 1: both formulas must be
        false instead of true.
        """
        circuit = self.circuit
        # If letters are not merged, the start is no letter: it is not known which step is the first.
        is_letter = self.has_merged_letters or time_point != self.timeline.start
        cases = [self.encode_value_at(goal, time_point) ^ flip] if is_letter else []
        for letter in self.letters:
            if letter == time_point or TRUE in cases:
                continue
            is_on_side = self.encode_is_on_side(letter, time_point, past)
            if is_on_side == FALSE:
                continue
            value = circuit.both(is_on_side, self.encode_value_at(goal, letter) ^ flip)
            if value == FALSE:
                continue
            parts = [value, self.encode_value_at(stay, time_point) ^ flip] if is_letter else [value]
            for m in self.letters:
                if m in (letter, time_point):
                    continue
                if past:
                    is_between = circuit.both(
                        self.encode_is_earlier(letter, m), self.encode_is_not_after(m, time_point)
                    )
                else:
                    is_between = circuit.both(
                        self.encode_is_not_after(time_point, m), self.encode_is_earlier(m, letter)
                    )
                if is_between != FALSE:
                    parts.append(circuit.both(is_between, self.encode_value_at(stay, m) ^ flip ^ 1) ^ 1)
            cases.append(circuit.conjunction(parts))
            self.timeline.check_limits()
        return circuit.disjunction(cases)
