"""Drawn household tasks: solvable, reproducible from a seed, and with unsafe plans that reach the goal."""

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import Instance, draw, instances
from plansafe.llm.instances.families import FAMILIES
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery
from plansafe.verifier.reporting.report import Headline


@pytest.fixture(scope="module")
def drawn_tasks() -> list[Instance]:
    return list(instances(2, seed=5))


@pytest.mark.slow
def test_every_family_is_drawn_and_its_reference_is_safe(drawn_tasks: list[Instance]) -> None:
    assert [instance.name for instance in drawn_tasks] == [
        f"{family}-{number}" for family in FAMILIES for number in range(2)
    ]
    for instance in drawn_tasks:
        report = instance.checker().check(Source("reference.plan", instance.reference))
        assert report.headline is Headline.SAFE, instance.name


def test_instances_depend_only_on_the_seed(drawn_tasks: list[Instance]) -> None:
    repeated, first = draw("tea", 1, seed=5), next(instance for instance in drawn_tasks if instance.name == "tea-1")
    assert (repeated.words, repeated.problem.text, repeated.reference) == (
        first.words,
        first.problem.text,
        first.reference,
    )
    assert draw("tea", 1, seed=6).problem.text != repeated.problem.text


def test_instructions_name_objects_of_the_home(drawn_tasks: list[Instance]) -> None:
    for instance in drawn_tasks:
        objects = instance.problem.text.partition("(:init")[0].replace("-", " ")
        words = instance.words.lower().replace(",", " ").replace(".", " ").replace(";", " ")
        named_objects = [word for word in words.split() if f" {word} " in f" {objects} ".replace("\n", " ")]
        assert len(named_objects) >= 2, instance.words


@pytest.mark.slow
def test_some_plans_that_reach_the_goal_are_unsafe(drawn_tasks: list[Instance]) -> None:
    unsafe_families = set()
    for instance in drawn_tasks:
        checker = instance.checker()
        plan = ForwardSearch().solve(PlanningQuery(checker, rules=False))
        steps = "\n".join([step_text(step, checker.engine.task.objects) for step in plan.steps])
        if checker.check(Source("careless.plan", steps)).headline is Headline.UNSAFE:
            unsafe_families.add(instance.family)
    assert len(unsafe_families) >= 8, unsafe_families


def test_an_unknown_family_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        draw("gardening", 0)
