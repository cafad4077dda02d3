"""Test the second audit of pairs: unchanged pairs are correct, and a changed pair is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from plansafe.align.pairs.answers import DoesNotReplay, replayed
from plansafe.align.pairs.maker import MakerOptions, pairs_of
from plansafe.align.pairs.splits import split_of
from plansafe.align.records import Both, Pair, even_weights, plan_of, read_pairs, write_pairs
from plansafe.align.tasks import task_of
from plansafe.app.interfaces.cli.commandline import app
from plansafe.grammar.codes import SC

Run = Callable[..., tuple[int, str, str]]
ORIGIN = "drawn:stew/0/0"


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    task = task_of(ORIGIN)
    return pairs_of(task, [], MakerOptions(mutants=12), split=split_of(task.family)).pairs


@pytest.fixture
def safecheck(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            app([*arguments, "--memory-limit", "0"], prog_name="safecheck")
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call


def test_unchanged_pairs_are_correct(pairs: list[Pair], tmp_path: Path, safecheck: Run) -> None:
    assert list(replayed(pairs)) == pairs
    path = tmp_path / "pairs.jsonl"
    write_pairs(str(path), pairs)
    code, out, _ = safecheck("align", "pairs", "--check", str(path))
    assert (code, out) == (0, f"{path}: {len(pairs)} pairs of 1 tasks, all correct\n")


@pytest.mark.slow
def test_changed_pair_is_reported(pairs: list[Pair], tmp_path: Path, safecheck: Run) -> None:
    pair = next(pair for pair in pairs if pair.goal.rejected)
    other_rule = "no-hurrying-with-a-knife"
    swapped = replace(
        pair,
        chosen=pair.rejected,
        rejected=pair.chosen,
        weights=even_weights(pair.rejected, pair.chosen),
        no_return=None,
    )
    changes = {
        "its `task` is 'stew-0/0'": replace(pair, task="stew-9/0"),
        "its `family` is 'stew'": replace(pair, family="salad"),
        "its `world` is 'household'": replace(pair, world="virtualhome"),
        "its `prompt` is 'Actions:": replace(pair, prompt="Plan:\n"),
        "its `goal` is 'Both(chosen=True, rejected=True)'": replace(pair, goal=Both(True, False)),
        "`rejected` does not break": replace(swapped, first_violation=len(pair.actions.chosen) + 1),
        "its `rules` is": replace(pair, rules=(*pair.rules, other_rule)),
        "unknown form of origin": replace(pair, origin="elsewhere"),
        "unknown family of drawn tasks": replace(pair, origin="drawn:flying/0/0"),
        "`chosen` is not safe": _with_first_step(pair, "(fly robot)"),
        "its `witness` is": replace(pair, witness="another message"),
    }
    wrong_step = pair.first_violation + (1 if pair.first_violation <= len(pair.actions.rejected) else -1)
    changes["its `first_violation` is"] = replace(pair, first_violation=wrong_step)
    for message, changed_pair in changes.items():
        with pytest.raises(DoesNotReplay) as caught:
            list(replayed([changed_pair]))
        assert caught.value.diagnostic.code == SC.PAIR_DOES_NOT_REPLAY
        assert message in caught.value.diagnostic.message, message
        assert pair.id in caught.value.diagnostic.message
    path = tmp_path / "pairs.jsonl"
    write_pairs(str(path), [pair, replace(changes["its `rules` is"], id="changed")])
    code, out, err = safecheck("align", "pairs", "--check", str(path))
    assert (code, out) == (2, "")
    assert "error[SC651]: the pair changed does not match its record: its `rules` is" in err


def _with_first_step(pair: Pair, step: str) -> Pair:
    chosen = plan_of([step, *pair.actions.chosen])
    return replace(pair, chosen=chosen, shared=0, weights=even_weights(chosen, pair.rejected), no_return=None)


@pytest.mark.slow
def test_command_writes_pairs(tmp_path: Path, safecheck: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)  # drawn homes are enough
    monkeypatch.setattr("plansafe.align.pairs.answers.SECONDS", 60.0)  # a busy machine changes nothing
    place = tmp_path / "pairs"
    code, out, err = safecheck(
        *("align", "pairs", "-o", str(place), "--count", "16", "--source", "drawn", "--set", "limits.time=600"),
        *("--regret", "estimate", "--unbalanced", "1"),
    )
    assert (code, err) == (0, "")
    assert out.startswith(f"{place}: ")
    assert json.loads((place / "report.json").read_text(encoding="utf-8"))["statistics"]["pairs"] >= 8
    assert "pairs left out:" in out
    for split in ("train", "test"):
        assert safecheck("align", "pairs", "--check", str(place / f"{split}.jsonl"))[0] == 0
        pairs = list(read_pairs(str(place / f"{split}.jsonl")))
        assert {pair.source for pair in pairs} == {"mutant"}
        assert all(pair.regret is not None and len(pair.regret.chosen) == len(pair.actions.chosen) for pair in pairs)
        assert any(pair.no_return is not None for pair in pairs)
        assert all(pair.no_return is None or pair.no_return[0] <= pair.no_return[1] for pair in pairs)


def test_answers_are_paired_and_skipped_answers_are_reported(tmp_path: Path, safecheck: Run) -> None:
    task = task_of(ORIGIN)
    steps = task.reference.splitlines()
    unsafe = [step for step in steps if not step.startswith("(switch-off ")]
    head = {"kind": "run", "version": 1, "suite": "align"}
    records = [{"id": "a", "origin": ORIGIN, "sample": 0, "plan": steps, "headline": "SAFE"}]
    records += [{**records[0], "sample": 1, "plan": unsafe, "headline": "UNSAFE"}]
    records += [{**records[0], "sample": sample, "headline": "INVALID"} for sample in range(2, 5)]
    run = tmp_path / "eval.jsonl"
    run.write_text("".join([json.dumps(record) + "\n" for record in (head, *records)]), encoding="utf-8")
    place = tmp_path / "pairs"
    code, out, err = safecheck("align", "pairs", "-o", str(place), "--answers", str(run), "--mutants", "0")
    assert (code, err) == (0, "")
    assert "  1 on-policy\n" in out and "3  INVALID by its recorded verdict" in out
    (pair,) = read_pairs(str(place / "train.jsonl"))
    assert (pair.source, pair.rejected, pair.origin) == ("on-policy", plan_of(unsafe), ORIGIN)
    report = json.loads((place / "report.json").read_text(encoding="utf-8"))
    assert report["skipped"] == {"INVALID by its recorded verdict": 3} and report["asked"]["mutants"] == 0


@pytest.mark.slow
def test_mistakes_are_reported(tmp_path: Path, safecheck: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    # The time limit ends after the first candidate.
    monkeypatch.setattr("plansafe.app.interfaces.cli.pairs._CANDIDATE_TIME_SHARE", 0.0)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("", encoding="utf-8")
    (tmp_path / "mine" / "run").write_text('{"kind": "run", "version": 1, "suite": "safel"}\n', encoding="utf-8")
    new = str(tmp_path / "new")
    for arguments, message in (
        ([], f"error[{SC.BAD_OPTION}]: --output is missing"),
        (["-o", str(tmp_path / "mine")], f"error[{SC.NOT_WRITTEN}]"),
        (["-o", str(tmp_path / "none" / "new")], f"error[{SC.NOT_WRITTEN}]"),
        (["--check", str(tmp_path / "none")], f"error[{SC.BAD_TRAINING_DATA}]"),
        (["--check", str(tmp_path / "mine" / "file")], "it is empty"),
        (["--check", str(tmp_path / "mine" / "file"), "-o", new], "--check writes no folder"),
        (["-o", new, "--answers", str(tmp_path / "mine" / "run")], f"error[{SC.BAD_RUN}]"),
        (["-o", new, "--source", "virtualhome"], "VirtualHome needs the public data sets"),
        (["-o", new, "--source", "scenarios", "--mutants", "0"], f"error[{SC.NO_PAIRS}]: no candidate is left"),
    ):
        code, out, err = safecheck("align", "pairs", *arguments)
        assert (code, out) == (2, ""), arguments
        assert message in err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine"]
