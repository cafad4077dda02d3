"""Regret for many plans of one task: how many steps longer each step made the shortest safe completion.

    regrets = RegretCalculator(checker).compute([chosen, rejected], Grade.FOUND)

As in :func:`~plansafe.verifier.diagnose.localise.localise`, r(i) = 1 + h(i) - h(i - 1), but by the requested grade
(docs/alignment.md): h is proved least, the length of a continuation that was found, or an estimate. The results for a
reached state are kept, so that they are computed once for all plans that reach it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.localise import PrefixRun
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.planning.continuations import KnownContinuations, Steps
from plansafe.verifier.planning.forward_search import ForwardSearch, find_unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache
from plansafe.verifier.planning.visited_states import state_hash_change

FIRST_NODES = 2_000
"""States that the search for any continuation may visit."""
BEGIN_NODES, BETTER_NODES = 300, 150
"""States that the search for a shorter continuation may visit, from the initial state and after a step."""
MAX_STATES = 20_000
"""Reached states that are kept; beyond this number all are dropped."""


class Grade(Enum):
    """How a regret is known. ``UNKNOWN``: it is undefined (after the point of no return), or nothing was found."""

    PROVED = "proved"
    FOUND = "found"
    ESTIMATE = "estimate"
    UNKNOWN = "unknown"


class PlanRegrets(NamedTuple):
    """The regrets of a plan's steps, each with its grade; ``None`` where it is unknown.

    ``point_of_no_return``, ``violated`` and ``inexecutable`` as in
    :class:`~plansafe.verifier.diagnose.localise.Localisation`. ``detail`` is the reason if nothing is known.
    """

    regret: tuple[int | None, ...]
    grade: tuple[Grade, ...]
    point_of_no_return: tuple[int, int]
    violated: int | None = None
    inexecutable: int | None = None
    detail: str = ""


class _ReachedState:
    """The results for a state of an execution: bounds of h, and an estimate.

    ``high`` is the length of a known continuation. ``is_dead_end``: it is proved that there is none.
    """

    __slots__ = ("estimate", "estimated", "execution", "high", "is_dead_end", "key", "low", "searched", "state_hash")

    def __init__(self, execution: Execution, key: object, state_hash: int) -> None:
        self.execution = execution
        self.key = key
        self.state_hash = state_hash
        self.low = 0
        self.high: int | None = None
        self.is_dead_end = False
        self.estimated = self.searched = False
        self.estimate: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether h is known exactly, or the state is a dead end."""
        return self.is_dead_end or self.low == self.high


