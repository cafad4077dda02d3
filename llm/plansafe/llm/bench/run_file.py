"""A benchmark run as a file of JSON lines: a header that says what was run, then one record for each item, in order.

The file is the run's memory: after an interruption, at whatever byte, whole lines are kept and the run goes on behind
them. With answers that are kept (``models/cache.py``) no call is made twice.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, read_line

VERSION = 1
MOST_LINE_BYTES = 16 * 1024 * 1024
MOST_RECORDS = 1_000_000
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""A link is not followed, and a pipe or device is not waited for (where the system knows these)."""


class BadRun(Exception):
    """The file cannot be used; ``diagnostic`` (SC643) says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class RunFile:
    """A run that is under way. Use as a context manager; one process at a time.

    ``header`` are JSON values that say all that decides the records: suite, model, settings, addresses of prompts. A
    file with another header is another run's. Raises :class:`BadRun`; nothing of another run's file is changed.
    """

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self._path = path
        first = {"kind": "run", "version": VERSION, **header}
        self.records: list[dict[str, Any]] = []
        """What is in the file so far."""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _CAREFUL, 0o644)
        except OSError as error:
            raise _bad(path, error.strerror or "cannot be opened") from None
        try:
            self._begin(first)
        except BaseException:
            os.close(self._file)
            raise

    def _begin(self, first: dict[str, Any]) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise _bad(self._path, "it is not a regular file")
        if not _locked(self._file):
            raise _bad(self._path, "another process is writing it")
        whole = 0
        with open(self._file, "rb", closefd=False) as file:
            for number, line in enumerate(_whole_lines(file, self._path), 1):
                record = _record(line, self._path, number)
                if number > 1:
                    self.records.append(record)
                elif record != json.loads(_dump(first)):
                    raise _bad(self._path, _difference(record, first), "name another file with --output")
                whole += len(line)
        torn = os.fstat(self._file).st_size > whole
        if torn and not whole and not _begins(self._file, _dump(first)):
            raise _bad(self._path, "it is not empty and not a run", "name another file with --output")
        if torn:
            os.ftruncate(self._file, whole)
        os.lseek(self._file, whole, os.SEEK_SET)
        if not whole:
            self._write(first)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add the record of the next item; it is on the disk when this returns."""
        self._write(record)
        self.records.append(dict(record))

    def each(
        self, names: Sequence[str], work: Callable[[int], Mapping[str, Any]]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """The records of all items in order; those that are missing are computed by ``work`` of their number and added.

        ``names`` are the items': a record carries that of its item as ``id``. Raises :class:`BadRun` for a file whose
        records are not those of the first items.
        """
        for number, name in enumerate(names):
            if number < len(self.records):
                record = self.records[number]
                if record.get("id") != name:
                    reason = f"line {number + 2} is not about {name}"
                    raise _bad(self._path, reason, "name another file with --output")
            else:
                record = {"id": name, **work(number)}
                self.append(record)
            yield number, record

    def _write(self, record: Mapping[str, Any]) -> None:
        left = memoryview((_dump(record) + "\n").encode("ascii"))
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


def read_run(path: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and records of a run, whole or not; a torn last line is passed over. Raises :class:`BadRun`."""
    try:
        with open(path, "rb") as file:
            found = [_record(line, path, number) for number, line in enumerate(_whole_lines(file, path), 1)]
    except OSError as error:
        raise _bad(path, error.strerror or "cannot be read") from None
    if not found or found[0].get("kind") != "run":
        raise _bad(path, "it does not start with the header of a run")
    if found[0].get("version") != VERSION:
        raise _bad(path, f"its version is not {VERSION}, the only one that this program reads")
    return found[0], found[1:]


def _whole_lines(file: Any, path: str) -> Iterator[bytes]:
    for number in range(1, MOST_RECORDS + 2):
        line = file.readline(MOST_LINE_BYTES + 1)
        if len(line) > MOST_LINE_BYTES:
            raise _bad(path, f"line {number} is longer than {MOST_LINE_BYTES:,} bytes")
        if not line.endswith(b"\n"):
            return
        yield line
    raise _bad(path, f"it has more than {MOST_RECORDS:,} records")


def _record(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        return read_line(line.rstrip(b"\n"))
    except BadField as error:
        raise _bad(path, f"line {number}: {error}") from None


def _locked(file: int) -> bool:
    """Whether nobody else writes the file; systems without such locks do not say."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _begins(file: int, text: str) -> bool:
    """Whether the file is what is left of this header."""
    found = os.pread(file, len(text) + 1, 0)
    return text.encode("ascii").startswith(found)


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    names = [name for name in (*wanted, *found) if found.get(name) != wanted.get(name)]
    if found.get("kind") != "run":
        return "it is not a run"
    return f"it belongs to another run: `{names[0]}` differs"


def _dump(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _bad(path: str, reason: str, help_text: str = "docs/scenarios.md says what a run's file is") -> BadRun:
    return BadRun(Diagnostic(SC.BAD_RUN, f"the run cannot be read or written: {path}: {reason}", help=help_text))
