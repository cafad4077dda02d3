"""``safecheck align knowledge|pack|unpack`` as a user types them: what is printed, written and refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plansafe.align.records import read_sft
from plansafe.app.interfaces.cli.align.commands import app

RUN = CliRunner()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    return tmp_path


def called(*arguments: str) -> tuple[int, str, str]:
    done = RUN.invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_questions_are_packed_and_come_out_as_they_were(here: Path) -> None:
    code, out, _ = called("knowledge", "-o", "k.jsonl", "--count", "30", "--drawn", "0", "--memory-limit", "0")
    assert code == 0 and out.startswith("k.jsonl: 30 questions (") and len(list(read_sft("k.jsonl"))) == 30
    code, out, _ = called("pack", "--no-code", "--data", "k.jsonl", "-o", "pack")
    assert code == 0 and "1 files" in out
    sum = out.split()[-1]
    code, out, _ = called("unpack", "pack", "-o", "there", "--sum", sum)
    assert code == 0 and sum in out
    assert (here / "there/data/k.jsonl").read_bytes() == (here / "k.jsonl").read_bytes()
    code, _, error = called("unpack", "pack", "-o", "there")
    assert code == 2 and "error[SC670]: there exists already" in error
    code, _, error = called("unpack", "pack", "-o", "other", "--sum", "0" * 64)
    assert code == 2 and "SC670" in error and not (here / "other").exists()


@pytest.mark.slow
def test_code_is_packed_where_nothing_else_is_said(here: Path) -> None:
    code, _, _ = called("pack", "-o", "pack", "--part-size", "1")
    assert code == 0 and max([path.stat().st_size for path in here.glob("pack/*.pack")]) <= 1 << 20
    assert called("unpack", "pack", "-o", "there")[0] == 0
    assert (here / "there/code/plansafe/align/packing/unpack.py").is_file()
    assert (here / "there/code/plansafe/app/main.py").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pack", "--no-code", "-o", "x"), "SC607"),
        (("pack", "--results", "run", "--data", "k", "-o", "x"), "SC607"),
        (("pack", "--results", "run", "-o", "x"), "SC671"),
        (("pack", "--data", "nothing", "-o", "x"), "SC671"),
        (("pack", "--weights", "nothing", "-o", "x"), "SC671"),
        (("pack", "--package", "no-such-thing", "-o", "x"), "SC671"),
        (("pack", "--no-code", "--data", "notes.txt", "-o", "notes.txt/x"), "SC607"),
        (("unpack", "nothing", "-o", "x"), "SC670"),
        (("unpack", ".", "-o", "x"), "SC670"),
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
