"""Best-first search from a state of an execution: greedy, within a maximum length, or for a shortest plan.

A branch ends where a rule is broken.

- Any plan: lazy greedy best-first search by relaxed plans, trying the steps of the relaxed plan first (Helmert 2006;
  Richter and Westphal 2010).
- A plan within a maximum length: ordered by the share of the remaining length that the estimate needs (Stern, Puzis and
  Felner 2011); states whose landmark-cut bound exceeds that length are pruned.
- A shortest plan: A* with landmark cuts (Helmert and Domshlak 2009).

All three visit every reachable state in the end, so an exhausted search proves that no plan exists.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from heapq import heappop, heappush
from math import prod
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Not, Or, bind
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.object_symmetry import ObjectSymmetry
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache, StateEstimate

MAX_STORED_EXECUTIONS = 3_000
"""Executions that nodes store; others are recomputed from the nearest ancestor that stores one."""
MAX_GROUNDINGS = 400_000
"""The number of ground actions and effects that the types allow, beyond which a search begins without grounding."""
UNGROUNDED_SHARE = 0.5
"""The share of the time for a first search without grounding."""
BOOST = 50
"""The number of preferred steps that are tried first after each progress."""
_ALL, _PREFERRED = 0, 1
"""The queues of a search for any plan: all steps, and the preferred steps, which occur in relaxed plans."""
_UNDECIDED_NUMBERS = "the search met numbers that are undefined or too large"


class _Node:
    """A state that a search reached. ``execution``: ``None`` if it was dropped and must be recomputed."""

    __slots__ = ("__weakref__", "depth", "distance", "execution", "key", "parent", "step", "tried_steps")

    def __init__(self, parent: _Node | None, step: GroundAction | None, execution: Execution) -> None:
        self.parent = parent
        self.step = step
        self.execution: Execution | None = execution
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.distance = 0
        self.key = execution.key()
        self.tried_steps: set[tuple[str, tuple[int, ...]]] = set()


class _QueuedStep(NamedTuple):
    """An entry of a queue, in order of priority: a step to take at a node; ``None``: to expand the node.

    ``number`` is unique, so that no nodes are compared.
    """

    rank: float
    second_rank: int
    number: int
    node: _Node
    step: GroundAction | None


class BestFirstSearch:
    """A search for a plan. ``max_length``: of the plan; ``None``: any length. ``cache``: estimates of earlier searches.

    ``prune_by_estimate``: also prune states that only seem too far, so that one of many searches ends soon.
    ``shortest``: find a plan that is proved shortest. ``max_nodes``: the number of states that may be visited.
    """

    def __init__(
        self,
        start: Execution,
        make_lifted_relaxation: Callable[[], LiftedRelaxation],
        cache: EstimateCache,
        *,
        shortest: bool,
        max_length: int | None,
        deadline: float,
        max_nodes: int,
        prune_by_estimate: bool,
    ) -> None:
        self.start = start
        self.make_lifted_relaxation = make_lifted_relaxation
        self.shortest = shortest
        self.max_length = max_length
        self.deadline = deadline
        self.max_nodes = max_nodes
        self.prune_by_estimate = prune_by_estimate
        self.visited_count = 0
        self._has_pruned_by_length = False
        """Whether states were pruned because of their distance or estimated distance."""
        self._is_excluded_by_relaxation = False
        """Whether the start alone shows that no plan exists."""
        self._is_complete = not start.engine.resolver.lenient
        """Whether every possible step was tried."""
        self._cache = cache
        self._relaxation: DeleteRelaxation | None = None
        self._backward_estimator = cache.backward_estimator
        self._stored_nodes: OrderedDict[_Node, None] = OrderedDict()
        self._queued_count = 0
        self._propositions_reached: dict[int, set[int]] = {}

    def run(self) -> PlanningResult:
        """Search. Raises :class:`LimitReached`."""
        start = self.start
        if start.broken:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail="a rule is violated already")
        if start.undecided:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=_UNDECIDED_NUMBERS)
        if start.accepted:
            return PlanningResult(PlanningStatus.SOLVED, optimal=True)
        if not self.shortest and self._cache.relaxation is None and _count_groundings(start.engine) > MAX_GROUNDINGS:
            result = self._search_without_grounding()
            if result is not None:
                return result
        self._relaxation = self._cache.ground(self.make_lifted_relaxation(), self._check_limits)
        root = _Node(None, None, start)
        if self.shortest:
            return self._make_result(self._find_shortest_plan(root))
        has_max_length = self.max_length is not None and self._relaxation is not None
        return self._make_result(self._find_within_length(root) if has_max_length else self._find_any_plan(root))

    def _search_without_grounding(self) -> PlanningResult | None:
        """Search with a share of the time, before everything that is reachable is grounded."""
        deadline = self.deadline
        self.deadline = min(deadline, monotonic() + (deadline - monotonic()) * UNGROUNDED_SHARE)
        try:
            return self._make_result(self._find_any_plan(_Node(None, None, self.start)))
        except LimitReached as limit:
            if limit.kind is not LimitKind.TIME:
                raise
            return None
        finally:
            self.deadline = deadline
            self._stored_nodes.clear()
            self._propositions_reached.clear()

    def _make_result(self, end: _Node | None) -> PlanningResult:
        """Make the result of a search that ended at an accepted node, or without one."""
        if end is not None:
            steps: list[GroundAction] = []
            node = end
            while node.parent is not None:
                assert node.step is not None
                steps.append(node.step)
                node = node.parent
            return PlanningResult(PlanningStatus.SOLVED, tuple(reversed(steps)), optimal=self.shortest)
        if not self._is_complete:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=_UNDECIDED_NUMBERS)
        if self._has_pruned_by_length:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=f"no plan of at most {self.max_length} steps found")
        if self.max_length is not None:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"no plan has at most {self.max_length} steps")
        if self._is_excluded_by_relaxation:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail="unreachable even if no fact is ever deleted")
        return PlanningResult(
            PlanningStatus.UNSOLVABLE, detail=f"all {self.visited_count} reachable states were visited"
        )

    def _check_limits(self) -> None:
        if monotonic() > self.deadline or self.visited_count > self.max_nodes:
            raise LimitReached(LimitKind.TIME)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _make_child(self, parent: _Node, step: GroundAction) -> _Node | None:
        """Make the node after a step; ``None`` if the step cannot be taken or breaks a rule."""
        self._check_limits()
        try:
            execution = self._load_execution(parent).after(step)
        except NumberTooLarge:
            self._is_complete = False
            return None
        if execution is None:
            return None
        if execution.broken:
            self._learn_condition(step, execution)
            return None
        if execution.undecided:
            self._is_complete = False
            return None
        return _Node(parent, step, execution)

    def _store(self, node: _Node) -> None:
        """Keep the execution of a node; if there are too many, drop the one that was not used for the longest time."""
        if node.parent is None:
            return
        self._stored_nodes[node] = None
        if len(self._stored_nodes) > MAX_STORED_EXECUTIONS:
            oldest_node, _ = self._stored_nodes.popitem(last=False)
            oldest_node.execution = None

    def _load_execution(self, node: _Node) -> Execution:
        """Return the execution of a node, recomputed from the nearest ancestor that stores one if necessary."""
        path: list[_Node] = []
        ancestor = node
        while ancestor.execution is None:
            path.append(ancestor)
            assert ancestor.parent is not None
            ancestor = ancestor.parent
        execution = ancestor.execution
        for descendant in reversed(path):
            assert descendant.step is not None
            after = execution.after(descendant.step)
            assert after is not None
            execution = after
        if path:
            node.execution = execution
            self._store(node)
        elif node in self._stored_nodes:
            self._stored_nodes.move_to_end(node)
        return execution

    def _estimate(self, node: _Node) -> StateEstimate:
        self.visited_count += 1
        execution = self._load_execution(node)
        if self._relaxation is None and self.shortest:
            return StateEstimate(0, [], list(execution.legal()), [])
        if self._relaxation is None:
            steps_left: int | None = None
            if self.prune_by_estimate and self.max_length is not None:
                steps_left = self.max_length - node.depth
            return self._cache.estimate_backwards(execution, steps_left)
        return self._cache.estimate(execution, node.key, self.shortest)

    def _learn_condition(self, step: GroundAction, broken: Execution) -> None:
        """Let the backward estimates include the condition of the rule that a step broke."""
        if self._relaxation is not None:
            return
        for instance in broken.new_violations:
            part = broken.engine.rule_set.parts[instance.part]
            formula = part.body if part.guard is None else Or((Not(part.guard), part.body))
            is_bound = len(instance.binding) == len(part.parameters)
            if part.step is None or part.after or not is_bound or is_temporal(formula):
                self._backward_estimator.penalized_steps.add(step.key)
                continue
            learned_conditions = self._backward_estimator.learned_conditions.setdefault(step.key, [])
            subgoal = (formula, bind(part.parameters, instance.binding))
            if subgoal not in learned_conditions:
                learned_conditions.append(subgoal)

    def _queue_step(
        self, queue: list[_QueuedStep], rank: float, second_rank: int, node: _Node, step: GroundAction | None
    ) -> None:
        self._queued_count += 1
        heappush(queue, _QueuedStep(rank, second_rank, self._queued_count, node, step))

    # -- any plan -----------------------------------------------------------------------------------------------------

    def _find_any_plan(self, root: _Node) -> _Node | None:
        """Lazy greedy search: a step is queued with its parent's estimate, and its own node is estimated later."""
        queues: tuple[list[_QueuedStep], list[_QueuedStep]] = ([], [])
        turn_counts = [0, 0 if self._relaxation is not None else -BOOST]
        visited_keys: set[object] = {root.key}
        least_estimate = self._queue_steps(root, queues)
        if least_estimate is None:
            self._is_excluded_by_relaxation = self._relaxation is not None and not self._has_pruned_by_length
            return None
        while queues[_ALL] or queues[_PREFERRED]:
            is_turn_of_preferred = not queues[_ALL] or turn_counts[_PREFERRED] <= turn_counts[_ALL]
            turn = _PREFERRED if queues[_PREFERRED] and is_turn_of_preferred else _ALL
            turn_counts[turn] += 1
            rank, distance, _, parent, step = heappop(queues[turn])
            if self.max_length is not None and parent.depth >= self.max_length:
                self._has_pruned_by_length = True
                continue
            if step is None:
                for legal_step in list(self._load_execution(parent).legal()):
                    self._queue_step(queues[turn], rank, distance, parent, legal_step)
                continue
            if not _mark_tried(parent, step):
                continue
            node = self._make_child(parent, step)
            if node is None or node.key in visited_keys:
                continue
            visited_keys.add(node.key)
            assert node.execution is not None
            if node.execution.accepted:
                return node
            estimate = self._queue_steps(node, queues)
            if estimate is not None and estimate < least_estimate:
                least_estimate = estimate
                turn_counts[_PREFERRED] -= BOOST
        return None

    def _queue_steps(self, node: _Node, queues: tuple[list[_QueuedStep], list[_QueuedStep]]) -> int | None:
        """Estimate a node and queue its steps; returns the estimate, or ``None`` if the node was pruned."""
        distance, preferred_steps, applicable_steps, true_propositions = self._estimate(node)
        if distance is None:
            return None
        if self.prune_by_estimate and self.max_length is not None and node.depth + distance > self.max_length:
            self._has_pruned_by_length = True
            return None
        reached_propositions = self._propositions_reached.setdefault(distance, set())
        has_new_proposition = not reached_propositions.issuperset(true_propositions)
        reached_propositions.update(true_propositions)
        rank = 0 if has_new_proposition else 1
        for step in [None] if applicable_steps is None else applicable_steps:
            self._queue_step(queues[_ALL], rank, distance, node, step)
        for step in preferred_steps:
            self._queue_step(queues[_PREFERRED], rank, distance, node, step)
        self._store(node)
        return distance

    # -- a plan within a maximum length -------------------------------------------------------------------------------

    def _find_within_length(self, root: _Node) -> _Node | None:
        """Lazy search by the share of the remaining length that the estimate needs.

        A state that is reached again by fewer steps is searched again.
        """
        assert self.max_length is not None
        least_depths: dict[object, int] = {root.key: 0}
        queue: list[_QueuedStep] = []
        self._queue_within_length(root, queue)
        while queue:
            queued_step = heappop(queue)
            parent, step = queued_step.node, queued_step.step
            assert step is not None
            if least_depths[parent.key] < parent.depth or not _mark_tried(parent, step):
                continue
            node = self._make_child(parent, step)
            if node is None or least_depths.get(node.key, node.depth + 1) <= node.depth:
                continue
            least_depths[node.key] = node.depth
            assert node.execution is not None
            if node.execution.accepted:
                return node
            self._queue_within_length(node, queue)
        return None

    def _queue_within_length(self, node: _Node, queue: list[_QueuedStep]) -> None:
        """Queue the steps of a node, unless every plan through it is too long."""
        assert self.max_length is not None
        steps_left = self.max_length - node.depth
        if steps_left < 1:
            return
        distance, preferred_steps, applicable_steps, _ = self._estimate(node)
        if distance is None:
            return
        if distance > steps_left and self._cache.exceeds_length(self._load_execution(node), node.key, steps_left):
            return
        preferred_keys = {step.key for step in preferred_steps}
        for step in applicable_steps or ():
            penalty = 0 if step.key in preferred_keys else 1
            self._queue_step(queue, distance / steps_left + penalty, distance, node, step)
        self._store(node)

    # -- a shortest plan ----------------------------------------------------------------------------------------------

    def _find_shortest_plan(self, root: _Node) -> _Node | None:
        """A*: a node is estimated when its parent's bound is due, and expanded when its own bound is due."""
        queue = [_QueuedStep(0, 0, 0, root, None)]
        steps_by_node: dict[_Node, list[GroundAction]] = {}
        symmetry = ObjectSymmetry(self.start.engine) if self.start.runtime is None else None
        orbit_keys: dict[_Node, object] = {}

        def find_orbit_key(node: _Node) -> object:
            """Return the key that a node has in common with the states that the search need not distinguish from it."""
            if symmetry is None or not symmetry.classes:
                return node.key
            if node not in orbit_keys:
                orbit_keys[node] = symmetry.find_key(self._load_execution(node).state)
            return orbit_keys[node]

        least_depths: dict[object, int] = {find_orbit_key(root): 0}
        distance, _, applicable_steps, _ = self._estimate(root)
        if distance is None:
            self._is_excluded_by_relaxation = True
            return None
        steps_by_node[root] = applicable_steps or []
        root.distance = distance
        while queue:
            bound, _, _, node, step = heappop(queue)
            if step is not None:
                child = self._make_child(node, step)
                if child is None or least_depths.get(find_orbit_key(child), child.depth + 1) <= child.depth:
                    continue
                least_depths[find_orbit_key(child)] = child.depth
                distance, _, applicable_steps, _ = self._estimate(child)
                if distance is None:
                    continue
                child.distance, steps_by_node[child] = distance, applicable_steps or []
                self._store(child)
                self._queue_step(queue, max(bound, child.depth + distance), -child.depth, child, None)
                continue
            if least_depths[find_orbit_key(node)] < node.depth:
                continue
            if self._load_execution(node).accepted:
                return node
            child_bound = max(bound, node.depth + 1 + max(node.distance - 1, 0))
            for step in steps_by_node.pop(node):
                self._queue_step(queue, child_bound, -node.depth - 1, node, step)
        return None


def _count_groundings(engine: Engine) -> int:
    """Count the ground actions and conditional effects that the types allow."""
    total, domains = 0, engine.task.domains
    for action in engine.task.actions.values():
        action_count = prod([len(domains[v.domain]) for v in action.parameters])
        effect_counts = [prod([len(domains[v.domain]) for v in effect.variables]) for effect in action.start.effects]
        total += action_count * (1 + sum(effect_counts))
    return total


def _mark_tried(node: _Node, step: GroundAction) -> bool:
    """Mark a step as tried at a node; return whether it was not tried before."""
    if step.key in node.tried_steps:
        return False
    node.tried_steps.add(step.key)
    return True
