"""Connections to one server, over which no call takes longer or reads more than it may.

The timeouts of HTTP clients are for each read. A server that sends a byte of a header now and then, or interim answers
without end, would hold a call for ever; here every read of a call has the remaining time and bytes of the call.

Each call has a connection of its own. On a reused one, the bytes that a server (or a gateway) sends after an
answer would count as the answer to the next prompt. A connection is cheap compared with an answer of a model.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

CONNECT_S = 15.0
_PROXIES = {"http": "http", "https": "https", "socks5": "socks5", "socks5h": "socks5"}

# Errors on the way: another try can succeed.
ERRORS: tuple[type[Exception], ...] = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.ConnectionNotAvailable,
)
UNREACHABLE: tuple[type[Exception], ...] = (httpcore.ConnectError, httpcore.UnsupportedProtocol)


class Response(NamedTuple):
    """A whole answer. Names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class TooMuch(Exception):
    """The server sent more than it may."""


class TooSlow(Exception):
    """The answer was not complete in time."""


class Pool:
    """At most ``connections`` connections to the server of ``url``, through the proxy that the environment names.

    Raises ``ValueError`` for a proxy that is none, ``RuntimeError`` where the package for SOCKS is missing.
    """

    def __init__(self, url: str, connections: int) -> None:
        self._call = _Call()
        secure = httpx.create_ssl_context() if url.startswith("https:") else None
        self._pool = _pool_for(url, connections, secure, _Backend(self._call))

    def post(self, url: str, headers: Mapping[str, str], body: bytes, seconds: float, most: int) -> Response:
        """One call, with a limit of ``seconds`` and of ``most`` bytes of the answer.

        Raises one of ``ERRORS`` or ``UNREACHABLE``, :class:`TooMuch` and :class:`TooSlow`.
        """
        self._call.begin(seconds, most)
        waits = {"connect": min(seconds, CONNECT_S), "read": seconds, "write": seconds, "pool": seconds}
        sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        sent.append((b"Content-Length", str(len(body)).encode()))
        with self._pool.stream("POST", url, headers=sent, content=body, extensions={"timeout": waits}) as answer:
            response_headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in answer.headers
            }
            chunks, size = [], 0
            for chunk in answer.iter_stream():
                chunks.append(chunk)
                size += len(chunk)
                if size > most:
                    raise TooMuch
            return Response(answer.status, response_headers, b"".join(chunks))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()


def _pool_for(url: str, connections: int, secure: ssl.SSLContext | None, backend: _Backend) -> httpcore.ConnectionPool:
    shared: dict[str, Any] = {
        "ssl_context": secure,
        "max_connections": connections,
        "max_keepalive_connections": 0,
        "network_backend": backend,
    }
    parts, proxies = urlsplit(url), getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None or proxy_bypass(parts.netloc):
        return httpcore.ConnectionPool(**shared)
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    proxy_parts = urlsplit(proxy)
    if proxy_parts.scheme not in _PROXIES or not proxy_parts.hostname:
        raise ValueError("it is not an address of a proxy")
    login = (proxy_parts.username, proxy_parts.password or "") if proxy_parts.username else None
    address = f"{_PROXIES[proxy_parts.scheme]}://{proxy_parts.netloc.rpartition('@')[2]}"
    kind = httpcore.SOCKSProxy if proxy_parts.scheme.startswith("socks") else httpcore.HTTPProxy
    return kind(proxy_url=address, proxy_auth=login, **shared)


class _Call(threading.local):
    """The remaining time and bytes of the call that runs in this thread."""

    end = float("inf")
    bytes = 0

    def begin(self, seconds: float, most: int) -> None:
        self.end = time.monotonic() + seconds
        # Heads, and what frames chunks: a server that sends a token a chunk frames four bytes with eight.
        self.bytes = 4 * most

    def left(self, wished: float | None) -> float:
        """The seconds that a step may take. Raises :class:`TooSlow`."""
        seconds = self.end - time.monotonic()
        if seconds <= 0:
            raise TooSlow
        return seconds if wished is None else min(wished, seconds)

    def count(self, size: int) -> None:
        """Count the bytes read. Raises :class:`TooMuch`."""
        self.bytes -= size
        if self.bytes < 0:
            raise TooMuch


class _Stream(httpcore.NetworkStream):
    """A connection that looks at the call which uses it."""

    def __init__(self, inner: httpcore.NetworkStream, call: _Call) -> None:
        self._inner = inner
        self._call = call

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = self._call.left(timeout)
        try:
            data = self._inner.read(max_bytes, left)
        except httpcore.ReadTimeout:
            raise TooSlow from None
        self._call.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._call.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, self._call.left(timeout)), self._call)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore.NetworkBackend):
    """Makes such connections."""

    def __init__(self, call: _Call) -> None:
        self._inner = httpcore.SyncBackend()
        self._call = call

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = self._inner.connect_tcp(host, port, self._call.left(timeout), local_address, socket_options)
        return _Stream(stream, self._call)

    def sleep(self, seconds: float) -> None:
        self._inner.sleep(seconds)
