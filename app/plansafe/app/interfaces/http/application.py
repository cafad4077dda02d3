"""The HTTP service as an ASGI application: read bounded bodies, send them to workers and sessions, return replies.

This process parses only headers and paths; the worker processes parse the bodies.

The measurements of a running service, as text for Prometheus (exposition format 0.0.4).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from plansafe.app.interfaces.agents.session_pool import Sessions
from plansafe.app.interfaces.agents.worker import serve_operations, serve_session
from plansafe.app.interfaces.agents.worker_messages import Limits, Reply, refusal
from plansafe.app.interfaces.agents.worker_pool import Pool, Starter
from plansafe.app.interfaces.http.api_key import HostFilter, Hosts, Lock
from plansafe.app.interfaces.http.docs_page import POLICY, page
from plansafe.app.interfaces.http.openapi import ROUTES, ServiceRoute, document
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_JSON = "application/json"
_SWEEP = 5.0
_BODY_LIMIT_HELP = "the operator of the service can raise the limit with --body-limit"
_HOST_NOT_ALLOWED = "the Host header of the request is not an allowed host of this service"
_WRONG_KEY = refusal([Diagnostic(SC.BAD_KEY, "the API key is missing or wrong", help="Authorization: Bearer KEY")])
Endpoint = Callable[[Request], Awaitable[Response]]


class Bounds(NamedTuple):
    """The limits of the service.

    ``body`` is the maximum size of one request body, ``bodies`` of all bodies in memory. ``body_seconds`` is the
    time limit for receiving a body, ``idle`` the seconds until a session expires, and ``step`` the time limit of one
    request to a session.
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
    """The state of a running service: workers, sessions, and the bytes of bodies in memory."""

    def __init__(self, bounds: Bounds, lock: Lock) -> None:
        self.bounds = bounds
        self.lock = lock
        self.starter = Starter()
        self.pool = Pool(self.starter, serve_operations, bounds.limits, bounds.workers, bounds.waiting)
        self.sessions = Sessions(self.starter, serve_session, bounds.limits, bounds.sessions, bounds.idle, bounds.step)
        self.body_bytes = 0
        self.metrics = Metrics()

    async def work(self, route: ServiceRoute, request: Request) -> Reply:
        """Handle one request and return its reply."""
        if not self.lock.accepts(request.headers):
            return _WRONG_KEY
        if route.method == "GET":
            fields = {**dict(request.query_params), **request.path_params, **dict(route.fixed)}
            return await self.pool.ask(route.operation.name, json.dumps(fields).encode("ascii"))
        session = request.path_params.get("session")
        if route.method == "DELETE":
            return await self.sessions.close(str(session))
        if request.headers.get("content-type", _JSON).partition(";")[0].strip().lower() != _JSON:
            return _bad(415, "the Content-Type of the body is not JSON", f"Content-Type: {_JSON}")
        received = [0]
        try:
            body = await self._body(request, received)
            if isinstance(body, Reply):
                return body
            if session is not None:
                return await self.sessions.ask(str(session), route.operation.name, body)
            if route.operation.name == "open_session":
                return await self.sessions.open(body)
            return await self.pool.ask(route.operation.name, body)
        finally:
            self.body_bytes -= received[0]

    async def _body(self, request: Request, received: list[int]) -> bytes | Reply:
        """Read the body within the limits; ``received[0]`` counts its bytes."""
        max_size = self.bounds.body
        content_length = request.headers.get("content-length", "0")
        if content_length.isdecimal() and len(content_length) < 20 and int(content_length) > max_size:
            return _bad(413, f"the body is larger than {max_size:,} bytes", _BODY_LIMIT_HELP)
        parts: list[bytes] = []
        try:
            async with asyncio.timeout(self.bounds.body_seconds):
                async for part in request.stream():
                    received[0] += len(part)
                    self.body_bytes += len(part)
                    if received[0] > max_size:
                        return _bad(413, f"the body is larger than {max_size:,} bytes", _BODY_LIMIT_HELP)
                    if self.body_bytes > self.bounds.bodies:
                        message = "the request bodies in memory have reached the limit of the service"
                        return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="ask again later")])
                    parts.append(part)
        except TimeoutError:
            return _bad(408, f"the body did not arrive within {self.bounds.body_seconds:g} s")
        return b"".join(parts)

    def metrics_text(self) -> str:
        """Return the measurements for Prometheus."""
        return self.metrics.text(
            {
                "workers": (self.pool.workers, "Worker processes."),
                "workers_busy": (self.pool.busy, "Worker processes that run a request or start."),
                "requests_waiting": (self.pool.waiting, "Requests that wait for a worker process."),
                "sessions_open": (len(self.sessions), "Open sessions."),
                "body_bytes": (self.body_bytes, "Bytes of request bodies in memory."),
            }
        )

    async def sweep(self) -> None:
        """Close expired sessions periodically while the service runs."""
        while True:
            await asyncio.sleep(min(_SWEEP, max(0.1, self.bounds.idle / 2)))
            await self.sessions.sweep()

    async def close(self) -> None:
        """End all worker and session processes."""
        await self.sessions.close_all()
        await self.pool.close()
        self.starter.close()


