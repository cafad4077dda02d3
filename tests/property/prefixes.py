"""Formulas on all traces of a length at once, by their definitions; and what the engine's automata say on every prefix.

There are two propositions, so four letters. The value of a formula at position i on *all* traces of length n is one
integer of 4**n bits: bit w belongs to the trace whose letters are the base-4 digits of w, the first letter being the
most significant. The traces that extend a prefix are neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from case import Sexp

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    PRESENTLY_VIOLATED,
    LetterTime,
)
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import And, Atom, Formula, Not, Number, Or, Task, Temporal

PROPOSITIONS = ("a", "b")
LETTERS = 2 ** len(PROPOSITIONS)
BOUNDS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}
Values = list[int]  # for each position, the traces on which a formula holds there
Times = Sequence[Fraction]


# -- by definition ------------------------------------------------------------------------------------------------


@cache
def make_all_traces(length: int) -> int:
    """All traces of a length."""
    return (1 << int(LETTERS**length)) - 1


@cache
def encode_proposition(number: int, position: int, length: int) -> int:
    """The traces of a length whose letter at a position has a proposition. Bit ``number`` of the letter."""
    size = LETTERS ** (length - 1 - position)  # traces that share the letters up to the position
    block = 0
    for letter in range(LETTERS):
        if letter >> number & 1:
            block |= ((1 << size) - 1) << letter * size
    period = size * LETTERS
    out = 0
    for repeat in range(LETTERS**position):
        out |= block << repeat * period
    return out


def compute_values(formula: Sexp, times: Times) -> Values:
    """The value at each position, on all traces with these times (docs/language.md, section 4)."""
    n = len(times) - 1
    top = make_all_traces(n + 1)
    positions = range(n + 1)
    operator = formula[0]
    if operator in PROPOSITIONS:
        return [encode_proposition(PROPOSITIONS.index(str(operator)), i, n + 1) for i in positions]
    bounds = [Fraction(str(part)) for part in formula[1:] if isinstance(part, str)]
    operands = [compute_values(part, times) for part in formula[1:] if isinstance(part, tuple)]
    f = operands[0] if operands else []
    g = operands[-1] if operands else []
    match operator:
        case "and":
            return [intersection([operand[i] for operand in operands], top) for i in positions]
        case "or":
            return [union([operand[i] for operand in operands]) for i in positions]
        case "not":
            return [top & ~f[i] for i in positions]
        case "imply":
            return [top & ~f[i] | g[i] for i in positions]
        case "yesterday":
            return [f[i - 1] if i > 0 else 0 for i in positions]
        case "weak-yesterday":
            return [f[i - 1] if i > 0 else top for i in positions]
        case "once":
            return [union(f[: i + 1]) for i in positions]
        case "historically":
            return [intersection(f[: i + 1], top) for i in positions]
        case "since":
            return [union([g[j] & intersection(f[j + 1 : i + 1], top) for j in range(i + 1)]) for i in positions]
        case "next":
            return [f[i + 1] if i < n else 0 for i in positions]
        case "weak-next":
            return [f[i + 1] if i < n else top for i in positions]
        case "until":
            return [union([g[j] & intersection(f[i:j], top) for j in range(i, n + 1)]) for i in positions]
        case "release":
            # g up to and including the first f: at every j, g, or an f before it.
            return [intersection([g[j] | union(f[i:j]) for j in range(i, n + 1)], top) for i in positions]
        case "always":
            return [intersection(f[i:], top) for i in positions]
        case "sometime":
            return [union(f[i:]) for i in positions]
        case "sometime-after":
            return [intersection([top & ~f[j] | union(g[j:]) for j in range(i, n + 1)], top) for i in positions]
    return [compute_trace_value(str(operator), bounds, f, g, times, top)] * (n + 1)


def compute_trace_value(operator: str, bounds: list[Fraction], f: Values, g: Values, times: Times, top: int) -> int:
    """The traces on which an operator that looks at the whole trace holds."""
    n = len(times) - 1
    positions = range(n + 1)
    match operator:
        case "at-end":
            return f[n]
        case "within":
            return union([f[i] for i in positions if times[i] <= bounds[0]])
        case "at-most-once":
            # No f, later not f, later f again.
            broken = [f[i] & ~f[j] & f[k] for i in positions for j in range(i + 1, n + 1) for k in range(j + 1, n + 1)]
            return top & ~union(broken)
        case "sometime-before":
            return intersection([top & ~f[i] | union(g[:i]) for i in positions], top)
        case "always-within":
            answers = [union([g[j] for j in range(i, n + 1) if times[j] - times[i] <= bounds[0]]) for i in positions]
            return intersection([top & ~f[i] | answers[i] for i in positions], top)
    if times[n] <= bounds[0]:
        return f[n]
    force = max(i for i in positions if times[i] <= bounds[0])
    if operator == "hold-after":
        return intersection(f[force:], top)
    return f[force] & intersection([f[i] for i in positions if bounds[0] < times[i] < bounds[1]], top)


def union(parts: Sequence[int]) -> int:
    """The traces in at least one of the sets."""
    out = 0
    for part in parts:
        out |= part
    return out


def intersection(parts: Sequence[int], top: int) -> int:
    """The traces in all of the sets."""
    for part in parts:
        top &= part
    return top


# -- the engine's automata ----------------------------------------------------------------------------------------


@cache
def task() -> Task:
    """A task with the propositions and nothing else."""
    domain = "(define (domain tiny) (:predicates (a) (b)))"
    problem = "(define (problem tiny) (:domain tiny) (:init) (:goal (and)))"
    checker = Checker(Source("domain.pddl", domain), Source("problem.pddl", problem))
    assert checker.ok, checker.diagnostics
    return checker.compiled.task


def engine_formula(formula: Sexp) -> Formula:
    """The formula as the engine's model has it."""
    operator = str(formula[0])
    if operator in PROPOSITIONS:
        names = [predicate.name for predicate in task().predicates]
        return Atom(names.index(operator), ())
    parts = tuple(engine_formula(part) for part in formula[1:] if isinstance(part, tuple))
    match operator:
        case "and":
            return And(parts)
        case "or":
            return Or(parts)
        case "not":
            return Not(parts[0])
        case "imply":
            return Or((Not(parts[0]), parts[1]))
    return Temporal(operator, parts, tuple(number(str(part)) for part in formula[1:] if isinstance(part, str)))


