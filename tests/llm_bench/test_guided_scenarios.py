"""Random choices on the shipped scenarios: under the guide they reach the goal exactly if a safe plan exists."""

from __future__ import annotations

from random import Random

import pytest

from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import End, Mode, decode
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import user_messages
from plansafe.llm.scenarios.model import Scenario, Solvable
from plansafe.llm.scenarios.reading import load_scenarios
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Headline, Worlds


def check_random_choices(scenario: Scenario) -> None:
    checker = scenario.checker()
    model = open_model("mock/random", Settings(policies=policies(checker.compiled)))
    continuation = Guide(checker.compiled).continuation()
    longest = -(-3 * len(continuation.steps) // 2) if continuation.exists else 25
    for mode in (Mode.GUIDED, Mode.SHIELD):
        decoded = decode(model, scenario.name, user_messages("?"), Guide(checker.compiled), mode, longest)
        report = checker.check(Source("plan", decoded.plan))
        if scenario.solvable is not Solvable.SAFELY:
            assert report.headline is not Headline.SAFE, scenario.name
            assert mode is Mode.SHIELD or (decoded.end, decoded.steps) == (End.UNSOLVABLE, ()), scenario.name
        elif mode is Mode.GUIDED:
            assert (decoded.end, report.headline) == (End.DONE, Headline.SAFE), scenario.name
        assert report.executable is Worlds.ALL, scenario.name
        assert not [finding for finding in report.findings if finding.finding_class.value == "process"], scenario.name


@pytest.mark.whole
def test_all_scenarios() -> None:
    for scenario in load_scenarios():
        check_random_choices(scenario)


@pytest.mark.slow
def test_a_sample_of_each_kind() -> None:
    scenarios = load_scenarios()
    for solvable in Solvable:
        for scenario in Random(3).sample([scenario for scenario in scenarios if scenario.solvable is solvable], 3):
            check_random_choices(scenario)
