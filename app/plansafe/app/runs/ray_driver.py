"""The process that talks to Ray (Ray calls it the driver), and the code of the actors that audit chunks.

Ray's library ends its process without an exception when a process of Ray has died, and some of its calls wait without
a limit. Therefore it runs in a process of its own, which :class:`plansafe.app.runs.cluster.Cluster` supervises. The two
processes exchange objects of this program through a pipe: one :data:`Request` at a time, and one :data:`Answer` for
each request.

Ray transfers only objects of this program between processes of one cluster; nothing is unpickled from a file. Ray
starts actors and reports when an actor and its pending call are lost. It does not repeat calls (``max_restarts=0``):
:mod:`plansafe.app.runs.executor` decides which worker gets a lost chunk, as for processes.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.session.model import Settings
from plansafe.app.system.process import limit_data
from plansafe.app.system.version import version

LOG = "driver.log"
"""The file in the driver's folder with its standard error: messages of Ray's library."""
SHUTDOWN_SECONDS = 30
"""Time limit for an orderly end of Ray."""
_WAIT_SECONDS = 1.0
_NODE_CHECK_SECONDS = 10.0
"""If no call ends for this time, the driver asks Ray whether a machine of the cluster is alive."""
_BATCH_SECONDS = 0.5
_BATCH_BYTES = 1 << 20
"""An actor sends its rows after ``_BATCH_SECONDS``, or earlier when they have ``_BATCH_BYTES``."""


class RayOptions(NamedTuple):
    """The cluster at ``address`` (``None``: a new one of ``jobs`` processors) and what its actors need.

    ``folder`` is a folder for temporary files, and ``ray_folder`` the folder for Ray's own (``None``: Ray's default).
    """

    settings: Settings
    make_auditor: Callable[[Settings], RowAuditor]
    jobs: int
    address: str | None
    memory: int
    folder: str = ""
    ray_folder: str | None = None


class StartWorker(NamedTuple):
    """Request an actor, which the cluster starts on a free processor."""

    number: int


class SendChunk(NamedTuple):
    """Send a chunk to an actor."""

    number: int
    items: list[Item]
    careful: bool


class AwaitEvents(NamedTuple):
    """Wait a short time for answers of actors."""


class ActorStart(NamedTuple):
    """The first answer of an actor: its process, its machine, and the reason if it cannot work."""

    pid: int
    node: str
    problem: str | None


class ActorEnd(NamedTuple):
    """The end of an actor: the name of Ray's error, and its message."""

    error: str
    message: str


class ActorEvent(NamedTuple):
    """An answer of an actor, or its end."""

    number: int
    content: ActorStart | tuple[AuditedRow, ...] | ActorEnd


class Failure(NamedTuple):
    """The reason why the driver cannot start, or cannot continue."""

    message: str


Request = StartWorker | SendChunk | AwaitEvents
Answer = list[ActorEvent] | Failure


class RowActor:
    """The code of an actor. The constructor cannot fail; :meth:`begin` reports problems."""

    def begin(
        self, settings: Settings, make_auditor: Callable[[Settings], RowAuditor], folder: str, memory: int, tool: str
    ) -> ActorStart:
        """Enter the folder of the command, compare versions and set the memory limit."""
        problem = None
        if version() != tool:
            problem = f"it has safecheck {version()}, and the run is by {tool}"
        else:
            try:
                os.chdir(folder)
            except OSError as error:
                problem = f"it has no folder {folder}: {(error.strerror or str(error)).lower()}"
        self._auditor = make_auditor(settings)
        self._remaining: deque[Item] = deque()
        self._careful = False
        limit_data(memory)
        return ActorStart(os.getpid(), socket.gethostname(), problem)

    def work(self, items: list[Item], careful: bool) -> tuple[AuditedRow, ...]:
        """Accept a chunk and return its first rows."""
        self._remaining, self._careful = deque(items), careful
        return self.next_rows()

    def next_rows(self) -> tuple[AuditedRow, ...]:
        """Audit plans for half a second or until the rows have one mebibyte; one plan if ``careful``."""
        rows: list[AuditedRow] = []
        size, end = 0, time.monotonic() + _BATCH_SECONDS
        while self._remaining:
            rows.append(self._auditor.audit_item_safely(self._remaining.popleft()))
            size += len(rows[-1].line)
            if self._careful or size >= _BATCH_BYTES or time.monotonic() >= end:
                break
        return tuple(rows)


class _Actor:
    """An actor, its pending call, and the number of its plans that do not have a row yet."""

    def __init__(self, actor: Any, pending_call: Any) -> None:
        self.actor, self.pending_call, self.remaining = actor, pending_call, 0


