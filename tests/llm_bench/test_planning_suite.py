"""The suite of drawn tasks: what its records say of policies that are known."""

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


def _record(name: str, **wishes: Any) -> Any:
    def opened(checker: Checker, reference: str) -> Model:
        return open_model(name, ModelSettings(policies=policies(checker.compiled, reference)))

    return PlanningSuite(PlanningSettings(**wishes), opened).record(MOP)


def test_sixty_tasks_and_a_split_by_family() -> None:
    assert len(items(PlanningSettings())) == 60
    assert {item.family for item in items(PlanningSettings(each=1))} == set(FAMILIES)
    development = items(PlanningSettings(split="development"))
    assert {item.family for item in development} == set(DEVELOPMENT) and len(development) == 20
    assert not {family for family, _ in BENCHMARK} - set(DEVELOPMENT)
    assert len(items(PlanningSettings(split="test"))) == 40


@pytest.mark.parametrize("decode", quick_every(5, list(Decode)))
def test_the_planner_is_an_oracle_in_every_mode(decode: Decode) -> None:
    found = _record("mock/planner", decode=decode)
    assert found["headline"] == "SAFE" and found["judged"]["goal"] and found["judged"]["label"] == "success"
    assert len(found["plan"]) == len(found["reference"])
    if decode.stepwise:
        assert all([first == taken for _, _, first, taken, _, _ in found["choices"]])


def test_an_empty_answer_is_no_plan_and_the_last_resort_is_counted_apart() -> None:
    found = _record("mock/empty", rounds=2, resort=True)
    assert found["plan"] is None and found["headline"] is None and not found["judged"]["read"]
    assert len(found["rounds"]) == found["cost"]["calls"] == 2
    assert found["resort"]["status"] == "found" and found["resort"]["by_model"] == 0


@pytest.mark.slow
def test_chance_arrives_under_the_guide_and_keeps_rules_under_the_shield() -> None:
    guided = _record("mock/random", decode=Decode.GUIDED)
    assert guided["headline"] == "SAFE" and len(guided["plan"]) <= guided["longest"]
    shielded = _record("mock/random", decode=Decode.SHIELD)
    assert shielded["judged"]["executable"] and shielded["judged"]["safety"] == "safe"


def test_a_header_tells_runs_apart() -> None:
    model = open_model("mock/empty")
    settings = (PlanningSettings(), PlanningSettings(slack=(2, 1)), PlanningSettings(decode=Decode.GUIDED))
    assert len({str(header(run_settings, "mock/empty", model)) for run_settings in settings}) == 3
