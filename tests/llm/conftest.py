"""Fixtures: ``safecheck``, ``safecheck plan`` and ``repair`` run in this process, in a folder with the kitchen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from loop_kitchen import RULES, Run

from in_process import run_app
from shared_kitchen import DOMAIN, PROBLEM


@pytest.fixture
def safecheck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder with the kitchen in it: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAFECHECK_CACHE", str(tmp_path / "cache"))
    Path("task").mkdir()
    Path("task/d.pddl").write_text(DOMAIN)
    Path("task/p.pddl").write_text(PROBLEM)
    Path("task/kitchen.safe").write_text(RULES)

    def call(*arguments: str) -> tuple[int, str, str]:
        exit_code = run_app(*arguments, "--memory-limit", "0")
        return exit_code, *capsys.readouterr()

    return call


@pytest.fixture
def run(safecheck: Run) -> Run:
    """Run ``safecheck plan`` in a folder with the kitchen in it: exit code, standard output, standard error."""
    return lambda *arguments: safecheck("plan", *arguments)
