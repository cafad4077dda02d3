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
from plansafe.verifier.planning.visited_states import compute_state_hash_change

FIRST_CONTINUATION_NODES = 2_000
"""States that the search for any continuation may visit."""
FIRST_IMPROVEMENT_NODES = 300
"""States that a search for a shorter continuation from the initial state may visit."""
STEP_IMPROVEMENT_NODES = 150
"""States that a search for a shorter continuation after a step may visit."""
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


class _StepRegret(NamedTuple):
    """The regret of a step (``None``: unknown) and its grade."""

    regret: int | None
    grade: Grade


class _ReachedState:
    """The results for a state of an execution: bounds of h, and an estimate.

    ``upper_bound`` is the length of a known continuation (``None``: none is known). ``is_dead_end``: it is proved that
    there is none.
    """

    def __init__(self, execution: Execution, key: object, state_hash: int) -> None:
        self.execution = execution
        self.key = key
        self.state_hash = state_hash
        self.lower_bound = 0
        self.upper_bound: int | None = None
        self.is_dead_end = False
        self.is_estimated = self.was_searched = False
        self.estimate: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether h is known exactly, or the state is a dead end."""
        return self.is_dead_end or self.lower_bound == self.upper_bound


class RegretCalculator:
    """Computes regrets for plans of one task, one batch after the other.

    Raises ``ValueError`` if the task has errors or leaves something open. The regrets are unknown for timed plans, and
    for tasks that :func:`~plansafe.verifier.planning.forward_search.find_unsupported_task_reason` excludes.
    ``searches`` counts the calls of the search.
    """

    def __init__(self, checker: Checker, planner: ForwardSearch | None = None) -> None:
        self.checker = checker
        self.planner = planner or ForwardSearch()
        self.searches = 0
        self.unsupported_reason = find_unsupported_task_reason(checker.compiled, True)
        self._is_exhaustive = not checker.engine.resolver.lenient
        """Whether the search considers every possible step: otherwise it proves nothing."""
        self._deadline = 0.0
        self._drop_results()

    def _drop_results(self) -> None:
        self._reached_states: dict[object, _ReachedState] = {}
        self._continuations = KnownContinuations()
        self._estimates: EstimateCache | None = None

    def compute(
        self, plans: Iterable[Source], grade: Grade = Grade.FOUND, time_limit_s: float = 30.0
    ) -> list[PlanRegrets]:
        """Return the regrets of plans by the requested grade; steps without it have a lower grade.

        ``time_limit_s`` is for each plan; unless it is reached, the results are the same on every machine. Results for
        one plan are used for the next ones. Raises ``ValueError`` for a plan that cannot be resolved.
        """
        return [self._compute_plan_regrets(plan, grade, time_limit_s) for plan in plans]

    def _compute_plan_regrets(self, plan: Source, grade: Grade, time_limit_s: float) -> PlanRegrets:
        """Return the regrets of one plan; see ``compute``."""
        resolved = self.checker.read(plan)
        if resolved.text.diagnostics:
            raise ValueError(f"the plan cannot be read: {resolved.text.diagnostics[0].message}")
        self.checker.compiled.require_one_world("regret", resolved)
        length = len(resolved.steps)
        reason = "timed plans are not continued by a planner" if resolved.timed is not None else self.unsupported_reason
        if reason:
            return PlanRegrets((None,) * length, (Grade.UNKNOWN,) * length, (-1, length), detail=reason)
        if len(self._reached_states) > MAX_STATES:
            self._drop_results()
        self._deadline = monotonic() + time_limit_s
        path: list[_ReachedState] = []
        run = PrefixRun(self.checker, resolved.steps, lambda execution: path.append(self._load_state(execution, path)))
        steps = run.executed_steps[: run.longest_safe_length] if path else []
        if path:
            try:
                self._bound_distances(path, steps, run.accepted_length, grade)
            except LimitReached as limit:
                if limit.kind is not LimitKind.TIME:
                    raise
            _propagate_bounds(path)
        return _make_plan_regrets(path, length, run, grade)

    def _load_state(self, execution: Execution, path: Sequence[_ReachedState]) -> _ReachedState:
        """Return the kept results for a state, or new ones; ``path``: the states of the plan before it."""
        key = execution.key()
        state = self._reached_states.get(key)
        if state is None:
            state_hash = 0
            if path:
                change = compute_state_hash_change(execution.engine, execution.state, execution.changed)
                state_hash = path[-1].state_hash ^ change
            state = self._reached_states[key] = _ReachedState(execution.fork(), key, state_hash)
        return state

    # -- bounds of h --------------------------------------------------------------------------------------------------

    def _bound_distances(
        self, path: Sequence[_ReachedState], steps: Sequence[GroundAction], accepted: int, grade: Grade
    ) -> None:
        """Bound h in all states of a plan, as well as the grade requires."""
        if accepted >= 0:
            self._continuations.add(path[0].execution, path[0].state_hash, tuple(steps[:accepted]))
        for state in path:
            self._estimate_distance(state, grade is not Grade.ESTIMATE)
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

    def _estimate_distance(self, state: _ReachedState, with_lower_bound: bool) -> None:
        """Estimate h by the relaxation, which can also give a lower bound, or prove a dead end."""
        estimates = self._load_estimates()
        self._use_known_continuation(state)
        if state.is_dead_end or (state.is_estimated and not with_lower_bound):
            return
        execution = state.execution
        if execution.accepted:
            state.upper_bound = state.estimate = 0
        elif estimates.relaxation is None:
            state.estimate = estimates.estimate_backwards(execution).distance
        else:
            state.estimate = estimates.estimate(execution, state.key, False).distance
            state.is_dead_end = self._is_exhaustive and state.estimate is None
            if with_lower_bound and self._is_exhaustive and not state.is_settled:
                state.lower_bound = max(state.lower_bound, estimates.estimate(execution, state.key, True).distance or 0)
        state.is_estimated = True

    def _load_estimates(self) -> EstimateCache:
        """Return the estimates of the task; the first call grounds its actions."""
        estimates = self._estimates
        if estimates is None:
            engine, criteria = self.checker.engine, self.checker.options.criteria
            estimates = EstimateCache(Execution.initial(engine, True, criteria))
            estimates.ground(self.planner.get_lifted_relaxation(engine, True, criteria), self._check_time)
            self._estimates = estimates
        return estimates

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            raise LimitReached(LimitKind.TIME)

    def _find_continuation(self, state: _ReachedState, before: _ReachedState | None, step: GroundAction | None) -> None:
        """Find a continuation, and a shorter one if the step before the state seems to have a regret."""
        if state.is_settled:
            return
        previous_continuation = None if before is None else self._continuations.find_known(before.key, None)
        if previous_continuation is not None and step is not None:
            # Even if a continuation is known: undoing the step and continuing from before gives an upper bound.
            self._continuations.derive(state.execution, state.state_hash, previous_continuation.steps, step, None)
            self._use_known_continuation(state)
        if state.upper_bound is None or (before is None and not state.was_searched):
            state.was_searched = True
            self._search(state, None, FIRST_CONTINUATION_NODES)
        if before is None or before.upper_bound is None:
            while not state.is_settled and state.upper_bound:
                if not self._search(state, state.upper_bound - 1, FIRST_IMPROVEMENT_NODES):
                    break
            return
        # Without regret the continuation is one shorter than before, with regret 1 equally long.
        for max_length in (before.upper_bound - 1, before.upper_bound, before.upper_bound + 1):
            if state.is_settled or state.upper_bound is None or state.upper_bound <= max_length:
                return
            if max_length >= state.lower_bound and self._search(state, max_length, STEP_IMPROVEMENT_NODES):
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
            _update_upper_bound(state, answer.steps)
            return True
        if answer.status is PlanningStatus.UNSOLVABLE:
            if max_length is None:
                state.is_dead_end = True
            else:
                state.lower_bound = max(state.lower_bound, max_length + 1)
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
            _update_upper_bound(state, answer.steps)
            if self._is_exhaustive:
                state.lower_bound = len(answer.steps)
        elif answer.status is PlanningStatus.UNSOLVABLE:
            state.is_dead_end = True

    def _use_known_continuation(self, state: _ReachedState) -> None:
        continuation = self._continuations.find_known(state.key, None)
        if continuation is not None:
            _update_upper_bound(state, continuation.steps)


def _update_upper_bound(state: _ReachedState, continuation: Steps) -> None:
    if state.upper_bound is None or len(continuation) < state.upper_bound:
        state.upper_bound = len(continuation)


def _propagate_bounds(path: Sequence[_ReachedState]) -> None:
    """Tighten the bounds: h falls by at most one with each step, and all states after a dead end are dead ends."""
    for before, after in pairwise(path):
        after.lower_bound = max(after.lower_bound, before.lower_bound - 1)
        after.is_dead_end = after.is_dead_end or before.is_dead_end
    for after, before in pairwise(reversed(path)):
        if after.upper_bound is not None and (before.upper_bound is None or before.upper_bound > after.upper_bound + 1):
            before.upper_bound = after.upper_bound + 1


def _make_plan_regrets(path: Sequence[_ReachedState], length: int, run: PrefixRun, grade: Grade) -> PlanRegrets:
    """Return the regrets of a plan from the bounds and estimates of its states."""
    step_regrets = [_grade_step_regret(before, after, grade is Grade.ESTIMATE) for before, after in pairwise(path)]
    step_regrets += [_StepRegret(None, Grade.UNKNOWN)] * (length - len(step_regrets))
    low = max([number for number, state in enumerate(path) if state.upper_bound is not None], default=-1)
    high = max([number for number, state in enumerate(path) if not state.is_dead_end], default=-1)
    interval = (length, length) if run.accepted_length == length else (low, high)
    regrets = tuple([step.regret for step in step_regrets])
    grades = tuple([step.grade for step in step_regrets])
    return PlanRegrets(regrets, grades, interval, run.violated_step, run.inexecutable_step)


def _grade_step_regret(before: _ReachedState, after: _ReachedState, prefers_estimate: bool) -> _StepRegret:
    """Return the regret of the step between two states, and how it is known."""
    if before.is_dead_end or after.is_dead_end:
        return _StepRegret(None, Grade.UNKNOWN)
    has_continuations = before.upper_bound is not None and after.upper_bound is not None
    is_proved = (
        has_continuations and before.lower_bound == before.upper_bound and after.lower_bound == after.upper_bound
    )
    # Without a search, the only known continuation is the plan's own, by which every step has regret 0.
    uses_estimate = not is_proved and (prefers_estimate or not has_continuations)
    if uses_estimate and before.estimate is not None and after.estimate is not None:
        return _StepRegret(max(1 + after.estimate - before.estimate, 0), Grade.ESTIMATE)
    if before.upper_bound is None or after.upper_bound is None:
        return _StepRegret(None, Grade.UNKNOWN)
    return _StepRegret(1 + after.upper_bound - before.upper_bound, Grade.PROVED if is_proved else Grade.FOUND)
