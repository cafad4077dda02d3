"""Who judges the chunks of a run: workers of some crew, and one way of giving them work that loses and repeats nothing.

A crew is processes of this machine (:mod:`plansafe.app.runs.processes`) or actors of a Ray cluster
(:mod:`plansafe.app.runs.cluster`). It starts workers, hands them chunks and says what they judged, or that one has
ended. All else is decided here, once: who gets what, and what becomes of the chunk of a worker that is gone. The plans
that it told nothing of go to another one. That one sends each row at once, so that, should it end as well, it is known
with which plan; a plan with which two such workers ended gets a row that says so.

No more is in memory than a chunk for each worker, and the rows that came at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from types import TracebackType
from typing import NamedTuple

from plansafe.app.runs.items import Item
from plansafe.app.runs.row_audit import Judge, Judged
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings

_TRIES = 2
"""Workers that may end with a plan before it is given up."""
_STILLBORN = 3
"""Workers one after the other that may end before they are ready."""


class Worker:
    """A worker: whether it can be given something, what it has at hand, and its process, for who looks from outside."""

    def __init__(self) -> None:
        self.ready = False
        self.chunk: deque[Item] = deque()
        self.careful = False
        self.pid: int | None = None


class News(NamedTuple):
    """What a worker said: it judged plans, the first of its chunk; it is ready (neither); or it ``ended`` somehow."""

    worker: Worker
    judged: tuple[Judged, ...] = ()
    ended: str | None = None


class Crew(ABC):
    """Where workers come from. A context manager, whose end is theirs."""

    prompt: bool
    """Whether every row is sent at once, not only where care is asked for."""

    @abstractmethod
    def __enter__(self) -> Crew:
        """Be there. Raises :class:`BadRun` where that cannot be."""

    @abstractmethod
    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, with all workers."""

    @abstractmethod
    def hire(self) -> Worker:
        """Start a worker. It may become ready later."""

    @abstractmethod
    def give(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        """Hand a chunk to a worker that is ready and has none. ``careful``: every row is to be sent at once."""

    @abstractmethod
    def news(self, workers: Collection[Worker]) -> Iterable[News]:
        """Wait for what workers that are not idle have to say. Raises :class:`BadRun` if none can ever work."""


class _Chunk(NamedTuple):
    items: list[Item]
    careful: bool = False


class Pool:
    """Some workers of a crew at the chunks of a run. A context manager."""

    def __init__(self, crew: Crew, jobs: int, settings: Settings) -> None:
        self.workers: list[Worker] = []
        self._crew = crew
        self._jobs = jobs
        self._settings = settings
        self._tries: dict[int, int] = {}
        self._stillborn = 0

    def __enter__(self) -> Pool:
        self._crew.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._crew.__exit__(kind, value, trace)

    def judged(self, chunks: Iterable[list[Item]]) -> Iterator[Judged]:
        """Judge chunks; each plan comes back once, as it is done, in no order."""
        left = (_Chunk(items) for items in chunks if items)
        again: deque[_Chunk] = deque()
        waiting: _Chunk | None = None
        while True:
            while waiting := waiting or (again.popleft() if again else next(left, None)):
                idle = next((worker for worker in self.workers if worker.ready and not worker.chunk), None)
                if idle is not None:
                    idle.chunk.extend(waiting.items)
                    idle.careful = waiting.careful or self._crew.prompt
                    self._crew.give(idle, waiting.items, idle.careful)
                    waiting = None
                elif len(self.workers) < self._jobs:
                    self.workers.append(self._crew.hire())
                else:
                    break
            if waiting is None and not any([worker.chunk for worker in self.workers]):
                return
            for news in self._crew.news([worker for worker in self.workers if worker.chunk or not worker.ready]):
                yield from self._heard(news, again)

    def _heard(self, news: News, again: deque[_Chunk]) -> Iterator[Judged]:
        worker = news.worker
        if news.ended is not None:
            yield from self._lost(worker, news.ended, again)
            return
        worker.ready = True
        self._stillborn = 0
        for judged in news.judged:
            first = worker.chunk.popleft()
            if first.number != judged.number:
                raise RuntimeError("a worker judges its plans in their order")
            self._tries.pop(judged.number, None)
            yield judged

    def _lost(self, worker: Worker, how: str, again: deque[_Chunk]) -> Iterator[Judged]:
        """What is left of the chunk of a worker that has ended goes to another."""
        self.workers.remove(worker)
        if not worker.ready:
            self._stillborn += 1
            if self._stillborn >= _STILLBORN:
                raise BadRun(f"workers end before they begin: {how}", "what they need is to be where they run")
        if not worker.chunk:
            return
        first, *rest = worker.chunk
        if worker.careful:
            self._tries[first.number] = self._tries.get(first.number, 0) + 1
        if self._tries.get(first.number, 0) < _TRIES:
            again.append(_Chunk([first, *rest], True))
            return
        del self._tries[first.number]
        again.extend([_Chunk(rest, True)] if rest else ())
        yield Judge(self._settings).died(first, f"{how}, {_TRIES} times")
