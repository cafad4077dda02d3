"""``safecheck align knowledge`` as a user types it: what is printed, written and refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from in_process import safecheck
from plansafe.align.records import read_sft


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    return tmp_path


def called(*arguments: str) -> tuple[int, str, str]:
    done = safecheck("align", *arguments, cwd=".")
    return done.returncode, done.stdout, done.stderr


def test_questions_are_written_as_lines_for_sft() -> None:
    code, out, _ = called("knowledge", "-o", "k.jsonl", "--count", "30", "--drawn", "0", "--memory-limit", "0")
    assert code == 0 and out.startswith("k.jsonl: 30 questions (") and len(list(read_sft("k.jsonl"))) == 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("knowledge", "-o", "nowhere/k.jsonl"), "SC607"),
    ],
)
def test_mistakes_are_exit_code_2_and_write_nothing(here: Path, arguments: tuple[str, ...], said: str) -> None:
    (here / "notes.txt").write_text("notes\n", encoding="utf-8")
    code, _, error = called(*arguments)
    assert code == 2 and f"error[{said}]" in error and os.listdir(here) == ["notes.txt"]


def test_data_that_cannot_be_read_is_named(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANSAFE_DATA", str(here / "none"))
    code, _, error = called("knowledge", "-o", "k.jsonl", "--memory-limit", "0")
    assert code == 2 and "none" in error and not list(here.iterdir())
