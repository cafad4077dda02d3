"""Our own planner: forward search over states and what the rules remember of the past.

Steps are taken by the engine and rules are watched by its monitors, so a plan means here what it means to the checker,
rules of every kind included. A branch ends where a rule is broken. Without wish for the shortest plan it is a lazy
greedy best-first search by relaxed plans, steps of the relaxed plan first (Helmert 2006; Richter and Westphal 2010),
else A* by landmark cuts (Helmert and Domshlak 2009). For a plan of bounded length the first is ordered by what is
left of the bound (Stern, Puzis and Felner 2011), and the second says what is too far. All visit everything in the end,
so an exhausted search is a proof that there is no plan, and only a limit leaves the question open.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from heapq import heappop, heappush
from math import prod
from time import monotonic
from weakref import WeakKeyDictionary

from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Not, Or, bind
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache, StateEstimate
from plansafe.verifier.reporting.report import Headline, Worlds
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

MAX_NODES = 1_000_000
KEPT = 3_000
"""Executions that are kept; others are made again from the nearest ancestor that was."""
MANY_ACTIONS = 400_000
"""Ground actions and effects, as far as types tell, beyond which a search does not begin with grounding them."""
FIRST_SHARE, FIRST_NODES = 0.5, 400
"""The share of the time, and the states, that the first search by what the goal needs may take then."""
BOOST = 50
"""How many steps of relaxed plans are tried first after each progress."""
_UNJUDGED = "the search met numbers that are undefined or too large"


class ForwardSearch:
    """The planner that needs nothing but the engine. Complete on finite tasks without durative actions."""

    name = "own search"

    def __init__(self, max_nodes: int = MAX_NODES) -> None:
        self.max_nodes = max_nodes
        self._lifted: WeakKeyDictionary[Engine, dict[tuple[bool, VerdictCriteria], LiftedRelaxation]] = (
            WeakKeyDictionary()
        )

    def available(self) -> bool:
        """It needs nothing that may be missing."""
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query (see :class:`plansafe.verifier.planning.planner.Planner`).

        A solution has been replayed by the checker. Raises ``AssertionError`` where the replay disagrees: a bug.
        """
        started = monotonic()
        checker = query.checker
        errors = "the domain, problem or specification has errors"
        why = unsupported_task_reason(checker.compiled, query.rules) if checker.ok else errors
        if why:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=why, planner=self.name)
        start = Execution.initial(checker.engine, query.rules, checker.options.criteria)
        try:
            for number, step in enumerate(query.prefix, 1):
                if not start.take(step):
                    detail = f"step {number} of the prefix cannot be taken"
                    return PlanningResult(PlanningStatus.UNSOLVABLE, detail=detail, planner=self.name)
        except (NumberTooLarge, TooManyInstances):
            return PlanningResult(
                PlanningStatus.NOT_FOUND, detail="the prefix passes a limit of the engine", planner=self.name
            )
        left = query.time_limit_s - (monotonic() - started)
        found = self.solve_from(start, shortest=query.shortest, time_limit_s=left)
        if found.status is PlanningStatus.SOLVED:
            verdict = confirm_by_replay(query, found.steps)
            if verdict is None:
                return PlanningResult(
                    PlanningStatus.NOT_FOUND, detail="the plan could not be checked in time", planner=self.name
                )
            if not verdict:
                raise AssertionError("a plan that the search found does not replay: this is a bug in plansafe")
        return found

    def solve_from(
        self,
        start: Execution,
        *,
        shortest: bool = False,
        within: int | None = None,
        time_limit_s: float = 10.0,
        max_nodes: int | None = None,
        cache: EstimateCache | None = None,
    ) -> PlanningResult:
        """Search from any state of an execution, also from one that an observation corrected.

        The task must have no :func:`unsupported_task_reason`. The plan is not replayed from S0. ``within``: the maximum
        length of the plan; UNSOLVABLE then means that no plan is that short. ``max_nodes`` limits this search alone,
        independently of the machine's speed. ``cache`` keeps what earlier searches of the same execution computed;
        ``start`` must be reachable from theirs by steps.
        """
        if cache is None or not cache.covers(start):
            cache = EstimateCache(start, remember=False)
        search = _Search(self, start, shortest, within, monotonic() + time_limit_s, max_nodes or self.max_nodes, cache)
        search.hasty = max_nodes is not None
        try:
            return search.run()._replace(planner=self.name)
        except (LimitReached, TooManyInstances) as end:
            why = f"{time_limit_s:g} s" if isinstance(end, LimitReached) else "too many instances of a rule"
            detail = f"no plan found within {why} and {search.visited} states"
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=detail, planner=self.name)

    def lifted_relaxation(
        self, engine: Engine, rules: bool, criteria: VerdictCriteria = EVERY_VIOLATION
    ) -> LiftedRelaxation:
        """The task as the relaxation wants it, compiled once."""
        known = self._lifted.setdefault(engine, {})
        key = rules, criteria
        if key not in known:
            known[key] = LiftedRelaxation(engine, rules, criteria)
        return known[key]


