"""What follows from a failed step is one line under it, and all of it with ``--all``."""

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


def rendered(plan: Path, form: str, every: bool = False) -> str:
    settings = Settings(every=every)
    view = renderer(form, settings, Style(False))
    return "".join([view.plan(result) for result in audit([str(plan)], settings)]) + view.end()


@pytest.mark.parametrize(
    ("plan", "line", "counts"),
    [
        (HANDS_FULL, "3 more follow where the plan stops, 2 if the step is skipped: --all", "1 finding, 5 more follow"),
        (UNKNOWN, "1 more follows where the plan stops, 2 if the step is skipped: --all", "1 finding, 3 more follow"),
    ],
)
def test_one_error_for_the_cause(plan: Path, line: str, counts: str) -> None:
    full, concise = rendered(plan, "full"), rendered(plan, "concise")
    assert full.count("error[") == concise.count("error[") == 1
    assert f"    = note: {line}\n" in full or f"  = note: {line}\n" in full
    assert counts in full
    assert f"({counts}: --all, " in concise


def test_all_of_it() -> None:
    full, concise = rendered(HANDS_FULL, "full", True), rendered(HANDS_FULL, "concise", True)
    assert full.count("error[") == concise.count("error[") == 6
    assert "--all" not in full + concise
    assert "rule `nothing-dangerous-in-hand` is violated where the plan stops, before step 8: robot still holds" in full
    assert " at the end of the plan" in full  # of the obligation, under skip


def test_programs_get_all() -> None:
    found = json.loads(rendered(HANDS_FULL, "json"))["findings"]
    assert [finding["follows"] for finding in found] == [[], [8], [8], [8], [8], [8]]
    (run,) = json.loads(rendered(HANDS_FULL, "sarif", every=True))["runs"]
    assert [result["properties"]["follows"] for result in run["results"]] == [[], [8], [8], [8], [8], [8]]
    (run,) = json.loads(rendered(HANDS_FULL, "sarif"))["runs"]
    assert [result["properties"]["follows"] for result in run["results"]] == [[], [8], [8], [8], [8]]
    assert sum([result.get("occurrenceCount", 1) for result in run["results"]]) == 6


def test_nothing_is_called_safe_where_a_step_is_ill_formed() -> None:
    text = rendered(UNKNOWN, "full")
    assert "safe ALL" not in text
    assert "executable NONE, goal NONE, safe UNKNOWN" in text
