"""Temporal formulas over the letters of all orders at once.

A letter is a time point of the trace. In general there is a letter before each step, whose action is this step, and a
letter at the end. A formula that reads neither actions nor the next or last letter has the same value however often a
state is repeated. For such a formula, two kinds of letters suffice (*merged* letters): S0, and the time points after
the steps that write facts of its leaves.

An operator is encoded by its definition, over the order of the letters. The size is quadratic for most operators, and
cubic for ``since``, ``until`` and similar ones. A letter exists only in the worlds whose trace has it. Then all letters
before it also exist.
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
from plansafe.verifier.symbolic.orders.partial_order import END
from plansafe.verifier.symbolic.orders.template import TimePoint, TooHard


def ignores_repetition(formula: Formula) -> bool:
    """Whether a formula has the same value however often a state is repeated."""
    parts = [part for part in subformulas(formula) if isinstance(part, Temporal)]
    return not any([is_stutter_sensitive(part.operator) for part in parts])


class Letters:
    """The letters of one formula.

    ``encode_leaf(formula, time_point)`` returns the literal of a formula without temporal operators. ``writers`` are
    the steps that change what these formulas read, so that only letters after them are needed (merged letters).
    ``None``: letters may not be merged.
    """

    def __init__(
        self,
        timeline: FactTimeline,
        encode_leaf: Callable[[Formula, TimePoint], Literal],
        writers: Sequence[int] | None,
    ) -> None:
        self.timeline = timeline
        self.circuit = timeline.circuit
        self.encode_leaf = encode_leaf
        self.is_merged = writers is not None
        if writers is not None:
            self.letters: list[TimePoint] = [
                timeline.start,
                *[timeline.find_time_point_after(step) for step in writers],
            ]
        else:
            self.letters = [*range(1, timeline.order.size + 1), END]
        self._values: dict[tuple[int, TimePoint], Literal] = {}
        self._formulas: list[Formula] = []

    # -- the order of letters -----------------------------------------------------------------------------------------

    def exists(self, letter: TimePoint) -> Literal:
        """In which worlds the trace has a letter."""
        timeline = self.timeline
        if letter == END:
            return timeline.is_executable()
        if letter == timeline.start:
            return TRUE
        size = timeline.order.size
        return timeline.is_reached(letter) if letter <= size else timeline.is_taken(letter - size)

    def is_not_after(self, letter: TimePoint, time_point: TimePoint) -> Literal:
        """In which orders a letter is not after a time point, which may be a letter too."""
        timeline, size = self.timeline, self.timeline.order.size
        if letter == time_point or time_point == END or letter == timeline.start:
            return TRUE
        if letter == END or time_point == timeline.start:
            return FALSE
        # The letter after a step is at or before the one before a later step.
        first = letter - size if letter > size else letter
        second = time_point - size if time_point > size else time_point
        if first == second:
            return TRUE if time_point > size else FALSE
        return timeline.precedes(first, second)

    def is_earlier(self, letter: TimePoint, later: TimePoint) -> Literal:
        """In which orders a letter is before another."""
        return FALSE if letter == later else self.is_not_after(letter, later)

    def is_next(self, letter: TimePoint, following: TimePoint) -> Literal:
        """In which orders ``find_time_point_after`` is the letter right after ``letter``; not for merged letters."""
        not_between = [
            self.circuit.both(self.is_earlier(letter, middle), self.is_earlier(middle, following)) ^ 1
            for middle in self.letters
            if middle not in (letter, following)
        ]
        self.timeline.check_limits()
        return self.circuit.conjunction([self.is_earlier(letter, following), *not_between])

    def is_last(self, letter: TimePoint) -> Literal:
        """In which worlds the trace ends with a letter."""
        no_later = [self.circuit.both(self.is_earlier(letter, j), self.exists(j)) ^ 1 for j in self.letters]
        return self.circuit.conjunction([self.exists(letter), *no_later])

    def is_first(self, letter: TimePoint) -> Literal:
        """In which orders a letter is letter 0; not for merged letters."""
        return self.circuit.conjunction([self.is_earlier(j, letter) ^ 1 for j in self.letters])

    def _is_on_side(self, letter: TimePoint, time_point: TimePoint, past: bool) -> Literal:
        """In which worlds a letter is not after a time point (``past``), or exists and is not before it."""
        if past:
            return self.is_not_after(letter, time_point)
        return self.circuit.both(self.is_not_after(time_point, letter), self.exists(letter))

    # -- at the ends of the trace -------------------------------------------------------------------------------------

    def value_at_start(self, formula: Formula) -> Literal:
        """The value of a formula over the trace, at letter 0."""
        circuit = self.circuit
        match formula:
            case _ if not is_temporal(formula):
                return self._at_first_letter(formula)
            case Not():
                return self.value_at_start(formula.body) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.value_at_start(part) for part in formula.parts])
            case Temporal() if formula.operator in TRACE_OPERATORS:
                return self._encode_trace_operator(formula)
            case Temporal() if formula.operator in ("always", "sometime"):
                flip = formula.operator == "always"
                body = formula.operands[0]
                cases = [circuit.both(self.exists(k), self.value_at(body, k) ^ flip) for k in self.letters]
                return circuit.disjunction(cases) ^ flip
            case Temporal() if formula.operator in ("until", "release"):
                return self._operator_at(formula, self.timeline.start)
            case Truth() | Atom() | Equal() | Compare() | Quantified() | Temporal():
                return self._at_first_letter(formula)
            case _:
                assert_never(formula)

    def _at_first_letter(self, formula: Formula) -> Literal:
        if self.is_merged:
            return self.value_at(formula, self.timeline.start)
        circuit = self.circuit
        cases = [circuit.both(self.is_first(k), self.value_at(formula, k)) for k in self.letters]
        return circuit.disjunction(cases)

    def value_at_end(self, formula: Formula) -> Literal:
        """The value of a past formula at the last letter."""
        if self.timeline.all_taken:
            return self.value_at(formula, END)
        circuit = self.circuit
        return circuit.disjunction([circuit.both(self.is_last(k), self.value_at(formula, k)) for k in self.letters])

    def _encode_trace_operator(self, formula: Temporal) -> Literal:
        operator = trace_operator(formula)
        match operator:
            case "at-end":
                return self.value_at_end(formula.operands[0])
            case "sometime-before":
                return self._sometime_before(*formula.operands)
            case "at-most-once":
                return self._at_most_once(formula.operands[0])
            case "within":
                return self._within(formula.operands[0], formula.bounds[0])
            case "always-within":
                return self._always_within(formula.operands[0], formula.operands[1], formula.bounds[0])
            case "hold-during" | "hold-after":
                end = formula.bounds[1] if operator == "hold-during" else None
                return self._hold_between(formula.operands[0], formula.bounds[0], end)
            case _:
                assert_never(operator)

    def _sometime_before(self, formula: Formula, earlier: Formula) -> Literal:
        """At some letter before each letter at which ``formula`` holds, ``earlier`` holds."""
        circuit = self.circuit
        violating_cases = []
        for k in self.letters:
            value = circuit.both(self.exists(k), self.value_at(formula, k))
            if value != FALSE:
                none_before = [
                    circuit.both(self.is_earlier(j, k), self.value_at(earlier, j)) ^ 1 for j in self.letters if j != k
                ]
                violating_cases.append(circuit.conjunction([value, *none_before]))
                self.timeline.check_limits()
        return circuit.disjunction(violating_cases) ^ 1

    def _at_most_once(self, formula: Formula) -> Literal:
        """No letter at which a formula is false is between two letters at which it is true."""
        circuit = self.circuit
        violating_cases = []
        for k in self.letters:
            value = self.value_at(formula, k) ^ 1
            if value != FALSE:
                before = [circuit.both(self.is_earlier(j, k), self.value_at(formula, j)) for j in self.letters]
                after = [
                    circuit.conjunction([self.is_earlier(k, j), self.exists(j), self.value_at(formula, j)])
                    for j in self.letters
                ]
                violating_cases.append(
                    circuit.conjunction([value, circuit.disjunction(before), circuit.disjunction(after)])
                )
                self.timeline.check_limits()
        return circuit.disjunction(violating_cases) ^ 1

    # -- operators that count: letter i is at time i ------------------------------------------------------------------

    def _within(self, formula: Formula, bound: Number) -> Literal:
        """A formula holds at some letter up to a time."""
        cases = []
        for k in self.letters:
            value = self.circuit.both(self.exists(k), self.value_at(formula, k))
            if value != FALSE:
                cases.append(self.circuit.both(value, self._is_at_most(k, floor(bound))))
        return self.circuit.disjunction(cases)

    def _hold_between(self, formula: Formula, start: Number, end: Number | None) -> Literal:
        """A formula holds from ``start`` until before ``end`` (``None``: until the end of the trace).

        The value at ``start`` is the value at the last letter up to this time.
        """
        circuit = self.circuit
        first = floor(start)
        violating_cases = []
        for k in self.letters:
            value = circuit.both(self.exists(k), self.value_at(formula, k) ^ 1)
            if value == FALSE:
                continue
            early = self._is_at_most(k, first)
            at_first = circuit.both(early, circuit.either(self._is_at_most(k, first - 1) ^ 1, self.is_last(k)))
            later = early ^ 1 if end is None else circuit.both(early ^ 1, self._is_at_most(k, ceil(end) - 1))
            violating_cases.append(circuit.both(value, circuit.either(at_first, later)))
        return circuit.disjunction(violating_cases) ^ 1

    def _always_within(self, formula: Formula, answer: Formula, bound: Number) -> Literal:
        """At most ``bound`` letters after each letter at which ``formula`` holds, ``answer`` holds."""
        circuit = self.circuit
        violating_cases = []
        for k in self.letters:
            value = circuit.conjunction([self.exists(k), self.value_at(formula, k), self.value_at(answer, k) ^ 1])
            if value == FALSE:
                continue
            none_in_time = []
            for j in self.letters:
                answered = circuit.conjunction([self.is_earlier(k, j), self.exists(j), self.value_at(answer, j)])
                if answered != FALSE:
                    between = [circuit.both(self.is_earlier(k, m), self.is_earlier(m, j)) for m in self.letters]
                    none_in_time.append(circuit.both(answered, self._at_most(between, floor(bound) - 1)) ^ 1)
            violating_cases.append(circuit.conjunction([value, *none_in_time]))
        return circuit.disjunction(violating_cases) ^ 1

    def _is_at_most(self, letter: TimePoint, bound: int) -> Literal:
        """In which orders the number of a letter is at most ``bound``; not for merged letters."""
        return self._at_most([self.is_earlier(j, letter) for j in self.letters], bound)

    def _at_most(self, literals: list[Literal], bound: int) -> Literal:
        """At most ``bound`` literals are true. The encoding counts the true or the false literals in unary.

        It counts those of which fewer are needed.
        """
        bound -= literals.count(TRUE)
        literals = [literal for literal in literals if literal > TRUE]
        if bound >= len(literals):
            return TRUE
        if bound < 0:
            return FALSE
        needed, flip = bound + 1, 1  # it is not so that at least ``needed`` literals are true
        if len(literals) - bound < needed:
            needed, flip = len(literals) - bound, 0  # at least ``needed`` literals are false
            literals = [literal ^ 1 for literal in literals]
        circuit = self.circuit
        reached = [TRUE, *[FALSE] * needed]
        for literal in literals:
            for count in range(needed, 0, -1):
                reached[count] = circuit.either(reached[count], circuit.both(reached[count - 1], literal))
        self.timeline.check_limits()
        return reached[needed] ^ flip

    # -- values -------------------------------------------------------------------------------------------------------

    def value_at(self, formula: Formula, time_point: TimePoint) -> Literal:
        """The value of a past or future formula at a time point that exists."""
        if not is_temporal(formula):
            return self.encode_leaf(formula, time_point)
        key = (id(formula), time_point)
        value = self._values.get(key)
        if value is None:
            self._formulas.append(formula)  # lives as long as its key
            value = self._values[key] = self._temporal_value_at(formula, time_point)
            self.timeline.check_limits()
        return value

    def _temporal_value_at(self, formula: Formula, time_point: TimePoint) -> Literal:
        circuit = self.circuit
        match formula:
            case Not():
                return self.value_at(formula.body, time_point) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.value_at(part, time_point) for part in formula.parts])
            case Temporal():
                return self._operator_at(formula, time_point)
            case Truth() | Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _operator_at(self, formula: Temporal, time_point: TimePoint) -> Literal:
        first, second = formula.operands[0], formula.operands[-1]
        match formula.operator:
            case "once":
                return self._sometime(first, time_point, past=True, flip=0)
            case "historically":
                return self._sometime(first, time_point, past=True, flip=1) ^ 1
            case "sometime":
                return self._sometime(first, time_point, past=False, flip=0)
            case "always":
                return self._sometime(first, time_point, past=False, flip=1) ^ 1
            case "since":
                return self._some_with_path(first, second, time_point, past=True, flip=0)
            case "until":
                return self._some_with_path(first, second, time_point, past=False, flip=0)
            case "release":
                return self._some_with_path(first, second, time_point, past=False, flip=1) ^ 1
            case "yesterday" | "next":
                return self._adjacent(first, time_point, past=formula.operator == "yesterday", flip=0)
            case "weak-yesterday" | "weak-next":
                return self._adjacent(first, time_point, past=formula.operator == "weak-yesterday", flip=1) ^ 1
            case "at-end" | "within" | "at-most-once" | "sometime-before" | "always-within":
                raise TooHard(f"`{formula.operator}` below another operator")
            case "hold-during" | "hold-after" | "sometime-after":
                raise TooHard(f"`{formula.operator}` below another operator")
            case _:
                assert_never(formula.operator)

    def _adjacent(self, body: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """A formula is true (false, with ``flip`` 1) at the letter after a time point, or before it with ``past``."""
        circuit = self.circuit
        cases = []
        for k in self.letters:
            if k == time_point:
                continue
            is_adjacent = self.is_next(k, time_point) if past else self.is_next(time_point, k)
            if is_adjacent == FALSE:
                continue
            if past:
                cases.append(circuit.both(is_adjacent, self.value_at(body, k) ^ flip))
            else:
                cases.append(circuit.conjunction([is_adjacent, self.exists(k), self.value_at(body, k) ^ flip]))
        return circuit.disjunction(cases)

    def _sometime(self, body: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """A formula is true (false, with ``flip`` 1) at a time point or some later letter, or earlier with ``past``."""
        circuit = self.circuit
        cases = [self.value_at(body, time_point) ^ flip]
        for k in self.letters:
            if k == time_point or TRUE in cases:
                continue
            on_side = self._is_on_side(k, time_point, past)
            if on_side != FALSE:
                cases.append(circuit.both(on_side, self.value_at(body, k) ^ flip))
        return circuit.disjunction(cases)

    def _some_with_path(self, stay: Formula, goal: Formula, time_point: TimePoint, *, past: bool, flip: int) -> Literal:
        """In which worlds ``stay`` holds until ``goal`` holds, as in ``until``, or as in ``since`` with ``past``.

        With ``flip`` 1, both formulas must be false instead of true.
        """
        circuit = self.circuit
        # If letters are not merged, the start is no letter: it is not known which step is the first.
        is_letter = self.is_merged or time_point != self.timeline.start
        cases = [self.value_at(goal, time_point) ^ flip] if is_letter else []
        for k in self.letters:
            if k == time_point or TRUE in cases:
                continue
            on_side = self._is_on_side(k, time_point, past)
            if on_side == FALSE:
                continue
            value = circuit.both(on_side, self.value_at(goal, k) ^ flip)
            if value == FALSE:
                continue
            parts = [value, self.value_at(stay, time_point) ^ flip] if is_letter else [value]
            for m in self.letters:
                if m in (k, time_point):
                    continue
                if past:
                    between = circuit.both(self.is_earlier(k, m), self.is_not_after(m, time_point))
                else:
                    between = circuit.both(self.is_not_after(time_point, m), self.is_earlier(m, k))
                if between != FALSE:
                    parts.append(circuit.both(between, self.value_at(stay, m) ^ flip ^ 1) ^ 1)
            cases.append(circuit.conjunction(parts))
            self.timeline.check_limits()
        return circuit.disjunction(cases)
