"""Temporal formulas over the letters of all orders at once.

A letter is a moment. In general there is one before each step, with that step as its action, and one at the end.
Formulas that ask neither for actions nor for the next or the last letter cannot tell how often a state is repeated; for
them S0 and the moments after the steps that write what they read are enough. An operator is its definition, written
with the order of the letters: quadratic for most, cubic for ``since``, ``until`` and their like. A letter is there only
in worlds whose trace has it; letters before one that is there are there, too.
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
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import END
from plansafe.verifier.symbolic.orders.template import TimePoint, TooHard


def ignores_repetition(formula: Formula) -> bool:
    """Whether a formula cannot tell how often a state is repeated."""
    return not any(
        [isinstance(part, Temporal) and is_stutter_sensitive(part.operator) for part in subformulas(formula)]
    )


class Letters:
    """The letters of one formula; ``leaf(formula, moment)`` gives the literals of its state formulas.

    ``writers``: the steps that write what the leaves read, if repetitions do not matter; else ``None``.
    """

    def __init__(
        self, moments: Moments, leaf: Callable[[Formula, TimePoint], Literal], writers: Sequence[int] | None
    ) -> None:
        self.moments = moments
        self.circuit = moments.circuit
        self.leaf = leaf
        self.merged = writers is not None
        if writers is not None:
            self.letters: list[TimePoint] = [moments.start, *[moments.following(step) for step in writers]]
        else:
            self.letters = [*range(1, moments.order.size + 1), END]
        self._values: dict[tuple[int, TimePoint], Literal] = {}
        self._kept: list[Formula] = []

    # -- the order of letters -----------------------------------------------------------------------------------------

    def there(self, letter: TimePoint) -> Literal:
        """In which worlds the trace has a letter."""
        moments = self.moments
        if letter == END:
            return moments.executable()
        if letter == moments.start:
            return TRUE
        size = moments.order.size
        return moments.reached(letter) if letter <= size else moments.taken(letter - size)

    def up_to(self, letter: TimePoint, moment: TimePoint) -> Literal:
        """In which orders a letter is not after a moment, which may be a letter too."""
        moments, size = self.moments, self.moments.order.size
        if letter == moment or moment == END or letter == moments.start:
            return TRUE
        if letter == END or moment == moments.start:
            return FALSE
        # The letter after a step is at or before the one before a later step.
        first = letter - size if letter > size else letter
        second = moment - size if moment > size else moment
        if first == second:
            return TRUE if moment > size else FALSE
        return moments.precedes(first, second)

    def earlier(self, letter: TimePoint, other: TimePoint) -> Literal:
        """In which orders a letter is before another."""
        return FALSE if letter == other else self.up_to(letter, other)

    def follows(self, letter: TimePoint, other: TimePoint) -> Literal:
        """In which orders ``other`` is the letter right after ``letter``; not for merged letters."""
        between = [
            self.circuit.both(self.earlier(letter, middle), self.earlier(middle, other)) ^ 1
            for middle in self.letters
            if middle not in (letter, other)
        ]
        self.moments.check()
        return self.circuit.conjunction([self.earlier(letter, other), *between])

    def last(self, letter: TimePoint) -> Literal:
        """In which worlds the trace ends with a letter."""
        later = [self.circuit.both(self.earlier(letter, other), self.there(other)) ^ 1 for other in self.letters]
        return self.circuit.conjunction([self.there(letter), *later])

    def first(self, letter: TimePoint) -> Literal:
        """In which orders a letter is letter 0; not for merged letters."""
        return self.circuit.conjunction([self.earlier(other, letter) ^ 1 for other in self.letters])

    # -- at the ends of the trace -------------------------------------------------------------------------------------

    def at_start(self, formula: Formula) -> Literal:
        """The value of a formula over the trace, at letter 0."""
        circuit = self.circuit
        match formula:
            case _ if not is_temporal(formula):
                return self._first_letter(formula)
            case Not():
                return self.at_start(formula.body) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.at_start(part) for part in formula.parts])
            case Temporal() if formula.operator in TRACE_OPERATORS:
                return self._whole(formula)
            case Temporal() if formula.operator in ("always", "sometime"):
                flip = formula.operator == "always"
                body = formula.operands[0]
                found = [circuit.both(self.there(k), self.at(body, k) ^ flip) for k in self.letters]
                return circuit.disjunction(found) ^ flip
            case Temporal() if formula.operator in ("until", "release"):
                return self._operator(formula, self.moments.start)
            case Truth() | Atom() | Equal() | Compare() | Quantified() | Temporal():
                return self._first_letter(formula)
            case _:
                assert_never(formula)

    def _first_letter(self, formula: Formula) -> Literal:
        if self.merged:
            return self.at(formula, self.moments.start)
        circuit = self.circuit
        return circuit.disjunction([circuit.both(self.first(k), self.at(formula, k)) for k in self.letters])

    def at_end(self, formula: Formula) -> Literal:
        """The value of a past formula at the last letter."""
        if self.moments.assured:
            return self.at(formula, END)
        circuit = self.circuit
        return circuit.disjunction([circuit.both(self.last(k), self.at(formula, k)) for k in self.letters])

    def _whole(self, formula: Temporal) -> Literal:
        operator = trace_operator(formula)
        match operator:
            case "at-end":
                return self.at_end(formula.operands[0])
            case "sometime-before":
                return self._preceded(*formula.operands)
            case "at-most-once":
                return self._one_block(formula.operands[0])
            case "within":
                return self._within(formula.operands[0], formula.bounds[0])
            case "always-within":
                return self._answered(formula.operands[0], formula.operands[1], formula.bounds[0])
            case "hold-during" | "hold-after":
                until = formula.bounds[1] if operator == "hold-during" else None
                return self._held(formula.operands[0], formula.bounds[0], until)
            case _:
                assert_never(operator)

    def _preceded(self, formula: Formula, wanted: Formula) -> Literal:
        """Whether before each letter with a formula there is one with another."""
        circuit = self.circuit
        bad = []
        for k in self.letters:
            value = circuit.both(self.there(k), self.at(formula, k))
            if value != FALSE:
                before = [circuit.both(self.earlier(j, k), self.at(wanted, j)) ^ 1 for j in self.letters if j != k]
                bad.append(circuit.conjunction([value, *before]))
                self.moments.check()
        return circuit.disjunction(bad) ^ 1

    def _one_block(self, formula: Formula) -> Literal:
        """Whether no letter without a formula is between two with it."""
        circuit = self.circuit
        bad = []
        for k in self.letters:
            value = self.at(formula, k) ^ 1
            if value != FALSE:
                before = [circuit.both(self.earlier(j, k), self.at(formula, j)) for j in self.letters]
                after = [
                    circuit.conjunction([self.earlier(k, j), self.there(j), self.at(formula, j)]) for j in self.letters
                ]
                bad.append(circuit.conjunction([value, circuit.disjunction(before), circuit.disjunction(after)]))
                self.moments.check()
        return circuit.disjunction(bad) ^ 1

    # -- operators that count: letter i is at time i ------------------------------------------------------------------

    def _within(self, formula: Formula, bound: Number) -> Literal:
        """Whether a formula holds at some letter that is early enough."""
        found = []
        for k in self.letters:
            value = self.circuit.both(self.there(k), self.at(formula, k))
            if value != FALSE:
                found.append(self.circuit.both(value, self.early(k, floor(bound))))
        return self.circuit.disjunction(found)

    def _held(self, formula: Formula, start: Number, end: Number | None) -> Literal:
        """Whether a formula holds at the last letter up to one time, and at all letters from there to another."""
        circuit = self.circuit
        first = floor(start)
        bad = []
        for k in self.letters:
            value = circuit.both(self.there(k), self.at(formula, k) ^ 1)
            if value == FALSE:
                continue
            early = self.early(k, first)
            there = circuit.both(early, circuit.either(self.early(k, first - 1) ^ 1, self.last(k)))
            later = early ^ 1 if end is None else circuit.both(early ^ 1, self.early(k, ceil(end) - 1))
            bad.append(circuit.both(value, circuit.either(there, later)))
        return circuit.disjunction(bad) ^ 1

    def _answered(self, formula: Formula, answer: Formula, bound: Number) -> Literal:
        """Whether each letter with a formula is followed soon enough by one with another, if not by itself."""
        circuit = self.circuit
        bad = []
        for k in self.letters:
            value = circuit.conjunction([self.there(k), self.at(formula, k), self.at(answer, k) ^ 1])
            if value == FALSE:
                continue
            late = []
            for j in self.letters:
                later = circuit.conjunction([self.earlier(k, j), self.there(j), self.at(answer, j)])
                if later != FALSE:
                    between = [circuit.both(self.earlier(k, m), self.earlier(m, j)) for m in self.letters]
                    late.append(circuit.both(later, self._at_most(between, floor(bound) - 1)) ^ 1)
            bad.append(circuit.conjunction([value, *late]))
        return circuit.disjunction(bad) ^ 1

    def early(self, letter: TimePoint, bound: int) -> Literal:
        """In which orders the number of a letter is at most ``bound``; not for merged letters."""
        return self._at_most([self.earlier(other, letter) for other in self.letters], bound)

    def _at_most(self, literals: list[Literal], bound: int) -> Literal:
        """Whether at most so many literals are true: counted in unary, from the side that is nearer."""
        bound -= literals.count(TRUE)
        literals = [literal for literal in literals if literal > TRUE]
        if bound >= len(literals):
            return TRUE
        if bound < 0:
            return FALSE
        wanted, flip = bound + 1, 1  # not: at least one more
        if len(literals) - bound < wanted:
            wanted, flip = len(literals) - bound, 0  # at least so many are false
            literals = [literal ^ 1 for literal in literals]
        circuit = self.circuit
        reached = [TRUE, *[FALSE] * wanted]
        for literal in literals:
            for count in range(wanted, 0, -1):
                reached[count] = circuit.either(reached[count], circuit.both(reached[count - 1], literal))
        self.moments.check()
        return reached[wanted] ^ flip

    # -- values -------------------------------------------------------------------------------------------------------

    def at(self, formula: Formula, moment: TimePoint) -> Literal:
        """The value of a past or future formula at a moment that is there."""
        if not is_temporal(formula):
            return self.leaf(formula, moment)
        key = (id(formula), moment)
        found = self._values.get(key)
        if found is None:
            self._kept.append(formula)  # lives as long as its key
            found = self._values[key] = self._at(formula, moment)
            self.moments.check()
        return found

    def _at(self, formula: Formula, moment: TimePoint) -> Literal:
        circuit = self.circuit
        match formula:
            case Not():
                return self.at(formula.body, moment) ^ 1
            case And() | Or():
                join = circuit.conjunction if isinstance(formula, And) else circuit.disjunction
                return join([self.at(part, moment) for part in formula.parts])
            case Temporal():
                return self._operator(formula, moment)
            case Truth() | Atom() | Equal() | Compare() | Quantified():
                raise AssertionError("quantifiers over temporal formulas are ground")
            case _:
                assert_never(formula)

    def _operator(self, formula: Temporal, moment: TimePoint) -> Literal:
        circuit = self.circuit
        first, second = formula.operands[0], formula.operands[-1]
        match formula.operator:
            case "once":
                return self._some(first, moment, past=True, flip=0)
            case "historically":
                return self._some(first, moment, past=True, flip=1) ^ 1
            case "sometime":
                return self._some(first, moment, past=False, flip=0)
            case "always":
                return self._some(first, moment, past=False, flip=1) ^ 1
            case "since":
                return self._reaching(first, second, moment, past=True, flip=0)
            case "until":
                return self._reaching(first, second, moment, past=False, flip=0)
            case "release":
                return self._reaching(first, second, moment, past=False, flip=1) ^ 1
            case "yesterday" | "weak-yesterday":
                flip = formula.operator == "weak-yesterday"
                found = [
                    circuit.both(before, self.at(first, k) ^ flip)
                    for k in self.letters
                    if k != moment and (before := self.follows(k, moment)) != FALSE
                ]
                return circuit.disjunction(found) ^ flip
            case "next" | "weak-next":
                flip = formula.operator == "weak-next"
                found = [
                    circuit.conjunction([after, self.there(k), self.at(first, k) ^ flip])
                    for k in self.letters
                    if k != moment and (after := self.follows(moment, k)) != FALSE
                ]
                return circuit.disjunction(found) ^ flip
            case "at-end" | "within" | "at-most-once" | "sometime-before" | "always-within":
                raise TooHard(f"`{formula.operator}` below another operator")
            case "hold-during" | "hold-after" | "sometime-after":
                raise TooHard(f"`{formula.operator}` below another operator")
            case _:
                assert_never(formula.operator)

    def _some(self, body: Formula, moment: TimePoint, *, past: bool, flip: int) -> Literal:
        """Whether a formula has a value (false, with ``flip``) at a moment, or at some letter on one side of it."""
        circuit = self.circuit
        out = [self.at(body, moment) ^ flip]
        for k in self.letters:
            if k == moment or TRUE in out:
                continue
            if past:
                side = self.up_to(k, moment)
            else:
                side = circuit.both(self.up_to(moment, k), self.there(k))
            if side != FALSE:
                out.append(circuit.both(side, self.at(body, k) ^ flip))
        return circuit.disjunction(out)

    def _reaching(self, stay: Formula, goal: Formula, moment: TimePoint, *, past: bool, flip: int) -> Literal:
        """Whether ``goal`` is so at a letter on one side of a moment (or there), and ``stay`` at all on the way."""
        circuit = self.circuit
        letter = self.merged or moment != self.moments.start  # else it stands for whichever letter is the first
        out = [self.at(goal, moment) ^ flip] if letter else []
        for k in self.letters:
            if k == moment or TRUE in out:
                continue
            side = self.up_to(k, moment) if past else circuit.both(self.up_to(moment, k), self.there(k))
            if side == FALSE:
                continue
            value = circuit.both(side, self.at(goal, k) ^ flip)
            if value == FALSE:
                continue
            parts = [value, self.at(stay, moment) ^ flip] if letter else [value]
            for m in self.letters:
                if m in (k, moment):
                    continue
                inside = (
                    circuit.both(self.earlier(k, m), self.up_to(m, moment))
                    if past
                    else circuit.both(self.up_to(moment, m), self.earlier(m, k))
                )
                if inside != FALSE:
                    parts.append(circuit.both(inside, self.at(stay, m) ^ flip ^ 1) ^ 1)
            out.append(circuit.conjunction(parts))
            self.moments.check()
        return circuit.disjunction(out)
