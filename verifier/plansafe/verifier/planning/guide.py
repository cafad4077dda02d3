"""Guidance for a policy that chooses its steps one by one: legal steps, the rules they break, safe continuations.

    guide = Guide(checker.compiled)
    while not guide.may_end:
        step = choose([option.step for option in guide.options() if not option.broken])
        if guide.allows(step, within=20 - len(guide.steps)).exists:
            guide.take(step)

A policy is a language model or a robot, for example. The guide has no semantics of its own: the engine takes the steps,
its monitors check the rules, and the planner finds the continuations.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import StepOption
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.continuations import ENGINE_LIMIT_ERRORS, Continuation, KnownContinuations, Steps
from plansafe.verifier.planning.forward_search import ForwardSearch, find_unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache
from plansafe.verifier.planning.visited_states import VisitedStates, compute_state_hash_change

__all__ = ["Continuation", "Guide", "Recoverability", "check_recoverable"]


class Guide:
    """The state of a plan under construction. Raises ``ValueError`` for tasks that the search does not support.

    ``rules=False`` checks only the goal. Violations from before the plan do not decide if the task was compiled with
    ``judge="introduced"``. The last continuation found is kept: a step that follows it is allowed without a search, and
    so is a step from which one step returns to a known continuation. The search for the first continuation may take
    ``time_limit_s``. Once a continuation is known, a search ends after ``max_states`` states, so that its result does
    not depend on the machine.
    """

    def __init__(
        self,
        compiled: CompiledTask,
        *,
        rules: bool = True,
        planner: ForwardSearch | None = None,
        time_limit_s: float = 10.0,
        max_states: int = 100,
    ) -> None:
        reason = find_unsupported_task_reason(compiled, rules)
        if reason:
            raise ValueError(reason)
        self.time_limit_s = time_limit_s
        self.max_states = max_states
        self.searches = 0
        """The number of searches."""
        self.steps: list[GroundAction] = []
        self._planner = planner or ForwardSearch()
        self._execution = Execution.initial(compiled.engine, rules, compiled.options.criteria)
        self._cache = EstimateCache(self._execution.fork())
        self._options: list[StepOption] | None = None
        self._last_continuation: Steps | None = None
        self._continuations = KnownContinuations()
        self._visited = VisitedStates(self._execution)

    @property
    def may_end(self) -> bool:
        """Whether the plan may end here: the goal is reached and every rule kept."""
        return self._execution.accepted

    def options(self) -> list[StepOption]:
        """Return all legal steps, each with the rule instances that it would break. Computed once per state."""
        if self._options is None:
            self._options = self._execution.options()
        return self._options

    def estimate(self) -> int | None:
        """Return the length of a known continuation (maybe not the shortest); ``None`` if none is known."""
        continuation = self.continuation()
        return len(continuation.steps) if continuation.exists else None

    def continuation(self, within: int | None = None) -> Continuation:
        """Find a safe continuation from here, of at most ``within`` steps."""
        last_continuation = self._last_continuation
        if last_continuation is not None and (within is None or len(last_continuation) <= within):
            return Continuation(True, last_continuation)
        continuation = self._find_continuation(self._execution, within)
        if continuation.exists:
            self._last_continuation = continuation.steps
        return continuation

    def allows(self, step: GroundAction, within: int | None = None) -> Continuation:
        """Find a safe continuation after a step: the step is allowed if the continuation ``exists``.

        The continuation has at most ``within`` steps (not counting the step itself). Does not take the step. A step
        that cannot be taken or breaks a rule has no continuation.
        """
        next_steps = self._find_rest_after(step)
        if next_steps is not None and (within is None or len(next_steps) <= within):
            return Continuation(True, next_steps)
        try:
            after = self._execution.after(step)
        except ENGINE_LIMIT_ERRORS:
            return Continuation(None, (), "the step passes a limit of the engine")
        if after is None:
            return Continuation(False, (), "the step cannot be taken")
        if after.broken:
            return Continuation(False, (), "the step breaks a rule")
        return self._find_continuation(after, within, step)

    def take(self, step: GroundAction, continuation: Continuation | None = None) -> None:
        """Take a step, whether or not it breaks a rule; ``continuation``: the result of :meth:`allows` for it.

        Raises ``ValueError`` if the step cannot be taken.
        """
        next_steps = self._find_rest_after(step)
        if not self._execution.take(step):
            raise ValueError("the step cannot be taken here")
        self.steps.append(step)
        self._visited.add(self._execution)
        self._options = None
        self._last_continuation = continuation.steps if continuation is not None and continuation.exists else next_steps

    def _find_rest_after(self, step: GroundAction) -> Steps | None:
        """Return the rest of the last continuation if it begins with a step; ``None`` if it does not."""
        last_continuation = self._last_continuation
        return last_continuation[1:] if last_continuation and last_continuation[0] == step else None

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the task's objects."""
        return self._execution.engine.task.objects

    def changed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the facts that became true since the start, and the facts that became false, as sorted texts.

        Without numbers and derived facts.
        """
        task = self._execution.engine.task
        pairs = list(enumerate(zip(task.initial_facts, self._execution.state.facts, strict=False)))
        added_facts = [task.fact_text(index, code) for index, (initial, facts) in pairs for code in facts - initial]
        deleted_facts = [task.fact_text(index, code) for index, (initial, facts) in pairs for code in initial - facts]
        return tuple(sorted(added_facts)), tuple(sorted(deleted_facts))

    def returns_to_visited_state(self, step: GroundAction) -> bool:
        """Whether a legal step leads to a visited state, from which the same steps can follow."""
        return self._visited.is_revisited_by(self._execution, step)

    def _find_continuation(
        self, start: Execution, within: int | None, chosen: GroundAction | None = None
    ) -> Continuation:
        """Return a known continuation, one made from known continuations, or the result of a search.

        While a continuation is known, a search is short: a caller that chooses among steps treats "not found" and
        "none exists" alike.
        """
        continuations, key, state_hash = self._continuations, start.key(), self._visited.current_hash
        if chosen is not None:
            state_hash ^= compute_state_hash_change(start.engine, start.state, start.changed)
        continuation = continuations.find_known(key, within)
        if continuation is None and continuations.derive(start, state_hash, self._last_continuation, chosen, within):
            continuation = continuations.find_known(key, within)
        if continuation is not None:
            return continuation
        self.searches += 1
        max_states = None if self._last_continuation is None else self.max_states
        plan = self._planner.solve_from(
            start, within=within, time_limit_s=self.time_limit_s, max_nodes=max_states, cache=self._cache
        )
        if plan.status is PlanningStatus.SOLVED:
            continuations.add(start, state_hash, plan.steps)
            return Continuation(True, plan.steps)
        exists = False if plan.status is PlanningStatus.UNSOLVABLE else None
        return continuations.add_unsuccessful_result(key, within, Continuation(exists, (), plan.detail))


class Recoverability(NamedTuple):
    """Whether the goal can still be reached safely (``None``: unknown).

    ``continuation``: steps that reach it. ``detail``: why it cannot be reached, or which limit ended the search.
    """

    recoverable: bool | None
    continuation: tuple[str, ...] = ()
    detail: str = ""


def check_recoverable(
    monitor: Monitor, action: str, planner: ForwardSearch | None = None, time_limit_s: float = 10.0
) -> Recoverability:
    """Check whether the goal can still be reached with every rule kept after ``action`` is taken in the present state.

    Starts from the observed state, and changes nothing. Pass a ``planner`` to reuse its compiled tasks.
    """
    advice = monitor.allowed(action)
    if not advice.executable:
        return Recoverability(False, (), "; ".join(advice.reasons))
    reason = find_unsupported_task_reason(monitor.compiled, True)
    if reason:
        return Recoverability(None, (), reason)
    step = monitor.step(action)
    assert isinstance(step, GroundAction)
    after = monitor.now().after(step)
    assert after is not None
    plan = (planner or ForwardSearch()).solve_from(after, time_limit_s=time_limit_s)
    steps = tuple([step_text(planned, monitor.task.objects) for planned in plan.steps])
    recoverable = {PlanningStatus.SOLVED: True, PlanningStatus.UNSOLVABLE: False}.get(plan.status)
    return Recoverability(recoverable, steps, plan.detail)
