"""Lint one given problem by the delete relaxation and by searches (docs/safety-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint import trace_search
from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.possible_instances import instance_count, possible_instances
from plansafe.specs.lint.trace_search import Exploration, Outcome
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Formula, Not
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
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


class Decision(NamedTuple):
    """An answer with its proof; ``yes`` is ``None`` where there is no answer, and then ``proof`` says why."""

    holds: bool | None
    proof: str = ""


UNDECIDED = Decision(None, "neither a proof nor an example was found within the limits")


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
        self.can_search = searching and not (self.temporal or checker.open or limited)
        self.start = None if checker.open or limited else Execution.initial(self.engine)
        self.relaxation: Relaxation | None = None
        everything = None
        if checker.options.lenient_types:
            everything = checker.compiled.symbols.types.subset(tuple(range(len(self.task.objects))))
        with self.budget.running(), suppress(LimitReached):
            self.relaxation = Relaxation(
                self.engine, lambda: self.budget.is_spent, checker.compiled.openings, everything
            )
        self._explored: Exploration | None = None
        self._breaches: dict[int, tuple[Formula, RulePart]] = {}

    def has_instance(self, number: int) -> bool:
        """Whether the types of a rule's parameters all have objects."""
        rule = self.rules[number]
        return rule.applicable and all([self.task.domains[v.domain] for v in rule.declared])

    # -- can a rule be broken? ----------------------------------------------------------------------------------------

    def can_be_violated(self, number: int, thoroughly: bool) -> Decision:
        """Whether some trace breaks a rule. Searches are made only if ``thoroughly``."""
        if self.start is not None and number in trace_search.outcome_of(self.start).violated:
            return Decision(True)
        with self.budget.running():
            left = [part for part in self.rules[number].parts if self._may_break(part)]
            if not left:
                return Decision(False, "relaxation")
            if not self.can_search or not thoroughly:
                return UNDECIDED
            explored = self.exploration()
            if any([number in outcome.violated for outcome in explored.outcomes]):
                return Decision(True)
            if explored.complete:
                doubtful = any([number in outcome.not_satisfied for outcome in explored.outcomes])
                return UNDECIDED if doubtful else Decision(False, _visited(explored))
            return self._by_planners(left)

    def _may_break(self, part: RulePart) -> bool:
        relaxed = self.relaxation
        if relaxed is None:
            return True
        try:
            if part.mode == "whole":
                return self._unbounded or bool(self._instances(relaxed, part, False, first=True))
            return bool(relaxed.find_bindings(self._breach(part), part.parameters))
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
            known = self._breaches[id(part)] = trace_search.violation_condition(part, Not(part.body)), part
        return known[0]

    def _instances(
        self, relaxed: Relaxation, part: RulePart, positive: bool, first: bool = False
    ) -> list[tuple[int, ...]]:
        return possible_instances(self.engine, relaxed, part, positive, first, self.budget.deadline)

    def find_violating_plan(self, number: int, keeping: frozenset[int] = frozenset()) -> PlanningResult:
        """A plan that breaks a rule and keeps the others in ``keeping``, or the proof that there is none."""
        with self.budget.running():
            parts = [part for part in self.rules[number].parts if self._may_break(part)]
            if not parts:
                return PlanningResult(PlanningStatus.UNSOLVABLE, detail="relaxation")
            if not self.can_search:
                return PlanningResult(PlanningStatus.NOT_FOUND, detail="plans of this problem are not searched")
            return self._broken_by_planners(parts, keeping)

    def _by_planners(self, parts: Sequence[RulePart]) -> Decision:
        found = self._broken_by_planners(parts)
        if found.status is PlanningStatus.SOLVED:
            return Decision(True)
        return Decision(False, found.detail) if found.status is PlanningStatus.UNSOLVABLE else UNDECIDED

    def _broken_by_planners(self, parts: Sequence[RulePart], keeping: frozenset[int] = frozenset()) -> PlanningResult:
        unknown = PlanningResult(PlanningStatus.NOT_FOUND, detail=UNDECIDED.proof)
        relaxed = self.relaxation
        if relaxed is None:
            return unknown
        every = True
        for part in parts:
            try:
                if part.mode == "whole":
                    bindings = self._instances(relaxed, part, False)
                else:
                    bindings = relaxed.find_bindings(self._breach(part), part.parameters, count=CANDIDATES)
            except LimitReached:
                return unknown
            every &= len(bindings) <= TRIED
            for objects in _spread(bindings):
                found = trace_search.find_violating_plan(
                    self.checker, part, objects, self.budget.limited(EACH_S), keeping
                )
                if found.status is PlanningStatus.SOLVED:
                    return found
                every &= found.status is PlanningStatus.UNSOLVABLE
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail="planners searched everything") if every else unknown

    # -- can a rule be kept? ------------------------------------------------------------------------------------------

    def can_be_satisfied(self, number: int) -> Decision:
        """Whether some trace keeps a rule."""
        with self.budget.running():
            if self.start is not None:
                if number not in trace_search.outcome_of(self.start).not_satisfied:
                    return Decision(True)
                if number in self._broken_for_good():
                    return Decision(False, "initial state")
            if any([self._cannot_keep(part) for part in self.rules[number].parts]):
                return Decision(False, "relaxation")
            if not self.can_search:
                return UNDECIDED
            explored = self.exploration()
            if any([number not in outcome.not_satisfied for outcome in explored.outcomes]):
                return Decision(True)
            if explored.complete:
                broken = all([number in outcome.violated for outcome in explored.outcomes])
                return Decision(False, _visited(explored)) if broken else UNDECIDED
            return self._planned((number,), False)

    def _planned(self, numbers: Sequence[int], goal: bool) -> Decision:
        answer = trace_search.find_satisfying_plan(
            self.checker, frozenset(numbers), goal, self.budget.limited(PLAN_S)
        ).status
        if answer is PlanningStatus.SOLVED:
            return Decision(True)
        return Decision(False, "a planner searched everything") if answer is PlanningStatus.UNSOLVABLE else UNDECIDED

    def _broken_for_good(self) -> frozenset[int]:
        """The rules that the initial state breaks, whatever comes."""
        if self.start is None or self.start.runtime is None:
            return frozenset()
        plan = self.engine.rule_set
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
                return bool(relaxed.find_impossible_binding(part.body, part.parameters))
            if self._unbounded:
                return False
            return len(self._instances(relaxed, part, True)) < instance_count(self.task, part)
        except LimitReached:
            return False

    # -- rules together -----------------------------------------------------------------------------------------------

    def exploration(self) -> Exploration:
        """What a bounded search met, that looks at all rules at once."""
        if self._explored is None:
            seconds = self.budget.limited(EXPLORE_S)
            self._explored = trace_search.explore(self.engine, _enough(len(self.rules)), monotonic() + seconds)
        return self._explored

    def find_contradiction(self, numbers: Sequence[int]) -> tuple[tuple[int, ...], str] | None:
        """Fewest of these rules that no trace keeps together, with the proof; only where every state was visited."""
        if not self.can_search:
            return None
        with self.budget.running():
            explored = self.exploration()
        return (minimal_conflict(numbers, explored.outcomes), _visited(explored)) if explored.complete else None

    def can_reach_goal_safely(self, numbers: Sequence[int]) -> tuple[Decision, tuple[int, ...]]:
        """Whether some trace reaches the goal and keeps these rules; if none does, fewest rules of which that is so.

        Also said to be so where no trace reaches the goal at all: that is no matter of the rules.
        """
        if not self.can_search:
            return Decision(None, "its plans are not searched"), ()
        with self.budget.running():
            explored = self.exploration()
            reached = [outcome for outcome in explored.outcomes if outcome.goal]
            if any([outcome.not_satisfied.isdisjoint(numbers) for outcome in reached]):
                return Decision(True), ()
            if explored.complete:
                core = minimal_conflict(numbers, reached) if reached else ()
                if not core and reached:
                    return UNDECIDED, ()
                return Decision(not core, _visited(explored)), core
            found = self._planned(numbers, True)
            if found.holds is not False:
                return found, ()
            if not reached:
                possible = self._planned((), True)
                if not possible.holds:
                    return (UNDECIDED if possible.holds is None else Decision(True)), ()
            return found, self._fewest_planned(numbers)

    def _fewest_planned(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Rules that a planner shows to be too many; each is left out that it shows not to be needed."""
        core = list(numbers)
        for number in numbers:
            fewer = [n for n in core if n != number]
            if fewer and self._planned(fewer, True).holds is False:
                core = fewer
        return tuple(core)


def _spread(bindings: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Not more than are tried, far from each other: neighbours are often alike in what makes them impossible."""
    step = max(1, -(-len(bindings) // TRIED))
    return bindings[::step][:TRIED]


def _visited(explored: Exploration) -> str:
    return f"all {explored.states} states"


def _enough(rules: int) -> Callable[[Iterable[Outcome]], bool]:
    def enough(outcomes: Iterable[Outcome]) -> bool:
        """Every rule was broken by a trace, and some trace reached the goal with every rule kept."""
        broken: set[int] = set()
        safe = False
        for outcome in outcomes:
            broken |= outcome.violated
            safe |= outcome.goal and not outcome.not_satisfied
        return safe and len(broken) == rules

    return enough


def minimal_conflict(numbers: Sequence[int], outcomes: Iterable[Outcome]) -> tuple[int, ...]:
    """Rules of which every outcome breaks one, none too many; empty if some outcome breaks none of ``numbers``."""
    broken = [outcome.violated for outcome in outcomes]

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
