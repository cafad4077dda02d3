"""Connections that cannot be held open: a slow head, and an answer that nobody reads, end at a limit of time."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 as uvicorn speaks it, with a limit of time on what the client does; uvicorn itself has none.

    ``seconds`` are for the whole head of a request, from when the connection is free, and for a client to read on where
    an answer waits to be sent.
    """

    seconds = 30.0
    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in the class above
        """A client is there: its first head has a limit."""
        super().connection_made(transport)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Once the head of a request is there, the body has a limit of its own (see the application)."""
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
