"""A guide through a task: what may be done next, what it would break, and whether the plan can still end well.

    guide = Guide(checker.compiled)
    while not guide.may_end:
        step = choose([option.step for option in guide.options() if not option.broken])
        if guide.allows(step, within=20 - len(guide.steps)).exists:
            guide.take(step)

For policies that choose their steps one by one (language models, robots). The guide has no semantics of its own: steps
are taken by the engine, rules are watched by its monitors, and what continues is what the planner finds.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import StepOption
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.continuations import ENGINE_LIMIT_ERRORS, Continuation, KnownContinuations, Steps
from plansafe.verifier.planning.forward_search import ForwardSearch, unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache
from plansafe.verifier.planning.visited_states import VisitedStates, state_hash_change

__all__ = ["Continuation", "Guide", "Recoverability", "check_recoverable"]


class Guide:
    """The state of a plan under construction. Raises ``ValueError`` for tasks that the search does not support.

    ``rules=False`` checks only the goal. What was broken before the plan began does not decide where the task was
    compiled with ``judge="introduced"``. The last continuation found is kept: a step that follows it is allowed without
    a search, and so is a step from which one step returns to a known continuation. The search for the first
    continuation may take ``time_limit_s``. Once one is known, a search ends after ``max_states`` states, so that the
    answers do not depend on the machine.
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
        why = unsupported_task_reason(compiled, rules)
        if why:
            raise ValueError(why)
        self.time_limit_s = time_limit_s
        self.max_states = max_states
        self.searches = 0
        """How many questions were put to the search."""
        self.steps: list[GroundAction] = []
        self._planner = planner or ForwardSearch()
        self._execution = Execution.initial(compiled.engine, rules, compiled.options.criteria)
        self._cache = EstimateCache(self._execution.fork())
        self._options: list[StepOption] | None = None
        self._kept: Steps | None = None
        self._ways = KnownContinuations()
        self._been = VisitedStates(self._execution)

    @property
    def may_end(self) -> bool:
        """Whether the plan may end here: the goal is reached and every rule kept."""
        return self._execution.accepted

    def options(self) -> list[StepOption]:
        """All legal steps, each with the instances of rules that it would break. Computed once for each state."""
        if self._options is None:
            self._options = self._execution.options()
        return self._options

    def estimate(self) -> int | None:
        """The length of the continuation that is known from here (no bound on the shortest); ``None``: none is."""
        ahead = self.continuation()
        return len(ahead.steps) if ahead.exists else None

    def continuation(self, within: int | None = None) -> Continuation:
        """A safe continuation from here, of at most ``within`` steps."""
        kept = self._kept
        if kept is not None and (within is None or len(kept) <= within):
            return Continuation(True, kept)
        found = self._search(self._execution, within)
        if found.exists:
            self._kept = found.steps
        return found

    def allows(self, step: GroundAction, within: int | None = None) -> Continuation:
        """Whether a safe continuation is known behind a step, of at most ``within`` steps (that step not counted).

        Nothing is changed. A step that cannot be taken or breaks a rule has none.
        """
        kept = self._kept
        if kept and kept[0] == step and (within is None or len(kept) - 1 <= within):
            return Continuation(True, kept[1:])
        try:
            after = self._execution.after(step)
        except ENGINE_LIMIT_ERRORS:
            return Continuation(None, (), "the step passes a limit of the engine")
        if after is None:
            return Continuation(False, (), "the step cannot be taken")
        if after.broken:
            return Continuation(False, (), "the step breaks a rule")
        return self._search(after, within, step)

    def take(self, step: GroundAction, ahead: Continuation | None = None) -> None:
        """Take a step; ``ahead`` is what :meth:`allows` said of it, if it was asked.

        Raises ``ValueError`` if it cannot be taken. What it breaks is not looked at.
        """
        kept = self._kept
        if not self._execution.take(step):
            raise ValueError("the step cannot be taken here")
        self.steps.append(step)
        self._been.arrived(self._execution)
        self._options = None
        if ahead is not None and ahead.exists:
            self._kept = ahead.steps
        else:
            self._kept = kept[1:] if kept and kept[0] == step else None

    @property
    def objects(self) -> tuple[str, ...]:
        """The names of the task's objects."""
        return self._execution.engine.task.objects

    def changed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """As text, the facts that hold here and did not at the start, and those that no longer hold; sorted.

        Numbers are left out, and so are derived facts.
        """
        task = self._execution.engine.task
        pairs = list(zip(task.initial_facts, self._execution.state.facts, strict=False))
        gained = [task.fact_text(index, code) for index, (then, now) in enumerate(pairs) for code in now - then]
        lost = [task.fact_text(index, code) for index, (then, now) in enumerate(pairs) for code in then - now]
        return tuple(sorted(gained)), tuple(sorted(lost))

    def returns_to_visited_state(self, step: GroundAction) -> bool:
        """Whether a legal step leads back to where the plan was: the same can follow there."""
        return self._been.returns(self._execution, step)

    def _search(self, start: Execution, within: int | None, chosen: GroundAction | None = None) -> Continuation:
        """What is known, a continuation made of what is known, or what a search finds.

        For who chooses among steps, "not known" and "there is none" come to the same, as long as one continuation is
        known.
        """
        ways, key = self._ways, start.key()
        sum_ = (
            self._been.sum
            if chosen is None
            else self._been.sum ^ state_hash_change(start.engine, start.state, start.changed)
        )
        found = ways.lookup(key, within)
        if found is None and ways.derive(start, sum_, self._kept, chosen, within):
            found = ways.lookup(key, within)
        if found is not None:
            return found
        self.searches += 1
        max_states = None if self._kept is None else self.max_states
        solved = self._planner.solve_from(
            start, within=within, time_limit_s=self.time_limit_s, max_nodes=max_states, cache=self._cache
        )
        if solved.status is PlanningStatus.SOLVED:
            ways.add(start, sum_, solved.steps)
            return Continuation(True, solved.steps)
        excluded = False if solved.status is PlanningStatus.UNSOLVABLE else None
        return ways.add_absence(key, within, Continuation(excluded, (), solved.detail))


class Recoverability(NamedTuple):
    """Whether the goal can still be reached safely: ``None`` if that is unknown.

    If so, ``continuation`` is how (nothing, if all is done); ``detail`` says in words why not, or what limited the
    search.
    """

    recoverable: bool | None
    continuation: tuple[str, ...] = ()
    detail: str = ""


def check_recoverable(
    monitor: Monitor, action: str, planner: ForwardSearch | None = None, time_limit_s: float = 10.0
) -> Recoverability:
    """If ``action`` is taken in the present state, can the goal still be reached with every rule kept?

    Starts from what was observed, not from what the steps so far should have led to. Nothing is changed. The search
    ends with the time limit; hand in a ``planner`` to keep what it compiles from one question to the next.
    """
    advice = monitor.allowed(action)
    if not advice.executable:
        return Recoverability(False, (), "; ".join(advice.reasons))
    why = unsupported_task_reason(monitor.compiled, True)
    if why:
        return Recoverability(None, (), why)
    step = monitor.step(action)
    assert isinstance(step, GroundAction)
    now = monitor.now().after(step)
    assert now is not None
    found = (planner or ForwardSearch()).solve_from(now, time_limit_s=time_limit_s)
    steps = tuple([step_text(taken, monitor.task.objects) for taken in found.steps])
    known = {PlanningStatus.SOLVED: True, PlanningStatus.UNSOLVABLE: False}
    return Recoverability(known.get(found.status), steps, found.detail)
