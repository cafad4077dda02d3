"""Conjunctions of facts that a condition on single states forbids, and why they are never true in a run.

Each fact is true over some spans of time, from an event that makes it true to the next event that makes it false. A
conjunction is never true if every choice of spans, one for each literal, has two that do not overlap: spans that
overlap in pairs have a common point (Helly's theorem on a line). So the order of a few pairs of events is a sufficient
reason, where otherwise the run would depend on the order of all events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.state import State
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import Atom, Binding, Compare, Equal, Formula, Number, Task, Temporal, Truth, ground
from plansafe.verifier.model.operations import Leaf, fold_formula

MAX_CONJUNCTIONS = 500
"""Maximum number of conjunctions of a disjunctive form."""
MAX_STEPS = 5_000
"""Maximum number of spans that are tried for one question."""
EventTime = tuple[Number, bool]
"""The time of an event in a run, and whether it comes after the other events of that time."""
Order = tuple[int, int]


class FactLiteral(NamedTuple):
    """A fact that is true, or false."""

    predicate: int
    code: int
    positive: bool


Conjunction = frozenset[FactLiteral]
ConstantFact = Callable[[int, int], bool | None]
"""The value of a constant fact (predicate, code); ``None`` if events change it. Raises :class:`NoDisjunctiveForm`."""


class NoDisjunctiveForm(Exception):
    """The condition is about more than facts, or has too many conjunctions."""


def make_disjunctive_form(
    task: Task, formula: Formula, binding: Binding, truth: bool, find_constant: ConstantFact
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
                value = find_constant(leaf.predicate, code)
                if value is None:
                    return {frozenset((FactLiteral(leaf.predicate, code, positive),))}
            case Compare() | Temporal():
                raise NoDisjunctiveForm
            case _:
                assert_never(leaf)
        return {frozenset()} if value is positive else set()

    return fold_formula(task, formula, binding, truth, make_leaf_form, _join_forms)


def _join_forms(parts: Iterator[set[Conjunction]], all_parts: bool) -> set[Conjunction]:
    """The disjunctive form of the conjunction (``all_parts``) or the disjunction of parts.

    Inconsistent conjunctions are left out. If there are few conjunctions, those that imply another are also left out.
    """
    conjunctions: set[Conjunction] = {frozenset()} if all_parts else set()
    for part in parts:
        if all_parts:
            conjunctions = {union for left in conjunctions for right in part if is_consistent(union := left | right)}
        else:
            conjunctions |= part
        if len(conjunctions) > MAX_CONJUNCTIONS:
            raise NoDisjunctiveForm
    if len(conjunctions) >= 100:
        return conjunctions
    return {
        conjunction
        for conjunction in conjunctions
        if not any([weaker_conjunction < conjunction for weaker_conjunction in conjunctions])
    }


def is_consistent(conjunction: Conjunction) -> bool:
    """Whether no fact is both true and false."""
    return not any([literal._replace(positive=not literal.positive) in conjunction for literal in conjunction])


class Span(NamedTuple):
    """From an event (``None``: S0) until the first of some events (empty: the end of the trace), exclusive."""

    start: int | None
    ends: tuple[int, ...]


class SpanReason(NamedTuple):
    """Whether no conjunction is ever true, and the orders of events that this follows from."""

    is_never_true: bool
    orders: list[Order]


class FactSpans:
    """The spans of the facts in a run.

    ``event_times``: of its events; ``changes``: the facts that each event really adds, and deletes.
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
        self._step_count = 0

    @memoized
    def find_spans(self, literal: FactLiteral) -> list[Span]:
        """The spans over which a literal is true, in order of their starts; they may overlap."""
        fact = (literal.predicate, literal.code)
        changes = []
        for event, (adds, deletes) in self._changes.items():
            if fact in adds or fact in deletes:
                changes.append((self._event_times[event], event, (fact in adds) is literal.positive))
        changes.sort()
        is_initial = (literal.code in self._initial.facts[literal.predicate]) is literal.positive
        starts: list[tuple[int, int | None]] = [(-1, None)] if is_initial else []
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

    def find_reason(self, conjunctions: Iterable[Conjunction], within: Span | None = None) -> SpanReason:
        """Why no conjunction is ever true (``within`` a span), or one is. Raises :class:`LimitReached`."""
        self._step_count = 0
        orders: list[Order] = []
        for conjunction in sorted(conjunctions, key=sorted):
            choices = sorted([self.find_spans(literal) for literal in conjunction], key=len)
            if within is not None:
                choices.insert(0, [within])
            overlapping = self._find_overlapping(choices, [], orders)
            if overlapping is not None:
                pairs = [
                    (span, second_span)
                    for span in overlapping
                    for second_span in overlapping
                    if span is not second_span
                ]
                starts = [(span.start, end) for span, other in pairs for end in other.ends]
                return SpanReason(False, [(start, end) for start, end in starts if start is not None])
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
            self._step_count += 1
            if self._step_count > MAX_STEPS:
                raise LimitReached(LimitKind.QUESTION)
            separating_order = next(
                filter(None, [self._find_separating_order(span, earlier) for earlier in chosen]), None
            )
            if separating_order is not None:
                orders.append(separating_order)
                continue
            overlapping = self._find_overlapping(choices, [*chosen, span], orders)
            if overlapping is not None:
                return overlapping
        return None

    def _find_separating_order(self, first: Span, second: Span) -> Order | None:
        """The start of one span and an end of the other that is not after it."""
        for earlier, later in ((first, second), (second, first)):
            if earlier.start is not None:
                for end in later.ends[:1]:
                    if self._event_times[end] <= self._event_times[earlier.start]:
                        return earlier.start, end
        return None
