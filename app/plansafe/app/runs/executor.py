"""Distribute the chunks of a run among workers, so that each plan is audited exactly once.

A worker backend starts processes of this machine (:mod:`plansafe.app.runs.processes`) or actors of a Ray cluster
(:mod:`plansafe.app.runs.cluster`), sends them chunks, and reports their rows and their ends. :class:`Pool` decides
which worker gets which chunk. If a worker ends, the plans of its chunk without a row go to another worker, which sends
each row immediately. If that worker also ends, the plan that it was auditing is therefore known. A plan that has ended
two such workers gets a row with an error.

Memory holds one chunk for each worker, and the rows of one event.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from types import TracebackType
from typing import NamedTuple

from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.run_reader import BadRun

_MAX_TRIES = 2
"""Number of workers that may end during a plan before the plan gets an error row."""
_MAX_FAILED_STARTS = 3
"""Number of consecutive workers that may end before they are ready."""


class LostBackend(Exception):
    """The source of workers has ended or does not answer; rows until then are kept. The text is the reason."""


class Worker:
    """A worker: whether it is ready, its current chunk, and the id of its process."""

    def __init__(self) -> None:
        self.ready = False
        self.chunk: deque[Item] = deque()
        self.careful = False
        self.pid: int | None = None


class WorkerEvent(NamedTuple):
    """An event of a worker: rows of the next plans of its chunk, its end with the cause, or else that it is ready."""

    worker: Worker
    rows: tuple[AuditedRow, ...] = ()
    ended: str | None = None


class WorkerBackend(ABC):
    """A source of workers. A context manager that ends all its workers on exit."""

    sends_each_row: bool
    """Whether workers always send each row immediately, not only if ``careful``."""

    @abstractmethod
    def __enter__(self) -> WorkerBackend:
        """Start the backend. Raises :class:`BadRun` if it cannot start."""

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the backend and all its workers."""

    @abstractmethod
    def start_worker(self) -> Worker:
        """Start a worker. It may become ready later."""

    @abstractmethod
    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        """Send a chunk to a ready worker without one. ``careful``: the worker sends each row immediately."""

    @abstractmethod
    def wait_for_events(self, workers: Collection[Worker]) -> Iterable[WorkerEvent]:
        """Wait for events of busy workers; it may also return none. Raises :class:`LostBackend`.

        Raises :class:`BadRun` if no worker can ever work.
        """


class _Chunk(NamedTuple):
    items: list[Item]
    careful: bool = False


class Pool:
    """The workers of a run. A context manager.

    ``failed_row`` makes the row of a plan whose audit ended its worker several times; the text says how it ended.
    """

    def __init__(self, backend: WorkerBackend, jobs: int, failed_row: Callable[[Item, str], AuditedRow]) -> None:
        self.workers: list[Worker] = []
        self._backend = backend
        self._jobs = jobs
        self._failed_row = failed_row
        self._tries: dict[int, int] = {}
        self._failed_starts = 0

    def __enter__(self) -> Pool:
        self._backend.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._backend.__exit__(kind, value, trace)

    def audit(self, chunks: Iterable[list[Item]]) -> Iterator[AuditedRow]:
        """Audit chunks. Yields one row for each plan, in the order of completion."""
        left = (_Chunk(items) for items in chunks if items)
        again: deque[_Chunk] = deque()
        waiting: _Chunk | None = None
        while True:
            while waiting := waiting or (again.popleft() if again else next(left, None)):
                idle = next((worker for worker in self.workers if worker.ready and not worker.chunk), None)
                if idle is not None:
                    idle.chunk.extend(waiting.items)
                    idle.careful = waiting.careful or self._backend.sends_each_row
                    self._backend.send_chunk(idle, waiting.items, idle.careful)
                    waiting = None
                elif len(self.workers) < self._jobs:
                    self.workers.append(self._backend.start_worker())
                else:
                    break
            if waiting is None and not any([worker.chunk for worker in self.workers]):
                return
            for event in self._backend.wait_for_events(
                [worker for worker in self.workers if worker.chunk or not worker.ready]
            ):
                yield from self._handle_event(event, again)

    def _handle_event(self, event: WorkerEvent, again: deque[_Chunk]) -> Iterator[AuditedRow]:
        worker = event.worker
        if event.ended is not None:
            yield from self._handle_lost_worker(worker, event.ended, again)
            return
        worker.ready = True
        self._failed_starts = 0
        for row in event.rows:
            first = worker.chunk.popleft()
            if first.number != row.number:
                raise RuntimeError("a worker must audit its plans in order")
            self._tries.pop(row.number, None)
            yield row

    def _handle_lost_worker(self, worker: Worker, how: str, again: deque[_Chunk]) -> Iterator[AuditedRow]:
        """Requeue the remaining plans of a worker that has ended."""
        self.workers.remove(worker)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MAX_FAILED_STARTS:
                raise BadRun(
                    f"workers end before they start auditing: {how}",
                    "install safecheck and its packages on all machines",
                )
        if not worker.chunk:
            return
        first, *later_items = worker.chunk
        if worker.careful:
            self._tries[first.number] = self._tries.get(first.number, 0) + 1
        if self._tries.get(first.number, 0) < _MAX_TRIES:
            again.append(_Chunk([first, *later_items], True))
            return
        del self._tries[first.number]
        again.extend([_Chunk(later_items, True)] if later_items else ())
        yield self._failed_row(first, f"{how}, {_MAX_TRIES} times")
