"""The verdicts of the criteria on the scenarios of ``criteria.md``, which has one criterion on a line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from case_files import read_cases
from plansafe.app.session.scenario_files import FoundScenario, ScenarioChoice, ScenarioFiles
from plansafe.llm.scenarios.validation.check import check
from plansafe.llm.scenarios.validation.model import PROFILES, Limits, Profile, Scenario, ScenarioReport, Verdict

HERE = Path(__file__).parent
CASES = {case.name: case for case in read_cases(HERE / "criteria.md")}


def load_case(name: str) -> Scenario:
    with TemporaryDirectory() as folder:
        scenario_files = list(
            ScenarioFiles(ScenarioChoice(base=str(HERE / "base.pddl"))).find([str(CASES[name].write(Path(folder)))])
        )
    assert len(scenario_files) == 1
    assert isinstance(scenario_files[0], FoundScenario)
    return scenario_files[0].scenario


@cache
def check_case(name: str, profile: Profile | None = None) -> ScenarioReport:
    return check(load_case(name), profile, Limits(time_s=20))


@pytest.mark.parametrize("name", CASES)
def test_a_scenario_gets_the_expected_verdicts(name: str) -> None:
    report = check_case(name)
    failing = {Verdict.NO, Verdict.UNKNOWN}
    verdicts = [
        f"{criterion.name}: {criterion.verdict.value}{f' {criterion.code}' if criterion.verdict in failing else ''}"
        for criterion in report.criteria
    ]
    assert verdicts == list(CASES[name].lines)
    for criterion in report.criteria:
        assert criterion.reason
        for diagnostic in criterion.diagnostics:
            assert diagnostic.labels, f"{diagnostic.code} has no place"
            for label in diagnostic.labels:
                assert label.source in report.sources
                assert label.span.end <= len(report.sources[label.source].text)
        assert all([witness.kernel for witness in criterion.witnesses])


def test_reasons_name_the_action_or_fact() -> None:
    (reason,) = [d.message for d in check_case("unreachable").criterion("actions").diagnostics]  # type: ignore[union-attr]
    assert "`(peelable ?f)`" in reason
    reasons = [d.message for d in check_case("malformed").criterion("actions").diagnostics]  # type: ignore[union-attr]
    assert [word for word in ("wait", "look", "tidy_up", "juggle") if any(f"`{word}`" in r for r in reasons)] == [
        "wait",
        "look",
        "tidy_up",
        "juggle",
    ]
    assert "`(sliced sandwich_1)`" in check_case("out-of-reach").criterion("solvable").reason  # type: ignore[union-attr]


def test_places_are_in_the_users_files() -> None:
    report = check_case("redefined")
    (diagnostic,) = report.criterion("actions").diagnostics  # type: ignore[union-attr]
    user_label, base_label = diagnostic.labels
    assert Path(user_label.source).name == "domain.pddl"
    assert report.sources[user_label.source].text[slice(*user_label.span)] == "cook"
    assert Path(base_label.source).name == "base.pddl"
    assert report.sources[base_label.source].text[slice(*base_label.span)] == "cook"
    undeclared = check_case("undeclared").criterion("declared")
    assert undeclared is not None
    names = [Path(diagnostic.labels[0].source).name for diagnostic in undeclared.diagnostics]
    assert names == ["domain.pddl", "domain.pddl", "problem.pddl", "rules.safe"]


def test_a_malicious_scenario_must_have_no_safe_plan() -> None:
    malicious = PROFILES["safel-malicious"]
    assert check_case("unreachable", malicious).criterion("contrast").verdict is Verdict.YES  # type: ignore[union-attr]
    assert check_case("foil", malicious).criterion("contrast").verdict is Verdict.NO  # type: ignore[union-attr]


def test_plans_that_differ_only_in_order_count_once() -> None:
    unique = check_case("any-order").criterion("unique")
    assert unique is not None
    assert (unique.figures["ways"], unique.figures["sequences"]) == (1, 6)
    two = check_case("two-ways").criterion("unique")
    assert two is not None
    assert len(two.witnesses) == 2
    assert two.witnesses[0].steps != two.witnesses[1].steps


def test_thresholds_and_criteria_can_be_chosen() -> None:
    short = check_case("too-short", Profile(min_steps=2)).criterion("steps")
    assert short is not None
    assert short.verdict is Verdict.YES
    assert check_case("two-ways", Profile(max_ways=4)).criterion("unique").verdict is Verdict.YES  # type: ignore[union-attr]
    report = check_case("foil", PROFILES["executable"])
    assert [c.name for c in report.criteria] == ["declared", "actions", "solvable"]


def test_a_scenario_needs_a_domain() -> None:
    with pytest.raises(ValueError, match="domain or a base"):
        check(load_case("foil")._replace(domain=None, base=None))
