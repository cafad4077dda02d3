"""``repair --format sarif``: results carry the nearest safe plan as a fix, which can be applied to the plan's text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from format_checks import sarif_log
from kitchen import FIXED, PLAN, RULES

from plansafe.app.interfaces.cli.commandline import app
from plansafe.app.render.difference import replacements
from shared_kitchen import DOMAIN, PROBLEM

HOPELESS = RULES.replace("safety kitchen)", "safety kitchen) (:trajectory cold :formula (always (not (hot hob))))")


class Kitchen:
    """A folder with a domain, a problem, rules and a plan; the command runs in it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def repair(self, *arguments: str, code: int) -> dict[str, Any]:
        with pytest.raises(SystemExit) as stop:
            app(["repair", *arguments, "--format", "sarif", "--memory-limit", "0"], prog_name="safecheck")
        assert int(stop.value.code or 0) == code
        (run,) = sarif_log(self._capsys.readouterr().out)["runs"]
        assert run["invocations"][0]["exitCode"] == code
        return run


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Kitchen:
    monkeypatch.chdir(tmp_path)
    for name, text in (("d.pddl", DOMAIN), ("p.pddl", PROBLEM), ("kitchen.safe", RULES), ("tea.plan", PLAN)):
        Path(name).write_text(text)
    return Kitchen(capsys)


def apply_fix(fix: dict[str, Any]) -> str:
    """The text of a plan after a fix, as a viewer of SARIF makes it."""
    (change,) = fix["artifactChanges"]
    text = Path(change["artifactLocation"]["uri"]).read_text()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for replacement in reversed(change["replacements"]):
        region = replacement["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + replacement["insertedContent"]["text"] + text[end:]
    return text


def test_a_fix_is_the_nearest_safe_plan(kitchen: Kitchen) -> None:
    (result,) = kitchen.repair("tea.plan", code=0)["results"]
    (fix,) = result["fixes"]
    assert fix["description"]["text"] == "nearest safe plan: insert (switch-off hob kitchen) before step 2"
    assert apply_fix(fix) == FIXED
    assert Path("tea.plan").read_text() == PLAN


def test_each_rule_has_the_fix_and_none_remains_after_it(kitchen: Kitchen) -> None:
    Path("kitchen.safe").write_text(RULES.rstrip()[:-1] + "(:termination hob-off :forbid (on hob)))\n")
    results = kitchen.repair("tea.plan", code=0)["results"]
    assert [result["ruleId"] for result in results] == ["stove-off-before-leaving", "hob-off"]
    assert [apply_fix(fix) for result in results for fix in result["fixes"]] == [FIXED, FIXED]
    Path("tea.plan").write_text(FIXED)
    assert kitchen.repair("tea.plan", code=0)["results"] == []


def test_log_has_the_reason_if_there_is_no_repair(kitchen: Kitchen) -> None:
    Path("kitchen.safe").write_text(HOPELESS)
    run = kitchen.repair("tea.plan", code=1)
    assert run["results"]
    assert not any(["fixes" in result for result in run["results"]])
    notes = [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]
    assert any([note.startswith("tea.plan: PROVED: no plan reaches the goal") for note in notes])


def test_diagnose_and_models_refuse_sarif(kitchen: Kitchen, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        app(["diagnose", "tea.plan", "--format", "sarif"], prog_name="safecheck")
    assert stop.value.code == 2
    assert "'sarif' is not one of 'full', 'json'" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        app(["repair", "tea.plan", "--format", "sarif", "--model", "mock/x", "--memory-limit", "0"])
    assert stop.value.code == 2
    assert "--model does not write SARIF" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("(a)\n(b)\n", "(a)\n(b)\n", []),
        ("(a)\n(b)\n", "(b)\n", [((0, 4), "")]),
        ("(a)\n(b)", "(a)\n(c)\n(b)", [((4, 4), "(c)\n")]),
        ("(a)\n(b)", "(a)\n(b)\n(c)", [((4, 7), "(b)\n(c)")]),
        ("", "(a)\n", [((0, 0), "(a)\n")]),
    ],
)
def test_replacements_are_complete_lines(before: str, after: str, expected: list[tuple[tuple[int, int], str]]) -> None:
    changes = replacements(before, after)
    assert [(tuple(span), text) for span, text in changes] == expected
    for span, text in reversed(changes):
        before = before[: span.start] + text + before[span.end :]
    assert before == after
