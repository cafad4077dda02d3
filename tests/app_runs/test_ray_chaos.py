"""Kill each kind of process of a run on Ray in the middle: no row is lost, and no run ends without a message."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from process_tree import Process, descendants, running_after
from runs_house import audit_command, rows_without_times, run_audit, write_table

from plansafe.app.runs import read_run

PLANS = 150
LIMIT = 600
"""Seconds after which a run counts as hanging. Ray itself needs up to 60 s to notice the loss of a process."""
GATED_COMMAND = Path(__file__).with_name("gated_command.py")


def is_kind(process: Process, kind: str) -> bool:
    """Whether a process below the command is of a kind."""
    match kind:
        case "worker":
            return process.name.startswith("ray::RowActor")
        case "dashboard agent":
            return process.name.startswith("ray::DashboardA")
        case "runtime environment agent":
            return process.name.startswith("ray::RuntimeEnv")
        case "raylet" | "gcs_server":
            return process.name == kind
        case "driver":
            return str(GATED_COMMAND) in process.command_line
        case _:
            return f"/{kind}.py " in process.command_line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "completes"),
    [
        (("worker",), True),
        (("log_monitor", "monitor", "dashboard"), True),
        (("dashboard agent",), False),
        (("runtime environment agent",), False),
        (("raylet",), False),
        (("raylet", "worker"), False),
        (("gcs_server",), False),
        (("driver",), False),
        (("command",), False),
    ],
    ids=lambda value: " and ".join(value).replace(" ", "-") if isinstance(value, tuple) else "",
)
def test_a_killed_process_loses_no_row_and_is_reported(
    require_ray: None, home: Path, kinds: tuple[str, ...], completes: bool
) -> None:
    write_table(home / "plans.jsonl", PLANS)
    assert run_audit(home, "plans.jsonl", "--run", "undisturbed", "--jobs", "1").returncode == 2
    arguments = audit_command(home, "plans.jsonl", "--run", "run", "--executor", "ray", "--jobs", "2")[1:]
    run = subprocess.Popen(
        [sys.executable, GATED_COMMAND, *arguments],
        cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    part = home / "run" / "shards" / "000000.part"
    try:
        end = time.monotonic() + LIMIT
        while not (part.exists() and part.read_bytes().count(b"\n") >= 10):
            if run.poll() is not None:
                _, errors = run.communicate()
                assert "error[SC643]: Ray does not start: " in errors
                pytest.skip(f"this machine is too busy for Ray: {errors}")
            assert time.monotonic() < end
            time.sleep(0.02)
        processes = descendants(run.pid)
        for kind in kinds:
            victim = run.pid if kind == "command" else next(p.pid for p in processes if is_kind(p, kind))
            os.kill(victim, signal.SIGKILL)
        if completes:
            (home / "gate-is-open").touch()
        _, errors = run.communicate(timeout=LIMIT)
    finally:
        run.kill()
        run.wait()
    assert not running_after(120, [process.pid for process in processes])
    rows_before = len(list(read_run(home / "run").rows()))
    if completes:
        assert (run.returncode, errors, rows_before) == (2, "", PLANS)
    else:
        assert 10 <= rows_before < PLANS
        if kinds == ("command",):
            assert run.returncode == -signal.SIGKILL
        else:
            assert run.returncode == 2
            message, advice = errors.strip().splitlines()
            assert message.startswith(
                f"error[SC643]: the run in run is incomplete: {rows_before} of {PLANS} plans are audited; Ray "
            )
            assert advice == "  = help: to continue, run the same command with --resume run instead of --run"
        resumed = run_audit(home, "plans.jsonl", "--resume", "run", "--jobs", "1")
        assert (resumed.returncode, resumed.stderr) == (2, "")
    ids = [json.loads(line)["id"] for line in (home / "run" / "results.jsonl").read_text().splitlines()]
    assert ids == [f"p{number}" for number in range(PLANS)]
    assert rows_without_times(home / "run") == rows_without_times(home / "undisturbed")
