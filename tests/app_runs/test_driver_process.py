"""Test how a run reacts to its Ray driver process, with a function as driver that does not need Ray."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from plansafe.app.runs import cluster
from plansafe.app.runs.cluster import Cluster
from plansafe.app.runs.executor import LostBackend
from plansafe.app.runs.ray_driver import AwaitEvents, Failure, RayOptions
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings

Driver = Callable[[Connection, list[Connection], RayOptions], None]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a function of a test cannot be sent to a new process")


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[[Driver], Cluster]:
    """Make a cluster whose driver is a function."""

    def make_cluster(driver: Driver) -> Cluster:
        monkeypatch.setattr(cluster, "run_driver", driver)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
        return Cluster(Settings(), 1)

    return make_cluster


def test_a_driver_that_ends_is_reported_with_its_last_message(start: Callable[[Driver], Cluster]) -> None:
    def driver(pipe: Connection, inherited: list[Connection], options: RayOptions) -> None:
        for connection in inherited:
            connection.close()
        pipe.send([])
        assert pipe.recv() == AwaitEvents()
        with open(os.path.join(options.folder, "driver.log"), "w") as log:
            log.write("first\nThe program will terminate.\n\n")
        os._exit(1)

    with start(driver) as backend, pytest.raises(LostBackend) as raised:
        list(backend.wait_for_events([]))
    assert str(raised.value) == "Ray ended: its driver ended with the exit code 1: The program will terminate."


def test_a_driver_that_does_not_answer_is_killed(
    start: Callable[[Driver], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.2)

    def driver(pipe: Connection, inherited: list[Connection], options: RayOptions) -> None:
        pipe.send([])
        time.sleep(3600)

    with start(driver) as backend, pytest.raises(LostBackend, match=r"^Ray did not answer within 0\.2 s$"):
        list(backend.wait_for_events([]))


def test_a_driver_that_cannot_continue_gives_the_reason(start: Callable[[Driver], Cluster]) -> None:
    def driver(pipe: Connection, inherited: list[Connection], options: RayOptions) -> None:
        pipe.send([])
        pipe.recv()
        pipe.send(Failure("no machine of the cluster is alive"))

    with (
        start(driver) as backend,
        pytest.raises(LostBackend, match=r"^Ray cannot continue: no machine of the cluster is alive$"),
    ):
        list(backend.wait_for_events([]))


@pytest.mark.parametrize(("failures", "starts"), [(2, True), (3, False)])
def test_ray_is_started_three_times(
    start: Callable[[Driver], Cluster], tmp_path: Path, failures: int, starts: bool
) -> None:
    attempts = tmp_path / "attempts"

    def driver(pipe: Connection, inherited: list[Connection], options: RayOptions) -> None:
        for connection in inherited:
            connection.close()
        with attempts.open("a+") as file:
            file.write("x")
            file.seek(0)
            attempt = len(file.read())
        pipe.send(Failure("RuntimeError: too slow") if attempt <= failures else [])
        while True:
            pipe.recv()

    backend = start(driver)
    if starts:
        with backend:
            pass
    else:
        with pytest.raises(BadRun, match=r"^Ray does not start: RuntimeError: too slow$"):
            backend.__enter__()
