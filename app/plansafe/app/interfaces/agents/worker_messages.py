"""What goes between the server and its worker processes: frames of bytes over a socket; and replies."""

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

_ASKED = struct.Struct("!HI")
_SAID = struct.Struct("!H?I")
MOST_SAID = 64 * 1024 * 1024
"""Bytes of an answer; a longer one is refused."""
_STATUS = {
    SC.BAD_REQUEST: 400,
    SC.BAD_KEY: 401,
    SC.NOT_THERE: 404,
    SC.NO_SESSION: 404,
    SC.WRONG_POSITION: 409,
    SC.SERVICE_LIMIT: 503,
    SC.INTERNAL_ERROR: 500,
}
"""The status of HTTP for a diagnostic that is the whole answer; any other is a task that cannot be worked with."""
_UNUSABLE = 422


class Reply(NamedTuple):
    """An answer: a status as in HTTP, one line of JSON, and whether the process that gave it ends."""

    status: int
    body: bytes
    last: bool = False

    @property
    def ok(self) -> bool:
        """Whether it is what was asked for."""
        return self.status == 200


def refusal(
    diagnostics: Iterable[Diagnostic],
    sources: Mapping[str, Source] | None = None,
    status: int | None = None,
    last: bool = False,
) -> Reply:
    """Why there is no answer: the first diagnostic as ``error``, and all of them."""
    said = [diagnostic_object(diagnostic, sources or {}) for diagnostic in diagnostics]
    code = _STATUS.get(str(said[0]["code"]), _UNUSABLE) if status is None else status
    return Reply(code, json_line({"error": said[0], "diagnostics": said}).encode("ascii"), last)


def send(sock: socket.socket, reply: Reply) -> None:
    """Send an answer, from a worker."""
    sock.sendall(_SAID.pack(reply.status, reply.last, len(reply.body)))
    sock.sendall(reply.body)


def receive(sock: socket.socket) -> tuple[str, bytes] | None:
    """Wait for a request, in a worker: its name and its body; ``None`` where the server is gone."""
    head = _exactly(sock, _ASKED.size)
    if head is None:
        return None
    name_size, size = _ASKED.unpack(head)
    name = _exactly(sock, name_size)
    body = _exactly(sock, size)
    return None if name is None or body is None else (name.decode("ascii"), body)


def _exactly(sock: socket.socket, size: int) -> bytes | None:
    out = bytearray(size)
    view, at = memoryview(out), 0
    while at < size:
        got = sock.recv_into(view[at:])
        if not got:
            return None
        at += got
    return bytes(out)


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, name: str, body: bytes) -> Reply:
    """Send a request to a worker, and wait for its answer.

    Raises ``EOFError`` or ``OSError`` where the worker ended instead.
    """
    word = name.encode("ascii")
    writer.write(_ASKED.pack(len(word), len(body)) + word)
    writer.write(body)
    await writer.drain()
    status, last, size = _SAID.unpack(await reader.readexactly(_SAID.size))
    return Reply(status, await reader.readexactly(size), last)
