"""Workers on a Ray cluster (extra ``ray``): actors that audit chunks and send rows about twice a second.

Ray's library runs in a process of its own (:mod:`plansafe.app.runs.ray_driver`). If that process ends or does not
answer in time, the backend is lost (:class:`~plansafe.app.runs.executor.LostBackend`); the rows until then are kept.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from multiprocessing.connection import wait
from pathlib import Path
from types import TracebackType
from typing import Any

from plansafe.app.runs.executor import LostBackend, Worker, WorkerBackend, WorkerEvent
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.processes import describe_exit
from plansafe.app.runs.ray_driver import (
    LOG,
    SHUTDOWN_SECONDS,
    ActorEnd,
    ActorEvent,
    ActorStart,
    Answer,
    AwaitEvents,
    Failure,
    RayOptions,
    Request,
    SendChunk,
    StartWorker,
    last_line,
    run_driver,
)
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings
from plansafe.app.system.process import remark

CONNECT_SECONDS = 5.0
"""Time limit for a connection to the address."""
JOIN_SECONDS = 60.0
"""Time limit for an answer of Ray at the address. Ray itself would try for some minutes."""
START_SECONDS = 120.0
"""Time limit for a start of Ray on this machine."""
MAX_STARTS = 3
"""Ray gives its own processes as little as 15 s to start. A busy machine needs longer."""
WORKER_SECONDS = 300.0
"""Time limit for the first worker on this machine."""
ANSWER_SECONDS = 120.0
"""Time limit for an answer of the driver. Ray ends the driver 60 s after the loss of its control service."""
_EXIT_SECONDS = 5.0
_REMARK_SECONDS = 30.0
_MAX_SOCKET_FOLDER = 30
"""Maximum length of the folder of Ray's sockets: a socket's path has at most 107 characters."""
_ADDRESS_ADVICE = "give HOST:PORT of `ray start --head`; without --address a local cluster is started"


class _Actor(Worker):
    """An actor, which the driver knows by its number."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _DriverProcess:
    """The process that talks to Ray, and the folder of its temporary files."""

    def __init__(self, options: RayOptions) -> None:
        self._folder = tempfile.mkdtemp(prefix="safecheck-")
        ray_folder = self._folder if len(self._folder) <= _MAX_SOCKET_FOLDER else None
        options = options._replace(folder=self._folder, ray_folder=ray_folder)
        forks = sys.platform == "linux"
        context: Any = multiprocessing.get_context("fork" if forks else "spawn")
        self._pipe, other_end = context.Pipe()
        self._process = context.Process(
            target=run_driver, args=(other_end, [self._pipe] if forks else [], options), daemon=True
        )
        self._process.start()
        self._has_ended = False
        other_end.close()

    def receive(self, seconds: float) -> Answer:
        """The answer to the last request. Raises :class:`LostBackend` if there is none within the time limit."""
        try:
            if not self._pipe.poll(seconds):
                self._kill(0)
                raise LostBackend(f"Ray did not answer within {seconds:g} s")
            answer: Answer = self._pipe.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        return answer

    def request(self, request: Request) -> list[ActorEvent]:
        """Send a request and return the answer. Raises :class:`LostBackend`."""
        try:
            self._pipe.send(request)
        except OSError:
            raise self._lost() from None
        answer = self.receive(ANSWER_SECONDS)
        if isinstance(answer, Failure):
            raise LostBackend(f"Ray cannot continue: {answer.message}")
        return answer

    def log(self) -> str:
        """The messages of Ray's library."""
        try:
            return Path(self._folder, LOG).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def end(self) -> None:
        """End the driver and a local Ray."""
        self._pipe.close()  # the driver ends when it notices this
        self._kill(SHUTDOWN_SECONDS)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _lost(self) -> LostBackend:
        self._kill(_EXIT_SECONDS)
        line = last_line(self.log())
        return LostBackend(
            f"Ray ended: its driver ended {describe_exit(self._process.exitcode)}" + (f": {line}" if line else "")
        )

    def _kill(self, patience: float) -> None:
        """Wait for the end of the driver, and kill the rest of its process group."""
        if self._has_ended:
            return
        self._has_ended = True
        wait([self._process.sentinel], patience)
        if sys.platform != "win32":
            with suppress(OSError):
                # A process keeps its id until join(), so this is the group of the driver.
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()


