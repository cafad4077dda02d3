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
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import prod
from time import monotonic

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Not, Or, bind
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache, StateEstimate

MAX_STORED_EXECUTIONS = 3_000
"""Executions that nodes store; others are recomputed from the nearest ancestor that stores one."""
MANY_ACTIONS = 400_000
"""Ground actions and effects (by their types) beyond which a search begins without grounding them."""
FIRST_SHARE = 0.5
"""The share of the time for a first search without grounding."""
BOOST = 50
"""The number of steps of relaxed plans that are tried first after each progress."""
_UNDECIDED_NUMBERS = "the search met numbers that are undefined or too large"


class _Node:
    __slots__ = ("__weakref__", "depth", "distance", "execution", "key", "parent", "step", "tried")

    def __init__(self, parent: _Node | None, step: GroundAction | None, execution: Execution) -> None:
        self.parent = parent
        self.step = step
        self.execution: Execution | None = execution
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.distance = 0
        self.key: object = None
        self.tried: set[tuple[str, tuple[int, ...]]] = set()


_QueuedStep = tuple[int, int, int, _Node, GroundAction | None]
"""A rank, the estimate of a node, the order of arrival, the node, and a step to take there (``None``: every legal)."""


class BestFirstSearch:
    """One search. ``within``: the maximum length of the plan, if any. ``cache``: estimates of earlier searches.

    ``prune_by_estimate``: also prune states that only seem too far, because this search is one of many.
    """

    def __init__(
        self,
        start: Execution,
        lifted: Callable[[], LiftedRelaxation],
        cache: EstimateCache,
        *,
        shortest: bool,
        within: int | None,
        deadline: float,
        max_nodes: int,
        prune_by_estimate: bool,
    ) -> None:
        self.start = start
        self.lifted = lifted
        self.shortest = shortest
        self.within = within
        self.deadline = deadline
        self.max_nodes = max_nodes
        self.prune_by_estimate = prune_by_estimate
        self.visited = 0
        self._pruned_by_length = False
        """Whether states were pruned because of their distance or estimated distance."""
        self._complete = not start.engine.resolver.lenient
        self._cache = cache
        self._relaxation: DeleteRelaxation | None = None
        self._backward = cache.backward
        self._stored: OrderedDict[_Node, None] = OrderedDict()
        self._ties = 0
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
        if not self.shortest and self._cache.relaxation is None and _count_actions(start.engine) > MANY_ACTIONS:
            result = self._search_without_grounding()
            if result is not None:
                return result
        self._relaxation = self._cache.ground(self.lifted(), self._check_limits)
        root = _Node(None, None, start)
        if self.shortest:
            return self._result(self._find_shortest(root))
        bounded = self.within is not None and self._relaxation is not None
        return self._result(self._find_within(root) if bounded else self._find_any(root))

    def _search_without_grounding(self) -> PlanningResult | None:
        """Search with a share of the time, before everything that is reachable is grounded."""
        deadline = self.deadline
        self.deadline = min(deadline, monotonic() + (deadline - monotonic()) * FIRST_SHARE)
        try:
            return self._result(self._find_any(_Node(None, None, self.start)))
        except LimitReached as limit:
            if limit.kind is not LimitKind.TIME:
                raise
            return None
        finally:
            self.deadline = deadline
            self._stored.clear()
            self._propositions_reached.clear()

    def _result(self, end: _Node | None) -> PlanningResult:
        if end is not None:
            steps: list[GroundAction] = []
            node = end
            while node.parent is not None:
                assert node.step is not None
                steps.append(node.step)
                node = node.parent
            return PlanningResult(PlanningStatus.SOLVED, tuple(reversed(steps)), optimal=self.shortest)
        if not self._complete:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=_UNDECIDED_NUMBERS)
        if self._pruned_by_length:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=f"no plan of at most {self.within} steps found")
        if self.within is not None:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"no plan has at most {self.within} steps")
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"all {self.visited} reachable states were visited")

    def _check_limits(self) -> None:
        if monotonic() > self.deadline or self.visited > self.max_nodes:
            raise LimitReached(LimitKind.TIME)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _child(self, parent: _Node, step: GroundAction) -> _Node | None:
        """The node after a step; ``None`` if the step cannot be taken or breaks a rule."""
        self._check_limits()
        try:
            execution = self._execution(parent).after(step)
        except NumberTooLarge:
            self._complete = False
            return None
        if execution is None:
            return None
        if execution.broken:
            self._learn_condition(step, execution)
            return None
        if execution.undecided:
            self._complete = False
            return None
        node = _Node(parent, step, execution)
        node.key = execution.key()
        return node

    def _store(self, node: _Node) -> None:
        if node.parent is None:
            return
        self._stored[node] = None
        if len(self._stored) > MAX_STORED_EXECUTIONS:
            oldest, _ = self._stored.popitem(last=False)
            oldest.execution = None

    def _execution(self, node: _Node) -> Execution:
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
        elif node in self._stored:
            self._stored.move_to_end(node)
        return execution

    def _estimate(self, node: _Node) -> StateEstimate:
        self.visited += 1
        execution = self._execution(node)
        if self._relaxation is None and self.shortest:
            return StateEstimate(0, [], list(execution.legal()), [])
        if self._relaxation is None:
            left = self.within - node.depth if self.prune_by_estimate and self.within is not None else None
            return self._cache.estimate_backwards(execution, left)
        return self._cache.estimate(execution, node.key, self.shortest)

    def _learn_condition(self, step: GroundAction, broken: Execution) -> None:
        """Let the backward estimates include the condition of the rule that a step broke."""
        if self._relaxation is not None:
            return
        step_key = (step.action.name, step.objects)
        for instance in broken.new_violations:
            part = broken.engine.rule_set.parts[instance.part]
            formula = part.body if part.guard is None else Or((Not(part.guard), part.body))
            unbound = len(instance.binding) != len(part.parameters)
            if part.step is None or part.after or unbound or is_temporal(formula):
                self._backward.penalized_steps.add(step_key)
                continue
            learned = self._backward.learned_conditions.setdefault(step_key, [])
            subgoal = (formula, bind(part.parameters, instance.binding))
            if subgoal not in learned:
                learned.append(subgoal)

    # -- any plan -----------------------------------------------------------------------------------------------------

    def _find_any(self, root: _Node) -> _Node | None:
        """Lazy greedy search: a step is queued with its parent's estimate, and its own node is estimated later."""
        queues: list[list[_QueuedStep]] = [[], []]  # all steps; steps of relaxed plans
        credit = [0, 0 if self._relaxation is not None else -BOOST]
        assert root.execution is not None
        root.key = root.execution.key()
        closed: set[object] = {root.key}
        best = self._queue_steps(root, queues)
        if best is None:
            return None
        while queues[0] or queues[1]:
            turn = 1 if queues[1] and (not queues[0] or credit[1] <= credit[0]) else 0
            credit[turn] += 1
            rank, distance, _, parent, step = heappop(queues[turn])
            if self.within is not None and parent.depth >= self.within:
                self._pruned_by_length = True
                continue
            if step is None:
                for legal in list(self._execution(parent).legal()):
                    self._ties += 1
                    heappush(queues[turn], (rank, distance, self._ties, parent, legal))
                continue
            if not _is_untried(parent, step):
                continue
            node = self._child(parent, step)
            if node is None or node.key in closed:
                continue
            closed.add(node.key)
            assert node.execution is not None
            if node.execution.accepted:
                return node
            estimate = self._queue_steps(node, queues)
            if estimate is not None and estimate < best:
                best = estimate
                credit[1] -= BOOST
        return None

    def _queue_steps(self, node: _Node, queues: list[list[_QueuedStep]]) -> int | None:
        """Estimate a node and queue its steps; returns the estimate."""
        distance, preferred, applicable, true = self._estimate(node)
        if distance is None:
            return None
        if self.prune_by_estimate and self.within is not None and node.depth + distance > self.within:
            self._pruned_by_length = True
            return None
        reached = self._propositions_reached.setdefault(distance, set())
        reached_before = len(reached)
        reached.update(true)
        rank = int(len(reached) == reached_before)  # states with a new proposition come first
        all_steps: Sequence[GroundAction | None] = [None] if applicable is None else applicable
        for queue, steps in ((queues[0], all_steps), (queues[1], preferred)):
            for step in steps:
                self._ties += 1
                heappush(queue, (rank, distance, self._ties, node, step))
        self._store(node)
        return distance

    # -- a plan within a maximum length -------------------------------------------------------------------------------

    def _find_within(self, root: _Node) -> _Node | None:
        """Lazy search by the share of the remaining length that the estimate needs.

        A state that is reached again by fewer steps is searched again.
        """
        assert self.within is not None
        assert root.execution is not None
        root.key = root.execution.key()
        best_depth: dict[object, int] = {root.key: 0}
        queue: list[tuple[float, int, int, _Node, GroundAction]] = []
        self._queue_within(root, queue)
        while queue:
            _, _, _, parent, step = heappop(queue)
            if best_depth[parent.key] < parent.depth or not _is_untried(parent, step):
                continue
            node = self._child(parent, step)
            if node is None or best_depth.get(node.key, node.depth + 1) <= node.depth:
                continue
            best_depth[node.key] = node.depth
            assert node.execution is not None
            if node.execution.accepted:
                return node
            self._queue_within(node, queue)
        return None

    def _queue_within(self, node: _Node, queue: list[tuple[float, int, int, _Node, GroundAction]]) -> None:
        """Queue the steps of a node, unless every plan through it is too long."""
        assert self.within is not None
        left = self.within - node.depth
        if left < 1:
            return
        distance, preferred, applicable, _ = self._estimate(node)
        if distance is None:
            return
        if distance > left and self._cache.exceeds_length(self._execution(node), node.key, left):
            return
        preferred_keys = {(step.action.name, step.objects) for step in preferred}
        for step in applicable or ():
            self._ties += 1
            rank = (step.action.name, step.objects) not in preferred_keys
            heappush(queue, (distance / left + rank, distance, self._ties, node, step))
        self._store(node)

    # -- a shortest plan ----------------------------------------------------------------------------------------------

    def _find_shortest(self, root: _Node) -> _Node | None:
        """A*: a node is estimated when its parent's bound is due, and expanded when its own bound is due."""
        queue: list[tuple[int, int, int, _Node, GroundAction | None]] = [(0, 0, 0, root, None)]
        steps_of: dict[_Node, list[GroundAction]] = {}
        assert root.execution is not None
        root.key = root.execution.key()
        best_depth: dict[object, int] = {root.key: 0}
        distance, _, applicable, _ = self._estimate(root)
        if distance is None:
            return None
        steps_of[root] = applicable or []
        root.distance = distance
        while queue:
            bound, _, _, node, step = heappop(queue)
            if step is not None:
                child = self._child(node, step)
                if child is None or best_depth.get(child.key, child.depth + 1) <= child.depth:
                    continue
                best_depth[child.key] = child.depth
                distance, _, applicable, _ = self._estimate(child)
                if distance is None:
                    continue
                child.distance, steps_of[child] = distance, applicable or []
                self._store(child)
                self._ties += 1
                heappush(queue, (max(bound, child.depth + distance), -child.depth, self._ties, child, None))
                continue
            if best_depth[node.key] < node.depth:
                continue
            if self._execution(node).accepted:
                return node
            child_bound = max(bound, node.depth + 1 + max(node.distance - 1, 0))
            for step in steps_of.pop(node):
                self._ties += 1
                heappush(queue, (child_bound, -node.depth - 1, self._ties, node, step))
        return None


def _count_actions(engine: Engine) -> int:
    """The number of ground actions and conditional effects that the types allow."""
    total, domains = 0, engine.task.domains
    for action in engine.task.actions.values():
        actions = prod([len(domains[v.domain]) for v in action.parameters])
        effects = [prod([len(domains[v.domain]) for v in effect.variables]) for effect in action.start.effects]
        total += actions + sum([actions * count for count in effects])
    return total


def _is_untried(node: _Node, step: GroundAction) -> bool:
    """Whether a step was not tried at a node before; marks it as tried."""
    step_key = (step.action.name, step.objects)
    if step_key in node.tried:
        return False
    node.tried.add(step_key)
    return True
