"""Estimates of states, and the ground relaxation that they need, shared by the searches of one execution."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.temporal_grounding import make_structural_key
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.planning.backward_estimates import BackwardEstimator, Subgoal
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.obligations import find_pending_obligations
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut, estimate_by_relaxed_plan
from plansafe.verifier.planning.relaxed_conditions import Conjunction

MAX_CACHED_STATES = 5_000
"""Maximum number of states whose estimates are kept."""


class StateEstimate(NamedTuple):
    """The estimated distance to the goal (``None``: unreachable), and the steps to try.

    ``preferred``: the applicable steps of a relaxed plan, to be tried first. ``applicable``: all steps that may be
    legal; ``None``: the search lists the legal steps itself.
    """

    distance: int | None
    preferred: list[GroundAction]
    applicable: list[GroundAction] | None
    true_propositions: list[int]


class _LengthBound(NamedTuple):
    """A lower bound of the length of every plan (``None``: no plan exists), and whether it cannot be raised further."""

    bound: int | None
    is_exact: bool


class EstimateCache:
    """Estimates of the states of one execution.

    Whatever is reachable from a later state is reachable from the ``origin``, so one relaxation serves all of them.
    ``remember``: keep the estimates of states for further searches.
    """

    def __init__(self, origin: Execution, *, remember: bool = True) -> None:
        self.origin = origin
        self.backward_estimator = BackwardEstimator(origin.engine)
        self.relaxation: DeleteRelaxation | None = None
        self._is_too_large = False
        self._remember = remember
        self._obligations: dict[object, Conjunction | None] = {}
        self._estimates: dict[object, StateEstimate] = {}
        self._length_bounds: dict[object, _LengthBound] = {}

    def covers(self, start: Execution) -> bool:
        """Whether every plan from ``start`` is possible in the relaxation from the origin.

        It ignores the invariants that were violated at the origin, so no other may be violated at ``start``.
        """
        violated_invariants_now, violated_invariants_at_origin = (
            _find_violated_invariants(start.runtime),
            _find_violated_invariants(self.origin.runtime),
        )
        return start.engine is self.origin.engine and violated_invariants_now <= violated_invariants_at_origin

    def ground(self, lifted_relaxation: LiftedRelaxation, check_time: Callable[[], None]) -> DeleteRelaxation | None:
        """Ground the relaxation; ``None`` if it is too large. Raises :class:`LimitReached` when time runs out."""
        if self.relaxation is None and not self._is_too_large:
            try:
                self.relaxation = DeleteRelaxation(
                    lifted_relaxation, self.origin.state, self.origin.runtime, check_time
                )
            except LimitReached as limit:
                if limit.kind is LimitKind.TIME:
                    raise
                self._is_too_large = True
        return self.relaxation

    def estimate(self, execution: Execution, key: object, lower_bound: bool) -> StateEstimate:
        """Estimate a state by the relaxation. ``key`` is the execution's key; ``lower_bound``: by landmark cuts."""
        cached = self._estimates.get((key, lower_bound))
        if cached is None:
            relaxation = self.relaxation
            assert relaxation is not None
            goal = self._find_goal_propositions(relaxation, execution)  # first: it may add propositions
            true = relaxation.list_true_propositions(execution.state, execution.runtime)
            estimate = (estimate_by_landmark_cut if lower_bound else estimate_by_relaxed_plan)(relaxation, true, goal)
            preferred = [relaxation.steps[number] for number in estimate.preferred]
            applicable = [relaxation.steps[number] for number in estimate.applicable]
            cached = StateEstimate(estimate.distance, preferred, applicable, true)
            if self._remember:
                if len(self._estimates) >= MAX_CACHED_STATES:
                    self._estimates.clear()
                self._estimates[key, lower_bound] = cached
        return cached

    def estimate_backwards(self, execution: Execution, max_distance: int | None = None) -> StateEstimate:
        """Estimate a state without the relaxation, by what the goal and the rules need; excludes nothing.

        ``max_distance``: a larger distance need not be exact.
        """
        subgoals: list[Subgoal] = [(part, {}) for part in execution.task.goal]
        if execution.runtime is not None:
            obligations = find_pending_obligations(execution.runtime, execution.criteria)
            subgoals += [(formula, dict(binding)) for formula, binding in obligations if not is_temporal(formula)]
        estimate = self.backward_estimator.estimate(execution.state, subgoals, max_distance)
        return StateEstimate(estimate.cost, estimate.applicable_steps, None, [])

    def exceeds_length(self, execution: Execution, key: object, length: int) -> bool:
        """Whether a landmark bound proves that every plan from here has more than ``length`` steps."""
        bound, is_exact = self._length_bounds.get(key, _LengthBound(0, False))
        if bound is None or bound > length:
            return True
        if is_exact:
            return False
        relaxation = self.relaxation
        assert relaxation is not None
        goal = self._find_goal_propositions(relaxation, execution)
        true = relaxation.list_true_propositions(execution.state, execution.runtime)
        bound = estimate_by_landmark_cut(relaxation, true, goal, length + 1).distance
        if len(self._length_bounds) >= MAX_CACHED_STATES:
            self._length_bounds.clear()
        self._length_bounds[key] = _LengthBound(bound, bound is not None and bound <= length)
        return bound is None or bound > length

    def _find_goal_propositions(self, relaxation: DeleteRelaxation, execution: Execution) -> Conjunction | None:
        """Return the propositions of the goal and of pending obligations; ``None`` if they can never be true."""
        if relaxation.goal is None or execution.runtime is None:
            return relaxation.goal
        propositions = set(relaxation.goal)
        for formula, binding in find_pending_obligations(execution.runtime, execution.criteria):
            key = (make_structural_key(formula), binding)
            if key not in self._obligations:
                try:
                    self._obligations[key] = relaxation.conditions.compile_conjunction(formula, dict(binding), True)
                except LimitReached:
                    self._obligations[key] = ()
            conjunction = self._obligations[key]
            if conjunction is None:
                return None
            propositions.update(conjunction)
        return tuple(propositions)


def _find_violated_invariants(runtime: Runtime | None) -> set[tuple[int, tuple[int, ...]]]:
    """Return the instances of rules about every state that are violated now, each with its part."""
    if runtime is None:
        return set()
    invariants = [m for m in runtime.monitors if isinstance(m, InvariantMonitor) and not m.final]
    return {(invariant.part, binding) for invariant in invariants for binding in invariant.episodes}
