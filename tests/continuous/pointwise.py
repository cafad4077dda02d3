"""Direct evaluation of a hybrid trace: conditions and rules at many rational moments, read from the texts.

A trace is a list of letters: single moments, and open intervals in which each number follows a polynomial. Every
interval is sampled at rational moments, at which comparisons are evaluated in floating point, and exactly where the
difference of the sides is small. Nothing here is shared with the engine or the kernel.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from hybrid_random import HybridCase

Sexp = Any
Values = np.ndarray
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
OBJECTS = ("o1", "o2")
SMALL = 1e-7
TINY = Fraction(1, 10**25)
Course = Mapping[Any, tuple[Any, ...]]


def read(text: str) -> Sexp:
    """Read one expression as nested tuples."""
    stack: list[list[Sexp]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    return stack[0][0]


def substitute(expr: Sexp, binding: Mapping[str, str]) -> Sexp:
    """Replace variables by objects."""
    return binding.get(expr, expr) if isinstance(expr, str) else tuple(substitute(part, binding) for part in expr)


class Letter(NamedTuple):
    """A moment, or with ``end`` all moments between ``time`` and ``end``; the step that led to it; facts and courses.

    The course of a fluent is a sum of p(t) e^(q (t - start)): the coefficients of each polynomial p, the constant
    first, by their exponents q. ``running`` are the durative actions that run in an interval, ``active`` the processes:
    name, objects. ``happened`` are the events of a round.
    """

    time: Any
    end: Any
    facts: frozenset[Sexp]
    courses: Mapping[Sexp, Course]
    running: tuple[Sexp, ...] = ()
    active: frozenset[Sexp] = frozenset()
    happened: frozenset[Sexp] = frozenset()
    start: Any = Fraction(0)

    def value(self, fluent: Sexp, time: Any) -> Any:
        """Return the value of a fluent at a time: exact, or with an error below ``TINY`` if it has exponentials."""
        value = Fraction(0)
        for exponent, p in self.courses[fluent].items():
            moment = approximate(time) if exponent else time
            part: Any = Fraction(0)
            for a in reversed(p):
                part = part * moment + (approximate(a) if exponent else a)
            if exponent:
                part = part * exponential(exponent * (moment - approximate(self.start)))
            value = value + part
        return value

    def floats(self, fluent: Sexp, times: Values) -> Values:
        """Return the values of a fluent at times in floating point."""
        parts = [
            np.polynomial.polynomial.polyval(times, [float(a) for a in p] or [0.0])
            * np.exp(float(exponent) * (times - float(self.start)))
            for exponent, p in self.courses[fluent].items()
        ]
        return np.sum([np.zeros_like(times), *parts], axis=0)

    def slopes(self, fluent: Sexp, times: Values) -> Values:
        """Return the derivatives of a fluent at times in floating point."""
        slopes = {}
        for exponent, p in self.courses[fluent].items():
            derivative = [float(i * a) for i, a in enumerate(p)][1:]
            slopes[exponent] = tuple(
                np.polynomial.polynomial.polyadd(derivative or [0.0], [float(exponent) * float(a) for a in p] or [0.0])
            )
        return self._replace(courses={fluent: slopes}).floats(fluent, times)

    def is_constant(self, fluent: Sexp) -> bool:
        """Whether a fluent has one value."""
        return all(exponent == 0 and len(p) < 2 for exponent, p in self.courses[fluent].items())


def approximate(value: Any) -> Fraction:
    """Return a fraction near a number; a fraction itself."""
    if isinstance(value, Fraction | int):
        return Fraction(value)
    from plansafe.verifier.kernel.real_numbers import enclose

    return enclose(value, TINY**2)[0]


def exponential(x: Fraction) -> Fraction:
    """Return e^x with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


