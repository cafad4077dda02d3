"""The tasks of a search, in order of what the repairs cost that need them."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.heuristic import FaultHeuristic
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import (
    Act,
    Key,
    Node,
)


class Agenda:
    """What is to be done at nodes, the cheapest first: tasks by key, each once."""

    def __init__(self, task: RepairTask, ahead: FaultHeuristic) -> None:
        self.task = task
        self.ahead = ahead
        self.level: Number = 0
        """What the task being done costs at least."""
        self._heap: list[tuple[Number, bool, int, int, Node, Key]] = []
        self._count = count()

    @property
    def next(self) -> Number | None:
        """What a repair costs at least that needs the next task; ``None`` where nothing is left to do."""
        return self._heap[0][0] if self._heap else None

    def act(self) -> bool:
        """Do the next task, unless it is done or waits at another cost."""
        level, _, _, _, node, key = heappop(self._heap)
        if key in node.done:
            return False
        delta, act = node.tasks[key]
        if node.cost + delta != level:
            return False
        self.level = level
        node.done.add(key)
        act()
        return True

    def push(self, node: Node, delta: Number, key: Key, act: Act) -> None:
        """Add a task that is worth doing once ``delta`` more is spent."""
        if key in node.done:
            return
        known = node.tasks.get(key)
        if known is not None and known[0] <= delta:
            return
        node.tasks[key] = (delta, act)
        self._wait(node, delta, key)

    def _wait(self, node: Node, delta: Number, key: Key) -> None:
        # Of one cost, what asks for other facts comes last: edits that do something may lead to a repair before.
        heappush(self._heap, (node.cost + delta, key[0] == "enable", -node.position, next(self._count), node, key))

    def flaw(self, node: Node, key: Key, act: Act, extra: Number = 0) -> None:
        """A flaw is looked into when another edit could still be afforded."""
        node.flaws.append((key, act, extra))
        least = self.task.swap if node.swaps else self.task.lightest
        self.push(node, max(extra + least, self.ahead.estimate(node)), key, act)

    def postponed(self, node: Node, key: Key, act: Act, delta: Number) -> bool:
        """Whether what an edit leads to is for a later level; if so, the edit waits until then."""
        if node.cost + delta <= self.level:
            return False
        node.done.discard(key)
        node.tasks.pop(key, None)
        self.push(node, delta, key, act)
        return True

    def affordable(self, node: Node, extra: Number) -> Number:
        """What is spent from a node on, at least, if one more edit is made there."""
        return max(extra + self.task.lightest, self.ahead.estimate(node))

    def unique(self) -> int:
        """A number for the key of a task that is like no other."""
        return next(self._count)

    def cheaper(self, node: Node) -> None:
        """The tasks of a node have become cheaper."""
        for key, (delta, _) in node.tasks.items():
            if key not in node.done:
                self._wait(node, delta, key)

    def swaps(self, node: Node) -> None:
        """The flaws of a node may now be mended by substitutions."""
        for key, act, extra in node.flaws:
            self.push(node, max(extra + self.task.swap, self.ahead.estimate(node)), key, act)
