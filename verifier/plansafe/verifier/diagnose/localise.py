"""Where a plan went wrong: the indices of docs/diagnose.md; the point of no return by binary search over prefixes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.walk import Walk
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningStatus
from plansafe.verifier.planning.planner_chain import default_planners
from plansafe.verifier.reporting.report import FindingClass

__all__ = ["Localisation", "default_planners", "localise"]


_FAILED = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)
_VIOLATED = (
    FindingClass.PROCESS,
    FindingClass.TRAJECTORY,
    FindingClass.TERMINATION,
    FindingClass.OBLIGATION,
    FindingClass.CONSTRAINT,
)


class Localisation(NamedTuple):
    """The indices of one plan; steps count from 1, 0 is the initial state.

    ``violated`` is the first violated rule's step (at the end of a plan that does not stop before, the last),
    ``inexecutable`` the first step that is ill-formed or cannot be taken, ``divergence`` the first step that differs
    from the reference (the length + 1 if the plan ends too early);
    ``None`` where there is none. ``point_of_no_return`` is the closed interval in which it lies: one number twice
    where the planners answered all that they were asked. ``regret[i - 1]`` is that of step i, ``None`` where it is
    undefined or not proved; the whole is ``None`` unless asked for. ``planner_calls`` are those for the point of no
    return, ``regret_calls`` those for the regret. ``detail`` says in words what was left open.
    """

    steps: int
    violated: int | None
    inexecutable: int | None
    divergence: int | None
    point_of_no_return: tuple[int, int]
    regret: tuple[int | None, ...] | None = None
    planner_calls: int = 0
    regret_calls: int = 0
    planners: tuple[str, ...] = ()
    detail: str = ""

    @property
    def last_safe(self) -> int | None:
        """The point of no return, if it is known exactly."""
        low, high = self.point_of_no_return
        return low if low == high else None

    @property
    def fatal(self) -> int | None:
        """The step past the point of no return, if that is known and the plan goes on past it."""
        exact = self.last_safe
        return None if exact is None or exact == self.steps else exact + 1


def localise(
    checker: Checker,
    plan: Source,
    reference: Source | None = None,
    planner: Planner | None = None,
    regret: bool = False,
    time_limit_s: float = 30.0,
) -> Localisation:
    """The indices of a plan; at most ceil(log2(n + 2)) calls of the planner for the point of no return.

    ``time_limit_s`` is for all calls together, once for the point of no return and once for the regret. Timed plans
    are not searched: the interval is all that could be. Raises ``ValueError`` if the checker or a text has errors,
    or leaves something open.
    """
    if not checker.ok:
        raise ValueError("the domain, problem or specification has errors")
    if planner is None:
        # That violations count by their blame is an option of the checker that no other planner knows.
        planner = ForwardSearch() if checker.options.criteria.only_introduced else default_planners()
    read = checker.read(plan)
    if read.text.diagnostics:
        raise ValueError(f"the plan cannot be read: {read.text.diagnostics[0].message}")
    checker.compiled.require_one_world("localisation", read)
    steps = read.steps
    divergence = _divergence(checker, plan, reference)
    if read.timed is not None:
        findings = [f for f in checker.check(plan).findings if "halt" in f.readings]
        failed = [f.step for f in findings if f.finding_class in _FAILED]
        asked = checker.options.criteria
        wrong = [f for f in findings if f.finding_class in _VIOLATED and f.decides(asked)]
        broken = [f.step for f in wrong if not (failed and f.at_end)]
        where = (min(broken, default=None), min(failed, default=None), divergence)
        return Localisation(len(steps), *where, (-1, len(steps)), detail="timed plans are not continued by a planner")
    walk = Walk(checker, steps)
    where = (walk.violated, walk.inexecutable, divergence)
    if walk.accepted == len(steps):
        located = Localisation(len(steps), *where, (len(steps), len(steps)))
    else:
        search = _Bisection(checker, walk, len(steps), planner, time_limit_s)
        interval = search.run()
        names = tuple(dict.fromkeys(search.planners))
        located = Localisation(
            len(steps), *where, interval, None, search.calls, 0, names, "; ".join(dict.fromkeys(search.details))
        )
    return _with_regret(checker, walk, located, planner, time_limit_s) if regret else located


def _divergence(checker: Checker, plan: Source, reference: Source | None) -> int | None:
    if reference is None:
        return None
    other = checker.read(reference)
    if other.text.diagnostics:
        raise ValueError(f"the reference plan cannot be read: {other.text.diagnostics[0].message}")
    checker.compiled.require_one_world("the comparison with a reference plan", other)
    ours = [step.tokens for step in checker.read(plan).text.steps]
    theirs = [step.tokens for step in other.text.steps]
    for number, (mine, wanted) in enumerate(zip(ours, theirs, strict=False), 1):
        if mine != wanted:
            return number
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs)) + 1


class _Bisection:
    """The search for the longest prefix with a safe continuation, where an answer may also be "not found"."""

    def __init__(self, checker: Checker, walk: Walk, steps: int, planner: Planner, time_limit_s: float) -> None:
        self.checker = checker
        self.walk = walk
        self.budget = calls_at_most(steps + 2)
        self.planner = planner
        self.deadline = monotonic() + time_limit_s
        self.calls = 0
        self.planners: list[str] = []
        self.details: list[str] = []

    def run(self) -> tuple[int, int]:
        """The interval in which the point of no return lies."""
        low, high = self.walk.accepted, self.walk.last
        unknown: set[int] = set()
        while self.budget > self.calls:
            middle = _middle(low, high, unknown)
            if middle is None:
                break
            if self.calls == 0 and calls_at_most(high - low) < self.budget:
                middle = high  # most plans can be saved up to the step that fails; the rest is within the budget still
            prefix = self.walk.taken[:middle]
            self.calls += 1
            left = max(self.deadline - monotonic(), 0.0) / (self.budget - self.calls + 1)
            found = self.planner.solve(PlanningQuery(self.checker, prefix, time_limit_s=left))
            self.planners.append(found.planner)
            if found.status is PlanningStatus.SOLVED:
                # Where the continuation goes on like the plan, longer prefixes have one, too.
                ahead = self.walk.taken[middle : self.walk.last]
                low = max(low, middle + _common(found.steps, ahead))
            elif found.status is PlanningStatus.UNSOLVABLE:
                high = middle - 1
            else:
                unknown.add(middle)
                self.details.append(f"{found.planner}: {found.detail}" if found.detail else found.planner)
        return low, high


def calls_at_most(candidates: int) -> int:
    """How many yes-no questions tell so many candidates apart."""
    return max(candidates - 1, 0).bit_length()


def _middle(low: int, high: int, unknown: set[int]) -> int | None:
    """The next prefix to ask about: the middle of the widest gap between what was asked; ``None`` if there is none.

    Without unknown answers this is binary search: ``low`` has a continuation, ``high + 1`` has none.
    """
    marks = sorted({low, high + 1, *[n for n in unknown if low < n <= high]})
    gaps = [(above - below, -below) for below, above in pairwise(marks)]
    width, below = max(gaps, default=(0, 0))
    return None if width < 2 else -below + width // 2


def _common(one: Sequence[GroundAction], other: Sequence[GroundAction]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if (mine.action.name, mine.objects) != (theirs.action.name, theirs.objects):
            break
        count += 1
    return count


# ---- regret ---------------------------------------------------------------------------------------------------------


def _with_regret(
    checker: Checker, walk: Walk, located: Localisation, planner: Planner, time_limit_s: float
) -> Localisation:
    """The same with r(i) = 1 + h*(i) - h*(i - 1) for the steps up to the point of no return."""
    low = located.point_of_no_return[0]
    deadline = monotonic() + time_limit_s
    costs: list[int | None] = []
    calls = 0
    names = list(located.planners)
    known: list[int] = []  # costs that follow from the last answer
    for length in range(low + 1):
        if known:
            costs.append(known.pop())
            continue
        left = max(deadline - monotonic(), 0.0) / (low + 1 - length)
        calls += 1
        found = planner.solve(PlanningQuery(checker, walk.taken[:length], shortest=True, time_limit_s=left))
        names.append(found.planner)
        proved = found.status is PlanningStatus.SOLVED and found.optimal
        costs.append(len(found.steps) if proved else None)
        if proved:
            # Along an optimal continuation the cost falls by one with each step.
            same = _common(found.steps, walk.taken[length:low])
            known = [len(found.steps) - done for done in range(same, 0, -1)]
    regrets = tuple(_regrets(costs, located.steps))
    return located._replace(regret=regrets, regret_calls=calls, planners=tuple(dict.fromkeys(names)))


def _regrets(costs: Sequence[int | None], steps: int) -> Iterator[int | None]:
    for number in range(1, steps + 1):
        before, after = (costs[number - 1], costs[number]) if number < len(costs) else (None, None)
        yield None if before is None or after is None else 1 + after - before