def application(bounds: Bounds, lock: Lock, hosts: Hosts = Hosts()) -> Starlette:  # noqa: B008 - frozen
    """Create the ASGI application. ``hosts`` are the allowed values of the Host header."""
    service = Service(bounds, lock)
    described = document(lock.locked)
    openapi_document = json.dumps(described).encode("ascii")
    docs_headers = {"content-security-policy": POLICY, "x-content-type-options": "nosniff"}

    async def openapi(_: Request) -> Response:
        return Response(openapi_document, media_type=_JSON)

    async def healthy(_: Request) -> Response:
        return Response(b'{"ok":true}\n', media_type=_JSON)

    async def docs(_: Request) -> Response:
        return Response(page(described), headers=docs_headers, media_type="text/html")

    async def metrics(request: Request) -> Response:
        if not lock.accepts(request.headers):
            return _response(_WRONG_KEY)
        return Response(service.metrics_text(), media_type=CONTENT_TYPE)

    async def missing(_: Request, error: Exception) -> Response:
        start = perf_counter()
        response = _missing(error)
        service.metrics.record("unknown", response.status_code, perf_counter() - start)
        return response

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

    routes = [
        Route("/openapi.json", openapi),
        Route("/docs", docs),
        Route("/health", healthy),
        Route("/metrics", metrics),
    ]
    routes += [Route(route.path, _endpoint(service, route), methods=[route.method]) for route in ROUTES]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(HostFilter, hosts=hosts, refused=_response(_bad(400, _HOST_NOT_ALLOWED, "--allow-host NAME")))
        ],
        exception_handlers={HTTPException: missing},
        lifespan=lifespan,
    )


def _endpoint(service: Service, route: ServiceRoute) -> Endpoint:
    async def answer(request: Request) -> Response:
        start = perf_counter()
        try:
            response = _response(await service.work(route, request))
        except ClientDisconnect:
            response = Response(status_code=400)
        service.metrics.record(route.operation.name, response.status_code, perf_counter() - start)
        return response

    return answer


def _response(reply: Reply) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    if reply.status == 503:
        headers["retry-after"] = "1"
    if reply.status == 401:
        headers["www-authenticate"] = "Bearer"
    if reply.status in (408, 413, 415, 401):
        headers["connection"] = "close"  # the remaining body is not read
    return Response(reply.body, reply.status, headers, _JSON)


def _missing(error: Exception) -> Response:
    """Return the response for an unknown path or an unsupported method."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    message = "this path does not support the request method" if status == 405 else "this path does not exist"
    diagnostic = Diagnostic(SC.NOT_FOUND, message, help="GET /openapi.json lists the paths")
    answer = _response(refusal([diagnostic], status=status))
    answer.headers.update(getattr(error, "headers", None) or {})  # lists the supported methods
    return answer


def _bad(status: int, message: str, help: str | None = None) -> Reply:
    return refusal([Diagnostic(SC.BAD_REQUEST, message, help=help)], status=status)


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of durations in seconds."""


class Metrics:
    """Counts of requests and their durations. Labels are names of operations and HTTP statuses."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._counts: Counter[str] = Counter()

    def record(self, operation: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests[operation, status] += 1
        self._seconds[operation] += seconds
        self._counts[operation] += 1
        for bound in _BUCKETS:
            if seconds <= bound:
                self._buckets[operation, bound] += 1

    def text(self, gauges: Mapping[str, tuple[int, str]]) -> str:
        """Return all measurements; ``gauges`` are current values with their descriptions."""
        return "".join([f"{line}\n" for line in (*self._counter(), *self._histogram(), *_gauges(gauges))])

    def _counter(self) -> Iterator[str]:
        yield from _head("safecheck_requests_total", "Requests by operation and status.", "counter")
        for (operation, status), count in sorted(self._requests.items()):
            yield f'safecheck_requests_total{{operation="{operation}",status="{status}"}} {count}'

    def _histogram(self) -> Iterator[str]:
        name = "safecheck_request_duration_seconds"
        yield from _head(name, "Time from the head of a request to its reply, by operation.", "histogram")
        for operation, seconds in sorted(self._seconds.items()):
            count = self._counts[operation]
            for bound in _BUCKETS:
                yield f'{name}_bucket{{operation="{operation}",le="{bound:g}"}} {self._buckets[operation, bound]}'
            yield f'{name}_bucket{{operation="{operation}",le="+Inf"}} {count}'
            yield f'{name}_sum{{operation="{operation}"}} {seconds:.6f}'
            yield f'{name}_count{{operation="{operation}"}} {count}'


def _gauges(gauges: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    for name, (value, about) in gauges.items():
        yield from _head(f"safecheck_{name}", about, "gauge")
        yield f"safecheck_{name} {value}"


def _head(name: str, about: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"
