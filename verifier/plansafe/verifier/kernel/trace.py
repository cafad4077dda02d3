"""States and traces (docs/language.md, sections 2 and 4).

The values of a fact, fluent or formula along a trace are a *signal*: the letters at which the value changes, with the
new value, from letter 0 on. ``[(0, FALSE), (3, TRUE)]`` is false at letters 0, 1 and 2, and true from then on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from .formulas import Binding, Fact, ground
from .reader import KernelLimit

FALSE, UNDEFINED, TRUE = range(3)
"""Truth values in their order: ``and`` is the least of its operands, ``or`` the greatest, and ``not`` is TRUE - v."""
Signal = Sequence[tuple[int, Any]]
"""Letters with the value from there on: a truth value, or a number (``None``: undefined)."""
Change = tuple[str, Fact, Any]
"""A change by an effect: "add", "delete" or an assignment; the fact or fluent; the number."""

LetterStart = tuple[Any, int]
"""The earliest time of a letter, and 1 if the letter is about moments after this time only."""

CONSTANT_SIGNALS: tuple[Signal, ...] = (((0, FALSE),), ((0, UNDEFINED),), ((0, TRUE),))
"""By truth value: the signal that always has it."""
ALWAYS_FALSE, _, ALWAYS_TRUE = CONSTANT_SIGNALS


class Work:
    """Counts work up to a limit. The count is the same for the same texts on every machine."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.done = 0

    def spend(self, units: int = 1) -> None:
        """Count an evaluated formula, a visited fact or a step. Raises ``KernelLimit``."""
        self.done += units
        if self.limit is not None and self.done > self.limit:
            raise KernelLimit("more work than was allowed")


