"""Workers on a Ray cluster (extra ``ray``): actors that judge chunks and send rows some times a second.

Ray carries objects of ours alone, from and to processes of the same cluster; nothing is unpickled from a file. Ray
starts an actor, tells when it is gone and with it what it was asked for; it repeats nothing by itself
(``max_restarts=0``): who judges a lost chunk is decided by :mod:`plansafe.app.runs.executor`, as for processes.
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

from plansafe.app.runs.executor import Crew, News, Worker
from plansafe.app.runs.items import Item
from plansafe.app.runs.row_audit import Judge, Judged
from plansafe.app.runs.run_reader import BadRun
from plansafe.app.session.model import Settings
from plansafe.app.system.process import limit_data, remark
from plansafe.app.system.version import version

PORT_SECONDS = 5.0
"""How long a connection to the address may take."""
ANSWER_SECONDS = 60.0
"""How long whoever is there may take to answer as Ray does. Ray itself would try for some minutes."""
_STARTS = 3
_SECONDS = 0.5
_BYTES = 1 << 20
"""Rows are sent when so much time has passed, or there is so much of them."""
_PATIENCE = 30.0
_LONGEST_FOLDER = 30
"""Characters of a folder for Ray's sockets, whose paths have 107 at most."""
_ASK = """
import sys
import ray
try:
    ray.init(address=sys.argv[1], log_to_driver=False, logging_level="ERROR")
except BaseException as error:
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(1)
"""


class _Begun(NamedTuple):
    """What an actor says first: its process, where it is, and why it cannot work, if so."""

    pid: int
    node: str
    wrong: str | None


class Hand:
    """What an actor does. Nothing that can fail is done before it is asked to :meth:`begin`."""

    def begin(
        self, settings: Settings, make: Callable[[Settings], Judge], folder: str, memory: int, tool: str
    ) -> _Begun:
        """Be where the driver is, with its version and its limits."""
        wrong = None
        if version() != tool:
            wrong = f"it has safecheck {version()}, and the run is by {tool}"
        else:
            try:
                os.chdir(folder)
            except OSError as error:
                wrong = f"it has no folder {folder}: {(error.strerror or str(error)).lower()}"
        self._judge = make(settings)
        self._left: deque[Item] = deque()
        self._careful = False
        limit_data(memory)
        return _Begun(os.getpid(), socket.gethostname(), wrong)

    def work(self, items: list[Item], careful: bool) -> tuple[Judged, ...]:
        """Take a chunk; its first rows."""
        self._left, self._careful = deque(items), careful
        return self.more()

    def more(self) -> tuple[Judged, ...]:
        """The next rows: those of half a second, or of a mebibyte; one, where care is asked for."""
        rows: list[Judged] = []
        size, end = 0, time.monotonic() + _SECONDS
        while self._left:
            rows.append(self._judge.surely(self._left.popleft()))
            size += len(rows[-1].line)
            if self._careful or size >= _BYTES or time.monotonic() >= end:
                break
        return tuple(rows)


class _Actor(Worker):
    """An actor, what it was asked for last, and how many of its plans have no row yet."""

    def __init__(self, actor: Any, asked: Any) -> None:
        super().__init__()
        self.actor, self.asked, self.left = actor, asked, 0


