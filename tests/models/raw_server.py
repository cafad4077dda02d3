"""A server without a protocol: it sends the bytes that a test writes."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Talk = Callable[[socket.socket, int], None]
"""Replies to the n-th request (from 1) of a caller. The connection is cut when it returns."""


def make_response(text: str, keep: bool = False) -> bytes:
    """Return a valid answer of OpenAI's protocol, with its head."""
    body = json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}).encode()
    last = "keep-alive" if keep else "close"
    return f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: {last}\r\n\r\n".encode() + body


def read_request(caller: socket.socket) -> bytes:
    """Return the body of the next request; it is empty if the caller hung up."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = caller.recv(65536)
        if not chunk:
            return b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    size = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < size:
        body += caller.recv(65536)
    return body


@contextmanager
def run_raw_server(talk: Talk) -> Iterator[tuple[str, list[int]]]:
    """Run a server; yield its address, and a list to which each request adds its number."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    request_numbers: list[int] = []
    callers: list[socket.socket] = []

    def serve(caller: socket.socket) -> None:
        with caller, contextlib.suppress(OSError):
            if read_request(caller):
                request_numbers.append(len(request_numbers) + 1)
                talk(caller, request_numbers[-1])

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = listener.accept()
                callers.append(caller)
                threading.Thread(target=serve, args=(caller,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", request_numbers
    finally:
        listener.close()
        for caller in callers:
            with contextlib.suppress(OSError):
                caller.shutdown(socket.SHUT_RDWR)
