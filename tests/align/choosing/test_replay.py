"""Pairs are judged anew: those that were made are what they say, and one that was changed is named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from plansafe.align.choosing.pairing import candidates, known_at
from plansafe.align.choosing.replay import DoesNotReplay, replayed
from plansafe.align.records import Both, Pair, even_weights, plan_of, read_pairs, write_pairs
from plansafe.align.tasks import task_of
from plansafe.app.interfaces.cli.commandline import app
from plansafe.grammar.codes import SC

Run = Callable[..., tuple[int, str, str]]
ORIGIN = "drawn:stew/0/0"


@pytest.fixture(scope="module")
def pairs() -> list[Pair]:
    return list(islice(candidates([ORIGIN], None, 0, Counter()), 12))


@pytest.fixture
def safecheck(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            app([*arguments, "--memory-limit", "0"], prog_name="safecheck")
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return call


def test_made_pairs_are_what_they_say(pairs: list[Pair], tmp_path: Path, safecheck: Run) -> None:
    assert [found.pair for found in replayed(pairs)] == pairs
    path = tmp_path / "pairs.jsonl"
    write_pairs(str(path), pairs)
    code, out, _ = safecheck("align", "pairs", "--check", str(path))
    assert (code, out) == (0, f"{path}: 12 pairs of 1 tasks, all correct\n")


@pytest.mark.slow
def test_a_changed_pair_is_named(pairs: list[Pair], tmp_path: Path, safecheck: Run) -> None:
    pair = next(one for one in pairs if one.goal.rejected)
    other = "no-hurrying-with-a-knife"
    swapped = replace(
        pair,
        chosen=pair.rejected,
        rejected=pair.chosen,
        weights=even_weights(pair.rejected, pair.chosen),
        no_return=None,
    )
    changes = {
        "its task is stew-0/0": replace(pair, task="stew-9/0"),
        "its family is stew": replace(pair, family="salad"),
        "its world is household": replace(pair, world="virtualhome"),
        "its prompt differs from the prompt of the task": replace(pair, prompt="Plan:\n"),
        "`rejected` reaches the goal": replace(pair, goal=Both(True, False)),
        "`chosen` is not safe": replace(swapped, first_violation=pair.actions.chosen.__len__() + 1),
        "`rejected` violates": replace(pair, rules=(*pair.rules, other)),
        "unknown form of origin": replace(pair, origin="elsewhere"),
        "unknown family of drawn tasks": replace(pair, origin="drawn:flying/0/0"),
        "`chosen` cannot be executed": _with_first_step(pair, "(fly robot)"),
    }
    later = pair.first_violation + (1 if pair.first_violation <= len(pair.actions.rejected) else -1)
    changes["is violated at step"] = replace(pair, first_violation=later)
    for what, changed in changes.items():
        with pytest.raises(DoesNotReplay) as caught:
            list(replayed([changed]))
        assert caught.value.diagnostic.code == SC.PAIR_DOES_NOT_REPLAY
        assert what in caught.value.diagnostic.message, what
        assert pair.id in caught.value.diagnostic.message
    path = tmp_path / "pairs.jsonl"
    write_pairs(str(path), [pair, replace(changes["`rejected` violates"], id="changed")])
    code, out, err = safecheck("align", "pairs", "--check", str(path))
    assert (code, out) == (2, "")
    assert "error[SC651]: the pair changed does not match its record: `rejected` violates" in err


def _with_first_step(pair: Pair, step: str) -> Pair:
    chosen = plan_of([step, *pair.actions.chosen])
    return replace(pair, chosen=chosen, shared=0, weights=even_weights(chosen, pair.rejected), no_return=None)


def test_a_violation_is_known_when_nothing_can_mend_it() -> None:
    task = task_of(ORIGIN)
    reference = task.reference.splitlines()
    off = next(step for step in reference if step.startswith("(switch-off "))
    left_on = [step for step in reference if step != off]
    assert known_at(task, left_on, "heat-off-at-the-end") == len(left_on) + 1
    assert known_at(task, reference, "heat-off-at-the-end") == len(reference) + 1


@pytest.mark.slow
def test_pairs_are_made_from_the_command_line(tmp_path: Path, safecheck: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)  # drawn homes are enough
    monkeypatch.setattr("plansafe.align.choosing.regretting.SECONDS", 60.0)  # a busy machine changes nothing
    place = tmp_path / "pairs"
    code, out, err = safecheck(
        *(
            "align",
            "pairs",
            "-o",
            str(place),
            "--count",
            "16",
            "--source",
            "drawn",
            "--rooms",
            "1",
            "--set",
            "limits.time=600",
        ),
        *("--regret", "estimate"),
    )
    assert (code, err) == (0, "")
    assert out.startswith(f"{place}: ")
    assert json.loads((place / "report.json").read_text(encoding="utf-8"))["statistics"]["pairs"] >= 8
    assert "candidates; left out:" in out
    for split in ("train", "test"):
        assert safecheck("align", "pairs", "--check", str(place / f"{split}.jsonl"))[0] == 0
        found = list(read_pairs(str(place / f"{split}.jsonl")))
        assert all(pair.regret is not None and len(pair.regret.chosen) == len(pair.actions.chosen) for pair in found)
        assert any(pair.no_return is not None for pair in found)
        assert all(pair.no_return is None or pair.no_return[0] <= pair.no_return[1] for pair in found)


@pytest.mark.slow
def test_mistakes_are_said(tmp_path: Path, safecheck: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    monkeypatch.setattr(
        "plansafe.app.interfaces.cli.pairs._CANDIDATE_TIME_SHARE", 0.0
    )  # the time is over behind the first candidate
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("", encoding="utf-8")
    new = str(tmp_path / "new")
    for arguments, said in (
        ([], f"error[{SC.BAD_OPTION}]: --output is missing"),
        (["-o", str(tmp_path / "mine")], f"error[{SC.NOT_WRITTEN}]"),
        (["-o", str(tmp_path / "none" / "new")], f"error[{SC.NOT_WRITTEN}]"),
        (["--check", str(tmp_path / "none")], f"error[{SC.BAD_TRAINING_DATA}]"),
        (["--check", str(tmp_path / "mine" / "file")], "it is empty"),
        (["--check", str(tmp_path / "mine" / "file"), "-o", new], "--check writes no folder"),
        (["-o", new, "--run", str(tmp_path / "mine" / "file")], f"error[{SC.BAD_RUN}]"),
        (["-o", new, "--source", "virtualhome"], "VirtualHome needs the public data sets"),
        (["-o", new, "--source", "scenarios", "--set", "limits.time=1"], f"error[{SC.NO_PAIRS}]: there is no pair for"),
    ):
        code, out, err = safecheck("align", "pairs", *arguments)
        assert (code, out) == (2, ""), arguments
        assert said in err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine"]
