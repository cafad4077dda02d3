"""``safecheck bench plan`` and ``safecheck bench tables``: resuming, tables, mistakes of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from in_process import run_app


def _run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    exit_code = run_app("bench", *arguments, "--memory-limit", "0")
    return exit_code, *capsys.readouterr()


def _plan(capsys: pytest.CaptureFixture[str], path: Path, model: str, *more: str) -> tuple[int, str, str]:
    return _run(capsys, "plan", "-m", model, "-o", str(path), "--each", "1", "--split", "test", "--limit", "2", *more)


@pytest.mark.slow
def test_runs_are_resumed_and_compared_with_random_choices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance, oracle = tmp_path / "chance.jsonl", tmp_path / "oracle.jsonl"
    for path, model in ((chance, "mock/random"), (oracle, "mock/planner")):
        code, out, _ = _plan(capsys, path, model, "--decode", "guided", "--examples", "0")
        assert code == 0 and "100 % (100 to 100)" in out
    before = oracle.read_bytes()
    oracle.write_bytes(before[:-40])
    assert _plan(capsys, oracle, "mock/planner", "--decode", "guided", "--examples", "0")[0] == 0
    assert oracle.read_bytes().count(b"\n") == before.count(b"\n") == 3
    target = tmp_path / "tables.md"
    code, out, _ = _run(capsys, "tables", str(chance), str(oracle), "--split", "test", "-o", str(target))
    assert code == 0 and target.read_text() == out
    row = next(line for line in out.splitlines() if line.startswith("| mock/planner") and "+" in line)
    assert "100 %" in row, "every first choice of the planner is kept"
    assert _run(capsys, "tables", str(chance), "--split", "development")[0] == 2


@pytest.mark.slow
def test_mistakes_are_reported_and_change_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run.jsonl"
    assert _plan(capsys, run, "mock/empty")[0] == 0
    before = run.read_bytes()
    for more, message in (
        (("--rounds", "2"), "SC643"),
        (("--slack", "0.5"), "--slack"),
    ):
        code, _, err = _plan(capsys, run, "mock/empty", *more)
        assert code == 2 and message in err
    code, _, err = _plan(capsys, run, "mock/emty")
    assert code == 2 and "SC630" in err
    code, _, err = _plan(capsys, tmp_path / "other.jsonl", "hf/no-such-folder")
    assert code == 2 and "SC631" in err and not (tmp_path / "other.jsonl").exists()
    assert run.read_bytes() == before
    header = before.split(b"\n", maxsplit=1)[0]
    broken = (b"", b"{}\n", header.replace(b'"planning"', b'"safel"') + b"\n", header + b'\n{"id": "tea-0"}\n')
    for content in broken:
        run.write_bytes(content)
        code, _, err = _run(capsys, "tables", str(run))
        assert code == 2 and "SC643" in err
    code, _, err = _run(capsys, "tables", str(run), "-o", str(run))
    assert code == 2 and run.read_bytes() == broken[-1], "a table does not overwrite its run"
