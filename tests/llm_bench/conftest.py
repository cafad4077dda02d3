"""A fixture that runs commands in this process; ``bench``, the example tasks and the stub server are importable."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # `bench` is not part of the package
sys.path.insert(0, str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[1] / "models"))

from small_tasks import Run

from in_process import run_app


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SAFECHECK_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> tuple[int, str, str]:
        exit_code = run_app(*arguments, "--memory-limit", "0")
        return exit_code, *capsys.readouterr()

    return call
