"""Lint one given problem by the delete relaxation and by searches (docs/safety-rules.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from math import ceil
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint.budget import Budget
from plansafe.specs.lint.possible_instances import count_instances, find_possible_instances
from plansafe.specs.lint.trace_search import (
    Exploration,
    Outcome,
    compute_outcome,
    explore,
    find_satisfying_plan,
    find_violating_plan,
    make_violation_condition,
)
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Formula, Not
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation

MAX_TRIED_INSTANCES = 4
"""Instances of a part of a rule that are tried with planners."""
MAX_CANDIDATES = 60
"""Instances from which they are chosen."""
INSTANCE_S = 3.0
"""Seconds of planning for one instance."""
PLAN_S = 10.0
"""Seconds for one plan that satisfies rules."""
EXPLORE_S = 1.5
"""Seconds for the search that monitors all rules at once."""


class Decision(NamedTuple):
    """An answer with its proof; if ``holds`` is ``None``, the question is undecided, and ``proof`` is the reason."""

    holds: bool | None
    proof: str = ""


class RuleConflict(NamedTuple):
    """A minimal set of rules (numbers) that no trace satisfies together, with the proof; empty if there is none."""

    rules: tuple[int, ...]
    proof: str


class GoalDecision(NamedTuple):
    """Whether the goal can be reached safely; if not, ``conflict`` is a minimal set of rules that prevent it."""

    decision: Decision
    conflict: tuple[int, ...] = ()


UNDECIDED = Decision(None, "neither a proof nor an example was found within the limits")
_DECISION_BY_STATUS = {
    PlanningStatus.SOLVED: Decision(True),
    PlanningStatus.UNSOLVABLE: Decision(False, "a planner searched everything"),
}


class LintProblem:
    """One problem with its rules. ``checker`` must be ``ok``. The rules in questions must have parts.

    If the problem has unknown facts, durative actions or timed literals, ``can_search`` is false: then only the
    relaxation is used, in which unknown facts may have any value.
    """

    def __init__(self, checker: Checker, seconds: float | None, can_search: bool = True) -> None:
        self.checker = checker
        self.engine: Engine = checker.engine
        self.task = self.engine.task
        self.rules = checker.rules
        self.budget = Budget(seconds)
        has_timed_literals = any([literal.time > 0 for literal in self.task.timed_literals])
        self.temporal = has_timed_literals or any([action.end is not None for action in self.task.actions.values()])
        is_executable = checker.is_stepwise and self.engine.limit is None
        self.can_search = can_search and is_executable and not self.temporal
        self.start = Execution.initial(self.engine) if is_executable else None
        self.relaxation: Relaxation | None = None
        all_objects = None
        if checker.options.lenient_types:
            all_objects = checker.compiled.symbols.types.get_subset_domain(tuple(range(len(self.task.objects))))
        with self.budget.running(), suppress(LimitReached):
            openings = checker.compiled.openings
            self.relaxation = Relaxation(self.engine, lambda: self.budget.is_spent, openings, all_objects)
        self._exploration: Exploration | None = None
        self._violation_conditions: dict[int, tuple[Formula, RulePart]] = {}

    def has_instance(self, number: int) -> bool:
        """Whether the types of a rule's parameters all have objects."""
        rule = self.rules[number]
        return rule.applicable and all([self.task.domains[v.domain] for v in rule.declared_parameters])

    # -- can a rule be violated? --------------------------------------------------------------------------------------

    def decide_violable(self, number: int, may_search: bool) -> Decision:
        """Decide whether some trace violates a rule, by searches only if ``may_search``."""
        if self.start is not None and number in compute_outcome(self.start).violated_rules:
            return Decision(True)
        with self.budget.running():
            parts = self._list_violable_parts(number)
            if not parts:
                return Decision(False, "relaxation")
            if not self.can_search or not may_search:
                return UNDECIDED
            exploration = self.explore_traces()
            if any([number in outcome.violated_rules for outcome in exploration.outcomes]):
                return Decision(True)
            if exploration.is_complete:
                is_doubtful = any([number in outcome.unsatisfied_rules for outcome in exploration.outcomes])
                return UNDECIDED if is_doubtful else Decision(False, _format_state_count(exploration))
            planning_result = self._ask_planners_for_violation(parts)
            if planning_result.status is PlanningStatus.UNSOLVABLE:
                return Decision(False, planning_result.detail)
            return Decision(True) if planning_result.status is PlanningStatus.SOLVED else UNDECIDED

    def _list_violable_parts(self, number: int) -> list[RulePart]:
        """List the parts of a rule that a trace may violate, according to the relaxation."""
        return [part for part in self.rules[number].parts if self._may_be_violated(part)]

    def _may_be_violated(self, part: RulePart) -> bool:
        relaxation = self.relaxation
        if relaxation is None:
            return True
        try:
            if part.mode == "whole":
                if self._letters_are_incomplete:
                    return True
                return bool(self._find_instances(relaxation, part, positive=False, stop_at_first=True))
            return bool(relaxation.find_bindings(self._make_violation_condition(part), part.parameters))
        except LimitReached:
            return True

    @property
    def _letters_are_incomplete(self) -> bool:
        """Whether letters do not contain the whole trace: it has times, or an open initial state."""
        return self.temporal or self.checker.is_open

    def _make_violation_condition(self, part: RulePart) -> Formula:
        """Make the condition that violates a part; the same object at each call, since searches are compiled for it."""
        if id(part) not in self._violation_conditions:
            self._violation_conditions[id(part)] = make_violation_condition(part, Not(part.body)), part
        return self._violation_conditions[id(part)][0]

    def _find_instances(
        self, relaxation: Relaxation, part: RulePart, positive: bool, stop_at_first: bool = False
    ) -> list[tuple[int, ...]]:
        return find_possible_instances(self.engine, relaxation, part, positive, stop_at_first, self.budget.deadline)

    def find_violating_plan(self, number: int, satisfied_rules: frozenset[int] = frozenset()) -> PlanningResult:
        """Search for a plan that violates a rule and satisfies ``satisfied_rules``, or for a proof that none exists."""
        with self.budget.running():
            parts = self._list_violable_parts(number)
            if not parts:
                return PlanningResult(PlanningStatus.UNSOLVABLE, detail="relaxation")
            if not self.can_search:
                return PlanningResult(PlanningStatus.NOT_FOUND, detail="plans of this problem are not searched")
            return self._ask_planners_for_violation(parts, satisfied_rules)

    def _ask_planners_for_violation(
        self, parts: Sequence[RulePart], satisfied_rules: frozenset[int] = frozenset()
    ) -> PlanningResult:
        """Search with planners for a plan that violates one of the parts."""
        not_found_result = PlanningResult(PlanningStatus.NOT_FOUND, detail=UNDECIDED.proof)
        relaxation = self.relaxation
        if relaxation is None:
            return not_found_result
        is_proof = True
        for part in parts:
            try:
                if part.mode == "whole":
                    instances = self._find_instances(relaxation, part, positive=False)
                else:
                    condition = self._make_violation_condition(part)
                    instances = relaxation.find_bindings(condition, part.parameters, max_count=MAX_CANDIDATES)
            except LimitReached:
                return not_found_result
            is_proof &= len(instances) <= MAX_TRIED_INSTANCES
            for objects in _choose_spread_instances(instances):
                seconds = self.budget.limit_duration(INSTANCE_S)
                planning_result = find_violating_plan(self.checker, part, objects, seconds, satisfied_rules)
                if planning_result.status is PlanningStatus.SOLVED:
                    return planning_result
                is_proof &= planning_result.status is PlanningStatus.UNSOLVABLE
        proof = PlanningResult(PlanningStatus.UNSOLVABLE, detail="planners searched everything")
        return proof if is_proof else not_found_result

    # -- can a rule be satisfied? -------------------------------------------------------------------------------------

    def decide_satisfiable(self, number: int) -> Decision:
        """Decide whether some trace satisfies a rule."""
        with self.budget.running():
            if self.start is not None:
                if number not in compute_outcome(self.start).unsatisfied_rules:
                    return Decision(True)
                if number in self._find_always_violated_rules():
                    return Decision(False, "initial state")
            if any([self._is_never_satisfied(part) for part in self.rules[number].parts]):
                return Decision(False, "relaxation")
            if not self.can_search:
                return UNDECIDED
            exploration = self.explore_traces()
            if any([number not in outcome.unsatisfied_rules for outcome in exploration.outcomes]):
                return Decision(True)
            if exploration.is_complete:
                always_violated = all([number in outcome.violated_rules for outcome in exploration.outcomes])
                return Decision(False, _format_state_count(exploration)) if always_violated else UNDECIDED
            return self._decide_by_planning((number,), must_reach_goal=False)

    def _decide_by_planning(self, numbers: Sequence[int], must_reach_goal: bool) -> Decision:
        """Decide by planners whether some plan satisfies these rules, and with ``must_reach_goal`` reaches the goal."""
        seconds = self.budget.limit_duration(PLAN_S)
        planning_result = find_satisfying_plan(self.checker, frozenset(numbers), must_reach_goal, seconds)
        return _DECISION_BY_STATUS.get(planning_result.status, UNDECIDED)

    def _find_always_violated_rules(self) -> frozenset[int]:
        """Find the rules that every trace violates because of the initial state."""
        if self.start is None or self.start.runtime is None:
            return frozenset()
        violated_rules = set()
        for monitor in self.start.runtime.monitors:
            if isinstance(monitor, InvariantMonitor):
                is_violated = bool(monitor.episodes) and not monitor.final
            else:
                is_violated = bool(monitor.violations) and not self.temporal
            if is_violated:
                violated_rules.add(self.engine.rule_set.parts[monitor.part].rule)
        return frozenset(violated_rules)

    def _is_never_satisfied(self, part: RulePart) -> bool:
        """Whether there is an instance that no trace satisfies, according to the relaxation."""
        relaxation = self.relaxation
        if relaxation is None or part.mode == "each":
            return False
        try:
            if part.mode != "whole":
                return bool(relaxation.find_impossible_binding(part.body, part.parameters))
            if self._letters_are_incomplete:
                return False
            return len(self._find_instances(relaxation, part, positive=True)) < count_instances(self.task, part)
        except LimitReached:
            return False

    # -- several rules ------------------------------------------------------------------------------------------------

    def explore_traces(self) -> Exploration:
        """Explore the traces by a bounded search that monitors all rules at once."""
        if self._exploration is None:
            seconds = self.budget.limit_duration(EXPLORE_S)
            self._exploration = explore(self.engine, _make_enough_test(len(self.rules)), monotonic() + seconds)
        return self._exploration

    def find_contradiction(self, numbers: Sequence[int]) -> RuleConflict | None:
        """Find a minimal set of rules that no trace satisfies together; ``None`` if the search was not complete."""
        if not self.can_search:
            return None
        with self.budget.running():
            exploration = self.explore_traces()
        if not exploration.is_complete:
            return None
        return RuleConflict(find_minimal_conflict(numbers, exploration.outcomes), _format_state_count(exploration))

    def decide_safe_goal(self, numbers: Sequence[int]) -> GoalDecision:
        """Decide whether some trace reaches the goal and satisfies these rules.

        Also true if no trace reaches the goal: then the rules are not the reason.
        """
        if not self.can_search:
            return GoalDecision(Decision(None, "its plans are not searched"))
        with self.budget.running():
            exploration = self.explore_traces()
            goal_outcomes = [outcome for outcome in exploration.outcomes if outcome.reaches_goal]
            if any([outcome.unsatisfied_rules.isdisjoint(numbers) for outcome in goal_outcomes]):
                return GoalDecision(Decision(True))
            if exploration.is_complete:
                conflict = find_minimal_conflict(numbers, goal_outcomes) if goal_outcomes else ()
                if not conflict and goal_outcomes:
                    return GoalDecision(UNDECIDED)
                return GoalDecision(Decision(not conflict, _format_state_count(exploration)), conflict)
            decision = self._decide_by_planning(numbers, must_reach_goal=True)
            if decision.holds is not False:
                return GoalDecision(decision)
            if not goal_outcomes:
                goal_decision = self._decide_by_planning((), must_reach_goal=True)
                if not goal_decision.holds:
                    return GoalDecision(UNDECIDED if goal_decision.holds is None else Decision(True))
            return GoalDecision(decision, self._find_minimal_planning_conflict(numbers))

    def _find_minimal_planning_conflict(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Find rules that a planner proves to exclude all plans, each needed for that proof."""
        conflict = list(numbers)
        for number in numbers:
            fewer = [rule for rule in conflict if rule != number]
            if fewer and self._decide_by_planning(fewer, must_reach_goal=True).holds is False:
                conflict = fewer
        return tuple(conflict)


def _choose_spread_instances(instances: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Choose :data:`MAX_TRIED_INSTANCES` instances far from each other: neighbours are often impossible alike."""
    stride = max(1, ceil(len(instances) / MAX_TRIED_INSTANCES))
    return instances[::stride][:MAX_TRIED_INSTANCES]


def _format_state_count(exploration: Exploration) -> str:
    return f"all {exploration.state_count} states"


def _make_enough_test(rule_count: int) -> Callable[[Iterable[Outcome]], bool]:
    def is_enough(outcomes: Iterable[Outcome]) -> bool:
        """Whether some trace violates each rule, and some trace reaches the goal and satisfies every rule."""
        violated_rules: set[int] = set()
        has_safe_plan = False
        for outcome in outcomes:
            violated_rules |= outcome.violated_rules
            has_safe_plan |= outcome.reaches_goal and not outcome.unsatisfied_rules
        return has_safe_plan and len(violated_rules) == rule_count

    return is_enough


def find_minimal_conflict(numbers: Sequence[int], outcomes: Iterable[Outcome]) -> tuple[int, ...]:
    """Find a minimal set of rules such that every outcome violates one; empty if some outcome violates no rule."""
    violated_by_outcome = [outcome.violated_rules for outcome in outcomes]

    def is_conflict(rules: Sequence[int]) -> bool:
        return not any([violated_rules.isdisjoint(rules) for violated_rules in violated_by_outcome])

    if not is_conflict(numbers):
        return ()
    conflict = list(numbers)
    for number in numbers:
        fewer = [rule for rule in conflict if rule != number]
        if is_conflict(fewer):
            conflict = fewer
    return tuple(conflict)
