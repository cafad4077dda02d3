"""Partial orders of steps, their linear extensions, and the modal truth criterion (Chapman 1987).

Sets of steps are bit masks: bit ``i`` is step ``i``, counted from 1.

The criterion decides whether a fact has a value at a time point in every linear extension. It is exact if steps write
facts unconditionally. A fact is then true before step s in all orders if and only if two conditions hold:

- S0, or a step that is necessarily before s, makes it true.
- For every step that makes it false and is not necessarily after s, some step that makes it true is necessarily between
  the two (a white knight).

The criterion is about the trace in which every step is taken. Up to the first step that fails, it is the plan's trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

Precedence = tuple[int, int]
"""Two steps: the first comes before the second."""
END = 0
"""The time point after all steps. A step's number is the time point before the step."""


def iterate_bits(mask: int) -> Iterator[int]:
    """The numbers of the bits of a mask, in ascending order: the steps of a set of steps."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def make_step_mask(steps: Iterable[int]) -> int:
    """The set of these steps as a mask."""
    return sum([1 << step for step in steps])


class PartialOrder:
    """A strict partial order. ``before[i]`` and ``after[i]`` are the steps that every order takes before or after i.

    Raises ``ValueError`` if the order is cyclic. Construction costs one operation on masks for each pair.
    """

    def __init__(self, size: int, pairs: Iterable[Precedence]) -> None:
        self.size = size
        self.all_steps = make_step_mask(range(1, size + 1))
        self.pairs = tuple(dict.fromkeys(pairs))
        self._successors: list[list[int]] = [[] for _ in range(size + 1)]
        for first, second in self.pairs:
            self._successors[first].append(second)
        self.before = [0] * (size + 1)
        self.after = [0] * (size + 1)
        sorted_steps = self.find_linear_extension()
        if len(sorted_steps) < size:
            raise ValueError("the order is cyclic")
        for step in sorted_steps:
            at_or_before = self.before[step] | (1 << step)
            for successor in self._successors[step]:
                self.before[successor] |= at_or_before
        for step in reversed(sorted_steps):
            for successor in self._successors[step]:
                self.after[step] |= self.after[successor] | (1 << successor)

    def count_unordered_pairs(self) -> int:
        """The number of pairs of steps that may come in either order."""
        return self.size * (self.size - 1) // 2 - sum([steps.bit_count() for steps in self.before])

    def find_linear_extension(self, groups: Sequence[int] = ()) -> tuple[int, ...]:
        """A linear extension of the order.

        ``groups`` are masks: where possible, steps of earlier groups come first. Otherwise smaller numbers come first.
        """
        return self._sort_steps(self._successors, groups)

    def find_extension_with(self, pairs: Iterable[Precedence]) -> tuple[int, ...] | None:
        """Find a linear extension that also respects these pairs; ``None`` if there is none."""
        successors = [list(steps) for steps in self._successors]
        for first, second in pairs:
            successors[first].append(second)
        sorted_steps = self._sort_steps(successors, ())
        return sorted_steps if len(sorted_steps) == self.size else None

    def _sort_steps(self, successors: list[list[int]], groups: Sequence[int]) -> tuple[int, ...]:
        """Sort the steps topologically, without steps on or after a cycle."""
        rank = [len(groups)] * (self.size + 1)
        for number in range(len(groups) - 1, -1, -1):
            for step in iterate_bits(groups[number]):
                rank[step] = number
        predecessors = [0] * (self.size + 1)
        for steps in successors:
            for step in steps:
                predecessors[step] += 1
        ready_steps = [(rank[step], step) for step in range(1, self.size + 1) if not predecessors[step]]
        heapify(ready_steps)
        sorted_steps = []
        while ready_steps:
            step = heappop(ready_steps)[1]
            sorted_steps.append(step)
            for successor in successors[step]:
                predecessors[successor] -= 1
                if not predecessors[successor]:
                    heappush(ready_steps, (rank[successor], successor))
        return tuple(sorted_steps)

    def iterate_linear_extensions(self) -> Iterator[tuple[int, ...]]:
        """All linear extensions, each made in time quadratic in its length."""
        stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while stack:
            taken_steps, path = stack.pop()
            if taken_steps == self.all_steps:
                yield path
            ready_steps = [
                step for step in iterate_bits(self.all_steps & ~taken_steps) if not self.before[step] & ~taken_steps
            ]
            stack += [(taken_steps | (1 << step), (*path, step)) for step in ready_steps]

    def get_certain_predecessors(self, time_point: int) -> int:
        """The steps that every order takes before a time point: before a step, or the end."""
        return self.all_steps if time_point == END else self.before[time_point]

    def get_possible_predecessors(self, time_point: int) -> int:
        """The steps that some order takes before a time point: before a step, or the end."""
        return self.all_steps if time_point == END else self.all_steps & ~(self.after[time_point] | (1 << time_point))


# ---- the modal truth criterion --------------------------------------------------------------------------------------


class Writers(NamedTuple):
    """The steps that write one fact, as masks.

    ``making_steps`` and ``breaking_steps`` make it true, or false, in every world; ``possibly_making_steps`` and
    ``possibly_breaking_steps`` in some worlds. ``initial`` is the value in S0 (``None``: unknown).
    """

    initial: bool | None
    making_steps: int
    breaking_steps: int
    possibly_making_steps: int
    possibly_breaking_steps: int

    @property
    def is_unconditional(self) -> bool:
        """Whether no write is conditional, and the value in S0 is known: then the criterion is exact."""
        return (
            self.initial is not None
            and self.making_steps == self.possibly_making_steps
            and self.breaking_steps == self.possibly_breaking_steps
        )


def holds_in_every_order(order: PartialOrder, writers: Writers, time_point: int, value: bool) -> bool:
    """Whether the fact has the value at the time point in every order; exact if the writers are unconditional.

    Linear in the number of steps that write the opposite, with one operation on masks for each.
    """
    return _is_established(order, writers, time_point, value) and not _find_threats(order, writers, time_point, value)


def _is_established(order: PartialOrder, writers: Writers, time_point: int, value: bool) -> bool:
    """Whether something necessarily before the time point gives the fact the value."""
    establishing_steps = writers.making_steps if value else writers.breaking_steps
    return writers.initial is value or bool(establishing_steps & order.get_certain_predecessors(time_point))


def _find_threats(order: PartialOrder, writers: Writers, time_point: int, value: bool) -> int:
    """The steps that may remove the value, and after which nothing necessarily restores it before the time point."""
    removing_steps = writers.possibly_breaking_steps if value else writers.possibly_making_steps
    removing_steps &= order.get_possible_predecessors(time_point)
    restoring_steps = (writers.making_steps if value else writers.breaking_steps) & order.get_certain_predecessors(
        time_point
    )
    if restoring_steps:
        removing_steps = make_step_mask(
            step for step in iterate_bits(removing_steps) if not restoring_steps & order.after[step]
        )
    return removing_steps


def find_failing_order(order: PartialOrder, writers: Writers, time_point: int, value: bool) -> tuple[int, ...] | None:
    """Find an order in which the fact does not have the value at the time point, if every step is taken.

    ``None``: it has the value in every order. The writers must be unconditional.
    """
    threat = next(iterate_bits(_find_threats(order, writers, time_point, value)), None)
    if threat is not None:
        before = order.get_possible_predecessors(threat) & order.get_possible_predecessors(time_point)
        between = order.after[threat] & order.get_certain_predecessors(time_point)
        return order.find_linear_extension((before, 1 << threat, between, 1 << time_point))
    if not _is_established(order, writers, time_point, value):
        return order.find_linear_extension((order.get_certain_predecessors(time_point), 1 << time_point))
    return None
