"""Run a command: limits, exit codes of errors, and the destination of the report."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from plansafe.app.system.file_writing import STANDARD_OUTPUT, UNGUARDED, Guard, NotWritten, streamed, unwritable
from plansafe.app.system.terminal_text import WIDE, Style
from plansafe.grammar.diagnostics import Diagnostic

INTERRUPTED = 130
BROKEN_PIPE = 141
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF))
_OFF = ("", "0", "false")
REPORT = """
safecheck: internal error. This is a bug in safecheck, not in your files.
Please report it with the text above, the command line, and the files if you can share them;
`safecheck --version` says which version this is.
"""


def guarded(work: Callable[[], int]) -> int:
    """Run a command; an exception ends with an exit code that differs from those of verdicts."""
    try:
        return work()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:  # opening a file of the user is handled elsewhere
            _discard_output()
            return complain(unwritable("standard output", error))
        import traceback  # noqa: PLC0415 - only bugs need it

        from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - only bugs need it

        print(escaped(traceback.format_exc()) + REPORT, file=sys.stderr)
        return 4


def _discard_output() -> None:
    """Redirect standard output to the null device, so that the interpreter can flush its buffer at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(problem: Diagnostic) -> int:
    """Print an error about the command line, and return its exit code."""
    from plansafe.app.system.terminal_text import brief  # noqa: PLC0415 - for a mistake alone

    print(f"error[{problem.code}]: {brief(problem.message)}", file=sys.stderr)
    if problem.help:
        print(f"  = help: {brief(problem.help)}", file=sys.stderr)
    return 2


def written(output: str | None, work: Callable[[TextIO], int], guard: Guard = UNGUARDED) -> int:
    """Call ``work`` with standard output, or with a file that is replaced after a complete write.

    Returns the exit code of ``work``, or 2 if the output cannot be written.
    """
    if output is not None and output not in STANDARD_OUTPUT:
        try:
            code, notes = streamed(output, work, guard)
        except NotWritten as refused:
            return complain(refused.diagnostic)
        remark(notes)
        return code
    try:
        stream = standard_output()
        code = work(stream)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(unwritable("standard output", error))
    return code


def for_a_browser(output: str | None) -> Diagnostic | None:
    """The error for a page on a terminal, where it cannot be read."""
    if output is not None or sys.stdout is None or not sys.stdout.isatty():
        return None
    from plansafe.grammar.codes import SC  # noqa: PLC0415 - for a mistake alone

    text = "a page is for a browser, and standard output is a terminal"
    return Diagnostic(SC.BAD_OPTION, text, help="name a file with --output FILE.html, and open it")


def for_a_program(client: str, page: str) -> None:
    """Tell a user who started the command on a terminal that it waits for the messages of a program."""
    if sys.stdin is not None and sys.stdin.isatty():
        remark((f"this command is for {client}, which sends messages to standard input ({page}); end it with Ctrl-C",))


def remark(notes: Iterable[str]) -> None:
    """Print notes on standard error."""
    from plansafe.app.system.terminal_text import brief  # noqa: PLC0415 - only notes need it

    for note in notes:
        print(f"note: {brief(note)}", file=sys.stderr)


def print_text(text: str) -> None:
    """Print a plan or another text with words of the user; invisible characters are escaped."""
    from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - only such texts need it

    escaped_text = escaped(text)
    sys.stdout.flush()
    sys.stdout.buffer.write(escaped_text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
    if escaped_text != text:
        remark(("invisible characters were printed as escapes; a file gets the original characters",))


def standard_output() -> TextIO:
    """Standard output; it escapes characters that it cannot encode."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def terminal(choice: str, stream: TextIO) -> Style:
    """The style for ``stream``: colours and number of columns."""
    color = _wants_color(choice, stream)
    return Style(color, _columns(stream) if color or stream.isatty() else WIDE)


def _wants_color(choice: str, stream: TextIO) -> bool:
    """Decide by the option, NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE, otherwise by the terminal."""
    variable = os.environ.get
    if choice != "auto":
        return choice == "always"
    if variable("NO_COLOR"):
        return False
    if variable("FORCE_COLOR", "0") not in _OFF or variable("CLICOLOR_FORCE", "0") not in _OFF:
        return True
    return stream.isatty() and variable("CLICOLOR") != "0" and variable("TERM") != "dumb"


def _columns(stream: TextIO) -> int:
    """The width of the terminal: COLUMNS, otherwise the size of ``stream``.

    Call it only for terminals and forced colours: programs with readline set COLUMNS for all child processes.
    """
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and 0 < len(columns) < 6 and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDE
    except (OSError, ValueError):
        return WIDE


def limit_memory(mebibytes: int) -> None:
    """Limit the address space of this process, so that a huge input ends with an error."""
    if not mebibytes:
        return
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    limit = mebibytes * 1024 * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def limit_data(mebibytes: int) -> None:
    """Limit the additional data memory of this process; for processes with shared memory."""
    if not mebibytes:
        return
    try:
        import resource  # noqa: PLC0415 - not on every system

        with open("/proc/self/status", encoding="ascii") as file:
            kibibytes = next(int(line.split()[1]) for line in file if line.startswith("VmData:"))
    except (ImportError, OSError, StopIteration):
        return
    limit = mebibytes * 1024 * 1024 + kibibytes * 1024
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
