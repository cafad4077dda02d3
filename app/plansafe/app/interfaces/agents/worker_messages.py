"""Messages between the server and its worker processes: requests and replies as byte frames over a socket.

Resource limits of one request.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.app.render.json import diagnostic_object, json_line
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

_REQUEST_HEADER = struct.Struct("!HI")
_REPLY_HEADER = struct.Struct("!H?I")
MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""Maximum size of an answer; longer answers are refused."""
_STATUS = {
    SC.BAD_REQUEST: 400,
    SC.BAD_KEY: 401,
    SC.NOT_FOUND: 404,
    SC.NO_SESSION: 404,
    SC.WRONG_POSITION: 409,
    SC.SERVICE_LIMIT: 503,
    SC.INTERNAL_ERROR: 500,
}
"""HTTP status by code of the first diagnostic; all other codes mean an unusable task."""
_UNUSABLE = 422


class Reply(NamedTuple):
    """An HTTP status, one line of JSON, and whether the worker process ends after this reply."""

    status: int
    body: bytes
    last: bool = False

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return self.status == 200


def refusal(
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, Source] | None = None,
    status: int | None = None,
    last: bool = False,
) -> Reply:
    """Build an error reply with the first diagnostic as ``error`` and all as ``diagnostics``."""
    objects = [diagnostic_object(diagnostic, sources or {}) for diagnostic in diagnostics]
    code = _STATUS.get(str(objects[0]["code"]), _UNUSABLE) if status is None else status
    return Reply(code, json_line({"error": objects[0], "diagnostics": objects}).encode("ascii"), last)


def send(sock: socket.socket, reply: Reply) -> None:
    """Send a reply from a worker."""
    sock.sendall(_REPLY_HEADER.pack(reply.status, reply.last, len(reply.body)))
    sock.sendall(reply.body)


def receive(sock: socket.socket) -> tuple[str, bytes] | None:
    """Receive the name and body of a request in a worker, or ``None`` if the server has disconnected."""
    head = _receive_exactly(sock, _REQUEST_HEADER.size)
    if head is None:
        return None
    name_size, size = _REQUEST_HEADER.unpack(head)
    name = _receive_exactly(sock, name_size)
    body = _receive_exactly(sock, size)
    return None if name is None or body is None else (name.decode("ascii"), body)


def _receive_exactly(sock: socket.socket, size: int) -> bytes | None:
    out = bytearray(size)
    view, offset = memoryview(out), 0
    while offset < size:
        count = sock.recv_into(view[offset:])
        if not count:
            return None
        offset += count
    return bytes(out)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str, body: bytes) -> Reply:
    """Send a request to a worker and wait for its reply.

    Raises ``EOFError`` or ``OSError`` if the worker process ended.
    """
    word = name.encode("ascii")
    writer.write(_REQUEST_HEADER.pack(len(word), len(body)) + word)
    writer.write(body)
    await writer.drain()
    status, last, size = _REPLY_HEADER.unpack(await reader.readexactly(_REPLY_HEADER.size))
    return Reply(status, await reader.readexactly(size), last)


class Limits(NamedTuple):
    """Resource limits of one request: seconds, MiB of memory, and the ``model`` that drafts rules."""

    seconds: float = 30.0
    memory: int = 2048
    model: str | None = None
