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
"""Two steps: the first comes before the second."""
END = 0
"""The moment after all steps. A step's number is the moment before the step."""


def bit_numbers(mask: int) -> Iterator[int]:
    """The numbers of the bits of a mask, in ascending order: the steps of a set of steps."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


class PartialOrder:
    """A strict partial order. ``before[i]`` and ``after[i]`` are the steps that every order takes before or after i.

    Raises ``ValueError`` if the order is cyclic. Construction costs one operation on masks for each pair.
    """

    def __init__(self, size: int, pairs: Iterable[Precedence]) -> None:
        self.size = size
        self.all_steps = (1 << size + 1) - 2
        self.pairs = tuple(dict.fromkeys(pairs))
        self._successors: list[list[int]] = [[] for _ in range(size + 1)]
        for first, second in self.pairs:
            self._successors[first].append(second)
        self.before = [0] * (size + 1)
        self.after = [0] * (size + 1)
        listed = self.linear_extension()
        if len(listed) < size:
            raise ValueError("the order is cyclic")
        for step in listed:
            at_or_before = self.before[step] | 1 << step
            for successor in self._successors[step]:
                self.before[successor] |= at_or_before
        for step in reversed(listed):
            for successor in self._successors[step]:
                self.after[step] |= self.after[successor] | 1 << successor

    def count_unordered_pairs(self) -> int:
        """The number of pairs of steps that may come in either order."""
        return self.size * (self.size - 1) // 2 - sum([steps.bit_count() for steps in self.before])

    def linear_extension(self, groups: Sequence[int] = ()) -> tuple[int, ...]:
        """A linear extension. Steps of earlier ``groups`` come first where possible, else smaller numbers."""
        return self._sort(self._successors, groups)

    def extend_with(self, pairs: Iterable[Precedence]) -> tuple[int, ...] | None:
        """A linear extension that respects more pairs; ``None`` if there is none."""
        successors = [list(steps) for steps in self._successors]
        for first, second in pairs:
            successors[first].append(second)
        listed = self._sort(successors, ())
        return listed if len(listed) == self.size else None

    def _sort(self, successors: list[list[int]], groups: Sequence[int]) -> tuple[int, ...]:
        """Sort the steps topologically, without steps on or after a cycle."""
        rank = [len(groups)] * (self.size + 1)
        for number in range(len(groups) - 1, -1, -1):
            for step in bit_numbers(groups[number]):
                rank[step] = number
        predecessors = [0] * (self.size + 1)
        for steps in successors:
            for step in steps:
                predecessors[step] += 1
        ready = [(rank[step], step) for step in range(1, self.size + 1) if not predecessors[step]]
        heapify(ready)
        listed = []
        while ready:
            step = heappop(ready)[1]
            listed.append(step)
            for successor in successors[step]:
                predecessors[successor] -= 1
                if not predecessors[successor]:
                    heappush(ready, (rank[successor], successor))
        return tuple(listed)

    def linear_extensions(self) -> Iterator[tuple[int, ...]]:
        """All linear extensions, each made in time quadratic in its length."""
        stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while stack:
            taken, path = stack.pop()
            if taken == self.all_steps:
                yield path
            ready = [step for step in bit_numbers(self.all_steps & ~taken) if not self.before[step] & ~taken]
            stack += [(taken | 1 << step, (*path, step)) for step in ready]

    def certainly_before(self, moment: int) -> int:
        """The steps that every order takes before a moment: before a step, or the end."""
        return self.all_steps if moment == END else self.before[moment]

    def possibly_before(self, moment: int) -> int:
        """The steps that some order takes before a moment: before a step, or the end."""
        return self.all_steps if moment == END else self.all_steps & ~(self.after[moment] | 1 << moment)


# ---- the modal truth criterion --------------------------------------------------------------------------------------


class Writers(NamedTuple):
    """The steps that make one fact true, or false, in every world, and the steps that do so in some worlds.

    ``initial`` is the value in S0, ``None`` if it is unknown.
    """

    initial: bool | None
    making: int
    breaking: int
    possibly_making: int
    possibly_breaking: int

    @property
    def is_unconditional(self) -> bool:
        """Whether no write is conditional, and the value in S0 is known: then the criterion is exact."""
        certain, possible = self[1:3], self[3:5]
        return self.initial is not None and certain == possible


def holds_in_every_order(order: PartialOrder, writers: Writers, moment: int, value: bool) -> bool:
    """Whether the fact has the value at the moment in every order; exact if the writers are unconditional.

    Linear in the number of steps that write the opposite, with one operation on masks for each.
    """
    return _is_established(order, writers, moment, value) and not _threats(order, writers, moment, value)


def _is_established(order: PartialOrder, writers: Writers, moment: int, value: bool) -> bool:
    """Whether something necessarily before the moment gives the fact the value."""
    establishing = writers.making if value else writers.breaking
    return writers.initial is value or bool(establishing & order.certainly_before(moment))


def _threats(order: PartialOrder, writers: Writers, moment: int, value: bool) -> int:
    """The steps that may remove the value, and after which nothing necessarily restores it before the moment."""
    removing = writers.possibly_breaking if value else writers.possibly_making
    removing &= order.possibly_before(moment)
    restoring = (writers.making if value else writers.breaking) & order.certainly_before(moment)
    if restoring:
        removing = sum([1 << step for step in bit_numbers(removing) if not restoring & order.after[step]])
    return removing


def find_failing_order(order: PartialOrder, writers: Writers, moment: int, value: bool) -> tuple[int, ...] | None:
    """An order in which the fact does not have the value at the moment, if every step is taken; ``None`` if none.

    The writers are unconditional.
    """
    threat = next(bit_numbers(_threats(order, writers, moment, value)), None)
    if threat is not None:
        before = order.possibly_before(threat) & order.possibly_before(moment)
        between = order.after[threat] & order.certainly_before(moment)
        return order.linear_extension((before, 1 << threat, between, 1 << moment))
    if not _is_established(order, writers, moment, value):
        return order.linear_extension((order.certainly_before(moment), 1 << moment))
    return None