class Samples:
    """The samples of a letter: rational moments, and the values of conditions at them."""

    def __init__(self, letter: Letter, count: int) -> None:
        self.letter = letter
        self.count = 1 if letter.end is None else count
        self.first, last = (letter.time,) * 2 if letter.end is None else _inner_interval(letter.time, letter.end)
        self.distance = (last - self.first) / (count - 1)
        self.floats = np.array([float(self.first) + float(self.distance) * i for i in range(self.count)])
        self.is_exact = all(exponent == 0 for course in letter.courses.values() for exponent in course)
        self._cache: dict[Sexp, Values] = {}

    def number(self, expr: Sexp) -> Any:
        """Return the values in floating point; ``None`` where a number is undefined."""
        if isinstance(expr, str) and re.fullmatch(r"[-+]?[0-9.]+", expr):
            return float(expr)
        if isinstance(expr, tuple) and expr[0] in ARITHMETIC:
            parts = [self.number(part) for part in expr[1:]]
            return -parts[0] if len(parts) == 1 else reduce(ARITHMETIC[expr[0]], parts)
        return self.letter.floats(expr, self.floats)

    def exact(self, expr: Sexp, i: int) -> Any:
        """Return the exact value at a sample."""
        if isinstance(expr, str) and re.fullmatch(r"[-+]?[0-9.]+", expr):
            return Fraction(expr)
        if isinstance(expr, tuple) and expr[0] in ARITHMETIC:
            parts = [self.exact(part, i) for part in expr[1:]]
            return -parts[0] if len(parts) == 1 else reduce(ARITHMETIC[expr[0]], parts)
        return self.letter.value(expr, self.first + self.distance * i)

    def compare_exactly(self, op: str, left: Sexp, right: Sexp, i: int) -> bool:
        """Return whether a comparison holds at a sample; values with exponentials are equal if they are close."""
        difference = self.exact(left, i) - self.exact(right, i)
        is_close = not self.is_exact and abs(difference) < TINY
        return bool(COMPARE[op](Fraction(0) if is_close else difference, 0))

    def is_constant(self, expr: Sexp) -> bool:
        """Whether the value is the same at all samples."""
        if isinstance(expr, tuple) and expr[0] in ARITHMETIC:
            return all(self.is_constant(part) for part in expr[1:])
        return isinstance(expr, str) or self.letter.is_constant(expr)

    def compare(self, op: str, left: Sexp, right: Sexp) -> Values:
        """Return where a comparison holds."""
        if self.is_constant(left) and self.is_constant(right):
            return np.full(self.count, self.compare_exactly(op, left, right, 0))
        a, b = self.number(left), self.number(right)
        values = np.broadcast_to(COMPARE[op](a, b), (self.count,)).copy()
        near = np.abs(a - b) <= SMALL * (1 + np.abs(a) + np.abs(b))
        for i in np.nonzero(np.broadcast_to(near, values.shape))[0]:
            values[i] = self.compare_exactly(op, left, right, i)
        return values

    def holds(self, formula: Sexp) -> Values:
        """Return where a state formula holds."""
        if formula not in self._cache:
            self._cache[formula] = self._evaluate(formula)
        return self._cache[formula]

    def _evaluate(self, formula: Sexp) -> Values:
        everywhere = np.ones(self.count, dtype=bool)
        match formula:
            case () | ("and",):
                return everywhere
            case ("and", *parts):
                return np.logical_and.reduce([self.holds(part) for part in parts])
            case ("or", *parts):
                return np.logical_or.reduce([self.holds(part) for part in parts])
            case ("not", part):
                return ~self.holds(part)
            case (("forall" | "exists") as op, (variable, *_), part):
                parts = [self.holds(substitute(part, {variable: o})) for o in OBJECTS]
                return (np.logical_and if op == "forall" else np.logical_or).reduce(parts)
            case (op, left, right) if op in COMPARE:
                return self.compare(op, left, right)
        return everywhere if formula in self.letter.facts else ~everywhere


def _inner_interval(start: Any, end: Any) -> tuple[Fraction, Fraction]:
    """Return a rational interval inside an open interval, close to its ends."""
    from plansafe.verifier.kernel.real_numbers import enclose

    bounds = [enclose(value, Fraction(1, 10**9)) for value in (start, end)]
    low, high = bounds[0][1], bounds[1][0]
    width = high - low
    if width <= 0:
        raise TooShort
    return low + width / 5000, high - width / 5000


class TooShort(Exception):
    """An interval is too short to be sampled."""


