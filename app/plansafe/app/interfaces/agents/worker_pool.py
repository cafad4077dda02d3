"""Start, use and end worker processes in the server, and the pool of workers for requests.

The open sessions: one isolated process each, with a maximum number and an idle time limit.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import secrets
import socket
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from plansafe.app.interfaces.agents import worker_messages
from plansafe.app.interfaces.agents.operation_fields import OPEN
from plansafe.app.interfaces.agents.worker_messages import Limits, Reply, refusal
from plansafe.app.render.json import json_line
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess


Target = Callable[[socket.socket, Limits], None]
GRACE = 2.0
"""Seconds after the time limit in which a worker can report it, before the server kills the process."""
_PRELOAD = "plansafe.app.interfaces.agents.preload"


class Starter:
    """Start processes one after the other, forked from a process that has loaded the engine and has no threads."""

    def __init__(self) -> None:
        try:
            context: multiprocessing.context.BaseContext = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([_PRELOAD])
        except ValueError:  # not available on every system
            context = multiprocessing.get_context("spawn")
        self._context = context
        self._threads = ThreadPoolExecutor(1, "starting")

    async def start(self, target: Target, limits: Limits) -> Worker:
        """Start a worker that waits for requests. Raises ``OSError`` if the process cannot be started."""
        ours, theirs = socket.socketpair()
        process = self._context.Process(target=target, args=(theirs, limits), daemon=True)  # type: ignore[attr-defined] # every context has it
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, process.start)
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Worker(process, reader, writer)

    def close(self) -> None:
        """Start no more processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Worker:
    """One worker process."""

    def __init__(self, process: BaseProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.ended = False

    async def ask(self, name: str, body: bytes, seconds: float) -> Reply:
        """Send a request and wait for the reply; a timeout or a cancellation ends the process."""
        try:
            async with asyncio.timeout(seconds):
                reply = await worker_messages.ask(self._reader, self._writer, name, body)
        except TimeoutError:
            await self.end()
            message = f"the time limit of {seconds - GRACE:g} s has passed"
            return refusal([Diagnostic(SC.OUT_OF_TIME, message, help="send a smaller request")], status=504)
        except (EOFError, OSError):
            await self.end()
            died = Diagnostic(
                SC.SERVICE_LIMIT,
                "the worker process of this request ended",
                help="use a request that needs less memory",
            )
            return refusal([died], status=500)
        except BaseException:
            await asyncio.shield(self.end())
            raise
        if reply.last:
            await self.end()
        return reply

    async def end(self) -> None:
        """Kill the process."""
        if self.ended:
            return
        self.ended = True
        self._writer.close()
        with suppress(OSError, ValueError):
            self._process.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._process.join, 5)


class Pool:
    """A bounded number of workers that run ``target``, with a bounded queue of requests."""

    def __init__(self, starter: Starter, target: Target, limits: Limits, workers: int, max_waiting: int) -> None:
        self._starter = starter
        self._target = target
        self._limits = limits
        self._idle: asyncio.LifoQueue[Worker | None] = asyncio.LifoQueue()
        for _ in range(workers):
            self._idle.put_nowait(None)
        self._max_waiting = max_waiting
        self.workers = workers
        self.waiting = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """The number of workers that run a request or start."""
        return self.workers - self._idle.qsize()

    async def warm(self) -> None:
        """Start the workers before the first request."""
        waiting = []
        while not self._idle.empty():
            waiting.append(self._idle.get_nowait())
        for worker in waiting:
            try:
                ready = worker or await self._starter.start(self._target, self._limits)
            except OSError:  # the next request reports the error
                ready = None
            self._idle.put_nowait(ready)

    async def ask(self, name: str, body: bytes) -> Reply:
        """Run a request on an idle worker. Every request gets one reply."""
        if self.waiting >= self._max_waiting:
            message = f"{self._max_waiting} requests are already waiting"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="ask again later")])
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        try:
            if worker is None or worker.ended:
                worker = None
                worker = await self._starter.start(self._target, self._limits)
            return await worker.ask(name, body, self._limits.seconds + GRACE)
        except OSError as error:
            return refusal([Diagnostic(SC.SERVICE_LIMIT, f"the service cannot start a process: {error.strerror}")])
        finally:
            if self._closed and worker is not None:
                await worker.end()
            self._idle.put_nowait(None if worker is None or worker.ended else worker)

    async def close(self) -> None:
        """End the idle workers; busy workers end after their request."""
        self._closed = True
        while not self._idle.empty():
            worker = self._idle.get_nowait()
            if worker is not None:
                await worker.end()


