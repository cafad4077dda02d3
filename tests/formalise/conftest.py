"""Fixtures: the small home, and ``safecheck rules formalise`` run in this process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from in_process import run_app
from plansafe.llm.formalise.home import small_home
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.compiled import CompiledTask


@pytest.fixture(scope="session")
def home() -> CompiledTask:
    """The small home of the shipped domain, without rules."""
    return Checker(*small_home("household"), (), Options(replay="never")).compiled


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., object]:
    """Run the command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAFECHECK_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> tuple[int, str, str]:
        exit_code = run_app("rules", "formalise", "--memory-limit", "0", *arguments)
        return exit_code, *capsys.readouterr()

    return call
