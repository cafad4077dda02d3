"""Test SARIF for code-scanning services: rules, levels, locations, fingerprints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.render import renderer
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Marks, Result, Settings
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import FindingClass, Headline, make_unchecked_report


def sarif_run_of(*results: Result, show_all: bool = False) -> dict[str, Any]:
    view = renderer("sarif", Settings(every=show_all))
    for result in results:
        assert view.plan(result) == ""
    log: dict[str, Any] = json.loads(view.end())
    return log["runs"][0]


def test_rule_id_is_the_user_s_rule(unsafe: Result, invalid: Result) -> None:
    log = sarif_run_of(unsafe, invalid)
    assert [result["ruleId"] for result in log["results"]] == [
        "stove-attended",
        "close-the-fridge",
        "SC702",
        "SC301",
    ]
    assert [result["properties"]["code"] for result in log["results"]] == ["SC202", "SC204", "SC702", "SC301"]
    rules = {rule["id"]: rule for rule in log["tool"]["driver"]["rules"]}
    assert list(rules) == ["stove-attended", "close-the-fridge", "SC702", "SC301"]
    rule = rules["stove-attended"]
    assert rule["fullDescription"]["text"] == "An unattended stove starts fires."
    assert "(always (imply (on ?s) (occupied kitchen)))" in rule["help"]["text"]
    assert rule["properties"] == {
        "code": "SC202",
        "severity": "critical",
        "security-severity": "9.5",
        "tags": ["safety", "fire"],
    }


@pytest.mark.parametrize(
    ("severity", "level", "undecided"),
    [
        ("critical", "error", "warning"),
        ("high", "error", "warning"),
        ("medium", "warning", "warning"),
        ("low", "note", "note"),
        (None, "error", "warning"),
    ],
)
def test_level_follows_the_severity(unsafe: Result, severity: str | None, level: str, undecided: str) -> None:
    finding = unsafe.report.findings[0]._replace(severity=severity)
    for kind, expected in ((FindingClass.TRAJECTORY, level), (FindingClass.UNDECIDED, undecided)):
        report = unsafe.report._replace(findings=(finding._replace(finding_class=kind),))
        (result,) = sarif_run_of(unsafe._replace(report=report))["results"]
        assert result["level"] == expected


def test_places_are_relative_to_the_current_folder(
    unsafe: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = sarif_run_of(unsafe)
    place = log["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "plan.pddl", "uriBaseId": "%SRCROOT%"}
    assert set(log["originalUriBaseIds"]) == {"%SRCROOT%"}

    def uri(name: str) -> dict[str, str]:
        gone = Diagnostic("SC601", "gone")
        return sarif_run_of(Result(name, make_unchecked_report(name, gone), (), {}))["results"][0]["locations"][0][
            "physicalLocation"
        ]["artifactLocation"]

    assert uri(os.path.join(tmp_path, "a b", "x.plan")) == {"uri": "a%20b/x.plan", "uriBaseId": "%SRCROOT%"}
    assert uri("<stdin>") == {"uri": "stdin", "uriBaseId": "%SRCROOT%"}
    assert uri("../x.plan") == {"uri": (tmp_path.parent / "x.plan").as_uri()}


HOME = Path(__file__).parents[2] / "examples" / "dinner"


def test_fingerprints_survive_changes_elsewhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    domain = root / "domains/plansafe/domains/household/domain.pddl"
    settings = Settings(domain=str(domain), problem=str(HOME / "problem.pddl"), specs=("household",))
    text = (HOME / "same-knife.plan").read_text()

    def fingerprints(changed: str) -> list[tuple[str, str]]:
        log = sarif_run_of(*audit([Source("x.plan", changed)], settings))
        return [(r["ruleId"], r["partialFingerprints"]["safecheck/v1"]) for r in log["results"]]

    before = fingerprints(text)
    assert before
    assert len({mark for _, mark in before}) == len(before)
    assert fingerprints("; a remark\n\n\n" + text.replace("\n(", "\n\n   (")) == before
    assert fingerprints(text.replace("cucumber", "CUCUMBER")) == before
    assert {mark for _, mark in fingerprints(text.replace("cucumber", "bread"))}.isdisjoint(mark for _, mark in before)


def test_equal_findings_have_different_fingerprints(unsafe: Result) -> None:
    finding = unsafe.report.findings[0]
    report = unsafe.report._replace(findings=(finding, finding._replace(step=4)))
    separate = sarif_run_of(unsafe._replace(report=report), show_all=True)["results"]
    marks = [result["partialFingerprints"]["safecheck/v1"] for result in separate]
    assert len(set(marks)) == 2
    (together,) = sarif_run_of(unsafe._replace(report=report))["results"]
    assert together["partialFingerprints"]["safecheck/v1"] == marks[0]


def test_findings_of_a_rule_are_one_result(unsafe: Result) -> None:
    finding = unsafe.report.findings[0]
    later = tuple([finding._replace(step=step, message=f"violated at step {step}") for step in range(4, 300)])
    report = unsafe.report._replace(findings=(finding, *later), suppressed=7)
    log_run = sarif_run_of(unsafe._replace(report=report))
    (result,) = log_run["results"]
    assert result["occurrenceCount"] == 297
    assert result["properties"]["steps"] == [finding.step, *range(4, 300)]
    assert len(result["relatedLocations"]) == 100  # GitHub shows no more
    assert [place["id"] for place in result["relatedLocations"]] == list(range(1, 101))
    first = len(finding.related) + 1
    assert f"\nand at least 296 more, at steps 4-299; see [step 4]({first}), " in result["message"]["text"]
    assert result["relatedLocations"][first - 1]["message"]["text"] == "violated at step 4"
    (note,) = log_run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == "plan.pddl: findings not listed: 7"
    assert len(sarif_run_of(unsafe._replace(report=report), show_all=True)["results"]) == 297


def test_known_and_new_findings_of_a_rule_are_two_results(unsafe: Result) -> None:
    finding = unsafe.report.findings[0]
    findings = tuple([finding._replace(step=step) for step in range(3, 7)])
    marks = Marks("known.json", frozenset((0, 2)), 2, (), 1)
    results = sarif_run_of(unsafe._replace(report=unsafe.report._replace(findings=findings), marks=marks))["results"]
    assert [(r["baselineState"], r["properties"]["steps"]) for r in results] == [("unchanged", [3, 5]), ("new", [4, 6])]


def test_execution_is_successful_if_all_plans_were_decided(unsafe: Result, unread: Result, passing: Result) -> None:
    def invocation(*results: Result) -> tuple[bool, int, int]:
        (record,) = sarif_run_of(*results)["invocations"]
        return record["executionSuccessful"], record["exitCode"], len(record["toolExecutionNotifications"])

    assert invocation(unsafe, passing) == (True, 1, 0)
    assert invocation(unsafe, unread) == (False, 2, 1)
    late = passing._replace(report=passing.report._replace(headline=Headline.UNKNOWN))
    assert invocation(late) == (False, 3, 1)
    bug = Result("p", make_unchecked_report("p", Diagnostic("SC900", "internal error")), (), {}, "Traceback ..")
    assert invocation(bug) == (False, 4, 1)