class Cluster(WorkerBackend):
    """Actors of the Ray cluster at an address, or of a local cluster that ends with the run."""

    sends_each_row = False

    def __init__(
        self,
        settings: Settings,
        jobs: int,
        address: str | None = None,
        memory: int = 0,
        make_auditor: Callable[[Settings], RowAuditor] = RowAuditor,
    ) -> None:
        self._options = RayOptions(settings, make_auditor, jobs, address, memory)
        self._address = address
        self._stack = ExitStack()
        self._workers: dict[int, _Actor] = {}
        self._started = 0
        self._last_event = 0.0
        self._has_warned = False

    def __enter__(self) -> Cluster:
        if importlib.util.find_spec("ray") is None:
            from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - only if a package is missing

            raise BadRun("--executor ray needs the package ray (extra `ray`)", how_to_install("ray"))
        if self._address is not None:
            _check_address(self._address)
        for remaining_starts in reversed(range(MAX_STARTS if self._address is None else 1)):
            with ExitStack() as stack:
                self._driver = _DriverProcess(self._options)
                stack.callback(self._driver.end)
                problem = self._start_problem()
                if problem is None:
                    self._stack = stack.pop_all()
                    break
                if not remaining_starts:
                    raise problem
        self._last_event = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start_problem(self) -> BadRun | None:
        """Wait until the driver has started or joined Ray, in bounded time. Returns the reason if it has not."""
        seconds = START_SECONDS if self._address is None else JOIN_SECONDS
        try:
            answer = self._driver.receive(seconds)
            if not isinstance(answer, Failure):
                return None
            reason = answer.message
        except LostBackend as lost:
            reason = str(lost)
        if self._address is None:
            return BadRun(f"Ray does not start: {reason}", "leave out --executor ray to audit without Ray")
        if "Unauthenticated" in reason + self._driver.log():
            advice = "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token of the cluster"
            return BadRun(f"the cluster at {self._address!a} requires another token", advice)
        return BadRun(f"cannot join the cluster at {self._address!a}: {reason}", _ADDRESS_ADVICE)

    def start_worker(self) -> Worker:
        """Request an actor, which the cluster starts on a free processor."""
        self._started += 1
        worker = self._workers[self._started] = _Actor(self._started)
        self._driver.request(StartWorker(worker.number))
        return worker

    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        """Send a chunk to an actor."""
        assert isinstance(worker, _Actor)
        self._driver.request(SendChunk(worker.number, chunk, careful))

    def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
        """Wait for the first answers, or for a short time."""
        events = self._driver.request(AwaitEvents())
        now = time.monotonic()
        if events:
            self._last_event = now
        elif not any([worker.ready for worker in workers]):
            self._check_start(now - self._last_event)
        for event in events:
            yield self._worker_event(self._workers[event.number], event.content)

    def _check_start(self, seconds: float) -> None:
        """Report that no worker has started yet. A local cluster has a processor for each worker."""
        if self._address is None and seconds > WORKER_SECONDS:
            raise LostBackend(f"Ray started no worker within {WORKER_SECONDS:g} s")
        if seconds > _REMARK_SECONDS and not self._has_warned:
            self._has_warned = True
            remark(("waiting for a free processor of the cluster ..",))

    def _worker_event(self, worker: _Actor, content: ActorStart | tuple[AuditedRow, ...] | ActorEnd) -> WorkerEvent:
        match content:
            case ActorEnd(error, message):
                del self._workers[worker.number]
                return WorkerEvent(worker, ended=f"by {error}" if worker.ready else message)
            case ActorStart(pid, node, problem):
                if problem is not None:
                    advice = "each machine needs the same safecheck, and the same files in the same folders"
                    raise BadRun(f"a worker on {node!a} cannot work: {problem}", advice)
                worker.pid = pid
                return WorkerEvent(worker)
            case rows:
                return WorkerEvent(worker, rows)


def _check_address(address: str) -> None:
    """Check that a server listens at the address. Raises :class:`BadRun`."""
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if "/" in address or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise BadRun(f"--address takes HOST:PORT, not {address!a}", _ADDRESS_ADVICE)
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
        raise BadRun(f"no server answers at {address!a}: {reason.lower()}", _ADDRESS_ADVICE) from None