class SampledTrace:
    """A trace with the samples of all its letters."""

    def __init__(self, letters: list[Letter], count: int) -> None:
        self.samples = [Samples(letter, count) for letter in letters]
        self.times = np.concatenate([s.floats for s in self.samples])
        self.inside = np.concatenate([np.full(s.count, s.letter.end is not None) for s in self.samples])

    def values(self, formula: Sexp) -> Values:
        """Return where a past, future or state formula holds."""
        match formula:
            case (("once" | "sometime") as op, part):
                values = self.values(part)
                return np.logical_or.accumulate(values) if op == "once" else _suffix(np.logical_or, values)
            case (("historically" | "always") as op, part):
                values = self.values(part)
                return np.logical_and.accumulate(values) if op == "historically" else _suffix(np.logical_and, values)
            case ("since", left, right):
                return _recur(self.values(left), self.values(right), lambda f, g, then: g | (f & then), False)
            case ("until", left, right):
                return _recur(
                    self.values(left)[::-1], self.values(right)[::-1], lambda f, g, then: g | (f & then), False
                )[::-1]
            case ("release", left, right):
                return _recur(
                    self.values(left)[::-1], self.values(right)[::-1], lambda f, g, then: g & (f | then), True
                )[::-1]
            case ("sometime-after", left, right):
                answered = _suffix(np.logical_or, self.values(right))
                return _suffix(np.logical_and, ~self.values(left) | answered)
            case ("and", *parts) if _is_temporal(formula):
                return np.logical_and.reduce([self.values(part) for part in parts])
        return np.concatenate([s.holds(formula) for s in self.samples])

    def keeps(self, formula: Sexp) -> bool:
        """Whether a formula about the whole trace holds."""
        match formula:
            case ("at", "end", part):
                return bool(self.values(part)[-1])
            case ("within", bound, part):
                return bool(self.values(part)[self.times <= float(bound) + 1e-12].any())
            case ("at-most-once", part):
                values = self.values(part)
                return int(values[0]) + int((values[1:] & ~values[:-1]).sum()) < 2
            case ("sometime-before", left, right):
                f, g = self.values(left), self.values(right)
                before = np.concatenate([[False], np.logical_or.accumulate(g)[:-1]])
                return not (f & ~before).any()
            case ("always-within", bound, left, right):
                return self._answers(float(bound), self.values(left), self.values(right))
            case ("hold-during", start, end, part):
                return self._stays(float(start), float(end), self.values(part))
            case ("hold-after", start, part):
                return self._stays(float(start), np.inf, self.values(part))
        return bool(self.values(formula)[0])

    def _answers(self, bound: float, f: Values, g: Values) -> bool:
        """Whether each moment with f is answered in time. An answer between samples counts from the previous sample."""
        earliest = np.concatenate([[self.times[0]], np.where(self.inside[1:], self.times[:-1], self.times[1:])])
        position = len(g)
        for i in reversed(range(len(g))):
            position = i if g[i] else position
            if f[i] and (position == len(g) or earliest[position] > self.times[i] + bound + 1e-9):
                return False
        return True

    def _stays(self, start: float, end: float, values: Values) -> bool:
        if self.times[-1] <= start:
            return bool(values[-1])
        first = int(np.nonzero(self.times <= start + 1e-12)[0][-1])
        later = (self.times > start + 1e-12) & (self.times < end - 1e-12)
        return bool(values[first]) and bool(values[later].all())


def _is_temporal(formula: Sexp) -> bool:
    if not isinstance(formula, tuple) or not formula:
        return False
    return formula[0] in ("once", "historically", "since") or any(_is_temporal(part) for part in formula[1:])


def _suffix(combine: Any, values: Values) -> Values:
    return combine.accumulate(values[::-1])[::-1]


def _recur(f: Values, g: Values, step: Callable[[bool, bool, bool], bool], value: bool) -> Values:
    result = np.empty(len(f), dtype=bool)
    for i in range(len(f)):
        value = step(bool(f[i]), bool(g[i]), value)
        result[i] = value
    return result


# What the texts say about a trace


def structures(case: HybridCase, kind: str) -> Iterator[tuple[Sexp, dict[str, Sexp]]]:
    """Yield the ground processes or events of a case: the name with its objects, and the fields."""
    texts = [*case.structures, *re.findall(r"\(:process passing.*", case.head)]
    for text in texts:
        expr = read(text)
        if expr[0] != kind:
            continue
        fields = dict(zip(expr[2::2], expr[3::2], strict=True))
        variables = [token for token in fields[":parameters"] if token[0] == "?"]
        for objects in product(OBJECTS, repeat=len(variables)):
            binding = dict(zip(variables, objects, strict=True))
            yield (expr[1], *objects), {key: substitute(value, binding) for key, value in fields.items()}


def rates(effect: Sexp) -> Iterator[tuple[Sexp, int, Sexp]]:
    """Yield the continuous effects: fluent, sign, rate."""
    match effect:
        case ("and", *parts):
            for part in parts:
                yield from rates(part)
        case (("increase" | "decrease") as op, fluent, ("*", "#t", rate)):
            yield fluent, 1 if op == "increase" else -1, rate


