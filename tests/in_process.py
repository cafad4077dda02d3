"""Run the ``safecheck`` command in this process, which is faster than a new process.

Tests about the process itself (signals, closed streams, memory, imports) start a new process instead.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest

from plansafe.app import main
from plansafe.app.interfaces.cli.commandline import app


def safecheck(
    *arguments: str, cwd: Path | str, stdin: str = "", environment: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """Run ``safecheck ARGUMENTS`` in a folder; return the exit code, the output and the error output.

    ``environment`` replaces the whole environment. The memory limit is not set, because it would also limit the tests.
    An exception that the command does not catch fails the test.
    """
    out, err = _make_stream(), _make_stream()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with (
        contextlib.chdir(cwd),
        patch.dict(os.environ, environment or {}, clear=environment is not None),
        patch.object(sys, "argv", ["safecheck", *arguments]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
        patch.object(resource, "setrlimit"),
    ):
        try:
            code = main._run()
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
    return CompletedProcess(["safecheck", *arguments], code, _read_written(out), _read_written(err))


def run_app(*arguments: str) -> int:
    """Run ``safecheck ARGUMENTS`` in the current folder, with output that ``capsys`` reads; return the exit code."""
    with pytest.raises(SystemExit) as stop:
        app([*arguments], prog_name="safecheck")
    return int(stop.value.code or 0)


def _make_stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _read_written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return io.TextIOWrapper(io.BytesIO(buffer.getvalue()), encoding="utf-8").read()  # translates newlines
