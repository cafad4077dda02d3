"""A plan that breaks a rule and one that keeps it, in a given problem: few steps, each judged by the checker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.specs.lint.trace_search import find_satisfying_plan
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, Weights
from plansafe.verifier.reporting.report import Headline

NOT_FOUND = "NOT FOUND within the limits"
_PLAN = "<plan>"
_KEEP = Weights(delete=3, substitute=2)
"""Steps of the breaking plan are left out last: a plan that does nothing keeps most rules and shows nothing."""


class Examples(NamedTuple):
    """The two plans; ``None`` if none was found, with the reason."""

    breaking: tuple[str, ...] | None
    keeping: tuple[str, ...] | None
    why_not_breaking: str = ""
    why_not_keeping: str = ""


def examples(checker: Checker, seconds: float) -> Examples:
    """Look for both plans of the first rule of ``checker``, which has no other, each for about ``seconds``."""
    without_goal = Checker.from_compiled(checker.compiled.make_variant(checker.engine.task._replace(goal=())))
    violating = LintProblem(without_goal, 4 * seconds).find_violating_plan(0)
    steps = _fewest(without_goal, violating.steps) if violating.status is PlanningStatus.SOLVED else None
    satisfying, why = _satisfying_plan(without_goal, steps, seconds)
    if violating.status is PlanningStatus.UNSOLVABLE:
        return Examples(None, satisfying, f"PROVED: no plan of this problem breaks it ({violating.detail})", why)
    return Examples(steps, satisfying, NOT_FOUND if steps is None else "", why)


def _fewest(checker: Checker, plan: Sequence[GroundAction]) -> tuple[str, ...] | None:
    """The plan without the steps that it breaks the rule without, the last ones left out first; judged."""
    steps = tuple([step_text(step, checker.engine.task.objects) for step in plan])
    if not _breaks(checker, steps):
        return None
    for at in reversed(range(len(steps))):
        fewer = (*steps[:at], *steps[at + 1 :])
        if _breaks(checker, fewer):
            steps = fewer
    return steps


def _satisfying_plan(
    checker: Checker, breaking: tuple[str, ...] | None, seconds: float
) -> tuple[tuple[str, ...] | None, str]:
    """A plan near the breaking one that keeps the rule; else any."""
    if breaking:
        options = RepairOptions(_KEEP, max_cost=9, max_repairs=1, time_limit_s=seconds)
        for candidate in repair(checker, _source(breaking), options).repairs:
            if _keeps(checker, candidate.steps):
                return candidate.steps, ""
    plan = find_satisfying_plan(checker, frozenset([0]), reach_goal=False, seconds=seconds)
    if plan.status is PlanningStatus.SOLVED:
        steps = tuple([step_text(step, checker.engine.task.objects) for step in plan.steps])
        if _keeps(checker, steps):
            return steps, ""
    if plan.status is PlanningStatus.UNSOLVABLE:
        return None, "PROVED: no plan of this problem keeps it"
    return None, NOT_FOUND


def _breaks(checker: Checker, steps: tuple[str, ...]) -> bool:
    return checker.check(_source(steps)).headline is Headline.UNSAFE


def _keeps(checker: Checker, steps: tuple[str, ...]) -> bool:
    return checker.check(_source(steps)).headline in (Headline.SAFE, Headline.VALID)


def _source(steps: Sequence[str]) -> Source:
    return Source(_PLAN, "".join([f"{step}\n" for step in steps]))
