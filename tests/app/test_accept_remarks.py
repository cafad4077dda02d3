"""``--accept-remarks``, and the cap without it, for each command and interface that reads an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.app.interfaces.agents.operation_fields import AUDIT
from plansafe.app.interfaces.cli.commandline import app

TASKS = Path(__file__).parents[1] / "loose/tasks"
ANSWER = "(switch-on hob)\n(switch-off hob)\n(go kitchen hall)\n\nStep 2 is not needed.\n"
FILES = ["--domain", f"{TASKS}/stove-domain.pddl", "--problem", f"{TASKS}/stove-problem.pddl"]
RULES = ["--spec", f"{TASKS}/stove-rules.safe", "--no-project"]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        app([*arguments, *FILES, *RULES])
    return int(str(stop.value.code))


@pytest.fixture
def answer(tmp_path: Path) -> str:
    path = tmp_path / "answer.txt"
    path.write_text(ANSWER, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("gate", [[], ["--gate"]])
def test_a_remark_caps_the_verdict(answer: str, gate: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", answer, "--from", "text", *gate) == 3
    output = capsys.readouterr().out
    assert "UNKNOWN" in output and "`Step 2 is not needed.`" in output and "--accept-remarks" in output


def test_accepted_remarks_are_repeated(answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", answer, "--from", "text", "--accept-remarks", "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["headline"] == "SAFE"
    (note,) = [d for d in report["diagnostics"] if d["code"] == "SC710"]
    assert note["severity"] == "note" and "accepted" in note["message"]


def test_a_plan_with_a_remark_is_not_already_safe(answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("repair", answer, "--from", "text") == 3
    assert run("repair", answer, "--from", "text", "--accept-remarks") == 0
    capsys.readouterr()


def test_the_option_needs_loose_text(answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", answer, "--accept-remarks") == 2
    assert "--from text" in capsys.readouterr().err


def test_the_service_has_the_field() -> None:
    assert "accept_remarks" in {field.name for field in AUDIT.fields}
