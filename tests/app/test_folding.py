"""Test that findings that follow from a failed step are one line, and complete with ``--all``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.app.render import renderer
from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings
from plansafe.app.system.terminal_text import Style

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
HANDS_FULL = EXAMPLES / "dinner" / "hands-full.plan"
UNKNOWN = EXAMPLES / "breakfast" / "unknown-action.plan"


def rendered(plan: Path, form: str, show_all: bool = False) -> str:
    settings = Settings(every=show_all)
    view = renderer(form, settings, Style(False))
    return "".join([view.plan(result) for result in audit([str(plan)], settings)]) + view.end()


@pytest.mark.parametrize(
    ("plan", "line", "counts"),
    [
        (HANDS_FULL, "3 more follow where the plan stops, 2 if the step is skipped: --all", "1 finding, 5 more follow"),
        (UNKNOWN, "1 more follows where the plan stops, 2 if the step is skipped: --all", "1 finding, 3 more follow"),
    ],
)
def test_failed_step_is_one_error(plan: Path, line: str, counts: str) -> None:
    full, concise = rendered(plan, "full"), rendered(plan, "concise")
    assert full.count("error[") == concise.count("error[") == 1
    assert f"    = note: {line}\n" in full or f"  = note: {line}\n" in full
    assert counts in full
    assert f"({counts}: --all, " in concise


def test_all_shows_the_findings_that_follow() -> None:
    full, concise = rendered(HANDS_FULL, "full", True), rendered(HANDS_FULL, "concise", True)
    assert full.count("error[") == concise.count("error[") == 6
    assert "--all" not in full + concise
    assert "rule `nothing-dangerous-in-hand` is violated where the plan stops, before step 8: robot still holds" in full
    assert " at the end of the plan" in full  # of the obligation, under skip


def test_json_and_sarif_have_all_findings() -> None:
    findings = json.loads(rendered(HANDS_FULL, "json"))["findings"]
    assert [finding["follows"] for finding in findings] == [[], [8], [8], [8], [8], [8]]
    (run,) = json.loads(rendered(HANDS_FULL, "sarif", show_all=True))["runs"]
    assert [result["properties"]["follows"] for result in run["results"]] == [[], [8], [8], [8], [8], [8]]
    (run,) = json.loads(rendered(HANDS_FULL, "sarif"))["runs"]
    assert [result["properties"]["follows"] for result in run["results"]] == [[], [8], [8], [8], [8]]
    assert sum([result.get("occurrenceCount", 1) for result in run["results"]]) == 6


def test_plan_with_an_ill_formed_step_is_not_safe() -> None:
    text = rendered(UNKNOWN, "full")
    assert "safe ALL" not in text
    assert "executable NONE, goal NONE, safe UNKNOWN" in text
