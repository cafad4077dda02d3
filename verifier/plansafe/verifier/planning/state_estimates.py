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
from plansafe.verifier.planning.proposition_network import Conjunction
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut, estimate_by_relaxed_plan

MAX_CACHED_STATES = 5_000
"""Maximum number of states whose estimates are kept."""


class StateEstimate(NamedTuple):
    """The estimated distance to the goal (``None``: unreachable), and the steps to try.

    ``preferred_steps``: the applicable steps of a relaxed plan, to be tried first. ``applicable_steps``: all steps that
    may be legal; ``None``: the search lists the legal steps itself.
    """

    distance: int | None
    preferred_steps: list[GroundAction]
    applicable_steps: list[GroundAction] | None
    true_propositions: list[int]


class _LengthBound(NamedTuple):
    """A lower bound of the length of every plan (``None``: no plan exists), and whether it cannot be raised further."""

    bound: int | None
    is_exact: bool


class EstimateCache:
    """Estimates of the states of one execution.

    Whatever is reachable from a later state is reachable from the ``origin``, so one relaxation serves all of them.
    ``keeps_estimates``: whether the estimates of states are kept for further searches.
    """

    def __init__(self, origin: Execution, *, keeps_estimates: bool = True) -> None:
        self.origin = origin
        self.backward_estimator = BackwardEstimator(origin.engine)
        self.relaxation: DeleteRelaxation | None = None
        self._is_too_large = False
        self._keeps_estimates = keeps_estimates
        self._obligation_conditions: dict[object, Conjunction | None] = {}
        self._estimates: dict[object, StateEstimate] = {}
        self._length_bounds: dict[object, _LengthBound] = {}

    def covers(self, start: Execution) -> bool:
        """Whether every plan from ``start`` is possible in the relaxation from the origin.

        The relaxation ignores the invariants that were violated at the origin, so no other invariant may be violated at
        ``start``.
        """
        violated_instances = _find_violated_invariants(start.runtime)
        return start.engine is self.origin.engine and violated_instances <= _find_violated_invariants(
            self.origin.runtime
        )

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

    def estimate(self, execution: Execution, key: object, by_landmarks: bool) -> StateEstimate:
        """Estimate a state by the relaxation: by landmark cuts, a lower bound; or by a relaxed plan.

        ``key`` is the execution's key.
        """
        cached_estimate = self._estimates.get((key, by_landmarks))
        if cached_estimate is None:
            relaxation = self.relaxation
            assert relaxation is not None
            goal = self._find_goal_propositions(relaxation, execution)  # first: it may add propositions
            true_propositions = relaxation.list_true_propositions(execution.state, execution.runtime)
            if by_landmarks:
                estimate = estimate_by_landmark_cut(relaxation, true_propositions, goal)
            else:
                estimate = estimate_by_relaxed_plan(relaxation, true_propositions, goal)
            preferred_steps = [relaxation.steps[number] for number in estimate.preferred_steps]
            applicable_steps = [relaxation.steps[number] for number in estimate.applicable_steps]
            cached_estimate = StateEstimate(estimate.distance, preferred_steps, applicable_steps, true_propositions)
            if self._keeps_estimates:
                if len(self._estimates) >= MAX_CACHED_STATES:
                    self._estimates.clear()
                self._estimates[key, by_landmarks] = cached_estimate
        return cached_estimate

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
        true_propositions = relaxation.list_true_propositions(execution.state, execution.runtime)
        bound = estimate_by_landmark_cut(relaxation, true_propositions, goal, length + 1).distance
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
            if key not in self._obligation_conditions:
                try:
                    self._obligation_conditions[key] = relaxation.conditions.compile_conjunction(
                        formula, dict(binding), True
                    )
                except LimitReached:
                    self._obligation_conditions[key] = ()
            conjunction = self._obligation_conditions[key]
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