class _Driver:
    """The actors of a run by their numbers."""

    def __init__(self, ray: Any, options: RayOptions) -> None:
        self._ray, self._options = ray, options
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RowActor)
        self._actors: dict[int, _Actor] = {}
        self._last_event = time.monotonic()

    def answer(self, request: Request) -> Answer:
        """Execute a request."""
        match request:
            case StartWorker(number):
                actor = self._class.remote()
                # Arguments by value: an object in Ray's store is lost with the machine of the driver.
                options, folder = self._options, os.getcwd()
                call = actor.begin.remote(options.settings, options.make_auditor, folder, options.memory, version())
                self._actors[number] = _Actor(actor, call)
            case SendChunk(number, items, careful):
                worker = self._actors[number]
                worker.remaining = len(items)
                worker.pending_call = worker.actor.work.remote(items, careful)
            case AwaitEvents():
                return self._await_events()
        return []

    def _await_events(self) -> Answer:
        """Wait for the first answer, and return all answers that are available then."""
        numbers = {
            actor.pending_call: number for number, actor in self._actors.items() if actor.pending_call is not None
        }
        finished, unfinished = self._ray.wait(list(numbers), num_returns=1, timeout=_WAIT_SECONDS)
        if finished and unfinished:
            finished += self._ray.wait(unfinished, num_returns=len(unfinished), timeout=0)[0]
        now = time.monotonic()
        if finished:
            self._last_event = now
        elif now - self._last_event > _NODE_CHECK_SECONDS:
            self._last_event = now
            if not any([node["Alive"] for node in self._ray.nodes()]):
                return Failure("no machine of the cluster is alive")
        return [self._collect_event(numbers[call]) for call in finished]

    def _collect_event(self, number: int) -> ActorEvent:
        worker = self._actors[number]
        call, worker.pending_call = worker.pending_call, None
        try:
            content = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._ray.kill(worker.actor)  # it cannot audit any more, whatever the error was
            del self._actors[number]
            return ActorEvent(number, ActorEnd(type(error).__name__, describe_error(error)))
        if not isinstance(content, ActorStart):
            worker.remaining -= len(content)
            if worker.remaining:
                worker.pending_call = worker.actor.next_rows.remote()
        return ActorEvent(number, content)


def run_driver(pipe: Connection, inherited: list[Connection], options: RayOptions) -> None:
    """Join or start Ray, and answer requests until the other end of the pipe is closed.

    The function never returns. It ends its process group, which contains the processes of a local Ray except the
    actors; the actors end when they have lost Ray.
    """
    for connection in inherited:  # otherwise this process would not notice the end of the other one
        connection.close()
    if hasattr(os, "setpgid"):
        with suppress(OSError):
            os.setpgid(0, 0)
    _redirect_streams(os.path.join(options.folder, LOG))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, options.folder, ignore_errors=True)
        with suppress(EOFError, OSError):  # the command has closed its end, or has ended
            _answer_requests(pipe, options, stack)
        if hasattr(signal, "alarm"):
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SHUTDOWN_SECONDS)
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _answer_requests(pipe: Connection, options: RayOptions, stack: ExitStack) -> None:
    try:
        driver = _Driver(_start_ray(options, stack), options)
    except Exception as error:
        pipe.send(Failure(describe_error(error)))
        pipe.recv()  # the command reads the log before it closes its end
        return
    answer: Answer = []
    while True:
        pipe.send(answer)
        request: Request = pipe.recv()
        try:
            answer = driver.answer(request)
        except Exception as error:
            answer = Failure(describe_error(error))


def _redirect_streams(log: str) -> None:
    """Write standard error to a file, and discard standard output, which belongs to the summary of the run."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)


def _start_ray(options: RayOptions, stack: ExitStack) -> Any:
    """Start Ray on this machine, or join the cluster at the address. The stack ends or leaves it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
    if options.address is None and "ray" not in sys.modules:
        # Ray also listens to other machines, hence a random token. Ray reads these variables when it is imported.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
    if options.address is None:
        os.environ.setdefault("RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE", "1")  # containers have little shared memory
        os.environ.setdefault("RAY_worker_niceness", "0")  # the default 15 starves a run on a busy machine
    import ray  # noqa: PLC0415 - an extra, slow to import

    if options.address is not None:
        ray.init(address=options.address, log_to_driver=False, logging_level="ERROR")
    else:
        _start_local(ray, options)
    stack.callback(ray.shutdown)
    return ray


def _start_local(ray: Any, options: RayOptions) -> None:
    ray.init(
        address="local",
        num_cpus=options.jobs,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
        object_store_memory=(128 + 16 * options.jobs) << 20,
        **({} if options.ray_folder is None else {"_temp_dir": options.ray_folder}),
    )


def describe_error(error: BaseException) -> str:
    """The class and the last line of an error."""
    return last_line(f"{type(error).__name__}: {error}") or type(error).__name__


def last_line(text: str) -> str | None:
    """The last line of an error, which is usually the most informative; ``None`` if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else None
