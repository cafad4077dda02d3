"""The values of temporal formulas over a trace in all worlds at once (docs/language.md, section 4).

A *truth vector* has one literal for each segment of the trace: a run of letters over which nothing that the formula
reads changes. Every operator is the recurrence of its definition, guarded by the worlds in which the next letter is
there at all. Three values need two vectors, for true and for false; an operator's vector of false is the negation of
the operator applied to what is not false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import floor
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
OnTrace: TypeAlias = Fixed["at-end", "within", "always-within", "hold-during", "hold-after"]
LeafValues = Mapping[int, list[tuple[int, Literal, Literal]]]
"""``id`` of a formula without temporal operators -> (letter, true, false) from that letter on, ascending."""
EXPANDED_OPERATORS = frozenset(("sometime-after", "sometime-before", "at-most-once", "always-within"))
"""Operators that :func:`expand_operators` takes out, or whose premise it negates."""


def expand_operators(formula: Formula, short: frozenset[str] = EXPANDED_OPERATORS) -> Formula:
    """Operators that are ``short`` for others, spelt out; ``always-within`` gets its premise negated.

    Formulas without temporal operators stay the objects they are.
    """
    if not is_temporal(formula):
        return formula
    formula = map_children(formula, lambda part: expand_operators(part, short))
    if not isinstance(formula, Temporal) or formula.operator not in short:
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
            # Three letters, one after the other: an undefined value is not two values at one letter.
            held = Temporal("yesterday", (Temporal("once", operands),))
            ceased = Temporal("yesterday", (Temporal("once", (And((negate(operands[0]), held)),)),))
            return Temporal("always", (Or((negate(operands[0]), negate(ceased))),))
        case "always-within":
            return Temporal("always-within", (negate(operands[0]), operands[1]), formula.bounds)
        case other:
            raise AssertionError(f"`{other}` is not short for others")


def shift_depth(formula: Formula) -> int:
    """How many letters away a formula looks by ``next`` and ``yesterday``, at most."""
    below = max([shift_depth(part) for part in children(formula)], default=0)
    return below + (isinstance(formula, Temporal) and formula.operator in NEIGHBOUR_OPERATORS)


def find_bound_letters(formula: Formula) -> set[int] | None:
    """Letters at which bounds begin or end; ``None`` if every letter counts for itself."""
    out: set[int] = set()
    for part in subformulas(formula):
        if isinstance(part, Temporal) and part.bounds:
            if part.operator == "always-within":
                return None
            for bound in part.bounds:
                out |= {floor(bound) - 1, floor(bound), floor(bound) + 1, floor(bound) + 2}
    return out


class TruthVectors:
    """The truth vectors of one instance of a formula."""

    def __init__(self, circuit: Circuit, alive: Sequence[Literal], starts: list[int], leaves: LeafValues) -> None:
        """``starts``: the first letters of the segments, ascending from 0; ``leaves`` change nowhere else."""
        self.circuit = circuit
        self.starts = starts
        self.last = len(alive) - 1
        self.alive = [alive[s] for s in starts]
        self.after = [*self.alive[1:], FALSE]  # the worlds in which the next segment is there
        self.single = [b - a == 1 for a, b in zip(starts, [*starts[1:], len(alive)], strict=True)]
        self.leaves = leaves

    def vector(self, formula: Formula, wanted: bool) -> TruthVector:
        """In which worlds the formula has a value, at each segment."""
        match formula:
            case Truth():
                return [TRUE if formula.value == wanted else FALSE] * len(self.starts)
            case _ if id(formula) in self.leaves:
                return self._leaf(self.leaves[id(formula)], wanted)
            case Not():
                return self.vector(formula.body, not wanted)
            case And() | Or():
                vectors = [self.vector(part, wanted) for part in formula.parts]
                join = self.circuit.conjunction if isinstance(formula, And) == wanted else self.circuit.disjunction
                return [join([vector[k] for vector in vectors]) for k in range(len(self.starts))]
            case Temporal():
                vectors = [self.vector(operand, wanted) for operand in formula.operands]
                if wanted:
                    return self._operator(formula, vectors)
                return _negated(self._operator(formula, [_negated(vector) for vector in vectors]))
            case Atom() | Equal() | Compare() | Quantified():
                raise AssertionError(f"a leaf without values: {type(formula).__name__}")
            case _:
                assert_never(formula)

    def _leaf(self, changes: list[tuple[int, Literal, Literal]], wanted: bool) -> TruthVector:
        out: TruthVector = []
        position = 0
        for start in self.starts:
            while position + 1 < len(changes) and changes[position + 1][0] <= start:
                position += 1
            out.append(changes[position][1 if wanted else 2])
        return out

    def _operator(self, formula: Temporal, vectors: list[TruthVector]) -> TruthVector:
        """The vector of an operator whose operands have these values, as if there were two values only."""
        circuit = self.circuit
        both, either = circuit.both, circuit.either
        first, second = vectors[0], vectors[-1]
        match formula.operator:
            case "once":
                return _forward(FALSE, first, lambda before, f: either(f, before))
            case "historically":
                return _forward(TRUE, first, lambda before, f: both(f, before))
            case "since":
                out, before = [], FALSE
                for f, g in zip(first, second, strict=True):
                    before = either(g, both(f, before))
                    out.append(before)
                return out
            case "yesterday" | "weak-yesterday":
                start = TRUE if formula.operator == "weak-yesterday" else FALSE
                moved = [start, *first[:-1]]
                return [m if single else f for m, f, single in zip(moved, first, self.single, strict=True)]
            case "next" | "weak-next":
                return self._next(first, formula.operator == "weak-next")
            case "sometime":
                return self._backward(FALSE, lambda k, v: either(first[k], both(self.after[k], v)))
            case "always":
                return self._backward(TRUE, lambda k, v: both(first[k], either(self.after[k] ^ 1, v)))
            case "until":
                return self._backward(
                    FALSE, lambda k, v: either(second[k], circuit.conjunction([first[k], self.after[k], v]))
                )
            case "release":
                return self._backward(
                    TRUE, lambda k, v: both(second[k], circuit.disjunction([first[k], self.after[k] ^ 1, v]))
                )
            case "at-end" | "within" | "always-within" | "hold-during" | "hold-after":
                return [self._whole(formula.operator, formula.bounds, first, second)] * len(self.starts)
            case "sometime-after" | "sometime-before" | "at-most-once":
                raise AssertionError("spelt out by `expand_operators`")
            case _:
                assert_never(formula.operator)

    def _next(self, vector: TruthVector, weak: bool) -> TruthVector:
        moved = [*vector[1:], FALSE]
        out = []
        for k, (f, later) in enumerate(zip(vector, moved, strict=True)):
            there, value = (self.after[k], later) if self.single[k] else (self.alive[k], f)
            out.append(self.circuit.either(there ^ 1, value) if weak else self.circuit.both(there, value))
        return out

    def _backward(self, end: Literal, step: Callable[[int, Literal], Literal]) -> TruthVector:
        out: TruthVector = []
        for k in range(len(self.starts) - 1, -1, -1):
            end = step(k, end)
            out.append(end)
        return out[::-1]

    # -- operators that look at the whole trace ---------------------------------------------------------------------

    def _whole(self, operator: OnTrace, bounds: Sequence[Number], f: TruthVector, g: TruthVector) -> Literal:
        circuit = self.circuit
        match operator:
            case "at-end":
                return self._at_end(f)
            case "within":
                early = [k for k, start in enumerate(self.starts) if start <= bounds[0]]
                return circuit.disjunction([circuit.both(self.alive[k], f[k]) for k in early])
            case "always-within":
                return self._answered(f, g, floor(bounds[0]))
            case "hold-during" | "hold-after":
                return self._held(bounds, f)
            case _:
                assert_never(operator)

    def _at_end(self, vector: TruthVector) -> Literal:
        ends = [self.circuit.both(a, b ^ 1) for a, b in zip(self.alive, self.after, strict=True)]
        return self.circuit.disjunction([self.circuit.both(e, v) for e, v in zip(ends, vector, strict=True)])

    def _answered(self, no_premise: TruthVector, answer: TruthVector, within: int) -> Literal:
        """Segments are single letters here."""
        circuit = self.circuit
        here = [circuit.both(a, v) for a, v in zip(self.alive, answer, strict=True)]
        parts = []
        for i, (there, idle) in enumerate(zip(self.alive, no_premise, strict=True)):
            if idle != TRUE:
                parts.append(circuit.disjunction([there ^ 1, idle, *here[i : i + within + 1]]))
        return circuit.conjunction(parts)

    def _held(self, bounds: Sequence[Number], vector: TruthVector) -> Literal:
        """``hold-during`` (with two bounds) and ``hold-after``: bounds begin segments of one letter."""
        circuit = self.circuit
        force = floor(bounds[0])
        later = [k for k, start in enumerate(self.starts) if start > bounds[0]]
        if not later:
            return self._at_end(vector)
        first = later[0]
        if len(bounds) == 2:
            later = [k for k in later if self.starts[k] < bounds[1]]
        parts = [circuit.either(self.alive[k] ^ 1, vector[k]) for k in later]
        if force >= 0:
            parts.append(vector[first - 1])
        longer = circuit.conjunction(parts)
        ended = [
            circuit.conjunction([self.alive[k], self.after[k] ^ 1, vector[k]]) for k in range(first)
        ]  # the trace is over by then: what holds in its last state holds
        return circuit.choose(self.alive[first], longer, circuit.disjunction(ended))


def _forward(start: Literal, vector: TruthVector, step: Callable[[Literal, Literal], Literal]) -> TruthVector:
    out: TruthVector = []
    for literal in vector:
        start = step(start, literal)
        out.append(start)
    return out


def _negated(vector: TruthVector) -> TruthVector:
    return [literal ^ 1 for literal in vector]