class RegretCalculator:
    """Computes regrets for plans of one task, one batch after the other.

    Raises ``ValueError`` if the task has errors or leaves something open. The regrets are unknown for timed plans, and
    for tasks that :func:`~plansafe.verifier.planning.forward_search.find_unsupported_task_reason` excludes.
    ``searches`` counts the calls of the search.
    """

    def __init__(self, checker: Checker, planner: ForwardSearch | None = None) -> None:
        if not checker.ok:
            raise ValueError("the domain, problem or specification has errors")
        self.checker = checker
        self.planner = planner or ForwardSearch()
        self.searches = 0
        self.unsupported = find_unsupported_task_reason(checker.compiled, True)
        self._proves = not checker.engine.resolver.lenient
        """Whether the search considers every possible step: otherwise it proves nothing."""
        self._deadline = 0.0
        self._drop_results()

    def _drop_results(self) -> None:
        self._states: dict[object, _ReachedState] = {}
        self._continuations = KnownContinuations()
        self._estimates: EstimateCache | None = None

    def compute(
        self, plans: Iterable[Source], grade: Grade = Grade.FOUND, time_limit_s: float = 30.0
    ) -> list[PlanRegrets]:
        """Return the regrets of plans by the requested grade; steps without it have a lower grade.

        ``time_limit_s`` is for each plan; unless it is reached, the results are the same on every machine. Results for
        one plan are used for the next ones. Raises ``ValueError`` for a plan that cannot be read.
        """
        return [self._compute_plan(plan, grade, time_limit_s) for plan in plans]

    def _compute_plan(self, plan: Source, grade: Grade, time_limit_s: float) -> PlanRegrets:
        read = self.checker.read(plan)
        if read.text.diagnostics:
            raise ValueError(f"the plan cannot be read: {read.text.diagnostics[0].message}")
        self.checker.compiled.require_one_world("regret", read)
        size = len(read.steps)
        reason = "timed plans are not continued by a planner" if read.timed is not None else self.unsupported
        if reason:
            return PlanRegrets((None,) * size, (Grade.UNKNOWN,) * size, (-1, size), detail=reason)
        if len(self._states) > MAX_STATES:
            self._drop_results()
        self._deadline = monotonic() + time_limit_s
        path: list[_ReachedState] = []
        run = PrefixRun(self.checker, read.steps, lambda execution: path.append(self._state_of(execution, path)))
        steps = run.executed[: run.last] if path else []
        if path:
            try:
                self._evaluate_path(path, steps, run.accepted, grade)
            except LimitReached as limit:
                if limit.kind is not LimitKind.TIME:
                    raise
            _propagate_bounds(path)
        return _plan_regrets(path, size, run, grade)

    def _state_of(self, execution: Execution, path: Sequence[_ReachedState]) -> _ReachedState:
        key = execution.key()
        state = self._states.get(key)
        if state is None:
            state_hash = 0
            if path:
                change = state_hash_change(execution.engine, execution.state, execution.changed)
                state_hash = path[-1].state_hash ^ change
            state = self._states[key] = _ReachedState(execution.fork(), key, state_hash)
        return state

    # -- bounds of h --------------------------------------------------------------------------------------------------

    def _evaluate_path(
        self, path: Sequence[_ReachedState], steps: Sequence[GroundAction], accepted: int, grade: Grade
    ) -> None:
        """Bound h in all states of a plan, as well as the grade requires."""
        if accepted >= 0:
            self._continuations.add(path[0].execution, path[0].state_hash, tuple(steps[:accepted]))
        for state in path:
            self._estimate(state, grade is not Grade.ESTIMATE)
        _propagate_bounds(path)
        if grade is Grade.ESTIMATE:
            return
        for number, state in enumerate(path):
            self._find_continuation(state, path[number - 1] if number else None, steps[number - 1] if number else None)
            if state.is_dead_end:
                break
            _propagate_bounds(path[: number + 1])
        _propagate_bounds(path)
        if grade is Grade.PROVED:
            for number, state in enumerate(path):
                self._prove(state, len(path) - number)
                _propagate_bounds(path)

    def _estimate(self, state: _ReachedState, with_lower_bound: bool) -> None:
        """Estimate h by the relaxation, which can also give a lower bound, or prove a dead end."""
        estimates = self._load_estimates()
        self._use_known_continuation(state)
        if state.is_dead_end or (state.estimated and not with_lower_bound):
            return
        execution = state.execution
        if execution.accepted:
            state.high = state.estimate = 0
        elif estimates.relaxation is None:
            state.estimate = estimates.estimate_backwards(execution).distance
        else:
            state.estimate = estimates.estimate(execution, state.key, False).distance
            state.is_dead_end = self._proves and state.estimate is None
            if with_lower_bound and self._proves and not state.is_settled:
                state.low = max(state.low, estimates.estimate(execution, state.key, True).distance or 0)
        state.estimated = True

    def _load_estimates(self) -> EstimateCache:
        estimates = self._estimates
        if estimates is None:
            engine, criteria = self.checker.engine, self.checker.options.criteria
            estimates = EstimateCache(Execution.initial(engine, True, criteria))
            estimates.ground(self.planner.lifted_relaxation(engine, True, criteria), self._check_time)
            self._estimates = estimates
        return estimates

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            raise LimitReached(LimitKind.TIME)

    def _find_continuation(self, state: _ReachedState, before: _ReachedState | None, step: GroundAction | None) -> None:
        """Find a continuation, and a shorter one if the step before the state seems to have a regret."""
        if state.is_settled:
            return
        previous = None if before is None else self._continuations.lookup(before.key, None)
        if previous is not None and step is not None:
            # Even if a continuation is known: undoing the step and continuing from before gives an upper bound.
            self._continuations.derive(state.execution, state.state_hash, previous.steps, step, None)
            self._use_known_continuation(state)
        if state.high is None or (before is None and not state.searched):
            state.searched = True
            self._search(state, None, FIRST_NODES)
        if before is None or before.high is None:
            while not state.is_settled and state.high and self._search(state, state.high - 1, BEGIN_NODES):
                pass
            return
        # Without regret the continuation is one shorter than before, with regret 1 equally long.
        for max_length in (before.high - 1, before.high, before.high + 1):
            if state.is_settled or state.high is None or state.high <= max_length:
                return
            if max_length >= state.low and self._search(state, max_length, BETTER_NODES):
                return

    def _search(self, state: _ReachedState, max_length: int | None, max_nodes: int) -> bool:
        """Search for a continuation of limited length; return whether one was found. Proofs are kept."""
        self._check_time()
        self.searches += 1
        time_left = self._deadline - monotonic()
        answer = self.planner.solve_from(
            state.execution.fork(),
            within=max_length,
            time_limit_s=time_left,
            max_nodes=max_nodes,
            cache=self._estimates,
        )
        if answer.status is PlanningStatus.SOLVED:
            self._continuations.add(state.execution, state.state_hash, answer.steps)
            _lower_high(state, answer.steps)
            return True
        if answer.status is PlanningStatus.UNSOLVABLE:
            if max_length is None:
                state.is_dead_end = True
            else:
                state.low = max(state.low, max_length + 1)
        return False

    def _prove(self, state: _ReachedState, states_left: int) -> None:
        """Find a shortest continuation, in the state's share of the remaining time."""
        if state.is_settled:
            return
        self.searches += 1
        time_left = max(self._deadline - monotonic(), 0.0) / states_left
        execution = state.execution.fork()
        answer = self.planner.solve_from(execution, shortest=True, time_limit_s=time_left, cache=self._estimates)
        if answer.status is PlanningStatus.SOLVED:
            self._continuations.add(state.execution, state.state_hash, answer.steps)
            _lower_high(state, answer.steps)
            if self._proves:
                state.low = len(answer.steps)
        elif answer.status is PlanningStatus.UNSOLVABLE:
            state.is_dead_end = True

    def _use_known_continuation(self, state: _ReachedState) -> None:
        continuation = self._continuations.lookup(state.key, None)
        if continuation is not None:
            _lower_high(state, continuation.steps)


