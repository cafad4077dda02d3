"""Partial orders of steps, their linear extensions, and the modal truth criterion (Chapman 1987).

Sets of steps are bit masks: bit ``i`` is step ``i``, counted from 1.

The criterion decides whether a fact has a value at a moment in every linear extension. For steps that write facts
unconditionally it is exact: a fact is true before step s in all orders iff something necessarily before s makes it true
(a step, or S0), and for every step that makes it false and is not necessarily after s, some step that makes it true is
necessarily between the two (a white knight). The criterion is about the trace in which every step is taken; up to the
first step that fails, that is the plan's trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

Precedence = tuple[int, int]


class CyclicOrder(Exception):
    """The pairs order nothing: ``steps`` is a cycle, each step before the next and the last before the first."""

    def __init__(self, steps: tuple[int, ...]) -> None:
        super().__init__(steps)
        self.steps = steps


def bit_numbers(mask: int) -> Iterator[int]:
    """The steps of a mask, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class PartialOrder:
    """``before[i]`` and ``after[i]`` are the steps that every order takes before, and after, step ``i``.

    Raises :class:`CyclicOrder`. Building costs one operation on masks for each pair.
    """

    def __init__(self, size: int, pairs: Iterable[Precedence]) -> None:
        self.size = size
        self.all_steps = (1 << size + 1) - 2
        self.pairs = tuple(dict.fromkeys(pairs))
        self._next: list[list[int]] = [[] for _ in range(size + 1)]
        for first, second in self.pairs:
            self._next[first].append(second)
        listed = self.linear_extension()
        if listed is None:
            raise CyclicOrder(find_cycle(size, self._next))
        self.before = [0] * (size + 1)
        self.after = [0] * (size + 1)
        for step in listed:
            reached = self.before[step] | 1 << step
            for later in self._next[step]:
                self.before[later] |= reached
        for step in reversed(listed):
            for later in self._next[step]:
                self.after[step] |= self.after[later] | 1 << later

    def count_unordered_pairs(self) -> int:
        """The number of pairs of steps that may come in either order."""
        return self.size * (self.size - 1) // 2 - sum([steps.bit_count() for steps in self.before])

    def linear_extension(self, groups: Sequence[int] = (), extra: Iterable[Precedence] = ()) -> tuple[int, ...] | None:
        """A linear extension, or ``None`` if the ``extra`` pairs allow none.

        Steps of earlier ``groups`` come first wherever the order allows it; among equals, smaller numbers do.
        """
        rank = [len(groups)] * (self.size + 1)
        for number in range(len(groups) - 1, -1, -1):
            for step in bit_numbers(groups[number]):
                rank[step] = number
        following = self._next
        if extra:
            following = [list(steps) for steps in following]
            for first, second in extra:
                following[first].append(second)
        missing = [0] * (self.size + 1)
        for steps in following:
            for step in steps:
                missing[step] += 1
        ready = [(rank[step], step) for step in range(1, self.size + 1) if not missing[step]]
        heapify(ready)
        out = []
        while ready:
            step = heappop(ready)[1]
            out.append(step)
            for later in following[step]:
                missing[later] -= 1
                if not missing[later]:
                    heappush(ready, (rank[later], later))
        return tuple(out) if len(out) == self.size else None

    def linear_extensions(self) -> Iterator[tuple[int, ...]]:
        """All linear extensions, each made in time quadratic in its length."""
        stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while stack:
            taken, path = stack.pop()
            if taken == self.all_steps:
                yield path
            ready = [step for step in bit_numbers(self.all_steps & ~taken) if not self.before[step] & ~taken]
            stack += [(taken | 1 << step, (*path, step)) for step in ready]

    def allows(self, order: Sequence[int]) -> bool:
        """Whether an order of all steps respects every pair."""
        place = {step: number for number, step in enumerate(order)}
        return len(place) == self.size and all([place[first] < place[second] for first, second in self.pairs])


def find_cycle(size: int, following: Sequence[Iterable[int]]) -> tuple[int, ...]:
    """A cycle of a graph that has one; ``following[i]`` are the steps after step ``i``."""
    seen = [0] * (size + 1)  # 1: on the path, 2: done
    for root in range(1, size + 1):
        if seen[root]:
            continue
        path, stack = [root], [iter(following[root])]
        seen[root] = 1
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                seen[path.pop()] = 2
            elif seen[step] == 1:
                return tuple(path[path.index(step) :])
            elif not seen[step]:
                seen[step] = 1
                path.append(step)
                stack.append(iter(following[step]))
    raise AssertionError("there is no cycle")


END = 0
"""The moment after all steps; any other moment is that before a step."""


class Writers(NamedTuple):
    """The steps that write one fact. ``makes`` and ``breaks`` do so in every world, ``may_*`` may do so in some.

    ``initial`` is the value in S0, ``None`` where it is open. Where nothing is conditional, ``possibly_making`` and
    ``possibly_breaking`` equal ``makes`` and ``breaks``.
    """

    initial: bool | None
    making: int
    breaking: int
    possibly_making: int
    possibly_breaking: int

    @property
    def unconditional(self) -> bool:
        """Whether no write is conditional, and the value in S0 is given: then the criterion is exact."""
        return (
            self.initial is not None and self.making == self.possibly_making and self.breaking == self.possibly_breaking
        )


def holds_in_every_order(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> bool:
    """Whether the fact has the value at the moment in every order; exact if the writers are plain.

    Linear in the number of steps that write the opposite, with one operation on masks for each.
    """
    return (
        is_established(order, writers, moment, wanted)
        and next(bit_numbers(threatening_steps(order, writers, moment, wanted)), None) is None
    )


def is_established(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> bool:
    """Whether something necessarily before the moment gives the fact the value."""
    makes = writers.making if wanted else writers.breaking
    return writers.initial is wanted or bool(makes & _before(order, moment))


def threatening_steps(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> int:
    """The steps that may take the value away, and after which nothing necessarily restores it before the moment."""
    makes, breaks = (
        (writers.making, writers.possibly_breaking) if wanted else (writers.breaking, writers.possibly_making)
    )
    before = _before(order, moment)
    if moment != END:
        breaks &= ~(order.after[moment] | 1 << moment)
    restoring = makes & before
    if restoring:
        breaks = sum([1 << step for step in bit_numbers(breaks) if not restoring & order.after[step]])
    return breaks


def find_failing_order(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> tuple[int, ...] | None:
    """An order in which the fact has not the value at the moment if every step is taken; ``None`` if there is none.

    The writers are plain.
    """
    threat = next(bit_numbers(threatening_steps(order, writers, moment, wanted)), None)
    everything = order.all_steps
    if threat is not None:
        below = everything & ~(order.after[threat] | 1 << threat)
        if moment == END:
            return order.linear_extension((below, 1 << threat))
        below &= ~(order.after[moment] | 1 << moment)
        between = order.after[threat] & order.before[moment]
        return order.linear_extension((below, 1 << threat, between, 1 << moment))
    if not is_established(order, writers, moment, wanted):
        return order.linear_extension((_before(order, moment), 1 << moment if moment != END else 0))
    return None


def _before(order: PartialOrder, moment: int) -> int:
    return order.all_steps if moment == END else order.before[moment]
