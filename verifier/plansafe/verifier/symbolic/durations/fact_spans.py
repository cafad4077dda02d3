"""Conjunctions of facts that a condition on single states forbids, and why they are never true in a run.

Each fact is true over some spans of time, from an event that makes it true to the next event that makes it false. A
conjunction is never true if every choice of spans, one for each literal, has two that do not overlap: spans that
overlap in pairs have a common point (Helly's theorem on a line). So the order of a few pairs of events is a sufficient
reason, where otherwise the run would depend on the order of all events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.state import State
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import Atom, Binding, Compare, Equal, Formula, Number, Task, Temporal, Truth, ground
from plansafe.verifier.model.operations import Leaf, fold_formula

MAX_CONJUNCTIONS = 500
"""Maximum number of conjunctions in a disjunctive form."""
MAX_SIMPLIFIED_CONJUNCTIONS = 100
"""Disjunctive forms with fewer conjunctions are simplified, at a quadratic cost."""
MAX_TRIED_SPANS = 5_000
"""Maximum number of spans that are tried for one question."""
EventTime = tuple[Number, bool]
"""The time of an event in a run, and whether it comes after the other events of that time."""
EventOrder = tuple[int, int]
"""Two events whose order in the run is part of a reason: the start of a span, and an end of another span."""


class FactLiteral(NamedTuple):
    """A fact that is true, or false."""

    predicate: int
    code: int
    positive: bool


Conjunction = frozenset[FactLiteral]
FindConstantValue = Callable[[int, int], bool | None]
"""The value of a constant fact (predicate, code); ``None`` if events change it. Raises :class:`NoDisjunctiveForm`."""


class NoDisjunctiveForm(Exception):
    """The condition is about more than facts, or has too many conjunctions."""


def make_disjunctive_form(
    task: Task, formula: Formula, binding: Binding, truth: bool, find_constant_value: FindConstantValue
) -> set[Conjunction]:
    """The state formula (or its negation, unless ``truth``) in disjunctive normal form.

    Raises :class:`NoDisjunctiveForm`.
    """

    def make_leaf_form(leaf: Leaf, leaf_binding: Binding, positive: bool) -> set[Conjunction]:
        value: bool | None
        match leaf:
            case Truth():
                value = leaf.value
            case Equal():
                left, right = ground(leaf, leaf_binding)
                value = left == right
            case Atom():
                code = task.code_of(leaf.arguments, leaf_binding)
                value = find_constant_value(leaf.predicate, code)
                if value is None:
                    return {frozenset((FactLiteral(leaf.predicate, code, positive),))}
            case Compare() | Temporal():
                raise NoDisjunctiveForm
            case _:
                assert_never(leaf)
        return {frozenset()} if value is positive else set()

    return fold_formula(task, formula, binding, truth, make_leaf_form, _join_forms)


def _join_forms(parts: Iterator[set[Conjunction]], is_conjunction: bool) -> set[Conjunction]:
    """The disjunctive form of the conjunction (``is_conjunction``) or the disjunction of parts.

    Inconsistent conjunctions are left out. If there are few conjunctions, each that implies another is also left out.
    """
    conjunctions: set[Conjunction] = {frozenset()} if is_conjunction else set()
    for part in parts:
        if is_conjunction:
            conjunctions = {union for left in conjunctions for right in part if is_consistent(union := left | right)}
        else:
            conjunctions |= part
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise NoDisjunctiveForm
    if len(conjunctions) >= MAX_SIMPLIFIED_CONJUNCTIONS:
        return conjunctions
    return {conjunction for conjunction in conjunctions if not any([implied < conjunction for implied in conjunctions])}


def is_consistent(conjunction: Conjunction) -> bool:
    """Whether no fact is both true and false."""
    return not any([literal._replace(positive=not literal.positive) in conjunction for literal in conjunction])


class Span(NamedTuple):
    """From an event (``None``: S0) until the first of some events (empty: the end of the trace), exclusive."""

    start: int | None
    ends: tuple[int, ...]


class _LiteralChange(NamedTuple):
    """An event that makes a literal true or false."""

    time: EventTime
    event: int
    makes_true: bool


class SpanReason(NamedTuple):
    """Whether no conjunction is ever true, and the orders of events that this follows from."""

    is_never_true: bool
    orders: list[EventOrder]


class FactSpans:
    """The spans of the facts in a run.

    ``event_times``: for each event, its time; ``changes``: for each event, the facts that it adds and deletes in fact.
    """

    def __init__(
        self,
        event_times: dict[int, EventTime],
        changes: dict[int, tuple[set[tuple[int, int]], set[tuple[int, int]]]],
        initial: State,
    ) -> None:
        self._event_times = event_times
        self._changes = changes
        self._initial = initial
        self._tried_spans = 0

    @memoized
    def find_spans(self, literal: FactLiteral) -> list[Span]:
        """The spans over which a literal is true, in order of their starts; they may overlap."""
        fact = (literal.predicate, literal.code)
        literal_changes = sorted(
            [
                _LiteralChange(self._event_times[event], event, (fact in adds) is literal.positive)
                for event, (adds, deletes) in self._changes.items()
                if fact in adds or fact in deletes
            ]
        )
        is_true_initially = (literal.code in self._initial.facts[literal.predicate]) is literal.positive
        starts: list[tuple[int, int | None]] = [(-1, None)] if is_true_initially else []
        starts += [(index, change.event) for index, change in enumerate(literal_changes) if change.makes_true]
        spans = []
        for index, start in starts:
            ends: list[int] = []
            for change in literal_changes[index + 1 :]:
                if change.makes_true and ends:
                    break
                if not change.makes_true:
                    ends.append(change.event)
            spans.append(Span(start, tuple(ends)))
        return spans

    def find_reason(self, conjunctions: Iterable[Conjunction], within: Span | None = None) -> SpanReason:
        """Why no conjunction is ever true (``within`` a span), or one is. Raises :class:`LimitReached`."""
        self._tried_spans = 0
        orders: list[EventOrder] = []
        for conjunction in sorted(conjunctions, key=sorted):
            choices = sorted([self.find_spans(literal) for literal in conjunction], key=len)
            if within is not None:
                choices.insert(0, [within])
            overlapping_spans = self._find_overlapping_spans(choices, [], orders)
            if overlapping_spans is not None:
                return SpanReason(
                    False,
                    [
                        (first.start, end)
                        for first, second in permutations(overlapping_spans, 2)
                        if first.start is not None
                        for end in second.ends
                    ],
                )
        return SpanReason(True, orders)

    def _find_overlapping_spans(
        self, choices: list[list[Span]], chosen: list[Span], orders: list[EventOrder]
    ) -> list[Span] | None:
        """Spans that all overlap, one from each of the remaining choices.

        If there are none, adds the orders of events that exclude them to ``orders``.
        """
        if len(chosen) == len(choices):
            return chosen
        for span in choices[len(chosen)]:
            self._tried_spans += 1
            if self._tried_spans > MAX_TRIED_SPANS:
                raise LimitReached(LimitKind.QUESTION)
            separating_order = next(
                filter(None, [self._find_separating_order(span, earlier) for earlier in chosen]), None
            )
            if separating_order is not None:
                orders.append(separating_order)
                continue
            overlapping_spans = self._find_overlapping_spans(choices, [*chosen, span], orders)
            if overlapping_spans is not None:
                return overlapping_spans
        return None

    def _find_separating_order(self, first: Span, second: Span) -> EventOrder | None:
        """The start of one span and an end of the other that is not after it."""
        for earlier, later in ((first, second), (second, first)):
            if earlier.start is not None and later.ends:
                end = later.ends[0]
                if self._event_times[end] <= self._event_times[earlier.start]:
                    return earlier.start, end
        return None