def _actions(engine: Engine) -> int:
    """How many ground actions and effects there are, as far as types tell."""
    total, domains = 0, engine.task.domains
    for action in engine.task.actions.values():
        own = prod([len(domains[v.domain]) for v in action.parameters])
        total += own + sum([own * prod([len(domains[v.domain]) for v in e.variables]) for e in action.start.effects])
    return total


def unsupported_task_reason(compiled: CompiledTask, rules: bool) -> str:
    """Why this planner does not take a task; empty if it does."""
    engine = compiled.engine
    if engine.refusal is not None:
        return engine.refusal.message
    if any([action.end is not None for action in engine.task.actions.values()]):
        return "the search does not support durative actions"
    if any([literal.time > 0 for literal in engine.task.timed_literals]):
        return "the search does not support timed initial literals"
    if not rules:
        return ""
    if engine.limit is not None or (engine.prototype is not None and engine.prototype.too_large):
        return "a rule has more instances than the limit allows"
    if compiled.options.criteria.has_partial_exemptions:
        return "the search does not support an exemption for only some objects"
    return ""


def confirm_by_replay(query: PlanningQuery, steps: tuple[GroundAction, ...]) -> bool | None:
    """Whether the checker finds a prefix with its continuation SAFE or VALID (without rules: reaching the goal).

    ``None`` where one of its limits ends the replay.
    """
    objects = query.checker.engine.task.objects
    text = "".join([step_text(step, objects) + "\n" for step in (*query.prefix, *steps)])
    report = query.checker.check(Source("<search>", text))
    if report.headline is Headline.UNKNOWN and report.limits:
        return None
    if not query.rules:
        return report.executable is Worlds.ALL and report.goal is Worlds.ALL
    return report.headline in (Headline.SAFE, Headline.VALID)


class _Node:
    __slots__ = ("__weakref__", "depth", "execution", "key", "parent", "step", "tried", "value")

    def __init__(self, parent: _Node | None, step: GroundAction | None, execution: Execution) -> None:
        self.parent = parent
        self.step = step
        self.execution: Execution | None = execution
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.value = 0
        self.key: object = None
        self.tried: set[tuple[str, tuple[int, ...]]] = set()


_Waiting = tuple[int, int, int, _Node, GroundAction | None]
"""A rank, the estimate of a node, the order of arrival; the node, and a step to take there (``None``: any legal)."""


