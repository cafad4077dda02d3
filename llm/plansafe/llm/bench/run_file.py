"""Run files: one format and one reader for every benchmark.

A run file has JSON lines. The first line is the header: the suite, the model, the settings, and hashes of prompts and
tasks. Each further line is the record of one item, in order. A record has an ``id``, optionally ``cost``, and either
the fields of a prediction or a judged plan in ``judged``; a suite can add fields of its own.

A run can be interrupted at any byte: the next run keeps the complete lines and continues after them.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, bounded_lines, read_line

VERSION = 1
MOST_LINE_BYTES = 16 * 1024 * 1024
MOST_RECORDS = 1_000_000
_OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Do not follow a link and do not wait for a pipe or device (on systems that have these flags)."""


class BadRun(Exception):
    """The file cannot be used; ``diagnostic`` (SC643) gives the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Run(NamedTuple):
    """A run: its header, and the record of each item."""

    header: Mapping[str, Any]
    records: Sequence[dict[str, Any]]

    @property
    def suite(self) -> object:
        """The suite of the run, as its header names it."""
        return self.header.get("suite")

    @property
    def model(self) -> str:
        """The model as the user named it, without the folder of its file."""
        provider, _, name = str(self.header["model"]).partition("/")
        return f"{provider}/{name.rstrip('/').rsplit('/', 1)[-1]}"


def run_header(suite: str, version: int, model: str, identity: str, **values: Any) -> dict[str, Any]:
    """Make the header of a run. ``version`` is the suite's; ``values`` are JSON values that determine the records."""
    return {"suite": suite, "suite_version": version, "model": model, "identity": identity, **values}


class RunFile:
    """A run file open for writing. Use as a context manager; one process at a time.

    ``header`` has JSON values that determine the records: suite, model, settings, hashes of prompts. A file with a
    different header belongs to another run. Raises :class:`BadRun`; the file of another run is not changed.
    """

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self._path = path
        first = {"kind": "run", "version": VERSION, **header}
        self.records: list[dict[str, Any]] = []
        """The records in the file."""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | _OPEN_FLAGS, 0o644)
        except OSError as error:
            raise bad_run(path, error.strerror or "cannot be opened") from None
        try:
            self._begin(first)
        except BaseException:
            os.close(self._file)
            raise

    def _begin(self, first: dict[str, Any]) -> None:
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            raise bad_run(self._path, "it is not a regular file")
        if not lock_file(self._file):
            raise bad_run(self._path, "another process is writing it")
        complete_bytes = 0
        with open(self._file, "rb", closefd=False) as file:
            for number, line in enumerate(_complete_lines(file, self._path), 1):
                record = _record(line, self._path, number)
                if number > 1:
                    self.records.append(record)
                elif record != json.loads(_dump(first)):
                    raise bad_run(self._path, _difference(record, first), "name another file with --output")
                complete_bytes += len(line)
        is_torn = os.fstat(self._file).st_size > complete_bytes
        if is_torn and not complete_bytes and not _is_beginning(self._file, _dump(first)):
            raise bad_run(self._path, "it is not empty and not a run", "name another file with --output")
        if is_torn:
            os.ftruncate(self._file, complete_bytes)
        os.lseek(self._file, complete_bytes, os.SEEK_SET)
        if not complete_bytes:
            self._write(first)

    def append(self, record: Mapping[str, Any]) -> None:
        """Add the record of the next item. It is on the disk when this returns."""
        self._write(record)
        self.records.append(dict(record))

    def complete(
        self, names: Sequence[str], work: Callable[[int], Mapping[str, Any]]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the records of all items in order. A missing record is computed by ``work`` of its number and added.

        ``names`` are the names of the items; a record has the name of its item as ``id``. Raises :class:`BadRun` for a
        file whose records do not belong to the first items.
        """
        for number, name in enumerate(names):
            if number < len(self.records):
                record = self.records[number]
                if record.get("id") != name:
                    reason = f"line {number + 2} is not about {name}"
                    raise bad_run(self._path, reason, "name another file with --output")
            else:
                record = {"id": name, **work(number)}
                self.append(record)
            yield number, record

    def _write(self, record: Mapping[str, Any]) -> None:
        remaining = memoryview((_dump(record) + "\n").encode("ascii"))
        while remaining:
            remaining = remaining[os.write(self._file, remaining) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


def read_run(path: str) -> Run:
    """Read a run, complete or not; a torn last line is ignored. Raises :class:`BadRun`."""
    try:
        with open(path, "rb") as file:
            records = [_record(line, path, number) for number, line in enumerate(_complete_lines(file, path), 1)]
    except OSError as error:
        raise bad_run(path, error.strerror or "cannot be read") from None
    if not records or records[0].get("kind") != "run":
        raise bad_run(path, "it does not start with the header of a run")
    if records[0].get("version") != VERSION:
        raise bad_run(path, f"its version is not {VERSION}, the only one that this program reads")
    return Run(records[0], records[1:])


def bad_run(path: str, reason: str, help_text: str = "docs/scenarios.md describes the format of a run file") -> BadRun:
    """Make the error about a run file."""
    return BadRun(Diagnostic(SC.BAD_RUN, f"the run cannot be read or written: {path}: {reason}", help=help_text))


def _complete_lines(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The lines that end with a line break."""
    try:
        for line in bounded_lines(file, MOST_LINE_BYTES, MOST_RECORDS + 1):
            if not line.endswith(b"\n"):
                return
            yield line
    except BadField as error:
        raise bad_run(path, str(error)) from None


def _record(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        return read_line(line.rstrip(b"\n"))
    except BadField as error:
        raise bad_run(path, f"line {number}: {error}") from None


def lock_file(file: int) -> bool:
    """Lock an open file. False if another process has locked it; always true on systems without file locks."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_beginning(file: int, text: str) -> bool:
    """Whether the file is a beginning of this header."""
    content = os.pread(file, len(text) + 1, 0)
    return text.encode("ascii").startswith(content)


def _difference(header: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    names = [name for name in (*expected, *header) if header.get(name) != expected.get(name)]
    if header.get("kind") != "run":
        return "it is not a run"
    return f"it belongs to another run: `{names[0]}` differs"


def _dump(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
