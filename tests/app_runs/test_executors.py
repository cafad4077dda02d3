"""Test both executors: each plan is audited once, also if workers end. `test_ray.py` tests Ray itself."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from runs_house import run_audit, write_table

from plansafe.app.runs import batch, read_run
from plansafe.app.runs.executor import LostBackend, Pool, Worker, WorkerBackend, WorkerEvent
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.items import list_items
from plansafe.app.runs.processes import Processes
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings

MakeBackend = Callable[[Settings, Callable[[Settings], RowAuditor]], WorkerBackend]


@pytest.fixture(params=["processes", "ray"])
def backend(request: pytest.FixtureRequest) -> MakeBackend:
    if request.param == "processes":
        return Processes
    address = request.getfixturevalue("ray_address")
    from plansafe.app.runs.cluster import Cluster

    return lambda settings, make_auditor: Cluster(settings, 2, address, 0, make_auditor)


def make_plans(home: Path, count: int) -> tuple[Settings, list[Item]]:
    write_table(home / "plans.jsonl", count)
    settings = Settings(
        domain=str(home / "domain.pddl"), specs=(str(home / "house.safe"),), problem=str(home / "rooms/{room}.pddl")
    )
    return settings, list(list_items([str(home / "plans.jsonl")], settings, None, None))


def row_without_time(line: bytes) -> object:
    return {key: value for key, value in json.loads(line).items() if key != "seconds"}


def test_killed_workers_lose_and_repeat_no_plan(backend: MakeBackend, home: Path) -> None:
    settings, items = make_plans(home, 80)

    def slow_auditor(settings: Settings) -> RowAuditor:
        class Slow(RowAuditor):
            def audit_item(self, item: Item) -> AuditedRow:
                time.sleep(0.05)
                return super().audit_item(item)

        return Slow(settings)

    rows_received: list[AuditedRow] = []
    killed = 0
    with Pool(backend(settings, slow_auditor), 2, RowAuditor(settings).failed_row) as pool:
        for row in pool.audit([items[start : start + 20] for start in range(0, 80, 20)]):
            rows_received.append(row)
            busy = [worker for worker in pool.workers if worker.pid is not None and worker.chunk]
            if killed < 2 and len(rows_received) > 10 * (killed + 1) and busy:
                os.kill(busy[0].pid or 0, signal.SIGKILL)
                killed += 1
    assert killed == 2
    assert sorted(row.number for row in rows_received) == list(range(80))
    auditor = RowAuditor(settings)
    lines_by_number = {row.number: row_without_time(row.line) for row in rows_received}
    assert [lines_by_number[number] for number in range(80)] == [
        row_without_time(auditor.audit_item(item).line) for item in items
    ]
    rules = {name for row in rows_received for name in row.rules}
    assert rules == {"off-at-the-end"}


def test_plan_that_kills_its_workers_gets_an_error_row(backend: MakeBackend, home: Path) -> None:
    settings, items = make_plans(home, 6)

    def deadly_auditor(settings: Settings) -> RowAuditor:
        class Deadly(RowAuditor):
            def audit_item(self, item: Item) -> AuditedRow:
                if item.id == "p2":
                    os.kill(os.getpid(), signal.SIGKILL)
                if item.id == "p4":
                    raise RuntimeError("a bug")
                return super().audit_item(item)

        return Deadly(settings)

    with Pool(backend(settings, deadly_auditor), 2, RowAuditor(settings).failed_row) as pool:
        numbered_rows = [(row.number, json.loads(row.line)) for row in pool.audit([items[:3], items[3:]])]
    assert sorted(number for number, _ in numbered_rows) == list(range(6))
    rows = dict(numbered_rows)
    assert rows[2]["diagnostics"][0]["message"].endswith(", 2 times")
    assert "RuntimeError" in rows[4]["diagnostics"][0]["message"]
    assert [rows[number]["exit_code"] for number in (2, 4)] == [4, 4]
    assert [rows[number]["headline"] for number in (0, 1, 3, 5)] == ["SAFE", "UNSAFE", "INVALID", "UNSAFE"]


class ScriptedBackend(WorkerBackend):
    """Workers that end after a given number of rows; None: they do not end."""

    sends_each_row = False

    def __init__(self, settings: Settings, rows_before_end: list[int | None], becomes_ready: bool = True) -> None:
        """``becomes_ready``: whether workers become ready."""
        self.auditor = RowAuditor(settings)
        self.rows_before_end = deque(rows_before_end)
        self.becomes_ready = becomes_ready
        self.n_started = 0
        self.chunks: list[tuple[list[int], bool]] = []
        self.rows_left: dict[Worker, int | None] = {}
        self.max_items = 0

    def __enter__(self) -> ScriptedBackend:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start_worker(self) -> Worker:
        self.n_started += 1
        worker = Worker()
        self.rows_left[worker] = self.rows_before_end.popleft() if self.rows_before_end else None
        return worker

    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        self.chunks.append(([item.number for item in chunk], careful))

    def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
        assert workers, "waited for events without workers"
        self.max_items = max(self.max_items, sum(len(worker.chunk) for worker in workers))
        for worker in workers:
            if not worker.ready:
                yield WorkerEvent(worker, ended=None if self.becomes_ready else "by ModuleNotFoundError")
            elif self.rows_left[worker] == 0:
                yield WorkerEvent(worker, ended="as planned")
            else:
                rows_left = self.rows_left[worker]
                count = 1 if worker.careful else 3 if rows_left is None else rows_left
                rows = tuple([self.auditor.audit_item(item) for item in list(worker.chunk)[:count]])
                self.rows_left[worker] = None if rows_left is None else rows_left - len(rows)
                yield WorkerEvent(worker, rows)


@pytest.fixture
def twelve_plans(home: Path) -> tuple[Settings, list[Item]]:
    return make_plans(home, 12)


def test_rows_of_a_lost_worker_are_not_audited_again(twelve_plans: tuple[Settings, list[Item]]) -> None:
    settings, items = twelve_plans
    backend = ScriptedBackend(settings, [4, None])
    with Pool(backend, 1, RowAuditor(settings).failed_row) as pool:
        numbers = [row.number for row in pool.audit([items[:6], items[6:]])]
    assert sorted(numbers) == list(range(12))
    assert backend.chunks == [([0, 1, 2, 3, 4, 5], False), ([6, 7, 8, 9, 10, 11], False), ([4, 5], True)]


def test_plan_is_abandoned_after_two_careful_workers(twelve_plans: tuple[Settings, list[Item]]) -> None:
    """The first loss is not the plan's fault: its worker had rows that were not sent, and machines also end."""
    settings, items = twelve_plans
    backend = ScriptedBackend(settings, [0, 0, 0, None])
    with Pool(backend, 1, RowAuditor(settings).failed_row) as pool:
        rows = {row.number: json.loads(row.line) for row in pool.audit([items[:3]])}
    assert [row["exit_code"] for row in rows.values()].count(4) == 1
    assert rows[0]["diagnostics"][0]["message"].endswith("ended as planned, 2 times")
    assert backend.chunks == [([0, 1, 2], False), ([0, 1, 2], True), ([0, 1, 2], True), ([1, 2], True)]


