"""Worker processes on this machine. A worker sends each row immediately."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from plansafe.app.runs.executor import Worker, WorkerBackend, WorkerEvent
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.session.model import Settings


class _Process(Worker):
    """A process, and the parent's end of its pipe. It is always ready: a chunk waits in the pipe."""

    def __init__(self, process: Any, pipe: Connection) -> None:
        super().__init__()
        self.process, self.pipe, self.pid, self.ready = process, pipe, process.pid, True


class Processes(WorkerBackend):
    """Worker processes: forked on Linux, so that they share loaded modules, and spawned elsewhere."""

    sends_each_row = True

    def __init__(self, settings: Settings, make_auditor: Callable[[Settings], RowAuditor] = RowAuditor) -> None:
        how = "fork" if sys.platform == "linux" else "spawn"
        self._context: Any = multiprocessing.get_context(how)
        self._forks = how == "fork"
        self._settings, self._make_auditor = settings, make_auditor
        self._workers: list[_Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()

    def start_worker(self) -> Worker:
        """Start a process."""
        own_end, worker_end = self._context.Pipe()
        other_pipes = [worker.pipe for worker in self._workers] if self._forks else []
        inherited = [*other_pipes, own_end] if self._forks else []
        process = self._context.Process(
            target=_run_worker, args=(worker_end, inherited, self._make_auditor, self._settings), daemon=True
        )
        process.start()
        worker_end.close()
        worker = _Process(process, own_end)
        self._workers.append(worker)
        return worker

    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:  # noqa: ARG002 - each row is sent immediately
        """Send a chunk."""
        assert isinstance(worker, _Process)
        with suppress(OSError):  # the process has ended; recv() will report it
            worker.pipe.send(chunk)

    def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
        """Wait for rows, and return one of each process that has one."""
        pipes = {worker.pipe: worker for worker in workers if isinstance(worker, _Process)}
        for ready in wait(list(pipes)):
            worker = pipes[ready]  # type: ignore[index] # wait() returns elements of its argument
            try:
                row: AuditedRow = worker.pipe.recv()
            except (EOFError, OSError):
                self._workers.remove(worker)
                worker.process.join()
                worker.pipe.close()
                yield WorkerEvent(worker, ended=describe_exit(worker.process.exitcode))
            else:
                yield WorkerEvent(worker, (row,))


def describe_exit(code: int | None) -> str:
    """How a process ended: by which signal, or with which exit code."""
    if code is not None and code < 0:
        try:
            return f"by the signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by the signal {-code}"
    return f"with the exit code {code}"


def _run_worker(
    pipe: Connection, inherited: list[Connection], make_auditor: Callable[[Settings], RowAuditor], settings: Settings
) -> None:
    """Receive chunks and send rows, until the parent has ended."""
    for connection in inherited:  # inherited; an open end here would hide from the others that their giver is gone
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    auditor = make_auditor(settings)
    try:
        while True:
            for item in pipe.recv():
                pipe.send(auditor.audit_item_safely(item))
    except (EOFError, OSError):
        os._exit(0)
