"""Test that shortened plans stay SAFE, reach the goal, and have no redundant step."""

from __future__ import annotations

import pytest

from plansafe.align.pairs.plan_judge import PlanJudge, deletions, shortened_steps
from plansafe.align.records import actions_of, plan_of
from plansafe.align.tasks import task_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds


def is_safe(checker: Checker, actions: tuple[str, ...]) -> bool:
    report = checker.check(Source("plan", plan_of(actions)))
    return report.headline in (Headline.SAFE, Headline.VALID) and report.goal is Worlds.ALL


def shorten(checker: Checker, actions: tuple[str, ...]) -> tuple[str, ...]:
    judge = PlanJudge(checker)
    steps = judge.read(plan_of(actions))
    assert steps is not None
    return judge.texts(shortened_steps(judge, steps))


def shorter_safe_plans(checker: Checker, actions: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The plans with one or two fewer steps that are SAFE and reach the goal, by complete checks."""
    compiled = checker.compiled
    checker = Checker.from_compiled(compiled._replace(options=compiled.options._replace(replay="never")))
    indices = range(len(actions))
    index_sets = [{first, second} for first in indices for second in indices if first <= second]
    plans = [tuple([step for index, step in enumerate(actions) if index not in deleted]) for deleted in index_sets]
    return [plan for plan in plans if plan and is_safe(checker, plan)]


@pytest.mark.parametrize("origin", ["drawn:warm-drink/0/7", "drawn:fetch/0/7", "scenario:cat-in-the-drum"])
def test_shortened_plan_has_no_redundant_step_or_pair_of_steps(origin: str) -> None:
    task = task_of(origin)
    short = shorten(task.checker, actions_of(task.reference))
    assert short and is_safe(task.checker, short) and not shorter_safe_plans(task.checker, short)
    assert shorten(task.checker, short) == short


def test_circular_walks_are_deleted() -> None:
    task = task_of("drawn:plants/0/7")
    short = shorten(task.checker, actions_of(task.reference))
    walks = [step for step in short if step.startswith("(go ")]
    _, robot, here, there = walks[0][1:-1].split()
    circle = (f"(go {robot} {here} {there})", f"(go {robot} {there} {here})")
    index = short.index(walks[0])
    with_circles = (*short[:index], *circle, *circle, *short[index:])
    assert is_safe(task.checker, with_circles)
    assert shorten(task.checker, with_circles) == short


def test_deletions_are_blocks_and_pairs() -> None:
    places = list(deletions(4))
    assert places[:4] == [(0,), (1,), (2,), (3,)] and (0, 1, 2) in places and (0, 3) in places
    assert len(places) == len(set(places)) == 4 + 3 + 2 + 3
