"""The stored tables are computed from the stored runs of real models."""

from __future__ import annotations

from pathlib import Path

import pytest

from in_process import run_app

STORED = Path(__file__).resolve().parents[2] / "bench" / "planning"


@pytest.mark.slow
def test_the_stored_tables_agree_with_the_stored_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted([str(path) for path in STORED.glob("*.jsonl")])
    assert len(runs) >= 12
    assert run_app("bench", "tables", *runs, "--memory-limit", "0") == 0
    assert capsys.readouterr().out == (STORED / "tables.md").read_text(encoding="utf-8")
