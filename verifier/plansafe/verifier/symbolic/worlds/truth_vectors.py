"""The values of temporal formulas over a trace in all worlds at once (docs/language.md, section 4).

A *segment* is a sequence of letters during which nothing that the formula reads changes. A *truth vector* has one
literal for each segment of the trace. Every operator is the recurrence of its definition, restricted to the worlds in
which the next letter exists. Three values need two vectors, for true and for false. The vector for false of an operator
follows from the vectors for false of its operands: ``false(op(f)) = not op(not false(f))``.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Literal as Fixed
from typing import TypeAlias, assert_never

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
    NEIGHBOUR_OPERATORS,
    children,
    is_temporal,
    map_children,
    negate,
    subformulas,
)
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal

TruthVector = list[Literal]
"""For each segment, the worlds in which a formula has a truth value."""
LeafHistory = list[tuple[int, Literal, Literal]]
"""(letter, true, false) at each letter where the value of a formula without temporal operators changes, ascending."""
TimedTraceOperator: TypeAlias = Fixed["at-end", "within", "always-within", "hold-during", "hold-after"]
EXPANDED_OPERATORS = frozenset(("sometime-after", "sometime-before", "at-most-once", "always-within"))
"""Operators that :func:`expand_operators` replaces, or whose premise it negates."""


def expand_operators(formula: Formula, operators: frozenset[str] = EXPANDED_OPERATORS) -> Formula:
    """Replace the operators in ``operators`` by their definitions, and negate the premise of ``always-within``.

    Formulas without temporal operators are not copied.
    """
    if not is_temporal(formula):
        return formula
    formula = map_children(formula, lambda part: expand_operators(part, operators))
    if not isinstance(formula, Temporal) or formula.operator not in operators:
        return formula
    operands = formula.operands
    match formula.operator:
        case "sometime-after":
            answer = Temporal("sometime", (operands[1],))
            return Temporal("always", (Or((negate(operands[0]), answer)),))
        case "sometime-before":
            before = Temporal("yesterday", (Temporal("once", (operands[1],)),))
            return Temporal("always", (Or((negate(operands[0]), before)),))
        case "at-most-once":
            # ``p`` held, ceased, and holds again. ``yesterday`` separates the three letters, so that an undefined value
            # is not read as true and as false at the same letter.
            held = Temporal("yesterday", (Temporal("once", operands),))
            ceased = Temporal("yesterday", (Temporal("once", (And((negate(operands[0]), held)),)),))
            return Temporal("always", (Or((negate(operands[0]), negate(ceased))),))
        case "always-within":
            return Temporal("always-within", (negate(operands[0]), operands[1]), formula.bounds)
        case operator:
            raise AssertionError(f"`{operator}` has no expansion")


def find_shift_depth(formula: Formula) -> int:
    """The maximum number of letters by which ``next`` and ``yesterday`` shift a part of a formula."""
    depth = max([find_shift_depth(part) for part in children(formula)], default=0)
    is_shifting = isinstance(formula, Temporal) and formula.operator in NEIGHBOUR_OPERATORS
    return depth + 1 if is_shifting else depth


def find_bound_letters(formula: Formula, times: Sequence[Number]) -> set[int] | None:
    """The letters next to each bound, which must begin a segment of their own; ``None`` if every letter must.

    The letters from two before the first letter after a bound are enough for all comparisons with the bound.
    """
    letters: set[int] = set()
    for part in subformulas(formula):
        if isinstance(part, Temporal) and part.bounds:
            if part.operator == "always-within":
                return None
            for bound in part.bounds:
                for first_letter in (bisect_left(times, bound), bisect_right(times, bound)):
                    letters.update(range(first_letter - 2, first_letter + 2))
    return letters


class TruthVectors:
    """Computes the truth vectors of the formula of one instance.

    ``starts``: the first letters of the segments, ascending from 0. ``leaves``: the histories of the leaves, by ``id``;
    they change at first letters only. ``alive[k]`` and ``alive_after[k]``: the worlds with segment k, and with k + 1.
    ``letter_times``: the times of all letters; ``times[k]``: the time of letter ``starts[k]``.
    """

    def __init__(
        self,
        circuit: Circuit,
        alive: Sequence[Literal],
        starts: list[int],
        leaves: Mapping[int, LeafHistory],
        letter_times: Sequence[Number],
    ) -> None:
        self.circuit = circuit
        self.times = [letter_times[start] for start in starts]
        self.starts = starts
        self.alive_letters = alive
        self.alive = [alive[start] for start in starts]
        self.alive_after = [*self.alive[1:], FALSE]
        self.is_single_letter_by_segment = [
            end - start == 1 for start, end in zip(starts, [*starts[1:], len(alive)], strict=True)
        ]
        self.leaves = leaves

    def compute(self, formula: Formula, value: bool) -> TruthVector:
        """At each segment, the worlds in which the formula has the truth value ``value``."""
        match formula:
            case Truth():
                return [TRUE if formula.value == value else FALSE] * len(self.starts)
            case _ if id(formula) in self.leaves:
                return self._compute_leaf(self.leaves[id(formula)], value)
            case Not():
                return self.compute(formula.body, not value)
            case And() | Or():
                vectors = [self.compute(part, value) for part in formula.parts]
                join = self.circuit.conjunction if isinstance(formula, And) == value else self.circuit.disjunction
                return [join([vector[segment] for vector in vectors]) for segment in range(len(self.starts))]
            case Temporal():
                vectors = [self.compute(operand, value) for operand in formula.operands]
                if value:
                    return self._apply_operator(formula, vectors)
                return _negate(self._apply_operator(formula, [_negate(vector) for vector in vectors]))
            case Atom() | Equal() | Compare() | Quantified():
                raise AssertionError(f"a leaf without values: {type(formula).__name__}")
            case _:
                assert_never(formula)

    def _compute_leaf(self, history: LeafHistory, value: bool) -> TruthVector:
        """The vector of a leaf from its history: each segment has the last value up to its first letter."""
        vector: TruthVector = []
        position = 0
        for start in self.starts:
            while position + 1 < len(history) and history[position + 1][0] <= start:
                position += 1
            _, true, false = history[position]
            vector.append(true if value else false)
        return vector

    def _apply_operator(self, formula: Temporal, vectors: list[TruthVector]) -> TruthVector:
        """The vector of an operator from the vectors of its operands, in two-valued logic."""
        circuit = self.circuit
        both, either = circuit.both, circuit.either
        first, second = vectors[0], vectors[-1]
        match formula.operator:
            case "once":
                return list(accumulate(first, lambda before, value: either(value, before)))
            case "historically":
                return list(accumulate(first, lambda before, value: both(value, before)))
            case "since":
                vector, before = [], FALSE
                for first_value, second_value in zip(first, second, strict=True):
                    before = either(second_value, both(first_value, before))
                    vector.append(before)
                return vector
            case "yesterday" | "weak-yesterday":
                start = TRUE if formula.operator == "weak-yesterday" else FALSE
                shifted_vector = [start, *first[:-1]]
                return [
                    shifted if is_single else same
                    for shifted, same, is_single in zip(
                        shifted_vector, first, self.is_single_letter_by_segment, strict=True
                    )
                ]
            case "next" | "weak-next":
                return self._apply_next(first, formula.operator == "weak-next")
            case "sometime":
                return self._apply_backwards(
                    FALSE, lambda segment, later: either(first[segment], both(self.alive_after[segment], later))
                )
            case "always":
                return self._apply_backwards(
                    TRUE, lambda segment, later: both(first[segment], either(self.alive_after[segment] ^ 1, later))
                )
            case "until":
                return self._apply_backwards(
                    FALSE,
                    lambda segment, later: either(
                        second[segment], circuit.conjunction([first[segment], self.alive_after[segment], later])
                    ),
                )
            case "release":
                return self._apply_backwards(
                    TRUE,
                    lambda segment, later: both(
                        second[segment], circuit.disjunction([first[segment], self.alive_after[segment] ^ 1, later])
                    ),
                )
            case "at-end" | "within" | "always-within" | "hold-during" | "hold-after":
                literal = self._apply_trace_operator(formula.operator, formula.bounds, first, second)
                return [literal] * len(self.starts)
            case "sometime-after" | "sometime-before" | "at-most-once":
                raise AssertionError("replaced by `expand_operators`")
            case _:
                assert_never(formula.operator)

    def _apply_next(self, vector: TruthVector, weak: bool) -> TruthVector:
        """The vector of ``next``, or ``weak-next``: within a longer segment, the next letter has the same value."""
        shifted_vector = [*vector[1:], FALSE]
        next_vector = []
        for segment, (same_segment, next_segment) in enumerate(zip(vector, shifted_vector, strict=True)):
            is_single = self.is_single_letter_by_segment[segment]
            exists = self.alive_after[segment] if is_single else self.alive[segment]
            value = next_segment if is_single else same_segment
            next_vector.append(self.circuit.either(exists ^ 1, value) if weak else self.circuit.both(exists, value))
        return next_vector

    def _apply_backwards(self, end: Literal, step: Callable[[int, Literal], Literal]) -> TruthVector:
        """The vector of a recurrence from the last segment to the first, with the value ``end`` after the trace.

        ``step`` returns the value at a segment from the value at the next one.
        """
        vector: TruthVector = []
        value = end
        for segment in reversed(range(len(self.starts))):
            value = step(segment, value)
            vector.append(value)
        return vector[::-1]

    # -- operators about the whole trace -------------------------------------------------------------------------------

    def _apply_trace_operator(
        self, operator: TimedTraceOperator, bounds: Sequence[Number], first: TruthVector, second: TruthVector
    ) -> Literal:
        """The worlds in which an operator about the whole trace holds; ``second``: of its last operand."""
        circuit = self.circuit
        match operator:
            case "at-end":
                return self._apply_at_end(first)
            case "within":
                early_segments = [segment for segment, time in enumerate(self.times) if time <= bounds[0]]
                return circuit.disjunction(
                    [circuit.both(self.alive[segment], first[segment]) for segment in early_segments]
                )
            case "always-within":
                return self._apply_always_within(first, second, bounds[0])
            case "hold-during" | "hold-after":
                return self._apply_hold(bounds, first)
            case _:
                assert_never(operator)

    def _apply_at_end(self, vector: TruthVector) -> Literal:
        ends = [
            self.circuit.both(alive, alive_after ^ 1)
            for alive, alive_after in zip(self.alive, self.alive_after, strict=True)
        ]
        return self.circuit.disjunction([self.circuit.both(end, v) for end, v in zip(ends, vector, strict=True)])

    def _apply_always_within(self, no_premise: TruthVector, response: TruthVector, bound: Number) -> Literal:
        """The worlds that satisfy ``always-within``, from the negated premise. Every segment must have a single letter.

        ``bound``: the maximum time from a premise to its response.
        """
        circuit, times = self.circuit, self.times
        responses = [circuit.both(a, r) for a, r in zip(self.alive, response, strict=True)]
        return circuit.conjunction(
            [
                circuit.disjunction([exists ^ 1, not_triggered, *responses[k : bisect_right(times, times[k] + bound)]])
                for k, (exists, not_triggered) in enumerate(zip(self.alive, no_premise, strict=True))
                if not_triggered != TRUE
            ]
        )

    def _apply_hold(self, bounds: Sequence[Number], vector: TruthVector) -> Literal:
        """The worlds that satisfy ``hold-during`` (two bounds) or ``hold-after`` (one). A bound begins a segment."""
        circuit = self.circuit
        segments = [k for k, time in enumerate(self.times) if time > bounds[0]]
        if not segments:
            return self._apply_at_end(vector)
        first = segments[0]
        if len(bounds) == 2:
            segments = [k for k in segments if self.times[k] < bounds[1]]
        parts = [circuit.either(self.alive[k] ^ 1, vector[k]) for k in segments]
        if bounds[0] >= 0:  # the last letter up to the bound is also in the interval: its state holds at the bound
            parts.append(vector[first - 1])
        holds = circuit.conjunction(parts)
        # If the trace ends before the interval, the formula must hold in the final state.
        ends_before = [circuit.conjunction([self.alive[k], self.alive_after[k] ^ 1, vector[k]]) for k in range(first)]
        return circuit.choose(self.alive[first], holds, circuit.disjunction(ends_before))


def _negate(vector: TruthVector) -> TruthVector:
    return [literal ^ 1 for literal in vector]