def _lower_high(state: _ReachedState, continuation: Steps) -> None:
    if state.high is None or len(continuation) < state.high:
        state.high = len(continuation)


def _propagate_bounds(path: Sequence[_ReachedState]) -> None:
    """H falls by at most one with each step, and all states after a dead end are dead ends."""
    for before, after in pairwise(path):
        after.low = max(after.low, before.low - 1)
        after.is_dead_end = after.is_dead_end or before.is_dead_end
    for after, before in pairwise(reversed(path)):
        if after.high is not None and (before.high is None or before.high > after.high + 1):
            before.high = after.high + 1


def _plan_regrets(path: Sequence[_ReachedState], size: int, run: PrefixRun, grade: Grade) -> PlanRegrets:
    graded = [_step_regret(before, after, grade is Grade.ESTIMATE) for before, after in pairwise(path)]
    graded += [(None, Grade.UNKNOWN)] * (size - len(graded))
    low = max([number for number, state in enumerate(path) if state.high is not None], default=-1)
    high = max([number for number, state in enumerate(path) if not state.is_dead_end], default=-1)
    interval = (size, size) if run.accepted == size else (low, high)
    regrets, grades = tuple([regret for regret, _ in graded]), tuple([step_grade for _, step_grade in graded])
    return PlanRegrets(regrets, grades, interval, run.violated, run.inexecutable)


def _step_regret(before: _ReachedState, after: _ReachedState, estimate: bool) -> tuple[int | None, Grade]:
    if before.is_dead_end or after.is_dead_end:
        return None, Grade.UNKNOWN
    has_continuations = before.high is not None and after.high is not None
    proved = has_continuations and before.low == before.high and after.low == after.high
    # Without a search, the only known continuation is the plan's own, by which every step has regret 0.
    use_estimate = not proved and (estimate or not has_continuations)
    if use_estimate and before.estimate is not None and after.estimate is not None:
        return max(1 + after.estimate - before.estimate, 0), Grade.ESTIMATE
    if before.high is None or after.high is None:
        return None, Grade.UNKNOWN
    return 1 + after.high - before.high, Grade.PROVED if proved else Grade.FOUND
