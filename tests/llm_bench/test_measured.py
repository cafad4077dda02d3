"""The kept tables are what the kept runs of real models come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from in_process import run_app

KEPT = Path(__file__).resolve().parents[2] / "bench" / "planning"


@pytest.mark.slow
def test_the_tables_are_those_of_the_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted([str(path) for path in KEPT.glob("*.jsonl")])
    assert len(runs) >= 12
    assert run_app("bench", "tables", *runs, "--memory-limit", "0") == 0
    assert capsys.readouterr().out == (KEPT / "tables.md").read_text(encoding="utf-8")
