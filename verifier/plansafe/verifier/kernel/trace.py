"""States and traces (docs/language.md, sections 2 and 4).

What changes along a trace is kept as a *signal*: the letters at which it takes another value, with the value, from
letter 0 on. ``[(0, 0), (3, 2)]`` is false at letters 0, 1 and 2, and true from then on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from .formulas import Binding, Fact, ground
from .reader import KernelLimit

Signal = Sequence[tuple[int, Any]]
"""Letters with the value from there on: 0 (false), 1 (undefined) and 2 (true), or a number (``None``: undefined)."""
Change = tuple[str, Fact, Any]
"""What an effect does: "add", "delete" or an assignment; the fact or fluent; the number."""

CONSTANT: tuple[Signal, ...] = (((0, 0),), ((0, 1),), ((0, 2),))
FALSE, UNDEFINED, TRUE = CONSTANT


class Work:
    """Counts the work done, and gives up beyond the limit: the same for the same texts on every machine."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.done = 0

    def spend(self, units: int = 1) -> None:
        """A formula was evaluated, a fact looked at or a step taken. Raises ``KernelLimit``."""
        self.done += units
        if self.limit is not None and self.done > self.limit:
            raise KernelLimit("more work than was allowed")


class Facts:
    """A set of facts that knows, once asked, which of a predicate have an object at a place."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._of: dict[str, dict[Fact, None]] = {}
        self._places: dict[str, dict[tuple[int, str], dict[Fact, None]]] = {}
        for fact in facts:
            self.add(fact)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._of.get(fact[0], ())

    def __iter__(self) -> Iterator[Fact]:
        for facts in self._of.values():
            yield from facts

    def of(self, predicate: str) -> Mapping[Fact, None]:
        """All facts of a predicate."""
        return self._of.get(predicate, {})

    def add(self, fact: Fact) -> None:
        """The fact is there from now on."""
        self._of.setdefault(fact[0], {})[fact] = None
        if fact[0] in self._places:
            places = self._places[fact[0]]
            for place in enumerate(fact):
                places.setdefault(place, {})[fact] = None

    def discard(self, fact: Fact) -> None:
        """The fact is not there from now on."""
        if fact in self:
            del self._of[fact[0]][fact]
            if fact[0] in self._places:
                for place in enumerate(fact):
                    del self._places[fact[0]][place][fact]

    def matching(self, pattern: Sequence[str], b: Binding) -> Mapping[Fact, None]:
        """All facts that may fit the pattern, few of which do not."""
        wanted = ground(pattern, b)
        places = [place for place in enumerate(wanted) if place[1] != "_" and place[1][0] != "?"]
        if len(places) == len(wanted):
            return {wanted: None} if wanted in self else {}
        found = self.of(wanted[0])
        for place in places[1:] if found else ():
            there = self._placed(wanted[0]).get(place, {})
            found = there if len(there) < len(found) else found
        return found

    def _placed(self, predicate: str) -> dict[tuple[int, str], dict[Fact, None]]:
        if predicate not in self._places:
            self._places[predicate] = {}
            for fact in self._of[predicate]:
                for place in enumerate(fact):
                    self._places[predicate].setdefault(place, {})[fact] = None
        return self._places[predicate]


class View(Protocol):
    """Where formulas are evaluated: a state (a single letter), or a trace."""

    work: Work
    literal: bool

    @property
    def known(self) -> Facts:
        """All that is true at some letter, and perhaps more."""

    @property
    def last(self) -> int:
        """The last letter."""

    def signal(self, fact: Fact) -> Signal:
        """The values of a fact."""

    def number(self, fluent: Fact) -> Signal:
        """The values of a fluent."""


class State:
    """Facts (derived ones included) and numbers. ``literal``: definitions are executed without any shortcut."""

    last = 0

    def __init__(self, facts: Iterable[Fact], numbers: Mapping[Fact, Fraction], work: Work, literal: bool) -> None:
        self.facts = Facts(facts)
        self.numbers = dict(numbers)
        self.work = work
        self.literal = literal

    @property
    def known(self) -> Facts:
        """All that is true."""
        return self.facts

    def signal(self, fact: Fact) -> Signal:
        """The value of a fact."""
        return TRUE if fact in self.facts else FALSE

    def number(self, fluent: Fact) -> Signal:
        """The value of a fluent."""
        return ((0, self.numbers.get(fluent)),)


class Interval(NamedTuple):
    """The letters at which a step is taken; the last one is the first but for ``action-during``."""

    first: int
    last: int
    step: int


class Trace:
    """Letters 0..n: their times, step numbers, what is taken there, and how each fact and fluent changed."""

    def __init__(self, state: State, timed: bool = False) -> None:
        self.work = state.work
        self.work.spend(len(state.numbers))
        self.literal = state.literal
        self.times = [Fraction(0)]
        self.steps = [0]
        self.taken: dict[Fact, list[Interval]] = {}  # (one of STEP_PREDICATES, name, object ..)
        self.known = Facts()
        self.timed = timed  # letters may come closer than 1
        self.shared = set[int]()  # another letter may come at the time of these
        self._history: dict[Fact, list[tuple[int, Any]]] = {}
        for fact in state.facts:
            self.work.spend()
            self._changed(fact, 2, 0)
        for fluent, value in state.numbers.items():
            self._changed(fluent, value, None)

    @property
    def last(self) -> int:
        """The last letter."""
        return len(self.times) - 1

    def _changed(self, fact: Fact, value: Any, before: Any) -> None:
        if fact not in self._history:
            self._history[fact] = [(0, before)] if self.last else []
            self.known.add(fact)
        self._history[fact].append((self.last, value))

    def append(self, time: Fraction, step: int, delta: Delta, numbers: Mapping[Fact, Fraction]) -> None:
        """One more letter."""
        self.times.append(time)
        self.steps.append(step)
        for fact in delta.added:
            self._changed(fact, 2, 0)
        for fact in delta.removed:
            self._changed(fact, 0, 0)
        for fluent in delta.numbers:
            self._changed(fluent, numbers[fluent], None)

    def take(self, kind: str, terms: Fact, interval: Interval) -> None:
        """Something is taken."""
        fact = (kind, *terms)
        self.taken.setdefault(fact, []).append(interval)
        self.known.add(fact)

    @property
    def history(self) -> Mapping[Fact, Sequence[tuple[int, Any]]]:
        """Each fact and fluent with its changes: the letter, and the value from there on."""
        return self._history

    def signal(self, fact: Fact) -> Signal:
        """The values of a fact."""
        return self._history.get(fact, FALSE)

    def number(self, fluent: Fact) -> Signal:
        """The values of a fluent."""
        return self._history.get(fluent, ((0, None),))

    def states(self) -> tuple[frozenset[Fact], ...]:
        """The facts of each letter."""
        result = [set[Fact]() for _ in self.times]
        for fact, signal in self._history.items():
            if fact[0] != "#":
                for first, end, value in stretches(signal, 0, self.last):
                    for letter in range(first, end + 1) if value else ():
                        result[letter].add(fact)
        return tuple([frozenset(facts) for facts in result])


class Earlier:
    """The state at a letter of a trace that has gone on."""

    last = 0

    def __init__(self, trace: Trace, letter: int) -> None:
        self._trace = trace
        self._letter = letter
        self.work = trace.work
        self.literal = trace.literal
        self.known = trace.known

    def signal(self, fact: Fact) -> Signal:
        """The value of a fact."""
        return TRUE if value_at(self._trace.signal(fact), self._letter) else FALSE

    def number(self, fluent: Fact) -> Signal:
        """The value of a fluent."""
        return ((0, value_at(self._trace.number(fluent), self._letter)),)


class Delta(NamedTuple):
    """How one state differs from another; fluents with their values in the other."""

    added: list[Fact]
    removed: list[Fact]
    numbers: dict[Fact, Fraction | None]


def value_at(signal: Signal, letter: int) -> Any:
    """The value at a letter."""
    return signal[bisect_right(signal, letter, key=lambda change: change[0]) - 1][1]


def stretches(signal: Signal, first: int, last: int) -> Iterator[tuple[int, int, Any]]:
    """The stretches (first letter, last letter, value) in which a signal is constant, between two letters."""
    start = bisect_right(signal, first, key=lambda change: change[0]) - 1
    for i in range(start, len(signal)):
        letter, value = signal[i]
        if letter > last:
            return
        end = signal[i + 1][0] - 1 if i + 1 < len(signal) else last
        yield max(first, letter), min(end, last), value


def normal(changes: Iterable[tuple[int, Any]]) -> Signal:
    """A signal: of several changes at one letter the last counts, and what changes nothing is left out."""
    result = list[tuple[int, Any]]()
    for letter, value in changes:
        if result and result[-1][0] == letter:
            result.pop()
        if not result or result[-1][1] != value:
            result.append((letter, value))
    return result


def merged(signals: Sequence[Signal]) -> Iterator[tuple[int, list[Any]]]:
    """Each letter at which one of the signals changes, with the values of all."""
    events = sorted([(letter, i) for i, signal in enumerate(signals) for letter, _ in signal])
    values: list[Any] = [None] * len(signals)
    place = [0] * len(signals)
    for (letter, i), (following, _) in pairwise([*events, (-1, 0)]):
        values[i] = signals[i][place[i]][1]
        place[i] += 1
        if following != letter:
            yield letter, values