class Cluster(Crew):
    """Actors of a Ray cluster: that at an address, or one of this machine's own, which ends with the run."""

    prompt = False

    def __init__(
        self,
        settings: Settings,
        jobs: int,
        address: str | None = None,
        memory: int = 0,
        judge: Callable[[Settings], Judge] = Judge,
    ) -> None:
        self._settings, self._jobs, self._address, self._memory, self._make = settings, jobs, address, memory, judge
        self._stack = ExitStack()
        self._told = False

    def __enter__(self) -> Cluster:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # what is used is nobody's business
        if self._address is None and "ray" not in sys.modules:
            # Ray listens to other machines as well: it wants a token that we draw. It reads this when it is imported.
            os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
        try:
            import ray  # noqa: PLC0415 - an extra, and heavy
        except ImportError:
            from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where a package is missing

            raise BadRun("--executor ray needs the package ray (extra `ray`)", how_to_install("ray")) from None
        self._ray: Any = ray
        with ExitStack() as stack:
            # Ray tells on standard output what becomes of workers: the summary of the run alone belongs there.
            stack.enter_context(redirect_stdout(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
            if self._address is None:
                self._own(stack)
            else:
                self._joined(self._address)
            stack.callback(ray.shutdown)
            self._stack = stack.pop_all()
        self._class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(Hand)
        self._shared = [ray.put(one) for one in (self._settings, self._make)]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _own(self, stack: ExitStack) -> None:
        """Start Ray on this machine."""
        os.environ.setdefault("RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE", "1")  # containers have little shared memory
        os.environ.setdefault("RAY_worker_niceness", "0")  # else 15: a busy machine would give a run nothing
        more: dict[str, Any] = {}
        if len(tempfile.gettempdir()) <= _LONGEST_FOLDER - len("/safecheck-12345678"):
            more["_temp_dir"] = tempfile.mkdtemp(prefix="safecheck-")
            stack.callback(shutil.rmtree, more["_temp_dir"], ignore_errors=True)
        for tries in range(_STARTS):
            try:
                self._ray.init(
                    address="local",
                    num_cpus=self._jobs,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level="ERROR",
                    object_store_memory=(128 + 16 * self._jobs) << 20,
                    **more,
                )
                return
            except Exception as error:
                # Ray gives its own processes 30 s, which a machine that is busy exceeds.
                self._ray.shutdown()
                if tries + 1 == _STARTS:
                    raise BadRun(
                        f"Ray does not start: {_said(error)}", "without --executor ray it takes no Ray"
                    ) from None

    def _joined(self, address: str) -> None:
        """Join a cluster. Raises :class:`BadRun` in bounded time where there is none."""
        advice = "HOST:PORT of `ray start --head`, on a machine of the cluster; without --address Ray is started here"
        host, _, port = address.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if "/" in address or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadRun(f"--address takes HOST:PORT, not {address!a}", advice)
        try:
            socket.create_connection((host, int(port)), timeout=PORT_SECONDS).close()
        except OSError as error:
            why = "no answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            raise BadRun(f"nobody answers at {address!a}: {why.lower()}", advice) from None
        # Asked by another process first: Ray waits long, deaf to all signals, and may end the process that asks.
        try:
            asked = subprocess.run(
                [sys.executable, "-c", _ASK, address], capture_output=True, text=True, check=False,
                timeout=ANSWER_SECONDS, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise BadRun(f"nobody answers at {address!a} as Ray does, for {ANSWER_SECONDS:g} s", advice) from None
        if "Unauthenticated" in asked.stderr:
            advice = "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to the token of the cluster"
            raise BadRun(f"the cluster at {address!a} wants another token", advice)
        if asked.returncode:
            raise BadRun(f"cannot join the cluster at {address!a}: {_last(asked.stderr)}", advice)
        try:
            self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            raise BadRun(f"cannot join the cluster at {address!a}: {_said(error)}", advice) from None

    def hire(self) -> Worker:
        """Ask the cluster for an actor, which it starts where a processor is free."""
        actor = self._class.remote()
        settings, make = self._shared
        return _Actor(actor, actor.begin.remote(settings, make, os.getcwd(), self._memory, version()))

    def give(self, worker: Worker, chunk: list[Item], careful: bool) -> None:
        """Ask for a chunk."""
        assert isinstance(worker, _Actor)
        worker.left = len(chunk)
        worker.asked = worker.actor.work.remote(chunk, careful)

    def news(self, workers: Collection[Worker]) -> Iterator[News]:
        """All that is there, once there is anything."""
        asked = {worker.asked: worker for worker in workers if isinstance(worker, _Actor)}
        done, rest = self._ray.wait(list(asked), num_returns=1, timeout=_PATIENCE)
        if not done and not self._told and not any([worker.ready for worker in workers]):
            self._told = True
            remark(("the cluster has had no free processor for this run so far; it goes on when there is one",))
        if done and rest:
            done += self._ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        for one in done:
            yield self._heard(asked[one])

    def _heard(self, worker: _Actor) -> News:
        asked, worker.asked = worker.asked, None
        try:
            said = self._ray.get(asked)
        except self._ray.exceptions.RayError as error:
            self._ray.kill(worker.actor)  # whatever it was: it judges nothing any more
            return News(worker, ended=f"by {type(error).__name__}" if worker.ready else _said(error))
        if isinstance(said, _Begun):
            if said.wrong is not None:
                advice = "each machine needs the same safecheck, and the same files in the same folders"
                raise BadRun(f"a worker on {said.node!a} cannot work: {said.wrong}", advice)
            worker.pid = said.pid
            return News(worker)
        worker.left -= len(said)
        if worker.left:
            worker.asked = worker.actor.more.remote()
        return News(worker, said)


def _said(error: BaseException) -> str:
    return _last(f"{type(error).__name__}: {error}")


def _last(text: str) -> str:
    """The line of an error that says most, which is the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it says nothing"
