"""Connections that cannot be held open, and that do not end before their answer is read.

A slow head, and an answer that nobody reads, end at a limit of time. Where the answer comes before the whole request is
read (a body that is too large), the rest is taken and thrown away for a while: a socket closed with bytes unread resets
the connection, and the client loses the answer (RFC 9112, section 9.6).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class LingeringTransport:
    """A transport that hears the client out when it is closed with something ``unread``, for so many ``seconds``.

    It says at once that nothing more comes. A second ``close`` ends the connection as it is.
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
        """What comes now is thrown away."""
        return self._end is not None

    def is_closing(self) -> bool:
        """Nothing more is answered."""
        return self.lingers or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection, once the client is done or its time is up."""
        if self.is_closing() or not self._unread():
            self._transport.close()
            return
        self._transport.write_eof()
        self._transport.resume_reading()
        self._end = asyncio.get_running_loop().call_later(self._seconds, self._transport.abort)

    def closed(self) -> None:
        """The connection is gone."""
        if self._end is not None:
            self._end.cancel()


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit of time on what the client does; uvicorn itself has none.

    ``seconds`` are for the whole head of a request, from when the connection is free, for a client to read on where an
    answer waits to be sent, and for it to stop sending once it is answered.
    """

    seconds = 30.0
    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the class above
        """A client is there: its first head has a limit."""
        self._lingering = LingeringTransport(transport, self._unread, self.seconds)
        super().connection_made(cast(asyncio.Transport, self._lingering))
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop()
        self._lingering.closed()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Once the head of a request is there, the body has a limit of its own (see the application)."""
        if self._lingering.lingers:
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before and self._head is not None:
            self._head.cancel()
            self._head = None

    def on_response_complete(self) -> None:
        """The next head has a limit again, unless it is there already."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is before and not self.transport.is_closing():
            self._wait_for_head()

    def pause_writing(self) -> None:
        """The client reads more slowly than the answer comes."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It has read on."""
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

    def _stop(self) -> None:
        for timer in (self._head, self._stalled):
            if timer is not None:
                timer.cancel()
        self._head = self._stalled = None


def bounded(limit: float) -> type[BoundedProtocol]:
    """The protocol with another limit."""
    return type("Bounded", (BoundedProtocol,), {"seconds": limit})
