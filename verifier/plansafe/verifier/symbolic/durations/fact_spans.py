"""Why a condition on single states holds throughout a run, or does not: by when its facts are true.

Each fact is true over some spans of time, from an event that makes it true to the next that does not. A conjunction is
never true if of any choice of spans, one for each literal, two do not overlap: spans that overlap in pairs have a
moment in common (Helly's theorem on a line). So the order of two events is reason enough, where otherwise the order of
all would have to be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.conjunctions import Conjunction, FactLiteral

MAX_STEPS = 5_000
Place = tuple[Number, bool]
Order = tuple[int, int]


class Span(NamedTuple):
    """From an event (``None``: from the beginning) until the first of some events (none: for ever), not included."""

    start: int | None
    ends: tuple[int, ...]


class SpanReason(NamedTuple):
    """Whether no conjunction is ever true, and the orders of events that this follows from."""

    kept: bool
    orders: list[Order]


class FactSpans:
    """The spans of a run's facts.

    ``places``: where its events came; ``changes``: the facts that each really adds, and deletes.
    """

    def __init__(
        self,
        places: dict[int, Place],
        changes: dict[int, tuple[set[tuple[int, int]], set[tuple[int, int]]]],
        initially: Callable[[FactLiteral], bool],
    ) -> None:
        self._places = places
        self._changes = changes
        self._initially = initially
        self._known: dict[FactLiteral, list[Span]] = {}

    def of(self, literal: FactLiteral) -> list[Span]:
        """The spans over which a literal is true, in order of their starts; they may overlap."""
        found = self._known.get(literal)
        if found is None:
            found = self._known[literal] = self._find(literal)
        return found

    def _find(self, literal: FactLiteral) -> list[Span]:
        fact = (literal.predicate, literal.code)
        turns = []
        for event, (adds, deletes) in self._changes.items():
            if fact in adds or fact in deletes:
                turns.append((self._places[event], event, (fact in adds) is literal.positive))
        turns.sort()
        starts: list[tuple[int, int | None]] = [(-1, None)] if self._initially(literal) else []
        starts += [(at, event) for at, (_, event, on) in enumerate(turns) if on]
        out = []
        for at, start in starts:
            ends: list[int] = []
            for _, event, on in turns[at + 1 :]:
                if on and ends:
                    break
                if not on:
                    ends.append(event)
            out.append(Span(start, tuple(ends)))
        return out

    def reason(self, conjunctions: Iterable[Conjunction], within: Span | None = None) -> SpanReason:
        """Why no conjunction is ever true (``within`` a span), or one is. Raises :class:`LimitReached`."""
        self._steps = 0
        orders: list[Order] = []
        for conjunction in sorted(conjunctions, key=sorted):
            choices = sorted([self.of(literal) for literal in conjunction], key=len)
            if within is not None:
                choices.insert(0, [within])
            found = self._together(choices, [], orders)
            if found is not None:
                pairs = [(a.start, end) for a in found for b in found if a is not b for end in b.ends]
                return SpanReason(False, [(start, end) for start, end in pairs if start is not None])
        return SpanReason(True, orders)

    def _together(self, choices: list[list[Span]], chosen: list[Span], orders: list[Order]) -> list[Span] | None:
        """Spans that all overlap, one of each of the remaining choices; else orders because of which there are none."""
        if len(chosen) == len(choices):
            return chosen
        for span in choices[len(chosen)]:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise LimitReached(LimitKind.QUESTION)
            apart = next(filter(None, [self._apart(span, other) for other in chosen]), None)
            if apart is not None:
                orders.append(apart)
                continue
            found = self._together(choices, [*chosen, span], orders)
            if found is not None:
                return found
        return None

    def _apart(self, one: Span, other: Span) -> Order | None:
        """The start of one and an end of the other that is not after it."""
        for a, b in ((one, other), (other, one)):
            if a.start is not None:
                for end in b.ends[:1]:
                    if self._places[end] <= self._places[a.start]:
                        return a.start, end
        return None
