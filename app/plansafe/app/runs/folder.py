"""A run folder while it is written: a manifest that is replaced at once, and a journal that only grows.

The journal is written a whole row at a time. Whoever is killed leaves rows, and at most a torn one at the end, which
the next one cuts off. When all rows are there, they are put into the order of the inputs, and the journal goes.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

from plansafe.app.runs.reading import JOURNAL, MANIFEST, RESULTS, BadRun, Offsets, lines, row_of

_COPIED = 1 << 20


class Folder:
    """A run folder with its journal open. A context manager; only one process can have it."""

    def __init__(self, path: str, manifest: dict[str, Any]) -> None:
        """Open the journal. Raises :class:`BadRun` where another process has it, or the folder cannot be written."""
        self.path = path
        self.manifest = manifest
        self.offsets = Offsets(manifest["plans"])
        try:
            self._journal = os.open(os.path.join(path, JOURNAL), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            _lock(self._journal)
        except BlockingIOError:
            raise BadRun(f"{path} is being written by another process", "wait for it, or end it") from None
        except OSError as error:
            raise BadRun(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None
        self._end = 0

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._journal)

    @classmethod
    def new(cls, path: str, manifest: dict[str, Any]) -> Folder:
        """Begin a run in a folder that is not there yet, or empty. Raises :class:`BadRun`."""
        try:
            os.makedirs(path, exist_ok=True)
            there = os.listdir(path)
        except OSError as error:
            raise BadRun(f"cannot make the folder {path}: {(error.strerror or str(error)).lower()}") from None
        if MANIFEST in there:
            raise BadRun(f"there is a run in {path}", f"--resume {path} goes on with it; or name another folder")
        if set(there) - {JOURNAL, f"{MANIFEST}.new"}:
            raise BadRun(f"the folder {path} is not empty", "name a new folder")
        folder = cls(path, manifest)
        folder.save()
        return folder

    def recover(self) -> list[dict[str, Any]]:
        """Take up the rows of the journal, and cut off a torn one; what rows say of their inputs.

        Raises :class:`BadRun` where a row in the middle is none, or is of no plan of this run.
        """
        inputs: list[dict[str, Any]] = []
        seen: set[tuple[str, str | None]] = set()
        with open(self._journal, "rb", closefd=False) as file:
            file.seek(0)
            for line in lines(file):
                if not line.endswith(b"\n"):
                    break
                row = row_of(line, self.path)
                if not 0 <= row["number"] < self.manifest["plans"]:
                    raise BadRun(f"{self.path} is damaged: it has a row of no plan", "judge the plans again")
                if self.offsets.add(row["number"], self._end):
                    for one in row.get("inputs", ()):
                        key = (one["path"], one["sha256"])
                        if key not in seen:
                            seen.add(key)
                            inputs.append(one)
                self._end += len(line)
        os.ftruncate(self._journal, self._end)
        return inputs

    def append(self, number: int, line: bytes) -> None:
        """Write the row of a plan. Raises ``OSError`` where the disk is full."""
        if not self.offsets.add(number, self._end):
            return
        rest = line
        while rest:
            rest = rest[os.write(self._journal, rest) :]
        self._end += len(line)

    def save(self) -> None:
        """Write the manifest, whole or not at all."""
        _replace(os.path.join(self.path, MANIFEST), json.dumps(self.manifest, indent=1).encode() + b"\n")

    def finish(self) -> None:
        """Put all rows into the order of the inputs; then the run is complete, and the journal goes."""
        new = os.path.join(self.path, f"{RESULTS}.new")
        with open(self._journal, "rb", closefd=False) as journal, open(new, "wb", _COPIED) as out:
            for start in self.offsets:
                journal.seek(start)
                out.write(journal.readline())
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, os.path.join(self.path, RESULTS))
        self.manifest["complete"] = True
        self.save()
        with suppress(OSError):
            os.unlink(os.path.join(self.path, JOURNAL))


def _replace(path: str, data: bytes) -> None:
    new = f"{path}.new"
    with open(new, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _lock(descriptor: int) -> None:
    """Have the file alone. The lock goes with the process, however it ends, and children do not inherit it."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError as error:  # as some systems say it
        raise BlockingIOError from error
