"""The open sessions: one isolated process each, with a maximum number and an idle time limit."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from time import monotonic

from plansafe.app.interfaces.agents.operation_fields import OPEN
from plansafe.app.interfaces.agents.worker_messages import Limits, Reply, refusal
from plansafe.app.interfaces.agents.worker_pool import GRACE, Starter, Target, Worker
from plansafe.app.render.json import json_line
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

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
