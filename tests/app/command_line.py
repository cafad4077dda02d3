"""Run the command line, in this process or in a new one; a fake terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

import pytest

from plansafe.app.interfaces.cli.commandline import app

Run = Callable[..., tuple[int, str, str]]
"""Runs the command line with these arguments; returns the exit code, the output and the error output."""
NEW_PROCESS = (sys.executable, "-c", "from plansafe.app.main import main; main()")
"""The command line in a new process, without its arguments."""


class Terminal(io.StringIO):
    """A text stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def run_app(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run ``safecheck ARGUMENTS`` in this process; return the exit code, the output and the error output."""
    with pytest.raises(SystemExit) as stop:
        app([*arguments], prog_name="safecheck")
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err
