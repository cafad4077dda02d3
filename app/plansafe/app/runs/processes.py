"""Processes of this machine that judge chunks of plans. What one of them judged is sent at once."""

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

from plansafe.app.runs.executor import Crew, News, Worker
from plansafe.app.runs.items import Item
from plansafe.app.runs.row_audit import Judge, Judged
from plansafe.app.session.model import Settings


class _Process(Worker):
    """A process, and our end of the pipe to it. It is ready at once: what is sent waits in the pipe."""

    def __init__(self, process: Any, pipe: Connection) -> None:
        super().__init__()
        self.process, self.pipe, self.pid, self.ready = process, pipe, process.pid, True


class Processes(Crew):
    """Processes that are forked where that is usual: they share what is loaded; elsewhere they load it anew."""

    prompt = True

    def __init__(self, settings: Settings, judge: Callable[[Settings], Judge] = Judge) -> None:
        how = "fork" if sys.platform == "linux" else "spawn"
        self._context: Any = multiprocessing.get_context(how)
        self._forks = how == "fork"
        self._settings, self._judge = settings, judge
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

    def hire(self) -> Worker:
        """Start a process."""
        ours, theirs = self._context.Pipe()
        others = [worker.pipe for worker in self._workers] if self._forks else []
        inherited = [*others, ours] if self._forks else []
        process = self._context.Process(
            target=_work, args=(theirs, inherited, self._judge, self._settings), daemon=True
        )
        process.start()
        theirs.close()
        worker = _Process(process, ours)
        self._workers.append(worker)
        return worker

    def give(self, worker: Worker, chunk: list[Item], careful: bool) -> None:  # noqa: ARG002 - each row is sent at once
        """Send a chunk."""
        assert isinstance(worker, _Process)
        with suppress(OSError):  # it has ended: reading from it says so
            worker.pipe.send(chunk)

    def news(self, workers: Collection[Worker]) -> Iterator[News]:
        """A row of each process that has one."""
        pipes = {worker.pipe: worker for worker in workers if isinstance(worker, _Process)}
        for ready in wait(list(pipes)):
            worker = pipes[ready]  # type: ignore[index] # wait returns what it was given
            try:
                done: Judged = worker.pipe.recv()
            except (EOFError, OSError):
                self._workers.remove(worker)
                worker.process.join()
                worker.pipe.close()
                yield News(worker, ended=_ending(worker.process.exitcode))
            else:
                yield News(worker, (done,))


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"by the signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by the signal {-code}"
    return f"with the exit code {code}"


def _work(pipe: Connection, others: list[Connection], make: Callable[[Settings], Judge], settings: Settings) -> None:
    """The life of a process: chunks in, rows out, until nobody is there who gives any."""
    for other in others:  # inherited; an open end here would hide from the others that their giver is gone
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    judge = make(settings)
    try:
        while True:
            for item in pipe.recv():
                pipe.send(judge.surely(item))
    except (EOFError, OSError):
        os._exit(0)
