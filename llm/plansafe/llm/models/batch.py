"""Send many requests to one model: several at once, each once, with answers stored as they arrive, and resumable."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.request import Request, address, canonical

_GRACE = 5.0
"""Seconds that calls under way have to finish, so that they are not lost, where a run is interrupted."""
_TURN = 0.2


class Failure(NamedTuple):
    """A request without an answer, and why. It is asked again the next time."""

    diagnostic: Diagnostic


class Progress(NamedTuple):
    """How far a batch is.

    ``stored`` answers came from the cache; ``tokens`` counts the tokens read and written for the other answers.
    """

    total: int
    done: int = 0
    stored: int = 0
    failed: int = 0
    tokens: int = 0


Watch = Callable[[Progress], None]


def ask(model: Model, request: Request, cache: Cache | None = None) -> Answer:
    """Answer one request, from the cache where it is there. Raises :class:`ModelError`."""
    used_cache = cache if model.keeps else None
    cached_answer = used_cache.get(request, model.identity) if used_cache is not None else None
    if cached_answer is not None:
        return cached_answer
    answer = model.answer(request)
    if used_cache is not None:
        used_cache.put(request, model.identity, answer)
    return answer


def ask_all(
    model: Model, requests: Sequence[Request], cache: Cache | None = None, watch: Watch | None = None
) -> list[Answer | Failure]:
    """The answers in the order of the requests. See :func:`ask_each`."""
    answers: dict[int, Answer | Failure] = dict(ask_each(model, requests, cache, watch))
    return [answers[index] for index in range(len(requests))]


def ask_each(
    model: Model, requests: Sequence[Request], cache: Cache | None = None, watch: Watch | None = None
) -> Iterator[tuple[int, Answer | Failure]]:
    """Each request's number with its answer, as they come: those that are kept first.

    Equal requests are sent once. ``model.connections`` calls run at a time. Where one fails for a reason that
    holds for all, the others fail for it without being made. An interrupt, or giving up the iterator, lets calls under
    way finish for some seconds, keeps their answers, and raises; the same call resumes it.
    """
    used_cache = cache if model.keeps else None
    indices_by_key: dict[str, list[int]] = {}
    for index, request in enumerate(requests):
        indices_by_key.setdefault(_sameness(model, request), []).append(index)
    progress = Progress(len(requests))
    missing: list[list[int]] = []
    for indices in indices_by_key.values():
        cached_answer = used_cache.get(requests[indices[0]], model.identity) if used_cache is not None else None
        if cached_answer is None:
            missing.append(indices)
            continue
        progress = progress._replace(done=progress.done + len(indices), stored=progress.stored + len(indices))
        _show(watch, progress)
        for index in indices:
            yield index, cached_answer
    if not missing:
        return
    crew = _Crew(model, used_cache, requests, missing)
    try:
        for indices, outcome in crew.outcomes():
            progress = _after(progress, indices, outcome)
            _show(watch, progress)
            for index in indices:
                yield index, outcome
    finally:
        crew.stop()


def _sameness(model: Model, request: Request) -> str:
    """Requests with the same value have the same answer; a situation is looked at by mocks and recordings alone."""
    situation = request.situation
    if model.keeps or situation is None:
        return address(request)
    return canonical([address(request), situation.task, situation.taken, situation.legal])


def _show(watch: Watch | None, progress: Progress) -> None:
    if watch is not None:
        watch(progress)


def _after(progress: Progress, indices: list[int], outcome: Answer | Failure) -> Progress:
    done = progress._replace(done=progress.done + len(indices))
    if isinstance(outcome, Failure):
        return done._replace(failed=done.failed + len(indices))
    return done._replace(tokens=done.tokens + (outcome.prompt_tokens or 0) + (outcome.completion_tokens or 0))


class _Crew:
    """Threads that make the calls. They are daemons: a call that hangs must not hold up the end of the process."""

    def __init__(self, model: Model, cache: Cache | None, requests: Sequence[Request], work: list[list[int]]) -> None:
        self._model = model
        self._cache = cache
        self._requests = requests
        self._work: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for indices in work:
            self._work.put(indices)
        self._left = len(work)
        self._out: queue.SimpleQueue[tuple[list[int], Answer | Failure | BaseException]] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._fatal: Failure | None = None
        size = max(1, min(model.connections, len(work)))
        self._threads = [threading.Thread(target=self._labour, daemon=True) for _ in range(size)]
        for thread in self._threads:
            thread.start()

    def outcomes(self) -> Iterator[tuple[list[int], Answer | Failure]]:
        """The result of each call. Raises other errors than failures of the model: a bug."""
        while self._left:
            try:
                indices, outcome = self._out.get(timeout=_TURN)  # without a timeout no interrupt gets through
            except queue.Empty:
                continue
            self._left -= 1
            if isinstance(outcome, BaseException):
                raise outcome
            yield indices, outcome

    def stop(self) -> None:
        """Make no further calls; wait for those under way, a while."""
        self._stopped.set()
        if not self._left:
            return
        self._model.cancel()
        end = time.monotonic() + _GRACE
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))

    def _labour(self) -> None:
        while not self._stopped.is_set():
            try:
                indices = self._work.get_nowait()
            except queue.Empty:
                return
            self._out.put((indices, self._outcome(self._requests[indices[0]])))

    def _outcome(self, request: Request) -> Answer | Failure | BaseException:
        if self._fatal is not None:
            return self._fatal
        try:
            answer = self._model.answer(request)
            if self._cache is not None:
                self._cache.put(request, self._model.identity, answer)
            return answer
        except ModelError as error:
            failure = Failure(error.diagnostic)
            if error.fatal:
                self._fatal = failure
            return failure
        except Exception as error:  # handed to the thread that asked
            return error