def test_each_worker_has_at_most_one_chunk(twelve_plans: tuple[Settings, list[Item]]) -> None:
    settings, items = twelve_plans
    requested = []

    def chunks() -> Iterator[list[Item]]:
        for item in items:
            requested.append(item.number)
            yield [item]

    backend = ScriptedBackend(settings, [])
    with Pool(backend, 3, RowAuditor(settings).failed_row) as pool:
        for number, _ in enumerate(pool.audit(chunks()), 1):
            assert len(requested) <= number + 4  # three chunks in work, and the next one prepared
    assert backend.max_items <= 3
    assert backend.n_started == 3


def test_workers_that_do_not_start_end_the_run(twelve_plans: tuple[Settings, list[Item]]) -> None:
    settings, items = twelve_plans
    backend = ScriptedBackend(settings, [], becomes_ready=False)
    message = "workers end before they start auditing: by ModuleNotFoundError"
    with Pool(backend, 2, RowAuditor(settings).failed_row) as pool, pytest.raises(BadRun, match=message):
        list(pool.audit([items]))
    assert backend.n_started <= 4


def test_a_lost_backend_is_reported_and_the_run_can_be_resumed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(ScriptedBackend):
        def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
            if any(worker.chunk for worker in workers) and len(self.chunks) > 1:
                raise LostBackend("Ray ended: its driver ended with the exit code 1")
            yield from super().wait_for_events(workers)

    write_table(home / "plans.jsonl", 40)
    assert run_audit(home, "plans.jsonl", "--run", "undisturbed").returncode == 2
    with monkeypatch.context() as patch:
        patch.setattr(batch, "_worker_backend", lambda settings, options: Lost(settings, []))
        lost = run_audit(home, "plans.jsonl", "--run", "run", "--jobs", "1")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert lost.stderr == (
        "error[SC643]: the run in run is incomplete: 10 of 40 plans are audited; "
        "Ray ended: its driver ended with the exit code 1\n"
        "  = help: to continue, run the same command with --resume run instead of --run\n"
    )
    assert len(list(read_run(home / "run").rows())) == 10
    assert run_audit(home, "plans.jsonl", "--resume", "run").returncode == 2
    rows = [
        [row_without_time(line) for line in (home / name / "results.jsonl").read_bytes().splitlines()]
        for name in ("undisturbed", "run")
    ]
    assert len(rows[0]) == 40 and rows[0] == rows[1]
