"""HTTP connections with time limits that stay open until the client has read the response.

A client that sends its headers too slowly, or does not read the response, is disconnected. If the response is sent
before the whole request is read (a body that is too large), the remaining bytes are read and discarded for a while:
closing a socket with unread bytes resets the connection, and the client loses the response (RFC 9112, section 9.6).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class LingeringTransport:
    """A transport that, when closed with unread input, discards further input for up to ``seconds``.

    It sends the end of its output at once. A second ``close`` closes the connection immediately.
    """

    def __init__(self, transport: asyncio.Transport, unread: Callable[[], bool], seconds: float) -> None:
        self._transport = transport
        self._unread = unread
        self._seconds = seconds
        self._end: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    @property
    def lingers(self) -> bool:
        """Whether further input is discarded."""
        return self._end is not None

    def is_closing(self) -> bool:
        """Whether no more responses are sent."""
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection when the client has finished or the time limit has passed."""
        if self.is_closing() or not self._unread():
            self._transport.close()
            return
        self._transport.write_eof()
        self._transport.resume_reading()
        self._end = asyncio.get_running_loop().call_later(self._seconds, self._transport.abort)

    def closed(self) -> None:
        """Cancel the timer of a lost connection."""
        if self._end is not None:
            self._end.cancel()


class BoundedProtocol(H11Protocol):
    """The HTTP/1.1 protocol of uvicorn with time limits on the client, which uvicorn does not have.

    ``seconds`` limits each of: receiving the request headers on an idle connection, waiting for the client to read more
    of a response, and waiting for it to stop sending after the response.
    """

    seconds = 30.0
    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the class above
        """Start the time limit of the first request headers."""
        self._lingering = LingeringTransport(transport, self._unread, self.seconds)
        super().connection_made(cast(asyncio.Transport, self._lingering))
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        self._cancel_timers()
        self._lingering.closed()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the header timer when the headers are complete; the application limits the body."""
        if self._lingering.lingers:
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before and self._head is not None:
            self._head.cancel()
            self._head = None

    def on_response_complete(self) -> None:
        """Start the time limit of the next request headers, unless they have arrived."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is before and not self.transport.is_closing():
            self._wait_for_head()

    def pause_writing(self) -> None:
        """Start the time limit of a client that does not read the response."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the time limit because the client reads again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _unread(self) -> bool:
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    def _wait_for_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
        self._head = self.loop.call_later(self.seconds, self.transport.abort)

    def _cancel_timers(self) -> None:
        for timer in (self._head, self._stalled):
            if timer is not None:
                timer.cancel()
        self._head = self._stalled = None


def bounded(limit: float) -> type[BoundedProtocol]:
    """Return the protocol class with another time limit."""
    return type("Bounded", (BoundedProtocol,), {"seconds": limit})
