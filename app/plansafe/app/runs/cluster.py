"""Workers on a Ray cluster (extra ``ray``): actors that audit chunks and send rows about twice a second.

Ray transfers only objects of this program between processes of one cluster; nothing is unpickled from a file. Ray
starts actors and reports when an actor and its pending call are lost. It does not repeat calls (``max_restarts=0``):
:mod:`plansafe.app.runs.executor` decides which worker gets a lost chunk, as for processes.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, redirect_stdout
from types import TracebackType
from typing import Any, NamedTuple

from plansafe.app.runs.executor import Worker, WorkerBackend, WorkerEvent
from plansafe.app.runs.item import AuditedRow, Item
from plansafe.app.runs.row_audit import RowAuditor
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings
from plansafe.app.system.process import limit_data, remark
from plansafe.app.system.version import version

CONNECT_SECONDS = 5.0
"""Time limit for a connection to the address."""
ANSWER_SECONDS = 60.0
"""Time limit for an answer of Ray at the address. Ray itself would try for some minutes."""
_MAX_STARTS = 3
_BATCH_SECONDS = 0.5
_BATCH_BYTES = 1 << 20
"""An actor sends its rows after ``_BATCH_SECONDS``, or earlier when they have ``_BATCH_BYTES``."""
_WAIT_SECONDS = 30.0
_MAX_SOCKET_FOLDER = 30
"""Maximum length of the folder of Ray's sockets: a socket's path has at most 107 characters."""
_JOIN_SCRIPT = """
import sys
import ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
except BaseException as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
"""


class _ActorStart(NamedTuple):
    """The first answer of an actor: its process, its machine, and the reason if it cannot work."""

    pid: int
    node: str
    problem: str | None


class RowActor:
    """The code of an actor. The constructor cannot fail; :meth:`begin` reports problems."""

    def begin(
        self, settings: Settings, make_auditor: Callable[[Settings], RowAuditor], folder: str, memory: int, tool: str
    ) -> _ActorStart:
        """Enter the folder of the driver, compare versions and set the memory limit."""
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
        return _ActorStart(os.getpid(), socket.gethostname(), problem)

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


class _Actor(Worker):
    """An actor, its pending call, and the number of its plans that do not have a row yet."""

    def __init__(self, actor: Any, pending_call: Any) -> None:
        super().__init__()
        self.actor, self.pending_call, self.remaining = actor, pending_call, 0


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
        self._settings, self._jobs, self._address, self._memory, self._make_auditor = (
            settings,
            jobs,
            address,
            memory,
            make_auditor,
        )
        self._stack = ExitStack()
        self._has_warned = False

    def __enter__(self) -> Cluster:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # send no usage statistics
        if self._address is None and "ray" not in sys.modules:
            # Ray also listens to other machines, hence a random token. Ray reads these variables when it is imported.
            os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
        try:
            import ray  # noqa: PLC0415 - an extra, slow to import
        except ImportError:
            from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - only if a package is missing

            raise BadRun("--executor ray needs the package ray (extra `ray`)", how_to_install("ray")) from None
        self._ray: Any = ray
        with ExitStack() as stack:
            # Ray prints the state of workers on standard output, which must contain only the summary of the run.
            stack.enter_context(redirect_stdout(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
            if self._address is None:
                self._start_local(stack)
            else:
                self._join(self._address)
            stack.callback(ray.shutdown)
            self._stack = stack.pop_all()
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(RowActor)
        self._shared = [ray.put(value) for value in (self._settings, self._make_auditor)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _start_local(self, stack: ExitStack) -> None:
        """Start Ray on this machine."""
        os.environ.setdefault("RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE", "1")  # containers have little shared memory
        os.environ.setdefault("RAY_worker_niceness", "0")  # the default 15 starves a run on a busy machine
        options: dict[str, Any] = {}
        if len(tempfile.gettempdir()) <= _MAX_SOCKET_FOLDER - len("/safecheck-12345678"):
            options["_temp_dir"] = tempfile.mkdtemp(prefix="safecheck-")
            stack.callback(shutil.rmtree, options["_temp_dir"], ignore_errors=True)
        for tries in range(_MAX_STARTS):
            try:
                self._ray.init(
                    address="local",
                    num_cpus=self._jobs,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    object_store_memory=(128 + 16 * self._jobs) << 20,
                    **options,
                )
                return
            except Exception as error:
                # Ray allows its own processes 30 s to start. A busy machine needs longer.
                self._ray.shutdown()
                if tries + 1 == _MAX_STARTS:
                    raise BadRun(
                        f"Ray does not start: {_describe_error(error)}", "leave out --executor ray to audit without Ray"
                    ) from None

    def _join(self, address: str) -> None:
        """Join a cluster. Raises :class:`BadRun` in bounded time if no cluster answers."""
        advice = "give HOST:PORT of `ray start --head`; without --address a local cluster is started"
        host, _, port = address.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if "/" in address or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadRun(f"--address takes HOST:PORT, not {address!a}", advice)
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        except OSError as error:
            reason = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            raise BadRun(f"no server answers at {address!a}: {reason.lower()}", advice) from None
        # Probe from another process first: Ray waits for long, ignores signals and may end the process that joins.
        try:
            probe = subprocess.run(
                [sys.executable, "-c", _JOIN_SCRIPT, address], capture_output=True, text=True, check=False,
                timeout=ANSWER_SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BadRun(
                f"the server at {address!a} did not answer as a Ray cluster within {ANSWER_SECONDS:g} s", advice
            ) from None
        if "Unauthenticated" in probe.stderr:
            advice = "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token of the cluster"
            raise BadRun(f"the cluster at {address!a} requires another token", advice)
        if probe.returncode:
            raise BadRun(f"cannot join the cluster at {address!a}: {_last_line(probe.stderr)}", advice)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            raise BadRun(f"cannot join the cluster at {address!a}: {_describe_error(error)}", advice) from None

    def start_worker(self) -> Worker:
        """Request an actor, which the cluster starts on a free processor."""
        actor = self._class.remote()
        settings, make_auditor = self._shared
        return _Actor(actor, actor.begin.remote(settings, make_auditor, os.getcwd(), self._memory, version()))

    def send_chunk(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        """Send a chunk to an actor."""
        assert isinstance(worker, _Actor)
        worker.remaining = len(chunk)
        worker.pending_call = worker.actor.work.remote(chunk, careful)

    def wait_for_events(self, workers: Collection[Worker]) -> Iterator[WorkerEvent]:
        """Wait for the first answer, and return all answers that are available then."""
        workers_by_call = {worker.pending_call: worker for worker in workers if isinstance(worker, _Actor)}
        finished, unfinished = self._ray.wait(list(workers_by_call), num_returns=1, timeout=_WAIT_SECONDS)
        if not finished and not self._has_warned and not any([worker.ready for worker in workers]):
            self._has_warned = True
            remark(("waiting for a free processor of the cluster ..",))
        if finished and unfinished:
            finished += self._ray.wait(unfinished, num_returns=len(unfinished), timeout=0)[0]
        for call in finished:
            yield self._collect_event(workers_by_call[call])

    def _collect_event(self, worker: _Actor) -> WorkerEvent:
        call, worker.pending_call = worker.pending_call, None
        try:
            answer = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._ray.kill(worker.actor)  # it cannot audit any more, whatever the error was
            return WorkerEvent(worker, ended=f"by {type(error).__name__}" if worker.ready else _describe_error(error))
        if isinstance(answer, _ActorStart):
            if answer.problem is not None:
                advice = "each machine needs the same safecheck, and the same files in the same folders"
                raise BadRun(f"a worker on {answer.node!a} cannot work: {answer.problem}", advice)
            worker.pid = answer.pid
            return WorkerEvent(worker)
        worker.remaining -= len(answer)
        if worker.remaining:
            worker.pending_call = worker.actor.next_rows.remote()
        return WorkerEvent(worker, answer)


def _describe_error(error: BaseException) -> str:
    return _last_line(f"{type(error).__name__}: {error}")


def _last_line(text: str) -> str:
    """The last line of an error, which is usually the most informative."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no message"
