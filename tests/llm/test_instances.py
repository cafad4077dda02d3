"""Drawn household tasks: solvable, the same for the same seed, and with something to get wrong."""

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
def drawn() -> list[Instance]:
    return list(instances(2, seed=5))


@pytest.mark.slow
def test_every_family_is_drawn_and_its_reference_is_safe(drawn: list[Instance]) -> None:
    assert [one.name for one in drawn] == [f"{family}-{n}" for family in FAMILIES for n in range(2)]
    for one in drawn:
        report = one.checker().check(Source("reference.plan", one.reference))
        assert report.headline is Headline.SAFE, one.name


def test_a_seed_gives_one_instance_and_another_seed_another(drawn: list[Instance]) -> None:
    again, before = draw("tea", 1, seed=5), next(one for one in drawn if one.name == "tea-1")
    assert (again.words, again.problem.text, again.reference) == (before.words, before.problem.text, before.reference)
    assert draw("tea", 1, seed=6).problem.text != again.problem.text


def test_things_that_are_asked_for_are_in_the_home(drawn: list[Instance]) -> None:
    for one in drawn:
        objects = one.problem.text.partition("(:init")[0].replace("-", " ")
        words = one.words.lower().replace(",", " ").replace(".", " ").replace(";", " ")
        asked = [word for word in words.split() if f" {word} " in f" {objects} ".replace("\n", " ")]
        assert len(asked) >= 2, one.words


@pytest.mark.slow
def test_some_plans_that_reach_the_goal_are_unsafe(drawn: list[Instance]) -> None:
    unsafe = set()
    for one in drawn:
        checker = one.checker()
        found = ForwardSearch().solve(PlanningQuery(checker, rules=False))
        steps = "\n".join([step_text(step, checker.engine.task.objects) for step in found.steps])
        if checker.check(Source("careless.plan", steps)).headline is Headline.UNSAFE:
            unsafe.add(one.family)
    assert len(unsafe) >= 8, unsafe


def test_an_unknown_family_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        draw("gardening", 0)
