"""What every command does around its work: limits, exit codes of what is no verdict, where the report goes."""

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
    """Do the work of a command; whatever goes wrong has an exit code that is no verdict."""
    try:
        return work()
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _FULL:  # files of the user are opened where it is said
            _discard_output()
            return complain(unwritable("standard output", error))
        import traceback  # noqa: PLC0415 - for bugs alone

        from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - where something is shown

        print(escaped(traceback.format_exc()) + REPORT, file=sys.stderr)
        return 4


def _discard_output() -> None:
    """Nobody reads on, or nothing can be written: the interpreter would complain about the unflushed rest at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(problem: Diagnostic) -> int:
    """Say what is wrong with the command line; the exit code of that."""
    from plansafe.app.system.terminal_text import brief  # noqa: PLC0415 - for a mistake alone

    print(f"error[{problem.code}]: {brief(problem.message)}", file=sys.stderr)
    if problem.help:
        print(f"  = help: {brief(problem.help)}", file=sys.stderr)
    return 2


def written(output: str | None, work: Callable[[TextIO], int], guard: Guard = UNGUARDED) -> int:
    """Do some work that writes to standard output, or to a file that is replaced only when all is written.

    An exit code: that of the work, or 2 where the output cannot be written.
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
    """What is wrong with writing a page there: on a terminal nobody can read it."""
    if output is not None or sys.stdout is None or not sys.stdout.isatty():
        return None
    from plansafe.grammar.codes import SC  # noqa: PLC0415 - for a mistake alone

    text = "a page is for a browser, and standard output is a terminal"
    return Diagnostic(SC.BAD_OPTION, text, help="name a file with --output FILE.html, and open it")


def for_a_program(what: str, page: str) -> None:
    """Say on a terminal, where a person started it, that a command waits for the messages of a program."""
    if sys.stdin is not None and sys.stdin.isatty():
        remark((f"{what} starts this, and speaks to it over standard input ({page}); end it with Ctrl-C",))


def remark(notes: Iterable[str]) -> None:
    """Say on standard error what else has changed by writing a file."""
    from plansafe.app.system.terminal_text import brief  # noqa: PLC0415 - where there is something to say

    for note in notes:
        print(f"note: {brief(note)}", file=sys.stderr)


def print_text(text: str) -> None:
    """Print a plan or another text with the user's words on standard output; what cannot be seen is escaped."""
    from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - where such a text is printed

    shown = escaped(text)
    sys.stdout.flush()
    sys.stdout.buffer.write(shown.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()
    if shown != text:
        remark(("characters that cannot be seen were printed as escapes; a file gets them as they are",))


def standard_output() -> TextIO:
    """Standard output, which shows what it cannot encode instead of failing."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def terminal(choice: str, stream: TextIO) -> Style:
    """What can be shown on ``stream``: colours or none, and how many columns."""
    color = _wants_color(choice, stream)
    return Style(color, _columns(stream) if color or stream.isatty() else WIDE)


def _wants_color(choice: str, stream: TextIO) -> bool:
    """The flag wins; then NO_COLOR; then FORCE_COLOR or CLICOLOR_FORCE; else it takes a terminal that has colours."""
    said = os.environ.get
    if choice != "auto":
        return choice == "always"
    if said("NO_COLOR"):
        return False
    if said("FORCE_COLOR", "0") not in _OFF or said("CLICOLOR_FORCE", "0") not in _OFF:
        return True
    return stream.isatty() and said("CLICOLOR") != "0" and said("TERM") != "dumb"


def _columns(stream: TextIO) -> int:
    """The width of the terminal that ``stream`` is, or is meant for; COLUMNS wins.

    Elsewhere COLUMNS says nothing: whoever loads readline sets it for all that it starts.
    """
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and 0 < len(given) < 6 and int(given) > 0:
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDE
    except (OSError, ValueError):
        return WIDE


def limit_memory(mebibytes: int) -> None:
    """Bound the address space of this process, so that a huge input ends in an answer and not in a frozen machine."""
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
    """Bound what this process may allocate beyond what it has: for one that shares memory which is not its own."""
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
