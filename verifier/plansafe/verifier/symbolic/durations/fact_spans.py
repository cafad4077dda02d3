"""Why a condition on single states holds throughout a run, or does not, from the spans in which its facts are true.

Each fact is true over some spans of time, from an event that makes it true to the next event that makes it false. A
conjunction is never true if every choice of spans, one for each literal, has two that do not overlap: spans that
overlap in pairs have a common point (Helly's theorem on a line). So the order of a few pairs of events is a sufficient
reason, where otherwise the run would depend on the order of all events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.conjunctions import Conjunction, FactLiteral

MAX_STEPS = 5_000
EventTime = tuple[Number, bool]
"""The time of an event in a run, and whether it comes after the other events of that time."""
Order = tuple[int, int]


class Span(NamedTuple):
    """From an event (``None``: S0) until the first of some events (empty: the end of the trace), exclusive."""

    start: int | None
    ends: tuple[int, ...]


class SpanReason(NamedTuple):
    """Whether no conjunction is ever true, and the orders of events that this follows from."""

    never_true: bool
    orders: list[Order]


class FactSpans:
    """The spans of the facts in a run.

    ``event_times``: of its events; ``changes``: the facts that each event really adds, and deletes.
    """

    def __init__(
        self,
        event_times: dict[int, EventTime],
        changes: dict[int, tuple[set[tuple[int, int]], set[tuple[int, int]]]],
        is_initial: Callable[[FactLiteral], bool],
    ) -> None:
        self._event_times = event_times
        self._changes = changes
        self._is_initial = is_initial
        self._spans: dict[FactLiteral, list[Span]] = {}

    def spans_of(self, literal: FactLiteral) -> list[Span]:
        """The spans over which a literal is true, in order of their starts; they may overlap."""
        spans = self._spans.get(literal)
        if spans is None:
            spans = self._spans[literal] = self._find_spans(literal)
        return spans

    def _find_spans(self, literal: FactLiteral) -> list[Span]:
        fact = (literal.predicate, literal.code)
        changes = []
        for event, (adds, deletes) in self._changes.items():
            if fact in adds or fact in deletes:
                changes.append((self._event_times[event], event, (fact in adds) is literal.positive))
        changes.sort()
        starts: list[tuple[int, int | None]] = [(-1, None)] if self._is_initial(literal) else []
        starts += [(index, event) for index, (_, event, makes_true) in enumerate(changes) if makes_true]
        spans = []
        for index, start in starts:
            ends: list[int] = []
            for _, event, makes_true in changes[index + 1 :]:
                if makes_true and ends:
                    break
                if not makes_true:
                    ends.append(event)
            spans.append(Span(start, tuple(ends)))
        return spans

    def reason(self, conjunctions: Iterable[Conjunction], within: Span | None = None) -> SpanReason:
        """Why no conjunction is ever true (``within`` a span), or one is. Raises :class:`LimitReached`."""
        self._steps = 0
        orders: list[Order] = []
        for conjunction in sorted(conjunctions, key=sorted):
            choices = sorted([self.spans_of(literal) for literal in conjunction], key=len)
            if within is not None:
                choices.insert(0, [within])
            overlapping = self._find_overlapping(choices, [], orders)
            if overlapping is not None:
                pairs = [(a.start, end) for a in overlapping for b in overlapping if a is not b for end in b.ends]
                return SpanReason(False, [(start, end) for start, end in pairs if start is not None])
        return SpanReason(True, orders)

    def _find_overlapping(
        self, choices: list[list[Span]], chosen: list[Span], orders: list[Order]
    ) -> list[Span] | None:
        """Spans that all overlap, one from each of the remaining choices.

        If there are none, adds the orders of events that exclude them to ``orders``.
        """
        if len(chosen) == len(choices):
            return chosen
        for span in choices[len(chosen)]:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise LimitReached(Limited.QUESTION)
            order = next(filter(None, [self._separating_order(span, earlier) for earlier in chosen]), None)
            if order is not None:
                orders.append(order)
                continue
            overlapping = self._find_overlapping(choices, [*chosen, span], orders)
            if overlapping is not None:
                return overlapping
        return None

    def _separating_order(self, first: Span, second: Span) -> Order | None:
        """The start of one span and an end of the other that is not after it."""
        for a, b in ((first, second), (second, first)):
            if a.start is not None:
                for end in b.ends[:1]:
                    if self._event_times[end] <= self._event_times[a.start]:
                        return a.start, end
        return None