class _Search:
    def __init__(
        self,
        owner: ForwardSearch,
        start: Execution,
        shortest: bool,
        within: int | None,
        deadline: float,
        max_nodes: int,
        cache: EstimateCache,
    ) -> None:
        self.owner = owner
        self.max_nodes = max_nodes
        self.start = start
        self.shortest = shortest
        self.within = within
        self.deadline = deadline
        self.visited = 0
        self.far = False
        """Whether states were left out that lie, or seem to lie, too far from the start or the goal."""
        self.hasty = False
        """Whether a state may be left out that only seems too far: the question is one of many."""
        self.complete = not start.engine.resolver.lenient
        self._cache = cache
        self._relaxed: DeleteRelaxation | None = None
        self._backward = cache.backward
        self._first_nodes: int | None = None
        self._kept: OrderedDict[_Node, None] = OrderedDict()
        self._ties = 0
        self._seen: dict[int, set[int]] = {}

    def run(self) -> PlanningResult:
        start = self.start
        if start.broken:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail="a rule is violated already")
        if start.undecided:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=_UNJUDGED)
        if start.accepted:
            return PlanningResult(PlanningStatus.SOLVED, optimal=True)
        rules = start.runtime is not None
        cache = self._cache
        if not self.shortest and cache.relaxation is None and _actions(start.engine) > MANY_ACTIONS:
            found = self._at_first()
            if found is not None:
                return found
        self._relaxed = cache.ground(self.owner.lifted_relaxation(start.engine, rules, start.criteria), self._check)
        root = _Node(None, None, start)
        if self.shortest:
            return self._outcome(self._shortest(root))
        bounded = self.within is not None and self._relaxed is not None
        return self._outcome(self._bounded(root) if bounded else self._greedy(root))

    def _at_first(self) -> PlanningResult | None:
        """A first search by what the goal needs alone, before all that is within reach is ground."""
        self._first_nodes = FIRST_NODES
        deadline = self.deadline
        self.deadline = min(deadline, monotonic() + (deadline - monotonic()) * FIRST_SHARE)
        try:
            return self._outcome(self._greedy(_Node(None, None, self.start)))
        except LimitReached as limit:
            if limit.kind is not LimitKind.TIME:
                raise
            return None
        finally:
            self.deadline, self._first_nodes = deadline, None
            self._kept.clear()
            self._seen.clear()

    def _outcome(self, end: _Node | None) -> PlanningResult:
        if end is not None:
            steps: list[GroundAction] = []
            node = end
            while node.parent is not None:
                assert node.step is not None
                steps.append(node.step)
                node = node.parent
            return PlanningResult(PlanningStatus.SOLVED, tuple(reversed(steps)), optimal=self.shortest)
        if not self.complete:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=_UNJUDGED)
        if self.far:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail=f"no plan of at most {self.within} steps found")
        if self.within is not None:
            detail = f"no plan has at most {self.within} steps"
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=detail)
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"all {self.visited} reachable states were visited")

    def _check(self) -> None:
        if monotonic() > self.deadline or self.visited > self.max_nodes:
            raise LimitReached(LimitKind.TIME)

    # -- nodes --------------------------------------------------------------------------------------------------------

    def _child(self, parent: _Node, step: GroundAction) -> _Node | None:
        """The node behind a step, unless the step cannot be taken or breaks a rule."""
        self._check()
        try:
            execution = self._execution(parent).after(step)
        except NumberTooLarge:
            self.complete = False
            return None
        if execution is None:
            return None
        if execution.broken:
            self._learn(step, execution)
            return None
        if execution.undecided:
            self.complete = False
            return None
        node = _Node(parent, step, execution)
        node.key = execution.key()
        return node

    def _keep(self, node: _Node) -> None:
        if node.parent is None:
            return
        self._kept[node] = None
        if len(self._kept) > KEPT:
            forgotten, _ = self._kept.popitem(last=False)
            forgotten.execution = None

    def _execution(self, node: _Node) -> Execution:
        path: list[_Node] = []
        at = node
        while at.execution is None:
            path.append(at)
            assert at.parent is not None
            at = at.parent
        execution = at.execution
        for below in reversed(path):
            assert below.step is not None
            after = execution.after(below.step)
            assert after is not None
            execution = after
        if path:
            node.execution = execution
            self._keep(node)
        elif node in self._kept:
            self._kept.move_to_end(node)
        return execution

    def _look(self, node: _Node) -> StateEstimate:
        self.visited += 1
        execution = self._execution(node)
        if self._relaxed is None and self.shortest:
            return StateEstimate(0, [], list(execution.legal()), [])
        if self._relaxed is None:
            most = self.within - node.depth if self.hasty and self.within is not None else None
            return self._cache.estimate_backwards(execution, most)
        return self._cache.estimate(execution, node.key, self.shortest)

    def _learn(self, step: GroundAction, broken: Execution) -> None:
        """Remember under which condition alone a step keeps a rule that it broke."""
        if self._relaxed is not None:
            return
        named = (step.action.name, step.objects)
        for one in broken.new_violations:
            part = broken.engine.rule_set.parts[one.part]
            formula = part.body if part.guard is None else Or((Not(part.guard), part.body))
            if part.step is None or part.after or len(one.binding) != len(part.parameters) or is_temporal(formula):
                self._backward.blamed.add(named)
                continue
            known = self._backward.lessons.setdefault(named, [])
            wish = (formula, bind(part.parameters, one.binding))
            if wish not in known:
                known.append(wish)

    # -- any plan -----------------------------------------------------------------------------------------------------

    def _greedy(self, root: _Node) -> _Node | None:
        """Lazy greedy best-first search: a step waits with its parent's estimate, and its node is looked at later."""
        queues: list[list[_Waiting]] = [[], []]  # all steps; those of relaxed plans
        credit = [0, 0 if self._relaxed is not None else -BOOST]
        assert root.execution is not None
        root.key = root.execution.key()
        closed: set[object] = {root.key}
        best = self._push(root, queues)
        if best is None:
            return None
        while queues[0] or queues[1]:
            which = 1 if queues[1] and (not queues[0] or credit[1] <= credit[0]) else 0
            credit[which] += 1
            rank, value, _, parent, step = heappop(queues[which])
            if self.within is not None and parent.depth >= self.within:
                self.far = True
                continue
            if step is None:
                for legal in list(self._execution(parent).legal()):
                    self._ties += 1
                    heappush(queues[which], (rank, value, self._ties, parent, legal))
                continue
            if not _first_time(parent, step):
                continue
            node = self._child(parent, step)
            if node is None or node.key in closed:
                continue
            closed.add(node.key)
            assert node.execution is not None
            if node.execution.accepted:
                return node
            estimate = self._push(node, queues)
            if estimate is not None and estimate < best:
                best = estimate
                credit[1] -= BOOST
        return None

    def _push(self, node: _Node, queues: list[list[_Waiting]]) -> int | None:
        """Look at a node and queue its steps; its estimate."""
        value, preferred, applicable, true = self._look(node)
        if value is None:
            return None
        if self.hasty and self.within is not None and node.depth + value > self.within:
            self.far = True
            return None
        seen = self._seen.setdefault(value, set())
        old = len(seen)
        seen.update(true)
        novel = len(seen) > old
        every: Sequence[GroundAction | None] = [None] if applicable is None else applicable
        for queue, steps, rank in ((queues[0], every, int(not novel)), (queues[1], preferred, int(not novel))):
            for step in steps:
                self._ties += 1
                heappush(queue, (rank, value, self._ties, node, step))
        self._keep(node)
        return value

    # -- a plan of bounded length -------------------------------------------------------------------------------------

    def _bounded(self, root: _Node) -> _Node | None:
        """Best-first by how much of the length that is left an estimate takes; what a bound says is too far is cut.

        As lazy as the greedy search. A state that is met again nearer to the start is searched again.
        """
        assert self.within is not None
        assert root.execution is not None
        root.key = root.execution.key()
        best: dict[object, int] = {root.key: 0}
        queue: list[tuple[float, int, int, _Node, GroundAction]] = []
        self._admit(root, queue)
        while queue:
            _, _, _, parent, step = heappop(queue)
            if best[parent.key] < parent.depth or not _first_time(parent, step):
                continue
            node = self._child(parent, step)
            if node is None or best.get(node.key, node.depth + 1) <= node.depth:
                continue
            best[node.key] = node.depth
            assert node.execution is not None
            if node.execution.accepted:
                return node
            self._admit(node, queue)
        return None

    def _admit(self, node: _Node, queue: list[tuple[float, int, int, _Node, GroundAction]]) -> None:
        """Queue the steps of a node, unless no plan through it is short enough."""
        assert self.within is not None
        left = self.within - node.depth
        if left < 1:
            return
        value, preferred, applicable, _ = self._look(node)
        if value is None or (value > left and self._cache.exceeds_length(self._execution(node), node.key, left)):
            return
        first = {(step.action.name, step.objects) for step in preferred}
        for step in applicable or ():
            self._ties += 1
            later = (step.action.name, step.objects) not in first
            heappush(queue, (value / left + later, value, self._ties, node, step))
        self._keep(node)

    # -- the shortest -------------------------------------------------------------------------------------------------

    def _shortest(self, root: _Node) -> _Node | None:
        """A*: nodes are looked at when their parent's bound comes up, and again when their own does."""
        queue: list[tuple[int, int, int, _Node, GroundAction | None]] = [(0, 0, 0, root, None)]
        steps_of: dict[_Node, list[GroundAction]] = {}
        best: dict[object, int] = {}
        assert root.execution is not None
        root.key = root.execution.key()
        best[root.key] = 0
        value, _, first, _ = self._look(root)
        if value is None:
            return None
        steps_of[root] = first or []
        root.value = value
        while queue:
            bound, _, _, node, step = heappop(queue)
            if step is not None:
                child = self._child(node, step)
                if child is None or best.get(child.key, child.depth + 1) <= child.depth:
                    continue
                best[child.key] = child.depth
                assert child.execution is not None
                value, _, steps, _ = self._look(child)
                if value is None:
                    continue
                child.value, steps_of[child] = value, steps or []
                self._keep(child)
                bound = max(bound, child.depth + value)
                node = child
                self._ties += 1
                heappush(queue, (bound, -node.depth, self._ties, node, None))
                continue
            if best[node.key] < node.depth:
                continue
            if self._execution(node).accepted:
                return node
            for step in steps_of.pop(node):
                self._ties += 1
                ahead = max(bound, node.depth + 1 + max(node.value - 1, 0))
                heappush(queue, (ahead, -node.depth - 1, self._ties, node, step))
        return None


def _first_time(node: _Node, step: GroundAction) -> bool:
    """Whether a step was not tried at a node before."""
    mark = (step.action.name, step.objects)
    if mark in node.tried:
        return False
    node.tried.add(mark)
    return True
