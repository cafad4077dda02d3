"""The tasks of a search, ordered by a lower bound on the cost of the repairs that need them."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.heuristic import FaultHeuristic
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import Node, TaskFunction, TaskKey


class Agenda:
    """A priority queue of tasks at nodes; each key of a node is run once."""

    def __init__(self, task: RepairTask, heuristic: FaultHeuristic) -> None:
        self.task = task
        self.heuristic = heuristic
        self.cost: Number = 0
        """The lower bound of the running task."""
        self._heap: list[tuple[Number, bool, int, int, Node, TaskKey]] = []
        self._count = count()

    @property
    def next_cost(self) -> Number | None:
        """The lower bound of the next task; ``None`` if no task is left."""
        return self._heap[0][0] if self._heap else None

    def run_next(self) -> bool:
        """Run the next task; false if it is done already or waits at another cost."""
        cost, _, _, _, node, key = heappop(self._heap)
        if key in node.done:
            return False
        extra, function = node.tasks[key]
        if node.cost + extra != cost:
            return False
        self.cost = cost
        node.done.add(key)
        function()
        return True

    def add(self, node: Node, extra: Number, key: TaskKey, function: TaskFunction) -> None:
        """Add a task that needs a cost of ``extra`` beyond the node's."""
        if key in node.done:
            return
        waiting = node.tasks.get(key)
        if waiting is not None and waiting[0] <= extra:
            return
        node.tasks[key] = (extra, function)
        self._enqueue(node, extra, key)

    def _enqueue(self, node: Node, extra: Number, key: TaskKey) -> None:
        # At equal cost, tasks that demand other facts come last: edits that have an effect may lead to a repair first.
        heappush(self._heap, (node.cost + extra, key[0] == "enable", -node.position, next(self._count), node, key))

    def add_flaw(self, node: Node, key: TaskKey, function: TaskFunction, extra: Number = 0) -> None:
        """Add a task that examines a flaw as soon as the cost allows for another edit."""
        node.flaws.append((key, function, extra))
        least = self.task.substitution_surcharge if node.deleted else self.task.min_weight
        self.add(node, max(extra + least, self.heuristic.estimate(node)), key, function)

    def postpone(self, node: Node, key: TaskKey, function: TaskFunction, extra: Number) -> bool:
        """Add an edit's task again if its target needs a higher cost than the running task; returns whether it does."""
        if node.cost + extra <= self.cost:
            return False
        node.done.discard(key)
        node.tasks.pop(key, None)
        self.add(node, extra, key, function)
        return True

    def cost_with_edit(self, node: Node, extra: Number) -> Number:
        """The least cost from a node on if one more edit is made there."""
        return max(extra + self.task.min_weight, self.heuristic.estimate(node))

    def unique_number(self) -> int:
        """A number for a unique task key."""
        return next(self._count)

    def requeue(self, node: Node) -> None:
        """Requeue the tasks of a node whose cost has decreased."""
        for key, (extra, _) in node.tasks.items():
            if key not in node.done:
                self._enqueue(node, extra, key)

    def requeue_flaws(self, node: Node) -> None:
        """Requeue the flaws of a node that substitutions instead of deletions may repair now."""
        for key, function, extra in node.flaws:
            cost = max(extra + self.task.substitution_surcharge, self.heuristic.estimate(node))
            self.add(node, cost, key, function)
