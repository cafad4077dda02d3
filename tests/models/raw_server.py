"""A server that speaks no protocol: what it sends is what a test writes, byte for byte."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Talk = Callable[[socket.socket, int], None]
"""What is said to the caller behind its request, the n-th (from 1). When it returns the connection is cut."""


def framed(text: str, keep: bool = False) -> bytes:
    """A right answer of OpenAI's protocol, with its head."""
    body = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()
    last = "keep-alive" if keep else "close"
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: {last}\r\n\r\n".encode() + body


def request_of(caller: socket.socket) -> bytes:
    """The body of the next request; empty where the caller hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = caller.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < size:
        body += caller.recv(65536)
    return body


@contextmanager
def talking(talk: Talk) -> Iterator[tuple[str, list[int]]]:
    """The address of the server, and a list that grows by one with each request."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    asked: list[int] = []
    open_ones: list[socket.socket] = []

    def serve(caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):
            if request_of(caller):
                asked.append(len(asked) + 1)
                talk(caller, asked[-1])

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = listener.accept()
                open_ones.append(caller)
                threading.Thread(target=serve, args=(caller,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", asked
    finally:
        listener.close()
        for caller in open_ones:
            with contextlib.suppress(OSError):
                caller.shutdown(socket.SHUT_RDWR)
