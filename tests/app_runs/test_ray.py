"""Runs on Ray by the command: the rows of one process, drivers and workers that are killed, and who is not there."""

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
from runs_house import call, command, table, timeless

from plansafe.app.runs import read_run
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings


def test_killed_workers_and_a_killed_driver_lose_nothing(ray_is_there: None, home: Path) -> None:
    table(home / "plans.jsonl", 4000)
    assert call(home, "plans.jsonl", "--run", "one").returncode == 2
    driver = subprocess.Popen(
        command(home, "plans.jsonl", "--run", "run", "--executor", "ray", "--jobs", "2"),
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    part = home / "run" / "shards" / "000000.part"
    while driver.poll() is None and (not part.exists() or part.stat().st_size < 100_000):
        time.sleep(0.01)
    assert driver.poll() is None, "Ray did not start, or the run ended before a worker could be killed"
    below = descendants(driver.pid)
    workers = [process.pid for process in below if process.name.startswith("ray::RowActor")]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    size = part.stat().st_size
    while driver.poll() is None and part.stat().st_size < size + 100_000:
        time.sleep(0.01)
    assert driver.poll() is None, "the run ended before its driver could be killed"
    driver.kill()
    driver.wait()
    had = len(list(read_run(home / "run").rows()))
    assert 0 < had < 4000
    assert not running_after(60, [process.pid for process in below]), "Ray ends with its driver"
    done = call(home, "plans.jsonl", "--resume", "run", "--executor", "ray", "--jobs", "2")
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith("4000 plans in run, audited in ")
    assert timeless(home / "run") == timeless(home / "one")
    ours, theirs = (json.loads((home / name / "manifest.json").read_text()) for name in ("one", "run"))
    assert {key for key in ours if ours[key] != theirs[key]} <= {"command", "started", "ended"}


def test_a_cluster_is_joined_by_its_address(ray_address: str, home: Path) -> None:
    table(home / "plans.jsonl", 40)
    assert call(home, "plans.jsonl", "--run", "one").returncode == 2
    # More workers than the cluster has processors: the others wait, and the run does not wait for them.
    words = ("--run", "run", "--executor", "ray", "--address", ray_address, "--jobs", "3")
    done = call(home, "plans.jsonl", *words)
    assert (done.returncode, done.stderr) == (2, "")
    assert timeless(home / "run") == timeless(home / "one")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no server answers at '127.0.0.1:1': connection refused"),
        ("nobody.invalid:6379", "no server answers at 'nobody.invalid:6379'"),
        ("ray://127.0.0.1:10001", "--address takes HOST:PORT"),
        ("auto", "--address takes HOST:PORT"),
        ("127.0.0.1:99999", "--address takes HOST:PORT"),
    ],
)
def test_an_address_where_nobody_is_is_said(ray_is_there: None, address: str, said: str) -> None:
    from plansafe.app.runs.cluster import Cluster

    start = time.monotonic()
    with pytest.raises(BadRun) as raised:
        Cluster(Settings(), 1, address).__enter__()
    assert said in raised.value.diagnostic.message
    assert raised.value.diagnostic.help is not None
    assert time.monotonic() - start < 60


def test_who_listens_and_is_not_ray_is_not_waited_for(ray_is_there: None, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_missing_package_is_said_before_a_folder_is_made(home: Path) -> None:
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("ray is installed")
    table(home / "plans.jsonl", 2)
    done = call(home, "plans.jsonl", "--run", "run", "--executor", "ray")
    assert done.returncode == 2
    assert "error[SC643]: --executor ray needs the package ray (extra `ray`)" in done.stderr
    assert "-m pip install" in done.stderr
    assert not list((home / "run").iterdir())


def test_an_address_belongs_to_ray(home: Path) -> None:
    table(home / "plans.jsonl", 2)
    done = call(home, "plans.jsonl", "--run", "run", "--address", "127.0.0.1:6379")
    assert done.returncode == 2
    assert "add --executor ray" in done.stderr
