"""No planner proves a task unsolvable that has a known safe plan."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for bench, which is not in the package

from bench.faults.depot import depot_task  # noqa: E402
from bench.faults.household import household_task  # noqa: E402
from bench.faults.survey import survey_task  # noqa: E402
from bench.faults.task import SeedTask  # noqa: E402

from plansafe.grammar.source import Source  # noqa: E402
from plansafe.verifier.api import Checker  # noqa: E402
from plansafe.verifier.planning.forward_search import ForwardSearch  # noqa: E402
from plansafe.verifier.planning.kairos import KairosPlanner  # noqa: E402
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningStatus  # noqa: E402
from plansafe.verifier.planning.planner_chain import make_default_planners  # noqa: E402
from plansafe.verifier.planning.unified_planner import UnifiedPlanner  # noqa: E402
from plansafe.verifier.reporting.report import Headline  # noqa: E402

LIMIT_S = 2.0
"""False proofs come from invariants that are found before any search, so a short time limit suffices."""
MAKERS = {"household": household_task, "depot": depot_task, "survey": survey_task}
PLANNERS: tuple[Planner, ...] = (KairosPlanner(), UnifiedPlanner(), ForwardSearch())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "length"),
    [("household", 12), ("household", 20), ("household", 32), ("depot", 16), ("survey", 16)],
)
def test_tasks_with_a_safe_plan_are_not_unsolvable(kind: str, length: int) -> None:
    task: SeedTask = MAKERS[kind](f"proofs-{length}", length)
    checker = task.checker()
    plan = Source("gold", "\n".join(task.gold))
    assert checker.check(plan).headline in (Headline.SAFE, Headline.VALID)
    for planner in PLANNERS:
        solution = planner.solve(PlanningQuery(checker, time_limit_s=LIMIT_S))
        assert solution.status is not PlanningStatus.UNSOLVABLE, planner.name


def test_effects_that_depend_on_numbers() -> None:
    """The enumeration of repairs revealed this: the compiled rule is an effect with a number in its condition."""
    domain = """(define (domain tiny) (:types item) (:functions (level) (size ?x - item))
      (:action load :parameters (?x - item) :effect (increase (level) (size ?x))))"""
    problem = """(define (problem tiny) (:domain tiny) (:objects crate - item)
      (:init (= (level) 1) (= (size crate) 2)) (:goal (>= (level) 2)))"""
    rules = "(define (safety tiny) (:domain tiny) (:trajectory later :formula (weak-next (> (level) 1))))"
    checker = Checker(Source("domain", domain), Source("problem", problem), [Source("rules", rules)])
    assert checker.check(Source("plan", "(load crate)")).headline is Headline.SAFE
    for planner in PLANNERS:
        solution = planner.solve(PlanningQuery(checker, time_limit_s=LIMIT_S))
        assert solution.status is not PlanningStatus.UNSOLVABLE, planner.name
    assert make_default_planners().solve(PlanningQuery(checker, time_limit_s=LIMIT_S)).status is PlanningStatus.SOLVED
