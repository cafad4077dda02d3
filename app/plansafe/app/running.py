"""What every command does around its work: limits, exit codes of what is no verdict, files that are whole or absent."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

INTERRUPTED = 130
BROKEN_PIPE = 141
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF))
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

        traceback.print_exc()
        print(REPORT, file=sys.stderr)
        return 4


def _discard_output() -> None:
    """Nobody reads on, or nothing can be written: the interpreter would complain about the unflushed rest at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(problem: Diagnostic) -> int:
    """Say what is wrong with the command line; the exit code of that."""
    from plansafe.app.render.text import brief  # noqa: PLC0415 - for a mistake alone

    print(f"error[{problem.code}]: {brief(problem.message)}", file=sys.stderr)
    if problem.help:
        print(f"  = help: {brief(problem.help)}", file=sys.stderr)
    return 2


def told(diagnostics: Iterable[Diagnostic], sources: dict[str, Source]) -> int:
    """Say what is wrong with a file of the user, with its places, on standard error; the exit code of that."""
    from plansafe.app.render.full import FullRenderer  # noqa: PLC0415 - for a mistake alone
    from plansafe.app.render.text import Style  # noqa: PLC0415
    from plansafe.app.service import Result, unjudged  # noqa: PLC0415

    view = FullRenderer(Style(False), False)
    result = Result("", unjudged(""), (), sources)
    for diagnostic in diagnostics:
        print(view.diagnostic(diagnostic, result), file=sys.stderr)
    return 2


def unwritable(where: str, error: OSError) -> Diagnostic:
    """Say that something cannot be written."""
    return Diagnostic("SC607", f"cannot write {where}: {(error.strerror or str(error)).lower()}")


def replace_file(path: str, data: bytes) -> None:
    """Put new bytes in the place of a file, at once or not at all. Links are followed; the mode stays. ``OSError``."""
    path = os.path.realpath(path)
    new = _beside(path)
    with open(new, "xb") as file:
        try:
            file.write(data)
            file.flush()
            if os.path.exists(path):
                os.chmod(new, os.stat(path).st_mode & 0o7777)
            os.replace(new, path)
        except BaseException:
            os.unlink(new)
            raise


def _beside(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.getpid()}.tmp")


def written(output: str | None, work: Callable[[TextIO], int]) -> int:
    """Do some work that writes to standard output, or to a file that is replaced only when all is written.

    An exit code: that of the work, or 2 where the output cannot be written.
    """
    file = None
    try:
        if output is None:
            stream = standard_output()
            code = work(stream)
            stream.flush()
        else:
            file = _temporary(output)
            code = work(file)
            file.close()
            os.replace(file.name, output)
            file = None
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        where = output if output is not None else "standard output"
        return complain(unwritable(where, error))
    finally:
        if file is not None:
            file.close()
            os.unlink(file.name)
    return code


def _temporary(output: str) -> TextIO:
    """Open a file beside ``output``, to be renamed when complete: a reader never sees half a report."""
    return open(_beside(output), "x", encoding="utf-8", errors="backslashreplace", newline="\n")


def standard_output() -> TextIO:
    """Standard output, which shows what it cannot encode instead of failing."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def wants_color(choice: str, stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream``."""
    if choice == "auto":
        return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return choice == "always"


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
