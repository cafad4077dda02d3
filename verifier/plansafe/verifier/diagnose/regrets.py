"""Regret for many plans of one task: how many steps longer each step made the shortest safe completion.

    found = RegretCalculator(checker).compute([chosen, rejected], Grade.FOUND)

As :func:`~plansafe.verifier.diagnose.localise.localise` defines it, r(i) = 1 + h(i) - h(i - 1), but by the grade that
is asked for (docs/alignment.md): h proved least, the length of a continuation that was found, or an estimate. What
is known of a moment is kept, so that what plans share is asked once: bounds of h, or that there is no way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.walk import Walk
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.planning.continuations import KnownContinuations, Steps
from plansafe.verifier.planning.forward_search import ForwardSearch, unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache
from plansafe.verifier.planning.visited_states import state_hash_change

FIRST_NODES = 2_000
"""States that the search for any continuation may visit."""
BEGIN_NODES, BETTER_NODES = 300, 150
"""States that the search for a shorter one may visit, at the beginning and behind a step. No bound is a time."""
MOST_MOMENTS = 20_000
"""Moments that are remembered; beyond these all are forgotten."""


class Grade(Enum):
    """How a regret is known. ``UNKNOWN``: it is undefined (past the point of no return), or nothing was found."""

    PROVED = "proved"
    FOUND = "found"
    ESTIMATE = "estimate"
    UNKNOWN = "unknown"


class PlanRegrets(NamedTuple):
    """The regrets of a plan's steps, each with its grade; ``None`` where it is unknown.

    ``point_of_no_return``, ``violated`` and ``inexecutable`` as in
    :class:`~plansafe.verifier.diagnose.localise.Localisation`. ``detail`` says why nothing is known, if so.
    """

    regret: tuple[int | None, ...]
    grade: tuple[Grade, ...]
    point_of_no_return: tuple[int, int]
    violated: int | None = None
    inexecutable: int | None = None
    detail: str = ""


class _Moment:
    """What is known of where an execution stands. ``low`` and ``high`` bound h; ``high`` is that of a known way."""

    __slots__ = ("dead", "estimate", "execution", "high", "key", "looked", "low", "searched", "sum")

    def __init__(self, execution: Execution, key: object, sum_: int) -> None:
        self.execution = execution
        self.key = key
        self.sum = sum_
        self.low = 0
        self.high: int | None = None
        self.dead = False
        """Whether there is no safe continuation, proved."""
        self.looked = self.searched = False
        self.estimate: int | None = None

    @property
    def exact(self) -> bool:
        """Whether nothing is left to ask."""
        return self.dead or self.low == self.high


class RegretCalculator:
    """Answers for plans of one task, one batch after the other.

    Raises ``ValueError`` if the task has errors or leaves something open. Of tasks and plans that the search does not
    take (:func:`~plansafe.verifier.planning.forward_search.unsupported_task_reason`, timed plans) nothing is known.
    """

    def __init__(self, checker: Checker, planner: ForwardSearch | None = None) -> None:
        if not checker.ok:
            raise ValueError("the domain, problem or specification has errors")
        self.checker = checker
        self.planner = planner or ForwardSearch()
        self.searches = 0
        """How many questions were put to the search."""
        self.unsupported = unsupported_task_reason(checker.compiled, True)
        self._sound = not checker.engine.resolver.lenient
        """Whether the search sees every step that can be taken: else it proves nothing."""
        self._deadline = 0.0
        self._forget()

    def _forget(self) -> None:
        self._moments: dict[object, _Moment] = {}
        self._ways = KnownContinuations()
        self._known: EstimateCache | None = None

    def compute(
        self, plans: Iterable[Source], grade: Grade = Grade.FOUND, time_limit_s: float = 30.0
    ) -> list[PlanRegrets]:
        """The regrets of plans by the best grade that is asked for; steps whose h is not known so have a lower one.

        ``time_limit_s`` is for each plan; but for it the answers are the same on every machine. What was found for one
        plan is known for those behind it. Raises ``ValueError`` for a plan that cannot be read.
        """
        return [self._plan(plan, grade, time_limit_s) for plan in plans]

    def _plan(self, plan: Source, grade: Grade, time_limit_s: float) -> PlanRegrets:
        read = self.checker.read(plan)
        if read.text.diagnostics:
            raise ValueError(f"the plan cannot be read: {read.text.diagnostics[0].message}")
        self.checker.compiled.require_one_world("regret", read)
        size = len(read.steps)
        why = "timed plans are not continued by a planner" if read.timed is not None else self.unsupported
        if why:
            return PlanRegrets((None,) * size, (Grade.UNKNOWN,) * size, (-1, size), detail=why)
        if len(self._moments) > MOST_MOMENTS:
            self._forget()
        self._deadline = monotonic() + time_limit_s
        path: list[_Moment] = []
        walk = Walk(self.checker, read.steps, lambda now: path.append(self._moment(now, path)))
        taken = walk.taken[: walk.last] if path else []
        if path:
            try:
                self._ask(path, taken, walk.accepted, grade)
            except LimitReached as limit:
                if limit.kind is not LimitKind.TIME:
                    raise
            _agree(path)
        return _regrets(path, size, walk, grade)

    def _moment(self, now: Execution, path: Sequence[_Moment]) -> _Moment:
        key = now.key()
        found = self._moments.get(key)
        if found is None:
            sum_ = path[-1].sum ^ state_hash_change(now.engine, now.state, now.changed) if path else 0
            found = self._moments[key] = _Moment(now.fork(), key, sum_)
        return found

    # -- questions ----------------------------------------------------------------------------------------------------

    def _ask(self, path: Sequence[_Moment], taken: Sequence[GroundAction], accepted: int, grade: Grade) -> None:
        if accepted >= 0:
            self._ways.add(path[0].execution, path[0].sum, tuple(taken[:accepted]))
        for moment in path:
            self._look(moment, grade is not Grade.ESTIMATE)
        _agree(path)
        if grade is Grade.ESTIMATE:
            return
        for number, moment in enumerate(path):
            self._find(moment, path[number - 1] if number else None, taken[number - 1] if number else None)
            if moment.dead:
                break
            _agree(path[: number + 1])
        _agree(path)
        if grade is Grade.PROVED:
            for number, moment in enumerate(path):
                self._prove(moment, len(path) - number)
                _agree(path)

    def _look(self, moment: _Moment, bound: bool) -> None:
        """What the relaxation says: an estimate, a lower ``bound``, or that there is no way."""
        known = self._grounded()
        way = self._ways.lookup(moment.key, None)
        if way is not None:
            self._reached(moment, way.steps)
        if moment.dead or (moment.looked and not bound):
            return
        now = moment.execution
        if now.accepted:
            moment.high = moment.estimate = 0
        elif known.relaxation is None:
            moment.estimate = known.estimate_backwards(now).distance
        else:
            moment.estimate = known.estimate(now, moment.key, False).distance
            moment.dead = self._sound and moment.estimate is None
            if bound and self._sound and not moment.exact:
                moment.low = max(moment.low, known.estimate(now, moment.key, True).distance or 0)
        moment.looked = True

    def _grounded(self) -> EstimateCache:
        known = self._known
        if known is None:
            engine, criteria = self.checker.engine, self.checker.options.criteria
            known = EstimateCache(Execution.initial(engine, True, criteria))
            known.ground(self.planner.lifted_relaxation(engine, True, criteria), self._check)
            self._known = known
        return known

    def _check(self) -> None:
        if monotonic() > self._deadline:
            raise LimitReached(LimitKind.TIME)

    def _find(self, moment: _Moment, before: _Moment | None, step: GroundAction | None) -> None:
        """A continuation, and a shorter one where the step before it seems to have cost something."""
        if moment.exact:
            return
        kept = None if before is None else self._ways.lookup(before.key, None)
        if kept is not None and step is not None:
            # Also made where one is known: what a step back and the way from before cost is an upper bound.
            self._ways.derive(moment.execution, moment.sum, kept.steps, step, None)
            way = self._ways.lookup(moment.key, None)
            if way is not None:
                self._reached(moment, way.steps)
        if moment.high is None or (before is None and not moment.searched):
            moment.searched = True
            self._search(moment, None, FIRST_NODES)
        if before is None or before.high is None:
            while not moment.exact and moment.high and self._search(moment, moment.high - 1, BEGIN_NODES):
                pass
            return
        # Without regret the way is one shorter than before, with one of 1 as long.
        for within in (before.high - 1, before.high, before.high + 1):
            if moment.exact or moment.high is None or moment.high <= within:
                return
            if within >= moment.low and self._search(moment, within, BETTER_NODES):
                return

    def _search(self, moment: _Moment, within: int | None, nodes: int) -> bool:
        """Ask for a way of at most so many steps; whether one was found. What is proved is kept."""
        self._check()
        self.searches += 1
        left = self._deadline - monotonic()
        found = self.planner.solve_from(
            moment.execution.fork(), within=within, time_limit_s=left, max_nodes=nodes, cache=self._known
        )
        if found.status is PlanningStatus.SOLVED:
            self._ways.add(moment.execution, moment.sum, found.steps)
            self._reached(moment, found.steps)
            return True
        if found.status is PlanningStatus.UNSOLVABLE:
            if within is None:
                moment.dead = True
            else:
                moment.low = max(moment.low, within + 1)
        return False

    def _prove(self, moment: _Moment, moments: int) -> None:
        """The shortest way, by its share of the time that is left for so many moments."""
        if moment.exact:
            return
        self.searches += 1
        left = max(self._deadline - monotonic(), 0.0) / moments
        found = self.planner.solve_from(moment.execution.fork(), shortest=True, time_limit_s=left, cache=self._known)
        if found.status is PlanningStatus.SOLVED:
            self._ways.add(moment.execution, moment.sum, found.steps)
            self._reached(moment, found.steps)
            if self._sound:
                moment.low = len(found.steps)
        elif found.status is PlanningStatus.UNSOLVABLE:
            moment.dead = True

    def _reached(self, moment: _Moment, steps: Steps) -> None:
        if moment.high is None or len(steps) < moment.high:
            moment.high = len(steps)


def _agree(path: Sequence[_Moment]) -> None:
    """A step is part of a way: h falls by at most one with each, and behind what is lost all is lost."""
    for before, after in pairwise(path):
        after.low = max(after.low, before.low - 1)
        after.dead = after.dead or before.dead
    for after, before in pairwise(reversed(path)):
        if after.high is not None and (before.high is None or before.high > after.high + 1):
            before.high = after.high + 1


def _regrets(path: Sequence[_Moment], size: int, walk: Walk, grade: Grade) -> PlanRegrets:
    told = [_regret(before, after, grade is Grade.ESTIMATE) for before, after in pairwise(path)]
    told += [(None, Grade.UNKNOWN)] * (size - len(told))
    low = max([number for number, moment in enumerate(path) if moment.high is not None], default=-1)
    high = max([number for number, moment in enumerate(path) if not moment.dead], default=-1)
    interval = (size, size) if walk.accepted == size else (low, high)
    return PlanRegrets(
        tuple([regret for regret, _ in told]),
        tuple([grade for _, grade in told]),
        interval,
        walk.violated,
        walk.inexecutable,
    )


def _regret(before: _Moment, after: _Moment, estimate: bool) -> tuple[int | None, Grade]:
    if before.dead or after.dead:
        return None, Grade.UNKNOWN
    found = before.high is not None and after.high is not None
    proved = found and before.low == before.high and after.low == after.high
    # Where nothing was searched, a way that is known is the plan's own: by that no step ever cost anything.
    if not proved and (estimate or not found) and before.estimate is not None and after.estimate is not None:
        return max(1 + after.estimate - before.estimate, 0), Grade.ESTIMATE
    if before.high is None or after.high is None:
        return None, Grade.UNKNOWN
    return 1 + after.high - before.high, Grade.PROVED if proved else Grade.FOUND
