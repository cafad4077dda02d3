"""Test runs on Ray by command: equal rows, killed drivers and workers, unreachable clusters."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from process_tree import descendants, running_after
from runs_house import audit_command, rows_without_times, run_audit, write_table

from plansafe.app.runs import read_run
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings


def test_killed_workers_and_driver_lose_no_row(require_ray: None, home: Path) -> None:
    write_table(home / "plans.jsonl", 4000)
    assert run_audit(home, "plans.jsonl", "--run", "one").returncode == 2
    driver = subprocess.Popen(
        audit_command(home, "plans.jsonl", "--run", "run", "--executor", "ray", "--jobs", "2"),
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    part = home / "run" / "shards" / "000000.part"
    while driver.poll() is None and (not part.exists() or part.stat().st_size < 100_000):
        time.sleep(0.01)
    assert driver.poll() is None, "Ray did not start, or the run ended before a worker could be killed"
    processes = descendants(driver.pid)
    workers = [process.pid for process in processes if process.name.startswith("ray::RowActor")]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    size = part.stat().st_size
    while driver.poll() is None and part.stat().st_size < size + 100_000:
        time.sleep(0.01)
    assert driver.poll() is None, "the run ended before its driver could be killed"
    driver.kill()
    driver.wait()
    n_rows = len(list(read_run(home / "run").rows()))
    assert 0 < n_rows < 4000
    assert not running_after(60, [process.pid for process in processes]), "Ray ends with its driver"
    completed = run_audit(home, "plans.jsonl", "--resume", "run", "--executor", "ray", "--jobs", "2")
    assert (completed.returncode, completed.stderr) == (2, "")
    assert completed.stdout.startswith("4000 plans in run, audited in ")
    assert rows_without_times(home / "run") == rows_without_times(home / "one")
    undisturbed, resumed = (json.loads((home / name / "manifest.json").read_text()) for name in ("one", "run"))
    assert {key for key in undisturbed if undisturbed[key] != resumed[key]} <= {"command", "started", "ended"}


def test_a_cluster_is_joined_by_its_address(ray_address: str, home: Path) -> None:
    write_table(home / "plans.jsonl", 40)
    assert run_audit(home, "plans.jsonl", "--run", "one").returncode == 2
    # More workers than the cluster has processors: the third one waits, and the run does not wait for it.
    words = ("--run", "run", "--executor", "ray", "--address", ray_address, "--jobs", "3")
    process = run_audit(home, "plans.jsonl", *words)
    assert (process.returncode, process.stderr) == (2, "")
    assert rows_without_times(home / "run") == rows_without_times(home / "one")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no server answers at '127.0.0.1:1': connection refused"),
        ("unknown-host.invalid:6379", "no server answers at 'unknown-host.invalid:6379'"),
        ("ray://127.0.0.1:10001", "--address takes HOST:PORT"),
        ("auto", "--address takes HOST:PORT"),
        ("127.0.0.1:99999", "--address takes HOST:PORT"),
    ],
)
def test_unreachable_address_is_reported(require_ray: None, address: str, message: str) -> None:
    from plansafe.app.runs.cluster import Cluster

    start = time.monotonic()
    with pytest.raises(BadRun) as raised:
        Cluster(Settings(), 1, address).__enter__()
    assert message in raised.value.diagnostic.message
    assert raised.value.diagnostic.help is not None
    assert time.monotonic() - start < 60


def test_server_that_is_not_ray_is_refused(require_ray: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from plansafe.app.runs import cluster

    monkeypatch.setattr(cluster, "JOIN_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        start = time.monotonic()
        with pytest.raises(
            BadRun, match=f"cannot join the cluster at '127.0.0.1:{port}': Ray did not answer within 2 s"
        ):
            cluster.Cluster(Settings(), 1, f"127.0.0.1:{port}").__enter__()
        assert time.monotonic() - start < 30


def test_missing_ray_is_reported_before_the_run_starts(home: Path) -> None:
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("ray is installed")
    write_table(home / "plans.jsonl", 2)
    process = run_audit(home, "plans.jsonl", "--run", "run", "--executor", "ray")
    assert process.returncode == 2
    assert "error[SC643]: --executor ray needs the package ray (extra `ray`)" in process.stderr
    assert "-m pip install" in process.stderr
    assert not list((home / "run").iterdir())


def test_address_needs_the_ray_executor(home: Path) -> None:
    write_table(home / "plans.jsonl", 2)
    process = run_audit(home, "plans.jsonl", "--run", "run", "--address", "127.0.0.1:6379")
    assert process.returncode == 2
    assert "add --executor ray" in process.stderr
