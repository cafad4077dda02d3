"""The tasks of a search, ordered by a lower bound on the cost of the repairs that need them."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.heuristic import FaultHeuristic
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import Flaw, Node, TaskFunction, TaskKey


class _QueuedTask(NamedTuple):
    """An entry of the queue, in order of priority. ``number`` is unique, so that no nodes are compared."""

    cost: Number
    demands_facts: bool
    place_rank: int
    number: int
    node: Node
    key: TaskKey


class Agenda:
    """A priority queue of tasks at nodes; each key of a node is run once.

    Of tasks of equal cost, the task furthest in the plan comes first; with ``edit_early``, edits are made at the
    earliest place first, and steps are still kept as far as possible.
    """

    def __init__(self, task: RepairTask, heuristic: FaultHeuristic, edit_early: bool = False) -> None:
        self.task = task
        self.heuristic = heuristic
        self.cost: Number = 0
        """The lower bound of the running task."""
        self._edit_early = edit_early
        self._queue: list[_QueuedTask] = []
        self._count = count()

    @property
    def next_cost(self) -> Number | None:
        """The lower bound of the next task; ``None`` if no task is left."""
        return self._queue[0].cost if self._queue else None

    def run_next(self) -> bool:
        """Run the next task; false if it is done already or waits at another cost."""
        queued_task = heappop(self._queue)
        cost, node, key = queued_task.cost, queued_task.node, queued_task.key
        if key in node.done:
            return False
        additional_cost, function = node.tasks[key]
        if node.cost + additional_cost != cost:
            return False
        self.cost = cost
        node.done.add(key)
        function()
        return True

    def add(self, node: Node, additional_cost: Number, key: TaskKey, function: TaskFunction) -> None:
        """Add a task.

        ``additional_cost``: a lower bound of the cost, beyond the node's, of the repairs that need it.
        """
        if key in node.done:
            return
        if key in node.tasks:
            queued_cost, _ = node.tasks[key]
            if queued_cost <= additional_cost:
                return
        node.tasks[key] = (additional_cost, function)
        self._enqueue(node, additional_cost, key)

    def _enqueue(self, node: Node, additional_cost: Number, key: TaskKey) -> None:
        # At equal cost, tasks that demand other facts come last: edits that have an effect may lead to a repair first.
        prefers_early = self._edit_early and key[0] != "expand"
        place_rank = node.position if prefers_early else -node.position
        cost, demands_facts = node.cost + additional_cost, key[0] == "enable"
        heappush(self._queue, _QueuedTask(cost, demands_facts, place_rank, next(self._count), node, key))

    def add_flaw(self, node: Node, key: TaskKey, function: TaskFunction, cost_to_flaw: Number = 0) -> None:
        """Add a task that examines a flaw as soon as the cost allows for another edit.

        ``cost_to_flaw``: the cost of the edits between the node and the flaw.
        """
        node.flaws.append(Flaw(key, function, cost_to_flaw))
        least_edit_cost = self.task.substitution_surcharge if node.deleted else self.task.min_weight
        self.add(node, max(cost_to_flaw + least_edit_cost, self.heuristic.estimate(node)), key, function)

    def postpone(self, node: Node, key: TaskKey, function: TaskFunction, additional_cost: Number) -> bool:
        """Add an edit's task again if its target needs a higher cost than the running task; returns whether it does.

        ``additional_cost``: the cost that the target needs beyond the node's.
        """
        if node.cost + additional_cost <= self.cost:
            return False
        node.done.discard(key)
        node.tasks.pop(key, None)
        self.add(node, additional_cost, key, function)
        return True

    def bound_with_edit(self, node: Node, cost_to_flaw: Number) -> Number:
        """Return the least cost from a node on if one more edit is made there."""
        return max(cost_to_flaw + self.task.min_weight, self.heuristic.estimate(node))

    def get_unique_number(self) -> int:
        """Return a number for a unique task key."""
        return next(self._count)

    def requeue(self, node: Node) -> None:
        """Requeue the tasks of a node whose cost has decreased."""
        for key, (additional_cost, _) in node.tasks.items():
            if key not in node.done:
                self._enqueue(node, additional_cost, key)

    def requeue_flaws(self, node: Node) -> None:
        """Requeue the flaws of a node that substitutions instead of deletions may repair now."""
        for key, function, cost_to_flaw in node.flaws:
            cost = max(cost_to_flaw + self.task.substitution_surcharge, self.heuristic.estimate(node))
            self.add(node, cost, key, function)
