"""Worker processes: one judges, another holds the session of one robot. Neither outlives the server, or its limits.

A limit of time by signals needs a main thread, and what an untrusted task may cost is only bounded by ending a process:
so whoever judges has a process of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable

from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.monitor_session import Refused, Watch
from plansafe.app.interfaces.agents.operations import Desk, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.worker_messages import MOST_SAID, Reply, receive, refusal, send
from plansafe.app.system.process import limit_memory
from plansafe.app.system.time_limit import Alarm, OutOfTime
from plansafe.domains import domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.specs import spec_path

OPEN = "open"
_MIB = 1024 * 1024


def judge(sock: socket.socket, limits: Limits) -> None:
    """Answer requests until the server is gone, or memory runs low."""
    _settle(limits)
    desk = Desk(limits)
    with sock:
        while (asked := receive(sock)) is not None:
            name, body = asked
            reply = _answered(lambda name=name, body=body: perform(name, body, desk), limits)  # type: ignore[misc] # of a loop
            if _swollen(limits):
                reply = reply._replace(last=True)
            send(sock, reply)
            if reply.last:
                return


def watch(sock: socket.socket, limits: Limits) -> None:
    """Hold one session: the first request opens it, and a failure ends it."""
    _settle(limits)
    watched: Watch | None = None

    def work(name: str, body: bytes) -> str:
        nonlocal watched
        if watched is not None:
            return watched.perform(name, body)
        from plansafe.app.render.json import json_line  # noqa: PLC0415 - with the rest of the work

        watched = Watch(body, limits)
        return json_line(watched.opened())

    with sock:
        while (asked := receive(sock)) is not None:
            reply = _answered(lambda asked=asked: work(*asked), limits)  # type: ignore[misc] # of a loop
            if watched is None or reply.status >= 500:
                reply = reply._replace(last=True)  # a state that was left half-way is no state
            send(sock, reply)
            if reply.last:
                return


def _settle(limits: Limits) -> None:
    """Begin in a process of one's own: nothing is read from the server's input, nor written to its output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    limit_memory(limits.memory)


def _answered(work: Callable[[], str], limits: Limits) -> Reply:
    """What comes of a request; whatever goes wrong is an answer."""
    try:
        with Alarm(limits.seconds) as alarm:
            alarm.arm()
            try:
                text = work()
            finally:
                alarm.disarm()
        return _said(text)
    except BadRequest as bad:
        return refusal([bad.diagnostic])
    except Refused as refused:
        return _hidden(refusal(refused.diagnostics, refused.sources))
    except OutOfTime:
        message = f"the time limit of {limits.seconds:g} s has passed"
        return refusal([Diagnostic(SC.OUT_OF_TIME, message, help="ask for less")], status=504, last=True)
    except MemoryError:
        return refusal([Diagnostic(SC.OUT_OF_MEMORY, "out of memory", help="ask for less")], status=507, last=True)
    except Exception:
        from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - for bugs alone

        print(escaped(traceback.format_exc()), file=sys.stderr, flush=True)
        return refusal([Diagnostic(SC.INTERNAL_ERROR, "internal error: this is a bug in safecheck")], last=True)


def _said(text: str) -> Reply:
    body = text.encode("ascii")
    if len(body) > MOST_SAID:
        return refusal([Diagnostic(SC.SERVICE_LIMIT, "the answer is too long to be sent")], status=507)
    return _hidden(Reply(200, body))


def _hidden(reply: Reply) -> Reply:
    """An answer that does not say in which folder of this machine safecheck lies."""
    body = reply.body
    for folder in _FOLDERS:
        if folder in body:
            body = body.replace(folder, b"shipped:")
    return reply._replace(body=body)


_ROOTS = (os.path.dirname(os.path.dirname(domain_path("household"))), os.path.dirname(spec_path("household")))
_FOLDERS = tuple([os.path.join(root, "").encode("ascii", "replace") for root in _ROOTS])


def _swollen(limits: Limits) -> bool:
    """Whether this process has grown to half of what it may: memory that was used once is seldom given back."""
    if not limits.memory:
        return False
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return False
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > limits.memory * _MIB // 2
