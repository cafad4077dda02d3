"""A search for plans that reach the goal and break a rule.

A search state has what the rules remember, as in :mod:`plansafe.verifier.planning.forward_search`. Once a rule is
broken it stays broken, and only the state counts. Greedy by relaxed plans; an exhausted search is a proof that every
plan to the goal keeps the rules.
"""

from __future__ import annotations

from heapq import heappop, heappush
from time import monotonic

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.planning.relaxation_estimates import estimate_by_relaxed_plan

MAX_NODES = 200_000
_Path = tuple["_Path | None", GroundAction] | None


class ViolationSearch:
    """One search, from S0 of an engine whose task is untimed and closed, until ``deadline`` (monotonic seconds)."""

    def __init__(self, engine: Engine, deadline: float) -> None:
        self.engine = engine
        self.deadline = deadline
        self.visited = 0
        self._relaxed: DeleteRelaxation | None = None

    def run(self) -> PlanningResult:
        """``SOLVED`` with the steps, ``UNSOLVABLE`` (proved), or ``NOT_FOUND``. Steps are not replayed here."""
        try:
            return self._run()
        except (LimitReached, NumberTooLarge, TooManyInstances):
            return PlanningResult(
                PlanningStatus.NOT_FOUND, detail=f"no plan found within the limit, after {self.visited} states"
            )

    def _run(self) -> PlanningResult:
        start = self._settled(Execution.initial(self.engine))
        try:
            self._relaxed = DeleteRelaxation(LiftedRelaxation(self.engine, False), start.state, None, self._check)
        except LimitReached as limit:
            if limit.kind is LimitKind.TIME:
                raise
            self._relaxed = None
        if self._unsafe_end(start):
            return PlanningResult(PlanningStatus.SOLVED)
        closed = {self._key(start)}
        queue: list[tuple[int, bool, int, Execution, list[GroundAction], _Path]] = []
        self._push(queue, start, None)
        complete = True
        while queue:
            _, _, _, execution, steps, path = heappop(queue)
            for step in steps:
                self._check()
                after = execution.after(step)
                if after is None:
                    continue
                if after.undecided:
                    complete = False
                    continue
                after = self._settled(after)
                key = self._key(after)
                if key in closed:
                    continue
                closed.add(key)
                here: _Path = (path, step)
                if self._unsafe_end(after):
                    return PlanningResult(PlanningStatus.SOLVED, _steps(here))
                self._push(queue, after, here)
        if not complete:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail="the search met undefined numbers")
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"all {self.visited} reachable states were visited")

    def _check(self) -> None:
        if monotonic() > self.deadline or self.visited > MAX_NODES:
            raise LimitReached(LimitKind.TIME)

    def _settled(self, execution: Execution) -> Execution:
        """The same moment; without monitors where a rule is broken for good."""
        if execution.runtime is None or not execution.broken:
            return execution
        return Execution(self.engine, execution.state, None, execution.letter)

    def _unsafe_end(self, execution: Execution) -> bool:
        if self.engine.evaluate_goal(execution.state) is not True:
            return False
        return execution.runtime is None or execution.first_violated_step() is not None

    def _key(self, execution: Execution) -> object:
        return (None, execution.state_key()) if execution.runtime is None else execution.key()

    def _push(
        self,
        queue: list[tuple[int, bool, int, Execution, list[GroundAction], _Path]],
        execution: Execution,
        path: _Path,
    ) -> None:
        """Queue a state with the steps that may be possible there, unless the goal is out of reach, rules ignored."""
        self.visited += 1
        relaxed = self._relaxed
        value: int | None = 0
        if relaxed is None:
            steps = list(execution.legal())
        else:
            estimate = estimate_by_relaxed_plan(relaxed, relaxed.true_propositions(execution.state, None), relaxed.goal)
            value, steps = estimate.distance, [relaxed.steps[number] for number in estimate.applicable]
        if value is not None:
            heappush(queue, (value, execution.runtime is not None, self.visited, execution, steps, path))


def _steps(path: _Path) -> tuple[GroundAction, ...]:
    out: list[GroundAction] = []
    while path is not None:
        path, step = path
        out.append(step)
    return tuple(reversed(out))
