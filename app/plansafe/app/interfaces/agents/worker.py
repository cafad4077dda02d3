"""Worker processes: one kind runs operations, the other runs one session. Both end with the server or at their limits.

Time limits by signals need a main thread, and only ending a process bounds the cost of an untrusted task. Therefore
each worker is a separate process.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable

from plansafe.app.interfaces.agents.monitor_session import MonitorSession, SessionRefused
from plansafe.app.interfaces.agents.operations import OperationContext, perform
from plansafe.app.interfaces.agents.request_fields import BadRequest
from plansafe.app.interfaces.agents.worker_messages import MAX_ANSWER_BYTES, Limits, Reply, receive, refusal, send
from plansafe.app.system.process import limit_memory
from plansafe.app.system.time_limit import Alarm, OutOfTime
from plansafe.domains import domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.specs import spec_path

_MIB = 1024 * 1024


def serve_operations(sock: socket.socket, limits: Limits) -> None:
    """Run operations until the server disconnects or the process uses much memory."""
    _initialise_process(limits)
    context = OperationContext(limits)
    with sock:
        while (request := receive(sock)) is not None:
            name, body = request
            reply = _run_request(lambda name=name, body=body: perform(name, body, context), limits)  # type: ignore[misc] # default arguments in a loop
            if _memory_is_high(limits):
                reply = reply._replace(last=True)
            send(sock, reply)
            if reply.last:
                return


def serve_session(sock: socket.socket, limits: Limits) -> None:
    """Run one session: the first request opens it, and a failure ends it."""
    _initialise_process(limits)
    session: MonitorSession | None = None

    def work(name: str, body: bytes) -> str:
        nonlocal session
        if session is not None:
            return session.perform(name, body)
        from plansafe.app.render.json import json_line  # noqa: PLC0415 - not needed before the first request

        session = MonitorSession(body, limits)
        return json_line(session.opened())

    with sock:
        while (request := receive(sock)) is not None:
            reply = _run_request(lambda request=request: work(*request), limits)  # type: ignore[misc] # default arguments in a loop
            if session is None or reply.status >= 500:
                reply = reply._replace(last=True)  # the state may be incomplete
            send(sock, reply)
            if reply.last:
                return


def _initialise_process(limits: Limits) -> None:
    """Detach from the standard input and output of the server, and set the memory limit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server ends its workers
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    limit_memory(limits.memory)


def _run_request(work: Callable[[], str], limits: Limits) -> Reply:
    """Run a request and return its reply; every exception becomes a reply."""
    try:
        with Alarm(limits.seconds) as alarm:
            alarm.arm()
            try:
                text = work()
            finally:
                alarm.disarm()
        return _text_reply(text)
    except BadRequest as bad:
        return refusal([bad.diagnostic])
    except SessionRefused as refused:
        return _hide_paths(refusal(refused.diagnostics, refused.sources))
    except OutOfTime:
        message = f"the time limit of {limits.seconds:g} s has passed"
        return refusal([Diagnostic(SC.OUT_OF_TIME, message, help="send a smaller request")], status=504, last=True)
    except MemoryError:
        return refusal(
            [Diagnostic(SC.OUT_OF_MEMORY, "out of memory", help="send a smaller request")], status=507, last=True
        )
    except Exception:
        from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - only needed for internal errors

        print(escaped(traceback.format_exc()), file=sys.stderr, flush=True)
        return refusal([Diagnostic(SC.INTERNAL_ERROR, "internal error: this is a bug in safecheck")], last=True)


def _text_reply(text: str) -> Reply:
    body = text.encode("ascii")
    if len(body) > MAX_ANSWER_BYTES:
        return refusal([Diagnostic(SC.SERVICE_LIMIT, "the answer is too long to send")], status=507)
    return _hide_paths(Reply(200, body))


def _hide_paths(reply: Reply) -> Reply:
    """Remove the installation folder of safecheck from a reply."""
    body = reply.body
    for folder in _FOLDERS:
        if folder in body:
            body = body.replace(folder, b"shipped:")
    return reply._replace(body=body)


_ROOTS = (os.path.dirname(os.path.dirname(domain_path("household"))), os.path.dirname(spec_path("household")))
_FOLDERS = tuple([os.path.join(root, "").encode("ascii", "replace") for root in _ROOTS])


def _memory_is_high(limits: Limits) -> bool:
    """Whether the process has used half of its memory limit; Python rarely returns memory to the system."""
    if not limits.memory:
        return False
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return False
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit > limits.memory * _MIB // 2
