"""Processes that judge chunks of plans. What one of them judged is sent at once, so that little is lost with it.

A process that ends in the middle (out of memory, a crash of a solver) is replaced: its plans go on in another, and the
plan that it ended with is tried once more before its row says what happened.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from plansafe.app.checking import Settings
from plansafe.app.runs.items import Item
from plansafe.app.runs.judging import Judge, Judged

_TRIES = 2
"""Processes that may end with a plan before it is given up."""


class _Worker(NamedTuple):
    process: Any
    pipe: Connection
    chunk: deque[Item]


class Pool:
    """Some processes. A context manager, whose end is theirs."""

    def __init__(self, jobs: int, settings: Settings) -> None:
        # Forked processes share what is loaded; elsewhere they load it anew.
        how = "fork" if sys.platform == "linux" else "spawn"
        self._context: Any = multiprocessing.get_context(how)
        self._forks = how == "fork"
        self._jobs = jobs
        self._settings = settings
        self._workers: list[_Worker] = []
        self._tries: dict[int, int] = {}

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.pipe.close()

    def judged(self, chunks: Iterable[list[Item]]) -> Iterator[Judged]:
        """Judge chunks; plans come back as they are done, in no order."""
        left = iter(chunks)
        again: deque[list[Item]] = deque()
        while True:
            while len([w for w in self._workers if w.chunk]) < self._jobs:
                chunk = again.popleft() if again else next(left, None)
                if chunk is None:
                    break
                if chunk:
                    self._give(chunk)
            busy = {worker.pipe: worker for worker in self._workers if worker.chunk}
            if not busy:
                return
            for ready in wait(list(busy)):
                worker = busy[ready]  # type: ignore[index] # wait returns what it was given
                try:
                    done: Judged = worker.pipe.recv()
                except (EOFError, OSError):
                    yield from self._replaced(worker, again)
                    continue
                worker.chunk.popleft()
                yield done

    def _give(self, chunk: list[Item]) -> None:
        idle = next((worker for worker in self._workers if not worker.chunk), None)
        worker = idle or self._started()
        worker.chunk.extend(chunk)
        with suppress(OSError):  # it has ended: reading from it says so
            worker.pipe.send(chunk)

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        others = [worker.pipe for worker in self._workers] if self._forks else []
        process = self._context.Process(
            target=_work, args=(theirs, [*others, ours] if self._forks else [], self._settings), daemon=True
        )
        process.start()
        theirs.close()
        worker = _Worker(process, ours, deque())
        self._workers.append(worker)
        return worker

    def _replaced(self, worker: _Worker, again: deque[list[Item]]) -> Iterator[Judged]:
        """What is left of a chunk whose process has ended goes to another."""
        self._workers.remove(worker)
        worker.process.join()
        worker.pipe.close()
        first, *rest = worker.chunk
        tries = self._tries[first.number] = self._tries.get(first.number, 0) + 1
        if tries < _TRIES:
            again.append([first, *rest])
            return
        again.append(rest)
        yield Judge(self._settings).died(first, f"{_ending(worker.process.exitcode)}, {tries} times")


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"by the signal {signal.Signals(-code).name}"
        except ValueError:
            return f"by the signal {-code}"
    return f"with the exit code {code}"


def _work(pipe: Connection, others: list[Connection], settings: Settings) -> None:
    """The life of a process: chunks in, rows out, until nobody is there who gives any."""
    for other in others:  # inherited; an open end here would hide from the others that their giver is gone
        other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    judge = Judge(settings)
    try:
        while True:
            for item in pipe.recv():
                try:
                    done = judge.one(item)
                except Exception as error:  # a bug outside of what the service itself catches: one plan's row
                    done = judge.died(item, f"with {type(error).__name__}")
                pipe.send(done)
    except (EOFError, OSError):
        os._exit(0)