class FactIndex:
    """A set of facts, indexed by predicate and, for predicates that were queried, by the object at each place."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts_by_predicate: dict[str, dict[Fact, None]] = {}
        self._facts_by_place: dict[str, dict[tuple[int, str], dict[Fact, None]]] = {}
        for fact in facts:
            self.add(fact)

    def __contains__(self, fact: Fact) -> bool:
        return fact in self._facts_by_predicate.get(fact[0], ())

    def __iter__(self) -> Iterator[Fact]:
        for facts in self._facts_by_predicate.values():
            yield from facts

    def find_with_predicate(self, predicate: str) -> Mapping[Fact, None]:
        """Return all facts of a predicate."""
        return self._facts_by_predicate.get(predicate, {})

    def add(self, fact: Fact) -> None:
        """Add a fact."""
        self._facts_by_predicate.setdefault(fact[0], {})[fact] = None
        if fact[0] in self._facts_by_place:
            places = self._facts_by_place[fact[0]]
            for place in enumerate(fact):
                places.setdefault(place, {})[fact] = None

    def discard(self, fact: Fact) -> None:
        """Remove a fact if it is in the set."""
        if fact in self:
            del self._facts_by_predicate[fact[0]][fact]
            if fact[0] in self._facts_by_place:
                for place in enumerate(fact):
                    del self._facts_by_place[fact[0]][place][fact]

    def find_matching(self, pattern: Sequence[str], binding: Binding) -> Mapping[Fact, None]:
        """Return all facts that fit the pattern, and perhaps a few others. ``_`` fits every object."""
        terms = ground(pattern, binding)
        places = [place for place in enumerate(terms) if place[1] != "_" and place[1][0] != "?"]
        if len(places) == len(terms):
            return {terms: None} if terms in self else {}
        smallest = self.find_with_predicate(terms[0])
        for place in places[1:] if smallest else ():
            facts = self._find_place_index(terms[0]).get(place, {})
            smallest = facts if len(facts) < len(smallest) else smallest
        return smallest

    def _find_place_index(self, predicate: str) -> dict[tuple[int, str], dict[Fact, None]]:
        """Return the facts of a predicate by (place, object), indexed on the first call."""
        if predicate not in self._facts_by_place:
            self._facts_by_place[predicate] = {}
            for fact in self._facts_by_predicate[predicate]:
                for place in enumerate(fact):
                    self._facts_by_place[predicate].setdefault(place, {})[fact] = None
        return self._facts_by_place[predicate]


class View(Protocol):
    """A state (a single letter) or a trace, in which formulas are evaluated.

    ``possible_facts`` contains the facts that are true at some letter, and perhaps others. ``literal``: definitions are
    executed without the shortcuts that README.md lists.
    """

    work: Work
    literal: bool
    possible_facts: FactIndex

    def signal(self, fact: Fact) -> Signal:
        """Return the values of a fact."""

    def read_number(self, fluent: Fact) -> Signal:
        """Return the values of a fluent."""


class State:
    """Facts (derived facts included) and numbers. ``literal``: definitions are executed without shortcuts."""

    def __init__(self, facts: Iterable[Fact], numbers: Mapping[Fact, Fraction], work: Work, literal: bool) -> None:
        self.facts = self.possible_facts = FactIndex(facts)
        self.numbers = dict(numbers)
        self.work = work
        self.literal = literal

    def signal(self, fact: Fact) -> Signal:
        """Return the value of a fact."""
        return ALWAYS_TRUE if fact in self.facts else ALWAYS_FALSE

    def read_number(self, fluent: Fact) -> Signal:
        """Return the value of a fluent."""
        return ((0, self.numbers.get(fluent)),)


class StepInterval(NamedTuple):
    """The letters of a step; more than one only for ``action-during``."""

    first: int
    last: int
    step: int


class Trace:
    """Letters 0..n: their times, step numbers and steps, and the changes of each fact and fluent.

    ``timed``: letters may be less than 1 apart. ``letters_with_same_time_next``: letters after which another letter may
    come at the same time. A letter between two happenings, while numbers change continuously, is about all moments
    between two; its time is one of them. ``starts``: the starts of the letters. ``steps[letter]``: the number of the
    latest step that led to a letter.
    """

    def __init__(self, state: State, timed: bool = False) -> None:
        self.work = state.work
        self.work.spend(len(state.numbers))
        self.literal = state.literal
        self.times = [Fraction(0)]
        self.starts: list[LetterStart] = [(Fraction(0), 0)]
        self.steps = [0]
        self.step_intervals: dict[Fact, list[StepInterval]] = {}  # (one of STEP_PREDICATES, name, object ..)
        self.possible_facts = FactIndex()
        self.timed = timed
        self.letters_with_same_time_next = set[int]()
        self.history: dict[Fact, list[tuple[int, Any]]] = {}
        for fact in state.facts:
            self.work.spend()
            self._record(fact, TRUE, FALSE)
        for fluent, value in state.numbers.items():
            self._record(fluent, value, None)

    @property
    def last(self) -> int:
        """The last letter."""
        return len(self.times) - 1

    def _record(self, fact: Fact, value: Any, before: Any) -> None:
        """Record the value at the last letter; ``before``: the value until then of a fact without recorded values."""
        if fact not in self.history:
            self.history[fact] = [(0, before)] if self.last else []
            self.possible_facts.add(fact)
        self.history[fact].append((self.last, value))

    def append(
        self,
        time: Fraction,
        step: int,
        change: StateChange,
        numbers: Mapping[Fact, Fraction],
        after: Fraction | None = None,
    ) -> None:
        """Append a letter; ``after``: it is about the moments after this time."""
        self.times.append(time)
        self.starts.append((time, 0) if after is None else (after, 1))
        self.steps.append(step)
        for fact in change.added:
            self._record(fact, TRUE, FALSE)
        for fact in change.removed:
            self._record(fact, FALSE, FALSE)
        for fluent in change.numbers:
            self._record(fluent, numbers[fluent], None)

    def add_step(self, kind: str, terms: Fact, interval: StepInterval) -> None:
        """Record the letters of a step."""
        fact = (kind, *terms)
        self.step_intervals.setdefault(fact, []).append(interval)
        self.possible_facts.add(fact)

    def signal(self, fact: Fact) -> Signal:
        """Return the values of a fact."""
        return self.history.get(fact, ALWAYS_FALSE)

    def read_number(self, fluent: Fact) -> Signal:
        """Return the values of a fluent."""
        return self.history.get(fluent, ((0, None),))

    def states(self) -> tuple[frozenset[Fact], ...]:
        """Return the facts of each letter."""
        facts_by_letter = [set[Fact]() for _ in self.times]
        for fact, signal in self.history.items():
            if fact[0] != "#":
                for first, end, value in iterate_constant_stretches(signal, 0, self.last):
                    for letter in range(first, end + 1) if value else ():
                        facts_by_letter[letter].add(fact)
        return tuple([frozenset(facts) for facts in facts_by_letter])


class PastState:
    """The state at an earlier letter of a trace."""

    def __init__(self, trace: Trace, letter: int) -> None:
        self._trace = trace
        self._letter = letter
        self.work = trace.work
        self.literal = trace.literal
        self.possible_facts = trace.possible_facts

    def signal(self, fact: Fact) -> Signal:
        """Return the value of a fact."""
        return ALWAYS_TRUE if find_value(self._trace.signal(fact), self._letter) else ALWAYS_FALSE

    def read_number(self, fluent: Fact) -> Signal:
        """Return the value of a fluent."""
        return ((0, find_value(self._trace.read_number(fluent), self._letter)),)


class StateChange(NamedTuple):
    """The facts added and removed, and the previous values of the changed fluents."""

    added: list[Fact]
    removed: list[Fact]
    numbers: dict[Fact, Fraction | None]


def find_value(signal: Signal, letter: int) -> Any:
    """Return the value at a letter."""
    return signal[bisect_right(signal, letter, key=lambda change: change[0]) - 1][1]


def iterate_constant_stretches(signal: Signal, first: int, last: int) -> Iterator[tuple[int, int, Any]]:
    """Yield the stretches (first letter, last letter, value) without changes between two letters."""
    start = bisect_right(signal, first, key=lambda change: change[0]) - 1
    for position in range(start, len(signal)):
        letter, value = signal[position]
        if letter > last:
            return
        end = signal[position + 1][0] - 1 if position + 1 < len(signal) else last
        yield max(first, letter), min(end, last), value


def normalize(changes: Iterable[tuple[int, Any]]) -> Signal:
    """Return a signal: the last change of each letter, without those that keep the value."""
    signal = list[tuple[int, Any]]()
    for letter, value in changes:
        if signal and signal[-1][0] == letter:
            signal.pop()
        if not signal or signal[-1][1] != value:
            signal.append((letter, value))
    return signal


def merge_signals(signals: Sequence[Signal]) -> Iterator[tuple[int, list[Any]]]:
    """Yield each letter at which a signal changes, with the values of all signals.

    All letters share one list of values, so the caller must copy a list that it keeps.
    """
    events = sorted([(letter, position) for position, signal in enumerate(signals) for letter, _ in signal])
    values: list[Any] = [None] * len(signals)
    change_counts = [0] * len(signals)
    for (letter, position), (next_letter, _) in pairwise([*events, (-1, 0)]):
        _, values[position] = signals[position][change_counts[position]]
        change_counts[position] += 1
        if next_letter != letter:
            yield letter, values
