"""A partial order of steps, closed under transitivity, and linear extensions of it.

Sets of steps are bit masks: bit ``i`` is step ``i``, counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heappush

Pair = tuple[int, int]


class Cyclic(Exception):
    """The pairs order nothing: ``steps`` is a cycle, each step before the next and the last before the first."""

    def __init__(self, steps: tuple[int, ...]) -> None:
        super().__init__(steps)
        self.steps = steps


def members(mask: int) -> Iterator[int]:
    """The steps of a mask, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class PartialOrder:
    """``before[i]`` and ``after[i]`` are the steps that every order takes before, and after, step ``i``.

    Raises :class:`Cyclic`. Building costs one operation on masks for each pair.
    """

    def __init__(self, size: int, pairs: Iterable[Pair]) -> None:
        self.size = size
        self.all = (1 << size + 1) - 2
        self.pairs = tuple(dict.fromkeys(pairs))
        self._next: list[list[int]] = [[] for _ in range(size + 1)]
        for first, second in self.pairs:
            self._next[first].append(second)
        listed = self.extension()
        if listed is None:
            raise Cyclic(cycle(size, self._next))
        self.before = [0] * (size + 1)
        self.after = [0] * (size + 1)
        for step in listed:
            reached = self.before[step] | 1 << step
            for later in self._next[step]:
                self.before[later] |= reached
        for step in reversed(listed):
            for later in self._next[step]:
                self.after[step] |= self.after[later] | 1 << later

    def extension(self, groups: Sequence[int] = (), extra: Iterable[Pair] = ()) -> tuple[int, ...] | None:
        """A linear extension, or ``None`` if the ``extra`` pairs allow none.

        Steps of earlier ``groups`` come first wherever the order allows it; among equals, smaller numbers do.
        """
        rank = [len(groups)] * (self.size + 1)
        for number in range(len(groups) - 1, -1, -1):
            for step in members(groups[number]):
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

    def extensions(self) -> Iterator[tuple[int, ...]]:
        """All linear extensions, each made in time quadratic in its length."""
        stack: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        while stack:
            taken, path = stack.pop()
            if taken == self.all:
                yield path
            ready = [step for step in members(self.all & ~taken) if not self.before[step] & ~taken]
            stack += [(taken | 1 << step, (*path, step)) for step in ready]

    def allows(self, order: Sequence[int]) -> bool:
        """Whether an order of all steps respects every pair."""
        place = {step: number for number, step in enumerate(order)}
        return len(place) == self.size and all([place[first] < place[second] for first, second in self.pairs])


def cycle(size: int, following: Sequence[Iterable[int]]) -> tuple[int, ...]:
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
