"""Lint one given problem by the delete relaxation and by searches (docs/safety-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint import search
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.instances import count, instances
from plansafe.specs.lint.search import Explored, Outcome
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Formula, Not
from plansafe.verifier.planning.port import Answer, Solution
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

TRIED = 4
"""Instances of a part of a rule that planners are asked about."""
CANDIDATES = 60
"""Instances among which they are chosen."""
EACH_S = 3.0
"""Seconds for one question to the planners."""
PLAN_S = 10.0
"""Seconds for one plan that keeps rules."""
EXPLORE_S = 1.5
"""Seconds for the search that looks at all rules at once."""


class Decided(NamedTuple):
    """An answer with its proof; ``yes`` is ``None`` where there is no answer, and then ``proof`` says why."""

    yes: bool | None
    proof: str = ""


UNDECIDED = Decided(None, "neither a proof nor an example was found within the limits")


class LintProblem:
    """One problem with its rules. ``checker`` must be ``ok``. Nothing is asked of rules without parts.

    Of a problem that leaves something open, ``searching`` is false: only the relaxation is asked, in which what is open
    may have any value. So it is with durative actions and timed literals.
    """

    def __init__(self, checker: Checker, seconds: float | None, searching: bool = True) -> None:
        self.checker = checker
        self.engine: Engine = checker.engine
        self.task = self.engine.task
        self.rules = checker.rules
        self.budget = Budget(seconds)
        timed = any([literal.time > 0 for literal in self.task.timed_literals])
        self.temporal = timed or any([action.end is not None for action in self.task.actions.values()])
        limited = self.engine.limit is not None
        self.searching = searching and not (self.temporal or checker.open or limited)
        self.start = None if checker.open or limited else Execution.initial(self.engine)
        self.relaxation: Relaxation | None = None
        everything = None
        if checker.options.lenient_types:
            everything = checker.compiled.symbols.types.subset(tuple(range(len(self.task.objects))))
        with self.budget.running(), suppress(LimitReached):
            self.relaxation = Relaxation(self.engine, lambda: self.budget.over, checker.compiled.openings, everything)
        self._explored: Explored | None = None
        self._breaches: dict[int, tuple[Formula, RulePart]] = {}

    def has_instance(self, number: int) -> bool:
        """Whether the types of a rule's parameters all have objects."""
        rule = self.rules[number]
        return rule.applicable and all([self.task.domains[v.domain] for v in rule.declared])

    # -- can a rule be broken? ----------------------------------------------------------------------------------------

    def breakable(self, number: int, thoroughly: bool) -> Decided:
        """Whether some trace breaks a rule. Searches are made only if ``thoroughly``."""
        if self.start is not None and number in search.outcome_of(self.start).broken:
            return Decided(True)
        with self.budget.running():
            left = [part for part in self.rules[number].parts if self._may_break(part)]
            if not left:
                return Decided(False, "relaxation")
            if not self.searching or not thoroughly:
                return UNDECIDED
            explored = self.explored()
            if any([number in outcome.broken for outcome in explored.outcomes]):
                return Decided(True)
            if explored.complete:
                doubtful = any([number in outcome.unkept for outcome in explored.outcomes])
                return UNDECIDED if doubtful else Decided(False, _visited(explored))
            return self._by_planners(left)

    def _may_break(self, part: RulePart) -> bool:
        relaxed = self.relaxation
        if relaxed is None:
            return True
        try:
            if part.mode == "whole":
                return self._unbounded or bool(self._instances(relaxed, part, False, first=True))
            return bool(relaxed.some(self._breach(part), part.parameters))
        except LimitReached:
            return True

    @property
    def _unbounded(self) -> bool:
        """Whether the letters of a trace say too little: of their times, or of the initial state."""
        return self.temporal or self.checker.open

    def _breach(self, part: RulePart) -> Formula:
        """What breaks a part; one formula for each part, since searches are compiled for it."""
        known = self._breaches.get(id(part))
        if known is None:
            known = self._breaches[id(part)] = search.breach(part, Not(part.body)), part
        return known[0]

    def _instances(
        self, relaxed: Relaxation, part: RulePart, positive: bool, first: bool = False
    ) -> list[tuple[int, ...]]:
        return instances(self.engine, relaxed, part, positive, first, self.budget.deadline)

    def plan_breaking(self, number: int, keeping: frozenset[int] = frozenset()) -> Solution:
        """A plan that breaks a rule and keeps the others in ``keeping``, or the proof that there is none."""
        with self.budget.running():
            parts = [part for part in self.rules[number].parts if self._may_break(part)]
            if not parts:
                return Solution(Answer.UNSOLVABLE, detail="relaxation")
            if not self.searching:
                return Solution(Answer.NOT_FOUND, detail="plans of this problem are not searched")
            return self._broken_by_planners(parts, keeping)

    def _by_planners(self, parts: Sequence[RulePart]) -> Decided:
        found = self._broken_by_planners(parts)
        if found.answer is Answer.SOLVED:
            return Decided(True)
        return Decided(False, found.detail) if found.answer is Answer.UNSOLVABLE else UNDECIDED

    def _broken_by_planners(self, parts: Sequence[RulePart], keeping: frozenset[int] = frozenset()) -> Solution:
        unknown = Solution(Answer.NOT_FOUND, detail=UNDECIDED.proof)
        relaxed = self.relaxation
        if relaxed is None:
            return unknown
        every = True
        for part in parts:
            try:
                if part.mode == "whole":
                    bindings = self._instances(relaxed, part, False)
                else:
                    bindings = relaxed.some(self._breach(part), part.parameters, count=CANDIDATES)
            except LimitReached:
                return unknown
            every &= len(bindings) <= TRIED
            for objects in _spread(bindings):
                found = search.breaking(self.checker, part, objects, self.budget.piece(EACH_S), keeping)
                if found.answer is Answer.SOLVED:
                    return found
                every &= found.answer is Answer.UNSOLVABLE
        return Solution(Answer.UNSOLVABLE, detail="planners searched everything") if every else unknown

    # -- can a rule be kept? ------------------------------------------------------------------------------------------

    def keepable(self, number: int) -> Decided:
        """Whether some trace keeps a rule."""
        with self.budget.running():
            if self.start is not None:
                if number not in search.outcome_of(self.start).unkept:
                    return Decided(True)
                if number in self._broken_for_good():
                    return Decided(False, "initial state")
            if any([self._cannot_keep(part) for part in self.rules[number].parts]):
                return Decided(False, "relaxation")
            if not self.searching:
                return UNDECIDED
            explored = self.explored()
            if any([number not in outcome.unkept for outcome in explored.outcomes]):
                return Decided(True)
            if explored.complete:
                broken = all([number in outcome.broken for outcome in explored.outcomes])
                return Decided(False, _visited(explored)) if broken else UNDECIDED
            return self._planned((number,), False)

    def _planned(self, numbers: Sequence[int], goal: bool) -> Decided:
        answer = search.keeping(self.checker, frozenset(numbers), goal, self.budget.piece(PLAN_S)).answer
        if answer is Answer.SOLVED:
            return Decided(True)
        return Decided(False, "a planner searched everything") if answer is Answer.UNSOLVABLE else UNDECIDED

    def _broken_for_good(self) -> frozenset[int]:
        """The rules that the initial state breaks, whatever comes."""
        if self.start is None or self.start.runtime is None:
            return frozenset()
        plan = self.engine.plan
        found = set()
        for monitor in self.start.runtime.monitors:
            if isinstance(monitor, Invariant):
                if monitor.episodes and not monitor.final:
                    found.add(plan.parts[monitor.part].rule)
            elif monitor.violations and not self.temporal:
                found.add(plan.parts[monitor.part].rule)
        return frozenset(found)

    def _cannot_keep(self, part: RulePart) -> bool:
        """Whether there is an instance that no trace keeps."""
        relaxed = self.relaxation
        if relaxed is None or part.mode == "each":
            return False
        try:
            if part.mode != "whole":
                return bool(relaxed.never(part.body, part.parameters))
            if self._unbounded:
                return False
            return len(self._instances(relaxed, part, True)) < count(self.task, part)
        except LimitReached:
            return False

    # -- rules together -----------------------------------------------------------------------------------------------

    def explored(self) -> Explored:
        """What a bounded search met, that looks at all rules at once."""
        if self._explored is None:
            seconds = self.budget.piece(EXPLORE_S)
            self._explored = search.explore(self.engine, _enough(len(self.rules)), monotonic() + seconds)
        return self._explored

    def contradiction(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], str] | None:
        """Fewest of these rules that no trace keeps together, with the proof; only where every state was visited."""
        if not self.searching:
            return None
        with self.budget.running():
            explored = self.explored()
        return (fewest(numbers, explored.outcomes), _visited(explored)) if explored.complete else None

    def safe_goal(self, numbers: Sequence[int]) -> tuple[Decided, tuple[int, ...]]:
        """Whether some trace reaches the goal and keeps these rules; if none does, fewest rules of which that is so.

        Also said to be so where no trace reaches the goal at all: that is no matter of the rules.
        """
        if not self.searching:
            return Decided(None, "its plans are not searched"), ()
        with self.budget.running():
            explored = self.explored()
            reached = [outcome for outcome in explored.outcomes if outcome.goal]
            if any([outcome.unkept.isdisjoint(numbers) for outcome in reached]):
                return Decided(True), ()
            if explored.complete:
                core = fewest(numbers, reached) if reached else ()
                if not core and reached:
                    return UNDECIDED, ()
                return Decided(not core, _visited(explored)), core
            found = self._planned(numbers, True)
            if found.yes is not False:
                return found, ()
            if not reached:
                possible = self._planned((), True)
                if not possible.yes:
                    return (UNDECIDED if possible.yes is None else Decided(True)), ()
            return found, self._fewest_planned(numbers)

    def _fewest_planned(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Rules that a planner shows to be too many; each is left out that it shows not to be needed."""
        core = list(numbers)
        for number in numbers:
            fewer = [n for n in core if n != number]
            if fewer and self._planned(fewer, True).yes is False:
                core = fewer
        return tuple(core)


def _spread(bindings: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Not more than are tried, far from each other: neighbours are often alike in what makes them impossible."""
    step = max(1, -(-len(bindings) // TRIED))
    return bindings[::step][:TRIED]


def _visited(explored: Explored) -> str:
    return f"all {explored.states} states"


def _enough(rules: int) -> Callable[[Iterable[Outcome]], bool]:
    def enough(outcomes: Iterable[Outcome]) -> bool:
        """Every rule was broken by a trace, and some trace reached the goal with every rule kept."""
        broken: set[int] = set()
        safe = False
        for outcome in outcomes:
            broken |= outcome.broken
            safe |= outcome.goal and not outcome.unkept
        return safe and len(broken) == rules

    return enough


def fewest(numbers: Sequence[int], outcomes: Iterable[Outcome]) -> tuple[int, ...]:
    """Rules of which every outcome breaks one, none too many; empty if some outcome breaks none of ``numbers``."""
    broken = [outcome.broken for outcome in outcomes]

    def kept(chosen: Sequence[int]) -> bool:
        return any([found.isdisjoint(chosen) for found in broken])

    if kept(numbers):
        return ()
    core = list(numbers)
    for number in numbers:
        fewer = [n for n in core if n != number]
        if not kept(fewer):
            core = fewer
    return tuple(core)
