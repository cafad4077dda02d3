"""``safecheck plan`` run in this process, with the engine and mock models: reports, files, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from loop_kitchen import COLD, Run, record_answers, written_files

from shared_kitchen import PROBLEM, SAFE, UNSAFE

SCHEMA = Path(__file__).resolve().parents[2] / "app/plansafe/app/schema/plan-1.json"
NASTY = "\x1b]0;pwned\x07 ../../etc/passwd\n1. (switch-on hob\u202e kitchen)\n"


@pytest.mark.parametrize("decode", ["free", "grammar", "shield", "guided", "soft"])
def test_each_decoding_mode_gives_a_plan(decode: str, run: Run) -> None:
    code, out, err = run("-m", "mock/planner", "--problem", "task/p.pddl", "--decode", decode, "Heat the hob.")
    assert (code, err) == (0, "")
    rows = out.splitlines()[:3]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"]
    assert all(row.split("  ")[-1].strip() in ("model", "guide: the only step left") for row in rows)
    assert "\nSAFE   no findings, 3 steps, 1 rule" in out
    assert f"mock/planner, --decode {decode}: 1 round, " in out
    assert "task/kitchen.safe  (in task/)" in out
    assert written_files() == set()


def test_a_safe_plan_is_written_and_an_unsafe_one_is_not(run: Run) -> None:
    options = ("--problem", "task/p.pddl", "-o", "tea.plan")
    code, out, _ = run("-m", record_answers(UNSAFE), *options, "--rounds", "1", "--no-last-resort")
    assert code == 3
    assert "UNSAFE   1 finding" in out
    assert "SC801" in out
    assert written_files() == set()
    plan_with_extra_step = SAFE.replace("(go", "(switch-off kitchen hob)\n(go")
    code, out, _ = run("-m", record_answers(plan_with_extra_step), *options, "--rounds", "1", "--time-limit", "5")
    assert code == 0
    assert "removed by the repair" in out
    Path("tea.plan").unlink()
    code, out, _ = run("-m", record_answers(UNSAFE), *options, "--rounds", "1")
    assert code == 0
    assert "2  (switch-off hob kitchen)  repair: " in out
    assert "2 by the model, 1 by the repair\nwritten to tea.plan" in out
    assert Path("tea.plan").read_text() == SAFE


def test_the_plan_alone_on_standard_output(run: Run) -> None:
    code, out, err = run("-m", "mock/planner", "--problem", "task/p.pddl", "-o", "-")
    assert (code, out) == (0, SAFE)
    assert "SAFE   no findings" in err


def test_an_unsolvable_task_is_proved_unsolvable(run: Run) -> None:
    Path("task/kitchen.safe").write_text(COLD)
    for decode in ("free", "guided"):
        code, out, _ = run(
            "-m", "mock/unsafe", "--problem", "task/p.pddl", "--decode", decode, "--rounds", "1", "-o", "x.plan"
        )
        assert code == 1
        assert "error[SC802]: PROVED: no plan reaches the goal and keeps the rules" in out
        assert written_files() == set()


def test_an_unreadable_answer_is_reported(run: Run) -> None:
    code, out, _ = run("-m", "mock/empty", "--problem", "task/p.pddl", "--no-last-resort")
    assert code == 3
    assert "error[SC740]: the text is empty" in out
    assert "3 rounds, 3 calls" in out
    assert "SAFE" not in out


def test_a_hostile_answer_is_escaped_and_ignored(run: Run) -> None:
    for answer in (NASTY, "; domain: ../../x.pddl\n; problem: /etc/passwd\n" + UNSAFE, "(" * 100_000):
        code, out, err = run(
            "-m", record_answers(answer), "--problem", "task/p.pddl", "--rounds", "1", "--no-last-resort"
        )
        assert code == 3
        assert "\x1b" not in out + err
        assert "\x07" not in out + err
        assert "\u202e" not in out + err
        assert len(out) < 50_000
    assert written_files() == set()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-m", "mock/nobody", "--problem", "task/p.pddl"), "SC630"),
        (("-m", "replay/none.jsonl", "--problem", "task/p.pddl"), "SC601"),
        (("-m", "mock/reference", "--problem", "task/p.pddl"), "SC637"),
        (("-m", "mock/reference", "--problem", "task/p.pddl", "--reference", "none.plan"), "SC601"),
        (("-m", "mock/planner", "--problem", "task/none.pddl"), "SC601"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "--slack", "0.5"), "SC607"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "-o", "nowhere/x.plan"), "SC607"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "-o", "task/p.pddl"), "SC6"),
        (("-m", "mock/planner"), "SC60"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "--transcript", "-"), "SC607"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "-o", "x", "--transcript", "x"), "SC607"),
        (("-m", "mock/planner", "--problem", "task/p.pddl", "x" * 10_001), "SC607"),
    ],
)
def test_mistakes_exit_with_2_and_write_nothing(words: tuple[str, ...], message: str, run: Run) -> None:
    code, out, err = run(*words)
    assert code == 2
    assert message in out + err
    assert written_files() == set()
    assert Path("task/p.pddl").read_text() == PROBLEM


def test_many_worlds_are_refused(run: Run) -> None:
    Path("task/p.pddl").write_text(PROBLEM.replace("(in hob kitchen))", "(in hob kitchen) (unknown (on hob)))"))
    code, out, _ = run("-m", "mock/planner", "--problem", "task/p.pddl")
    assert code == 2
    assert "SC507" in out


def test_the_mock_reference_gives_the_reference_plan(run: Run) -> None:
    Path("task/right.plan").write_text(SAFE)
    options = ("-m", "mock/reference", "--problem", "task/p.pddl", "--reference", "task/right.plan")
    for decode, shares in (("free", "3 by the model"), ("guided", "1 by the model, 2 by the guide")):
        code, out, _ = run(*options, "--decode", decode)
        assert code == 0
        assert shares in out


def test_a_transcript_replays_to_the_same_report(run: Run) -> None:
    options = ("--problem", "task/p.pddl", "--set", "seed=7", "--set", "model.feedback=repair", "Tea!")
    first = run("-m", "mock/random", *options, "--transcript", "run.jsonl", "--decode", "shield")
    replayed = run("-m", "replay/run.jsonl", *options, "--decode", "shield")
    rows = [line for line in first[1].splitlines() if not line.startswith("model ")]
    assert [line for line in replayed[1].splitlines() if not line.startswith("model ")] == rows
    assert replayed[0] == first[0]
    code, _, err = run("-m", "replay/run.jsonl", *options[:-1], "Coffee!", "--decode", "shield")
    assert (code, err.startswith("error[SC639]")) == (2, True)


def test_json_conforms_to_its_schema(run: Run) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    options = ("--problem", "task/p.pddl", "--format", "json")
    for words, code in (
        (("-m", "mock/planner", "--decode", "guided"), 0),
        (("-m", "mock/unsafe", "-o", "x.plan"), 0),
        (("-m", "mock/empty", "--no-last-resort"), 3),
        (("-m", "mock/unsafe", "--no-last-resort", "--rounds", "2"), 3),
        (("-m", "mock/planner", "--problem", "none.pddl"), 2),
    ):
        exit_code, out, _ = run(*options, *words)
        (line,) = out.splitlines()
        report = json.loads(line)
        validator.validate(report)
        assert exit_code == report["exit_code"] == code
        assert (report["text"] is not None) == (code == 0)
        assert not code or report["written"] is None
