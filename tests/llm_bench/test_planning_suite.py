"""The suite of drawn tasks: the records of mock policies."""

from __future__ import annotations

from typing import Any

import pytest

from plansafe.llm.bench.planning import DEVELOPMENT, Item, PlanningSettings, PlanningSuite, header, items
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.loop.model import Decode
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.port import Model
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import open_model
from plansafe.llm.prompts.examples import BENCHMARK
from plansafe.verifier.api import Checker
from quick import quick_every

MOP = Item("mop", 0)


def run_item(name: str, **options: Any) -> Any:
    def opened(checker: Checker, reference: str) -> Model:
        return open_model(name, ModelSettings(policies=policies(checker.compiled, reference)))

    return PlanningSuite(PlanningSettings(**options), opened).record(MOP)


def test_sixty_tasks_and_a_split_by_family() -> None:
    assert len(items(PlanningSettings())) == 60
    assert {item.family for item in items(PlanningSettings(each=1))} == set(FAMILIES)
    development = items(PlanningSettings(split="development"))
    assert {item.family for item in development} == set(DEVELOPMENT) and len(development) == 20
    assert not {family for family, _ in BENCHMARK} - set(DEVELOPMENT)
    assert len(items(PlanningSettings(split="test"))) == 40


@pytest.mark.parametrize("decode", quick_every(5, list(Decode)))
def test_the_planner_is_an_oracle_in_every_mode(decode: Decode) -> None:
    record = run_item("mock/planner", decode=decode)
    assert record["headline"] == "SAFE" and record["judged"]["goal"] and record["judged"]["label"] == "success"
    assert len(record["plan"]) == len(record["reference"])
    if decode.stepwise:
        assert all([first == chosen for _, _, first, chosen, _, _ in record["choices"]])


def test_an_empty_answer_has_no_plan_and_the_last_resort_is_separate() -> None:
    record = run_item("mock/empty", rounds=2, resort=True)
    assert record["plan"] is None and record["headline"] is None and not record["judged"]["read"]
    assert len(record["rounds"]) == record["cost"]["calls"] == 2
    assert record["resort"]["status"] == "found" and record["resort"]["by_model"] == 0


@pytest.mark.slow
def test_random_choices_under_the_guide_and_the_shield() -> None:
    guided = run_item("mock/random", decode=Decode.GUIDED)
    assert guided["headline"] == "SAFE" and len(guided["plan"]) <= guided["longest"]
    shielded = run_item("mock/random", decode=Decode.SHIELD)
    assert shielded["judged"]["executable"] and shielded["judged"]["safety"] == "safe"


def test_the_header_identifies_the_run() -> None:
    model = open_model("mock/empty")
    settings = (PlanningSettings(), PlanningSettings(slack=(2, 1)), PlanningSettings(decode=Decode.GUIDED))
    assert len({str(header(run_settings, "mock/empty", model)) for run_settings in settings}) == 3
