"""The sessions of robots: a process for each, a bounded number, ended when nobody asks; none can touch another."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from time import monotonic

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.worker import OPEN, watch
from plansafe.app.interfaces.agents.worker_messages import Reply, refusal
from plansafe.app.interfaces.agents.worker_pool import GRACE, Starter, Worker
from plansafe.app.render.json import json_line
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_IN_LINE = 32
"""Requests that may wait for one session."""
_REMEMBERED = 1000
"""Sessions that ended, of which it is known why."""
_OPENING = 4
"""Sessions that are opened at the same time."""


class _Session:
    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.turn = asyncio.Lock()
        self.in_line = 0
        self.last = monotonic()


class Sessions:
    """All open sessions, by names that cannot be guessed."""

    def __init__(self, starter: Starter, limits: Limits, most: int, idle: float, step: float) -> None:
        self._starter = starter
        self._limits = limits
        self._most = most
        self._idle = idle
        self._step = step
        self._open: dict[str, _Session] = {}
        self._ended: OrderedDict[str, str] = OrderedDict()
        self._begun = 0
        self._opening = asyncio.Semaphore(_OPENING)

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, body: bytes) -> Reply:
        """Begin a session; its name is in the answer."""
        if len(self._open) + self._begun >= self._most:
            await self.sweep()
        if len(self._open) + self._begun >= self._most:
            message = f"{self._most} sessions are open already"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="close one, or wait until one has expired")])
        self._begun += 1
        try:
            async with self._opening:
                worker = await self._starter.start(watch, self._limits)
                reply = await worker.ask(OPEN, body, self._limits.seconds + GRACE)
                if not reply.ok:
                    return reply
                name = secrets.token_urlsafe(16)
                self._open[name] = _Session(worker)
                return reply._replace(body=b'{"session":"' + name.encode("ascii") + b'",' + reply.body[1:])
        except OSError as error:
            return refusal([Diagnostic(SC.SERVICE_LIMIT, f"no process can be started: {error.strerror}")])
        finally:
            self._begun -= 1

    async def ask(self, name: str, operation: str, body: bytes) -> Reply:
        """Ask a session; requests of one session are answered in the order in which they come."""
        session = self._open.get(name)
        if session is None:
            return self._missing(name)
        if session.in_line >= _IN_LINE:
            message = f"{_IN_LINE} requests of this session wait already"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="wait for the answers")])
        session.in_line += 1
        try:
            async with session.turn:
                if session.worker.ended:
                    return self._missing(name)
                session.last = monotonic()
                seconds = self._limits.seconds if operation == "next" else self._step
                try:
                    reply = await session.worker.ask(operation, body, seconds + GRACE)
                finally:
                    if session.worker.ended:
                        self._forget(name, "it failed, or came to a limit of time or memory")
                session.last = monotonic()
                return reply
        finally:
            session.in_line -= 1

    async def close(self, name: str) -> Reply:
        """End a session."""
        session = self._open.get(name)
        if session is None:
            return self._missing(name)
        self._forget(name, "it was closed")
        await session.worker.end()
        return Reply(200, json_line({"closed": True}).encode("ascii"))

    async def sweep(self) -> None:
        """End the sessions that nobody has asked for long."""
        now = monotonic()
        for name, session in list(self._open.items()):
            if session.in_line == 0 and now - session.last > self._idle:
                self._forget(name, f"nobody asked for {self._idle:g} s")
                await session.worker.end()

    async def close_all(self) -> None:
        """End all sessions: the server ends."""
        for name in list(self._open):
            await self.close(name)

    def _forget(self, name: str, why: str) -> None:
        if self._open.pop(name, None) is not None:
            self._ended[name] = why
            while len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)

    def _missing(self, name: str) -> Reply:
        why = self._ended.get(name)
        if why is None:
            return refusal([Diagnostic(SC.NO_SESSION, "there is no session of this name", help="open one")])
        advice = "open another one: what this one knew is lost, so begin with what the sensors see"
        return refusal([Diagnostic(SC.NO_SESSION, f"the session has ended: {why}", help=advice)], status=410)