def number(text: str) -> Number:
    """A bound, as the engine has numbers."""
    return model.normal_number(Fraction(text))


def holds(formula: Formula, letter: int) -> bool:
    """A state formula on one letter."""
    match formula:
        case model.Truth():
            return formula.value
        case Atom():
            return bool(letter >> PROPOSITIONS.index(task().predicates[formula.predicate].name) & 1)
        case Not():
            return not holds(formula.body, letter)
        case And():
            return all(holds(part, letter) for part in formula.parts)
        case Or():
            return any(holds(part, letter) for part in formula.parts)
    raise AssertionError(formula)


class Automaton:
    """A program with its letters. ``mode`` is "whole" or, for past formulas, "always"."""

    def __init__(self, formula: Sexp, timed: bool, mode: str = "whole") -> None:
        self.program = Program(task(), mode, engine_formula(formula))
        self.timed = timed
        leaves = self.program.leaves
        self.leaf_values = [
            sum(holds(leaf, letter) << bit for bit, leaf in enumerate(leaves)) for letter in range(LETTERS)
        ]

    def run(self, letters: Sequence[int], times: Times) -> int:
        """The state after these letters."""
        state = self.program.start
        for i, letter in enumerate(letters):
            letter_time = LetterTime(i, model.normal_number(times[i]), self.timed)
            state = self.program.step(
                state, self.leaf_values[letter], self.program.compare_time(letter_time), letter_time
            )
        return state


# -- prefix verdicts ----------------------------------------------------------------------------------------------


