"""What searches from one execution on learn and share: the ground relaxation, and what it says of states."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.program import structural_key
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.operations import is_temporal
from plansafe.verifier.planning.backward_estimates import BackwardEstimator, Subgoal
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.obligations import pending_obligations
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut, estimate_by_relaxed_plan
from plansafe.verifier.planning.relaxed_conditions import Conjunction

MAX_CACHED_STATES = 5_000
"""States of which it is remembered what the relaxation says."""


class StateEstimate(NamedTuple):
    """An estimate (``None``: no plan), the steps to try first, all steps that may be legal, and what holds.

    Where the steps are ``None``, the legal ones are listed once they are due.
    """

    value: int | None
    preferred: list[GroundAction]
    steps: list[GroundAction] | None
    true: list[int]


class EstimateCache:
    """What is known of one execution, for searches from there and from what its steps lead to.

    ``origin`` is where it begins: whatever can be reached from later moments can be reached from there, so that one
    relaxation serves all of them. ``remember``: what was said of a state is kept, for searches that meet it again.
    """

    def __init__(self, origin: Execution, *, remember: bool = True) -> None:
        self.origin = origin
        self.backward = BackwardEstimator(origin.engine)
        self.relaxation: DeleteRelaxation | None = None
        self._too_large = False
        self._remember = remember
        self._wrong: set[tuple[int, tuple[int, ...]]] = set()
        self._goals: dict[object, Conjunction | None] = {}
        self._seen: dict[object, StateEstimate] = {}
        self._bounds: dict[object, tuple[int | None, bool]] = {}

    def covers(self, start: Execution) -> bool:
        """Whether a relaxation from the origin on leaves nothing out that is possible from here on.

        It excuses what was wrong at its beginning; what is wrong by now must be among that.
        """
        return start.engine is self.origin.engine and _wrong(start.runtime) <= _wrong(self.origin.runtime)

    def ground(self, lifted: LiftedRelaxation, check: Callable[[], None]) -> DeleteRelaxation | None:
        """The relaxation; ``None`` where it is too large. Raises :class:`LimitReached` where time runs out."""
        if self.relaxation is None and not self._too_large:
            try:
                self.relaxation = DeleteRelaxation(lifted, self.origin.state, self.origin.runtime, check)
            except LimitReached as limit:
                if limit.kind is LimitKind.TIME:
                    raise
                self._too_large = True
        return self.relaxation

    def estimate(self, execution: Execution, key: object, bound: bool) -> StateEstimate:
        """What the relaxation says of a state: an estimate, or a ``bound``. ``key`` is that of the execution."""
        found = self._seen.get((key, bound))
        if found is None:
            relaxed = self.relaxation
            assert relaxed is not None
            wanted = self._wanted(relaxed, execution)  # first: it may need propositions that are new
            true = relaxed.true_propositions(execution.state, execution.runtime)
            estimate = (estimate_by_landmark_cut if bound else estimate_by_relaxed_plan)(relaxed, true, wanted)
            steps = relaxed.steps
            preferred = [steps[n] for n in estimate.preferred]
            found = StateEstimate(estimate.value, preferred, [steps[n] for n in estimate.applicable], true)
            if self._remember:
                if len(self._seen) >= MAX_CACHED_STATES:
                    self._seen.clear()
                self._seen[key, bound] = found
        return found

    def estimate_backwards(self, execution: Execution, most: int | None = None) -> StateEstimate:
        """Where the task is too large to be ground: by what the goal and the rules need, and nothing is ruled out.

        ``most``: an estimate beyond so many steps need not be exact.
        """
        wishes: list[Subgoal] = [(part, {}) for part in execution.task.goal]
        if execution.runtime is not None:
            asked = pending_obligations(execution.runtime, execution.criteria)
            wishes += [(formula, dict(binding)) for formula, binding in asked if not is_temporal(formula)]
        value, steps = self.backward.estimate(execution.state, wishes, most)
        return StateEstimate(value, steps, None, [])

    def exceeds_length(self, execution: Execution, key: object, left: int) -> bool:
        """Whether a landmark bound says that no plan from here has at most so many steps."""
        known, exact = self._bounds.get(key, (0, False))
        if known is None or known > left:
            return True
        if exact:
            return False
        relaxed = self.relaxation
        assert relaxed is not None
        wanted = self._wanted(relaxed, execution)
        true = relaxed.true_propositions(execution.state, execution.runtime)
        value = estimate_by_landmark_cut(relaxed, true, wanted, left + 1).value
        if len(self._bounds) >= MAX_CACHED_STATES:
            self._bounds.clear()
        self._bounds[key] = value, value is not None and value <= left
        return value is None or value > left

    def _wanted(self, relaxed: DeleteRelaxation, execution: Execution) -> Conjunction | None:
        """The propositions of the goal, and those that the rules still demand; ``None``: they are never true."""
        if relaxed.goal is None or execution.runtime is None:
            return relaxed.goal
        every = set(relaxed.goal)
        for formula, binding in pending_obligations(execution.runtime, execution.criteria):
            key = (structural_key(formula), binding)
            if key not in self._goals:
                try:
                    self._goals[key] = relaxed.conditions.conjunction(formula, dict(binding), True)
                except LimitReached:
                    self._goals[key] = ()
            found = self._goals[key]
            if found is None:
                return None
            every.update(found)
        return tuple(every)


def _wrong(runtime: Runtime | None) -> set[tuple[int, tuple[int, ...]]]:
    """The instances of rules about every state that are violated now."""
    if runtime is None:
        return set()
    watching = [m for m in runtime.monitors if isinstance(m, Invariant) and not m.final]
    return {(m.part, binding) for m in watching for binding in m.episodes}
