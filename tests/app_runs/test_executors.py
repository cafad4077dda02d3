"""Who judges a run, in both kinds: each plan once, whatever becomes of a worker. Ray's own are in `test_ray.py`."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from runs_house import call, table

from plansafe.app.runs import batch, read_run
from plansafe.app.runs.executor import LostBackend, Pool, Worker, WorkerBackend, WorkerEvent
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.items import list_items
from plansafe.app.runs.processes import Processes
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings

Makes = Callable[[Settings, Callable[[Settings], RowAuditor]], WorkerBackend]


@pytest.fixture(params=["processes", "ray"])
def crew(request: pytest.FixtureRequest) -> Makes:
    if request.param == "processes":
        return Processes
    address = request.getfixturevalue("ray_address")
    from plansafe.app.runs.cluster import Cluster

    return lambda settings, judge: Cluster(settings, 2, address, 0, judge)


def plans(home: Path, count: int) -> tuple[Settings, list[Item]]:
    table(home / "plans.jsonl", count)
    settings = Settings(
        domain=str(home / "domain.pddl"), specs=(str(home / "house.safe"),), problem=str(home / "rooms/{room}.pddl")
    )
    return settings, list(list_items([str(home / "plans.jsonl")], settings, None, None))


def timeless(line: bytes) -> object:
    return {key: value for key, value in json.loads(line).items() if key != "seconds"}


def test_a_worker_is_killed_in_the_middle_and_each_plan_is_judged_once(crew: Makes, home: Path) -> None:
    settings, items = plans(home, 80)

    def slowly(settings: Settings) -> RowAuditor:
        class Slow(RowAuditor):
            def audit_item(self, item: Item) -> AuditedRow:
                time.sleep(0.05)
                return super().audit_item(item)

        return Slow(settings)

    found: list[AuditedRow] = []
    killed = 0
    with Pool(crew(settings, slowly), 2, RowAuditor(settings).failed_row) as pool:
        for judged in pool.audit([items[start : start + 20] for start in range(0, 80, 20)]):
            found.append(judged)
            busy = [worker for worker in pool.workers if worker.pid is not None and worker.chunk]
            if killed < 2 and len(found) > 10 * (killed + 1) and busy:
                os.kill(busy[0].pid or 0, signal.SIGKILL)
                killed += 1
    assert killed == 2
    assert sorted(judged.number for judged in found) == list(range(80))
    alone = RowAuditor(settings)
    rows = {judged.number: timeless(judged.line) for judged in found}
    assert [rows[number] for number in range(80)] == [timeless(alone.audit_item(item).line) for item in items]
    told = {name for judged in found for name in judged.rules}
    assert told == {"off-at-the-end"}


def test_a_plan_that_ends_its_workers_gets_a_row_that_says_so(crew: Makes, home: Path) -> None:
    settings, items = plans(home, 6)

    def deadly(settings: Settings) -> RowAuditor:
        class Deadly(RowAuditor):
            def audit_item(self, item: Item) -> AuditedRow:
                if item.id == "p2":
                    os.kill(os.getpid(), signal.SIGKILL)
                if item.id == "p4":
                    raise RuntimeError("a bug")
                return super().audit_item(item)

        return Deadly(settings)

    with Pool(crew(settings, deadly), 2, RowAuditor(settings).failed_row) as pool:
        found = [(judged.number, json.loads(judged.line)) for judged in pool.audit([items[:3], items[3:]])]
    assert sorted(number for number, _ in found) == list(range(6))
    rows = dict(found)
    assert rows[2]["diagnostics"][0]["message"].endswith(", 2 times")
    assert "RuntimeError" in rows[4]["diagnostics"][0]["message"]
    assert [rows[number]["exit_code"] for number in (2, 4)] == [4, 4]
    assert [rows[number]["headline"] for number in (0, 1, 3, 5)] == ["SAFE", "UNSAFE", "INVALID", "UNSAFE"]


class Script(WorkerBackend):
    """Workers that do what is written for them: a number of rows that they send before they end; none: they go on."""

    sends_each_row = False

    def __init__(self, settings: Settings, lives: list[int | None], begins: bool = True) -> None:
        """``begins``: whether a worker is ever ready."""
        self.judge = RowAuditor(settings)
        self.lives = deque(lives)
        self.begins = begins
        self.hired = 0
        self.given: list[tuple[list[int], bool]] = []
        self.left: dict[Worker, int | None] = {}
        self.most = 0

    def __enter__(self) -> Script:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start_worker(self) -> Worker:
        self.hired += 1
        worker = Worker()
        self.left[worker] = self.lives.popleft() if self.lives else None
        return worker

    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        self.given.append(([item.number for item in chunk], careful))

    def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
        assert workers, "nobody is waited for who has nothing to do"
        self.most = max(self.most, sum(len(worker.chunk) for worker in workers))
        for worker in workers:
            if not worker.ready:
                yield WorkerEvent(worker, ended=None if self.begins else "by ModuleNotFoundError")
            elif self.left[worker] == 0:
                yield WorkerEvent(worker, ended="as it is written")
            else:
                left = self.left[worker]
                most = 1 if worker.careful else 3 if left is None else left
                rows = tuple([self.judge.audit_item(item) for item in list(worker.chunk)[:most]])
                self.left[worker] = None if left is None else left - len(rows)
                yield WorkerEvent(worker, rows)


@pytest.fixture
def few(home: Path) -> tuple[Settings, list[Item]]:
    return plans(home, 12)


def test_what_a_lost_worker_told_is_not_judged_again(few: tuple[Settings, list[Item]]) -> None:
    settings, items = few
    crew = Script(settings, [4, None])
    with Pool(crew, 1, RowAuditor(settings).failed_row) as pool:
        found = [judged.number for judged in pool.audit([items[:6], items[6:]])]
    assert sorted(found) == list(range(12))
    assert crew.given == [([0, 1, 2, 3, 4, 5], False), ([6, 7, 8, 9, 10, 11], False), ([4, 5], True)]


def test_a_plan_is_given_up_after_two_workers_that_sent_each_row(few: tuple[Settings, list[Item]]) -> None:
    """The first loss says nothing of the plan: rows that were not sent yet are lost as well, and machines go."""
    settings, items = few
    crew = Script(settings, [0, 0, 0, None])
    with Pool(crew, 1, RowAuditor(settings).failed_row) as pool:
        found = {judged.number: json.loads(judged.line) for judged in pool.audit([items[:3]])}
    assert [row["exit_code"] for row in found.values()].count(4) == 1
    assert found[0]["diagnostics"][0]["message"].endswith("ended as it is written, 2 times")
    assert crew.given == [([0, 1, 2], False), ([0, 1, 2], True), ([0, 1, 2], True), ([1, 2], True)]


def test_no_more_than_a_chunk_for_each_worker_is_at_work(few: tuple[Settings, list[Item]]) -> None:
    settings, items = few
    taken = []

    def chunks() -> Iterator[list[Item]]:
        for item in items:
            taken.append(item.number)
            yield [item]

    crew = Script(settings, [])
    with Pool(crew, 3, RowAuditor(settings).failed_row) as pool:
        for number, _ in enumerate(pool.audit(chunks()), 1):
            assert len(taken) <= number + 4  # three at work, and the next one at hand
    assert crew.most <= 3
    assert crew.hired == 3


def test_workers_that_never_begin_end_the_run(few: tuple[Settings, list[Item]]) -> None:
    settings, items = few
    crew = Script(settings, [], begins=False)
    said = "workers end before they start auditing: by ModuleNotFoundError"
    with Pool(crew, 2, RowAuditor(settings).failed_row) as pool, pytest.raises(BadRun, match=said):
        list(pool.audit([items]))
    assert crew.hired <= 4


def test_a_lost_backend_is_reported_and_the_run_can_be_resumed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lost(Script):
        def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
            if any(worker.chunk for worker in workers) and len(self.given) > 1:
                raise LostBackend("Ray ended: its driver ended with the exit code 1")
            yield from super().wait_for_events(workers)

    table(home / "plans.jsonl", 40)
    assert call(home, "plans.jsonl", "--run", "undisturbed").returncode == 2
    with monkeypatch.context() as patch:
        patch.setattr(batch, "_worker_backend", lambda settings, options: Lost(settings, []))
        lost = call(home, "plans.jsonl", "--run", "run", "--jobs", "1")
    assert (lost.returncode, lost.stdout) == (2, "")
    assert lost.stderr == (
        "error[SC643]: the run in run is incomplete: 10 of 40 plans are audited; "
        "Ray ended: its driver ended with the exit code 1\n"
        "  = help: to continue, run the same command with --resume run instead of --run\n"
    )
    assert len(list(read_run(home / "run").rows())) == 10
    assert call(home, "plans.jsonl", "--resume", "run").returncode == 2
    rows = [
        [timeless(line) for line in (home / name / "results.jsonl").read_bytes().splitlines()]
        for name in ("undisturbed", "run")
    ]
    assert len(rows[0]) == 40 and rows[0] == rows[1]
