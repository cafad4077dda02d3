"""Test the command ``safecheck align knowledge``: output, files and refusals."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from in_process import safecheck
from plansafe.align.records import read_sft


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    return tmp_path


def run_align(*arguments: str) -> tuple[int, str, str]:
    process = safecheck("align", *arguments, cwd=".")
    return process.returncode, process.stdout, process.stderr


def test_questions_are_written_as_lines_for_sft() -> None:
    code, out, _ = run_align("knowledge", "-o", "k.jsonl", "--count", "30", "--drawn", "0", "--memory-limit", "0")
    assert code == 0 and out.startswith("k.jsonl: 30 questions (") and len(list(read_sft("k.jsonl"))) == 30


@pytest.mark.parametrize(
    ("arguments", "error_code"),
    [
        (("knowledge", "-o", "nowhere/k.jsonl"), "SC607"),
    ],
)
def test_mistakes_are_exit_code_2_and_write_nothing(folder: Path, arguments: tuple[str, ...], error_code: str) -> None:
    (folder / "notes.txt").write_text("notes\n", encoding="utf-8")
    code, _, error = run_align(*arguments)
    assert code == 2 and f"error[{error_code}]" in error and os.listdir(folder) == ["notes.txt"]


def test_data_that_cannot_be_read_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANSAFE_DATA", str(folder / "none"))
    code, _, error = run_align("knowledge", "-o", "k.jsonl", "--memory-limit", "0")
    assert code == 2 and "none" in error and not list(folder.iterdir())
