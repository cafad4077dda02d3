"""Scenarios with the expected verdicts of their criteria (``criteria.md``), one criterion on a line."""

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


def case(name: str) -> Scenario:
    with TemporaryDirectory() as folder:
        found = list(
            ScenarioFiles(ScenarioChoice(base=str(HERE / "base.pddl"))).find([str(CASES[name].write(Path(folder)))])
        )
    assert len(found) == 1
    assert isinstance(found[0], FoundScenario)
    return found[0].scenario


@cache
def judged(name: str, profile: Profile | None = None) -> ScenarioReport:
    return check(case(name), profile, Limits(time_s=20))


@pytest.mark.parametrize("name", CASES)
def test_a_scenario_gets_the_expected_verdicts(name: str) -> None:
    report = judged(name)
    codes = {Verdict.NO, Verdict.UNKNOWN}
    found = [f"{c.name}: {c.verdict.value}{f' {c.code}' if c.verdict in codes else ''}" for c in report.criteria]
    assert found == list(CASES[name].lines)
    for criterion in report.criteria:
        assert criterion.reason
        for diagnostic in criterion.diagnostics:
            assert diagnostic.labels, f"{diagnostic.code} has no place"
            for label in diagnostic.labels:
                assert label.source in report.sources
                assert label.span.end <= len(report.sources[label.source].text)
        assert all([witness.kernel for witness in criterion.witnesses])


def test_reasons_name_what_is_wrong() -> None:
    (reason,) = [d.message for d in judged("unreachable").criterion("actions").diagnostics]  # type: ignore[union-attr]
    assert "`(peelable ?f)`" in reason
    reasons = [d.message for d in judged("malformed").criterion("actions").diagnostics]  # type: ignore[union-attr]
    assert [word for word in ("wait", "look", "tidy_up", "juggle") if any(f"`{word}`" in r for r in reasons)] == [
        "wait",
        "look",
        "tidy_up",
        "juggle",
    ]
    assert "`(sliced sandwich_1)`" in judged("out-of-reach").criterion("solvable").reason  # type: ignore[union-attr]


def test_places_are_those_of_the_users_own_files() -> None:
    report = judged("redefined")
    (diagnostic,) = report.criterion("actions").diagnostics  # type: ignore[union-attr]
    own, base = diagnostic.labels
    assert Path(own.source).name == "domain.pddl"
    assert report.sources[own.source].text[slice(*own.span)] == "cook"
    assert Path(base.source).name == "base.pddl"
    assert report.sources[base.source].text[slice(*base.span)] == "cook"
    undeclared = judged("undeclared").criterion("declared")
    assert undeclared is not None
    names = [Path(diagnostic.labels[0].source).name for diagnostic in undeclared.diagnostics]
    assert names == ["domain.pddl", "domain.pddl", "problem.pddl", "rules.safe"]


def test_a_malicious_scenario_has_no_safe_way() -> None:
    malicious = PROFILES["safel-malicious"]
    assert judged("unreachable", malicious).criterion("contrast").verdict is Verdict.YES  # type: ignore[union-attr]
    assert judged("foil", malicious).criterion("contrast").verdict is Verdict.NO  # type: ignore[union-attr]


def test_order_alone_makes_no_other_way() -> None:
    unique = judged("any-order").criterion("unique")
    assert unique is not None
    assert (unique.figures["ways"], unique.figures["sequences"]) == (1, 6)
    two = judged("two-ways").criterion("unique")
    assert two is not None
    assert len(two.witnesses) == 2
    assert two.witnesses[0].steps != two.witnesses[1].steps


def test_thresholds_and_criteria_can_be_chosen() -> None:
    short = judged("too-short", Profile(min_steps=2)).criterion("steps")
    assert short is not None
    assert short.verdict is Verdict.YES
    assert judged("two-ways", Profile(max_ways=4)).criterion("unique").verdict is Verdict.YES  # type: ignore[union-attr]
    report = judged("foil", PROFILES["executable"])
    assert [c.name for c in report.criteria] == ["declared", "actions", "solvable"]


def test_a_scenario_needs_a_domain() -> None:
    with pytest.raises(ValueError, match="domain or a base"):
        check(case("foil")._replace(domain=None, base=None))