class PrefixValue(NamedTuple):
    """The value of a formula on a prefix, and whether it can be true, or false, on the prefix or a continuation."""

    is_true: bool
    can_be_true: bool
    can_be_false: bool


def find_prefix_values(formula: Sexp, prefix: Times, continuations: Sequence[Times]) -> list[PrefixValue]:
    """Find the values of a formula on each prefix with these times."""
    now = compute_values(formula, prefix)[0]
    values = [bool((now >> trace) & 1) for trace in range(LETTERS ** len(prefix))]
    prefix_values = [PrefixValue(value, value, not value) for value in values]
    for later in continuations:
        size = LETTERS ** len(later)
        all_later = (1 << size) - 1
        truth = compute_values(formula, [*prefix, *later])[0]
        data = truth if size > 1 else now
        for trace, (is_true, can_be_true, can_be_false) in enumerate(prefix_values):
            if can_be_true and can_be_false:
                continue
            part = (data >> (trace * size)) & all_later
            prefix_values[trace] = PrefixValue(is_true, can_be_true or part != 0, can_be_false or part != all_later)
    return prefix_values


def decode_trace(trace: int, length: int) -> list[int]:
    """Return the letters of the trace with this number."""
    return [trace // LETTERS ** (length - 1 - i) % LETTERS for i in range(length)]


def check_prefixes(
    formula: Sexp, prefix: Times, continuations: Sequence[Times], *, timed: bool, complete: bool
) -> Iterator[str]:
    """Find wrong verdicts of the engine on a prefix with these times; if ``complete``, also weak verdicts."""
    automaton = Automaton(formula, timed)
    for trace, (is_true, can_be_true, can_be_false) in enumerate(find_prefix_values(formula, prefix, continuations)):
        letters = decode_trace(trace, len(prefix))
        verdict = automaton.program.find_verdict(automaton.run(letters, prefix))
        where = f"{formula} on letters {letters} at times {[str(time) for time in prefix]}: verdict {verdict}"
        if (verdict >= PRESENTLY_SATISFIED) != is_true:
            yield f"{where}, but the value is {is_true}"
        elif verdict == PERMANENTLY_VIOLATED and can_be_true:
            yield f"{where}, but some continuation satisfies it"
        elif verdict == PERMANENTLY_SATISFIED and can_be_false:
            yield f"{where}, but some continuation violates it"
        elif complete and verdict in (PRESENTLY_VIOLATED, PRESENTLY_SATISFIED) and not (can_be_true and can_be_false):
            yield f"{where}, but it is permanent"


def untimed(length: int) -> list[Fraction]:
    """Letter i at time i."""
    return [Fraction(i) for i in range(length)]


def list_untimed_continuations(length: int, longest: int) -> list[list[Fraction]]:
    """The times of up to ``longest`` further letters."""
    return [untimed(length + more)[length:] for more in range(1, longest + 1)]


def generate_timed_prefixes(longest: int, steps: Sequence[str]) -> Iterator[list[Fraction]]:
    """Times with these distances; letter 1 may share the time 0 with letter 0."""
    for length in range(1, longest + 1):
        for gaps in product(*[("0", *steps) if i == 0 else steps for i in range(length - 1)]):
            yield accumulate_gaps(Fraction(0), gaps, True)


def list_timed_continuations(prefix: Sequence[Fraction], longest: int, steps: Sequence[str]) -> list[list[Fraction]]:
    """Times of up to ``longest`` further letters; the first may share the time 0 if the prefix is letter 0 alone."""
    out: list[list[Fraction]] = []
    for more in range(1, longest + 1):
        first = ("0", *steps) if len(prefix) == 1 else steps
        out += [accumulate_gaps(prefix[-1], gaps, False) for gaps in product(first, *[steps] * (more - 1))]
    return out


def accumulate_gaps(start: Fraction, gaps: Sequence[str], include: bool) -> list[Fraction]:
    """Running sums of the gaps."""
    out = [start]
    for gap in gaps:
        out.append(out[-1] + Fraction(gap))
    return out if include else out[1:]