_MAX_QUEUED = 32
"""Maximum number of waiting requests of one session."""
_MAX_ENDED = 1000
"""Maximum number of ended sessions whose reason is stored."""
_MAX_STARTING = 4
"""Maximum number of sessions that start at the same time."""


class _Session:
    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.lock = asyncio.Lock()
        self.queued = 0
        self.last = monotonic()


class Sessions:
    """All open sessions, by unguessable names. Each is a process that runs ``target``."""

    def __init__(
        self, starter: Starter, target: Target, limits: Limits, max_sessions: int, idle: float, step: float
    ) -> None:
        self._starter = starter
        self._target = target
        self._limits = limits
        self._max_sessions = max_sessions
        self._idle = idle
        self._step = step
        self._open: dict[str, _Session] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._starting = 0
        self._opening = asyncio.Semaphore(_MAX_STARTING)

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, body: bytes) -> Reply:
        """Open a session; the reply has its name."""
        if len(self._open) + self._starting >= self._max_sessions:
            await self.sweep()
        if len(self._open) + self._starting >= self._max_sessions:
            message = f"the maximum of {self._max_sessions} sessions is open"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="close a session, or wait until one expires")])
        self._starting += 1
        try:
            async with self._opening:
                worker = await self._starter.start(self._target, self._limits)
                reply = await worker.ask(OPEN.name, body, self._limits.seconds + GRACE)
                if not reply.ok:
                    return reply
                name = secrets.token_urlsafe(16)
                self._open[name] = _Session(worker)
                return reply._replace(body=b'{"session":"' + name.encode("ascii") + b'",' + reply.body[1:])
        except OSError as error:
            return refusal([Diagnostic(SC.SERVICE_LIMIT, f"the service cannot start a process: {error.strerror}")])
        finally:
            self._starting -= 1

    async def ask(self, name: str, operation: str, body: bytes) -> Reply:
        """Send a request to a session; requests of one session are handled in order."""
        session = self._open.get(name)
        if session is None:
            return self._missing(name)
        if session.queued >= _MAX_QUEUED:
            message = f"{_MAX_QUEUED} requests of this session are already waiting"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="wait for the replies")])
        session.queued += 1
        try:
            async with session.lock:
                if session.worker.ended:
                    return self._missing(name)
                session.last = monotonic()
                seconds = self._limits.seconds if operation == "next" else self._step
                try:
                    reply = await session.worker.ask(operation, body, seconds + GRACE)
                finally:
                    if session.worker.ended:
                        self._remove(name, "it failed or reached its time or memory limit")
                session.last = monotonic()
                return reply
        finally:
            session.queued -= 1

    async def close(self, name: str) -> Reply:
        """Close a session."""
        session = self._open.get(name)
        if session is None:
            return self._missing(name)
        self._remove(name, "it was closed")
        await session.worker.end()
        return Reply(200, json_line({"closed": True}).encode("ascii"))

    async def sweep(self) -> None:
        """Close the sessions without a request within the idle time limit."""
        now = monotonic()
        for name, session in list(self._open.items()):
            if session.queued == 0 and now - session.last > self._idle:
                self._remove(name, f"it received no request for {self._idle:g} s")
                await session.worker.end()

    async def close_all(self) -> None:
        """Close all sessions when the server ends."""
        for name in list(self._open):
            await self.close(name)

    def _remove(self, name: str, reason: str) -> None:
        if self._open.pop(name, None) is not None:
            self._ended[name] = reason
            while len(self._ended) > _MAX_ENDED:
                self._ended.popitem(last=False)

    def _missing(self, name: str) -> Reply:
        reason = self._ended.get(name)
        if reason is None:
            return refusal([Diagnostic(SC.NO_SESSION, "no session has this name", help="open a session")])
        advice = "open a new session with the current state of the world; the state of the ended session is lost"
        return refusal([Diagnostic(SC.NO_SESSION, f"the session has ended: {reason}", help=advice)], status=410)