def check_dynamics(case: HybridCase, trace: SampledTrace, complete: bool = True) -> Iterator[str]:
    """Yield what contradicts the definitions: processes, rates, and events that do not happen.

    ``complete``: the trace does not end before a failed step.
    """
    processes, events = list(structures(case, ":process")), list(structures(case, ":event"))
    actions = {expr[1]: expr for expr in map(read, case.structures) if expr[0] == ":durative-action"}
    for samples in trace.samples:
        letter = samples.letter
        if letter.end is None:
            continue
        expected: dict[Sexp, Any] = {}
        flows = [f for name, fields in processes if name in letter.active for f in rates(fields[":effect"])]
        flows += [f for name in letter.running for f in rates(actions[name[0]][actions[name[0]].index(":effect") + 1])]
        for fluent, sign, rate in flows:
            expected[fluent] = expected.get(fluent, 0) + sign * samples.number(rate)
        for name, fields in processes:
            if not (samples.holds(fields[":precondition"]) == (name in letter.active)).all():
                yield f"process {name} switches after {float(letter.time)}"
        for fluent in letter.courses:
            actual = letter.slopes(fluent, samples.floats)
            if not np.allclose(actual, expected.get(fluent, 0.0), rtol=1e-6, atol=1e-6):
                yield f"the rate of {fluent} is wrong after {float(letter.time)}"
        for name in letter.running:
            condition = actions[name[0]][actions[name[0]].index(":condition") + 1]
            for part in condition[1:]:
                if part[:2] == ("over", "all") and not samples.holds(part[2]).all():
                    yield f"a condition over all of {name} fails after {float(letter.time)}"
    for before, after in zip(trace.samples, trace.samples[1:], strict=False):
        first, second = before.letter, after.letter
        if second.end is None and first.end is not None:
            for fluent in first.courses:
                jump = first.value(fluent, second.time) - second.value(fluent, second.time)
                if jump != 0 and (before.is_exact or abs(jump) > TINY):
                    yield f"{fluent} jumps at {float(second.time)}"
    yield from _check_events(events, trace, complete)


def _check_events(events: list[tuple[Sexp, dict[str, Sexp]]], trace: SampledTrace, complete: bool) -> Iterator[str]:
    """Yield the events that happen too late or although they cannot; an event is armed when its condition is false."""
    armed = {name for name, _ in events}
    due: set[Sexp] = set()
    late: set[Sexp] = set()
    for samples in trace.samples:
        letter = samples.letter
        if due and letter.happened != due:
            yield f"{sorted(letter.happened)} happens instead of {sorted(due)} at {float(letter.time)}"
        if not letter.happened <= armed:
            yield f"{sorted(letter.happened - armed)} happens again at {float(letter.time)}"
        armed -= letter.happened
        late = set() if letter.end is not None else late | (letter.happened - due)  # only a later moment arms these
        holding = {name: samples.holds(fields[":precondition"]) for name, fields in events}
        due = {name for name in armed if holding[name].any()}
        armed |= {name for name in holding if name not in late and not holding[name].all()}
        if letter.end is not None and due:
            yield f"{sorted(due)} does not happen after {float(letter.time)}"
    if due and complete:
        yield f"{sorted(due)} does not happen at the end"


def violated_rules(case: HybridCase, trace: SampledTrace) -> set[str]:
    """Return the names of the violated constraints and rules."""
    violated = {f"constraint-{i}" for i, text in enumerate(case.constraints, 1) if not trace.keeps(read(text))}
    for text in case.rules:
        kind, name, *keywords = read(text)
        fields = dict(zip(keywords[::2], keywords[1::2], strict=True))
        variables = [token for token in fields.pop(":parameters", ()) if token[0] == "?"]
        for objects in product(OBJECTS, repeat=len(variables)):
            binding = dict(zip(variables, objects, strict=True))
            if not _keeps_rule(trace, kind, {key: substitute(value, binding) for key, value in fields.items()}):
                violated.add(name)
    return violated


def _keeps_rule(trace: SampledTrace, kind: str, fields: dict[str, Sexp]) -> bool:
    if kind == ":trajectory":
        return trace.keeps(fields[":formula"])
    if kind == ":obligation":
        bound = fields.get(":within")
        if bound is None:
            return trace.keeps(("sometime-after", fields[":when"], fields[":then"]))
        return trace.keeps(("always-within", bound, fields[":when"], fields[":then"]))
    bad = ~trace.values(fields[":require"]) if ":require" in fields else trace.values(fields[":forbid"])
    if ":when" in fields:
        bad = bad & trace.values(fields[":when"])
    return not (bad[-1] if kind == ":termination" else bad.any())
