"""The HTTP service as an ASGI application: reads bounded bodies, asks workers and sessions, and passes answers on.

Nothing is parsed here but heads and paths: bodies are read by the processes that work on them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.session_pool import Sessions
from plansafe.app.interfaces.agents.worker_messages import Reply, refusal
from plansafe.app.interfaces.agents.worker_pool import Pool, Starter
from plansafe.app.interfaces.http.allowed_hosts import Hosts, OnlyFor
from plansafe.app.interfaces.http.api_key import Lock
from plansafe.app.interfaces.http.openapi import document
from plansafe.app.interfaces.http.routes import WAYS, Way
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_JSON = "application/json"
_SWEEP = 5.0
_LARGER = "who runs the service may allow more: --body-limit"
_STRANGE = "the service is not asked for under this name (the header Host)"
Endpoint = Callable[[Request], Awaitable[Response]]


class Bounds(NamedTuple):
    """The limits of the service. ``body`` and ``bodies``: bytes of one request, and of all that are there at once.

    ``body_seconds`` for a body to arrive; ``idle`` seconds until a session expires; ``step`` seconds for one question
    to a session.
    """

    limits: Limits = Limits()
    workers: int = 2
    waiting: int = 2000
    sessions: int = 64
    idle: float = 900.0
    step: float = 2.0
    body: int = 32 * 1024 * 1024
    bodies: int = 512 * 1024 * 1024
    body_seconds: float = 30.0


class Service:
    """What a running service holds: workers, sessions, and how much of bodies is there."""

    def __init__(self, bounds: Bounds, lock: Lock) -> None:
        self.bounds = bounds
        self.lock = lock
        self.starter = Starter()
        self.pool = Pool(self.starter, bounds.limits, bounds.workers, bounds.waiting)
        self.sessions = Sessions(self.starter, bounds.limits, bounds.sessions, bounds.idle, bounds.step)
        self.held = 0

    async def work(self, way: Way, request: Request) -> Reply:
        """Answer one request."""
        if not self.lock.opens(request.headers):
            return refusal([Diagnostic(SC.BAD_KEY, "no key, or a wrong one", help="Authorization: Bearer KEY")])
        if way.method == "GET":
            given = {**dict(request.query_params), **request.path_params, **dict(way.fixed)}
            return await self.pool.ask(way.operation.name, json.dumps(given).encode("ascii"))
        session = request.path_params.get("session")
        if way.method == "DELETE":
            return await self.sessions.close(str(session))
        if request.headers.get("content-type", _JSON).partition(";")[0].strip().lower() != _JSON:
            return _bad(415, "the body is not said to be JSON", f"Content-Type: {_JSON}")
        held = [0]
        try:
            body = await self._body(request, held)
            if isinstance(body, Reply):
                return body
            if session is not None:
                return await self.sessions.ask(str(session), way.operation.name, body)
            if way.operation.name == "open_session":
                return await self.sessions.open(body)
            return await self.pool.ask(way.operation.name, body)
        finally:
            self.held -= held[0]

    async def _body(self, request: Request, held: list[int]) -> bytes | Reply:
        """The body, within the limits; ``held`` says how much of it is there."""
        most = self.bounds.body
        said = request.headers.get("content-length", "0")
        if said.isdecimal() and len(said) < 20 and int(said) > most:
            return _bad(413, f"the body is larger than {most:,} bytes", _LARGER)
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self.bounds.body_seconds):
                async for part in request.stream():
                    held[0] += len(part)
                    self.held += len(part)
                    if held[0] > most:
                        return _bad(413, f"the body is larger than {most:,} bytes", _LARGER)
                    if self.held > self.bounds.bodies:
                        message = "the bodies of other requests fill the memory of the service"
                        return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="ask again later")])
                    parts.append(part)
        except TimeoutError:
            return _bad(408, f"the body did not arrive within {self.bounds.body_seconds:g} s")
        return b"".join(parts)

    async def sweep(self) -> None:
        """End sessions that have expired, for as long as the service runs."""
        while True:
            await asyncio.sleep(min(_SWEEP, max(0.1, self.bounds.idle / 2)))
            await self.sessions.sweep()

    async def close(self) -> None:
        """End every process."""
        await self.sessions.close_all()
        await self.pool.close()
        self.starter.close()


def application(bounds: Bounds, lock: Lock, hosts: Hosts = Hosts()) -> Starlette:  # noqa: B008 - frozen
    """The ASGI application. ``hosts`` are the names under which it may be asked for."""
    service = Service(bounds, lock)
    described = json.dumps(document(lock.locked)).encode("ascii")

    async def openapi(_: Request) -> Response:
        return Response(described, media_type=_JSON)

    async def healthy(_: Request) -> Response:
        return Response(b'{"ok":true}\n', media_type=_JSON)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(service.sweep()), asyncio.create_task(service.pool.warm())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await service.close()

    routes = [Route("/openapi.json", openapi), Route("/health", healthy)]
    routes += [Route(way.path, _endpoint(service, way), methods=[way.method]) for way in WAYS]
    return Starlette(
        routes=routes,
        middleware=[Middleware(OnlyFor, hosts=hosts, refused=_response(_bad(400, _STRANGE, "--allow-host NAME")))],
        exception_handlers={HTTPException: _missing},
        lifespan=lifespan,
    )


def _endpoint(service: Service, way: Way) -> Endpoint:
    async def answer(request: Request) -> Response:
        try:
            return _response(await service.work(way, request))
        except ClientDisconnect:
            return Response(status_code=400)

    return answer


def _response(reply: Reply) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    if reply.status == 503:
        headers["retry-after"] = "1"
    if reply.status == 401:
        headers["www-authenticate"] = "Bearer"
    if reply.status in (408, 413, 415, 401):
        headers["connection"] = "close"  # what is left of the body is not read
    return Response(reply.body, reply.status, headers, _JSON)


def _missing(_: Request, error: Exception) -> Response:
    """A path that is not there, or a method that it does not take."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = "this path does not take the method" if status == 405 else "there is nothing at this path"
    said = Diagnostic(SC.NOT_THERE, message, help="GET /openapi.json says what there is")
    answer = _response(refusal([said], status=status))
    answer.headers.update(getattr(error, "headers", None) or {})  # which methods it takes
    return answer


def _bad(status: int, message: str, help: str | None = None) -> Reply:
    return refusal([Diagnostic(SC.BAD_REQUEST, message, help=help)], status=status)
