"""A search for plans that reach the goal and break a rule.

States are looked at with what the rules remember, as in :mod:`plansafe.verifier.planning.own_search`; once a rule is
broken it stays so, and only the state counts. Greedy by relaxed plans; an exhausted search is a proof that every plan
to the goal keeps the rules.
"""

from __future__ import annotations

from heapq import heappop, heappush
from time import monotonic

from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.state import NumberTooLarge
from plansafe.verifier.engine.steps import Taken
from plansafe.verifier.monitor.finding import TooManyInstances
from plansafe.verifier.planning.estimates import relaxed_plan
from plansafe.verifier.planning.execution import Execution
from plansafe.verifier.planning.port import Answer, Solution
from plansafe.verifier.planning.relaxed import Lifted, Relaxed, TooBig
from plansafe.verifier.simulate import Simulation

MAX_NODES = 200_000
_Path = tuple["_Path | None", Taken] | None


class _Late(Exception):
    """A limit has passed."""


class ViolationSearch:
    """One search, from S0 of an engine whose task is untimed and closed, until ``deadline`` (monotonic seconds)."""

    def __init__(self, engine: Engine, deadline: float) -> None:
        self.engine = engine
        self.deadline = deadline
        self.visited = 0
        self._relaxed: Relaxed | None = None

    def run(self) -> Solution:
        """``SOLVED`` with the steps, ``UNSOLVABLE`` (proved), or ``NOT_FOUND``. Steps are not replayed here."""
        try:
            return self._run()
        except (_Late, NumberTooLarge, TooManyInstances):
            return Solution(Answer.NOT_FOUND, detail=f"nothing found within the limit, after {self.visited} states")

    def _run(self) -> Solution:
        start = self._settled(Execution.initial(self.engine))
        try:
            self._relaxed = Relaxed(Lifted(self.engine, False), start.state, None, self._check)
        except TooBig:
            self._relaxed = None
        if self._unsafe_end(start):
            return Solution(Answer.SOLVED)
        closed = {self._key(start)}
        queue: list[tuple[int, bool, int, Execution, _Path]] = []
        ties = 0
        estimate = self._estimate(start)
        if estimate is not None:
            heappush(queue, (estimate, start.runtime is not None, ties, start, None))
        complete = True
        while queue:
            _, _, _, execution, path = heappop(queue)
            for step in list(Simulation(self.engine, execution.state.fork()).legal()):
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
                    return Solution(Answer.SOLVED, _steps(here))
                estimate = self._estimate(after)
                if estimate is not None:
                    ties += 1
                    heappush(queue, (estimate, after.runtime is not None, ties, after, here))
        if not complete:
            return Solution(Answer.NOT_FOUND, detail="numbers that are undefined were met on the way")
        return Solution(Answer.UNSOLVABLE, detail=f"all {self.visited} states within reach were visited")

    def _check(self) -> None:
        if monotonic() > self.deadline or self.visited > MAX_NODES:
            raise _Late

    def _settled(self, execution: Execution) -> Execution:
        """The same moment; without monitors where a rule is broken for good."""
        if execution.runtime is None or not execution.broken:
            return execution
        return Execution(self.engine, execution.state, None, execution.letter)

    def _unsafe_end(self, execution: Execution) -> bool:
        if self.engine.goal(execution.state) is not True:
            return False
        return execution.runtime is None or execution.violated() is not None

    def _key(self, execution: Execution) -> object:
        return (None, execution.state_key()) if execution.runtime is None else execution.key()

    def _estimate(self, execution: Execution) -> int | None:
        """How far the goal is, rules ignored; ``None`` where it is out of reach."""
        self.visited += 1
        if self._relaxed is None:
            return 0
        return relaxed_plan(self._relaxed, self._relaxed.holding(execution.state, None), self._relaxed.goal).value


def _steps(path: _Path) -> tuple[Taken, ...]:
    out: list[Taken] = []
    while path is not None:
        path, step = path
        out.append(step)
    return tuple(reversed(out))
