"""Write a run folder: a manifest that is replaced atomically, and shards to which rows are appended.

A shard contains ``PLANS_PER_SHARD`` consecutive plans. Rows are appended to its part file in the order of completion. A
killed process leaves at most one truncated row at the end of a part; the next process cuts it off. A part with all its
rows is sorted into a finished shard. When all shards are finished, they are concatenated and deleted. Memory holds
eight bytes for each plan of the few shards that have a part.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from contextlib import suppress
from typing import Any

from plansafe.app.runs.run_reader import (
    FINISHED,
    MANIFEST,
    PART,
    RESULTS,
    SHARDS,
    BadRun,
    parse_row,
    read_lines,
    shard_files,
)

PLANS_PER_SHARD = 100_000
"""Number of plans in a shard."""
_COPY_BUFFER = 1 << 20
_LOCK = "lock"


class _Part:
    """The part file of a shard: the offset of each plan's row, and the number of missing rows."""

    def __init__(self, descriptor: int, plans: int) -> None:
        self.descriptor = descriptor
        self.starts = array("q", [-1]) * plans
        self.end = 0
        self.left = plans

    def add_row(self, place: int, size: int) -> bool:
        """Record an appended row. Returns whether it is the first row of its plan."""
        first = self.starts[place] < 0
        if first:
            self.starts[place] = self.end
            self.left -= 1
        self.end += size
        return first


class RunFolder:
    """A run folder open for writing. A context manager; only one process can open it."""

    def __init__(self, path: str, manifest: dict[str, Any]) -> None:
        """Lock the folder. Raises :class:`BadRun` if another process has locked it, or if it cannot be written."""
        self.path = path
        self.manifest = manifest
        self.done = 0
        self.inputs: dict[str, str] = {}
        if not isinstance(manifest.get("shard"), int) or manifest["shard"] < 1:
            raise BadRun(f"{path} was begun by another version", "begin a new run")
        self._size: int = manifest["shard"]
        self._shards = os.path.join(path, SHARDS)
        self._parts: dict[int, _Part] = {}
        self._finished_shards: set[int] = set()
        try:
            os.makedirs(self._shards, exist_ok=True)
            self._lock_descriptor = os.open(os.path.join(self._shards, _LOCK), os.O_RDWR | os.O_CREAT, 0o666)
            _lock_exclusively(self._lock_descriptor)
        except BlockingIOError:
            raise BadRun(f"{path} is being written by another process", "wait until it ends, or end it") from None
        except OSError as error:
            raise BadRun(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        for part in self._parts.values():
            os.close(part.descriptor)
        os.close(self._lock_descriptor)

    @classmethod
    def new(cls, path: str, manifest: dict[str, Any]) -> RunFolder:
        """Begin a run in a new or empty folder. Raises :class:`BadRun`."""
        create_run_folder(path)
        folder = cls(path, manifest)
        folder.save()
        return folder

    def __contains__(self, number: int) -> bool:
        """Whether a plan has a row."""
        shard, place = divmod(number, self._size)
        return shard in self._finished_shards or (shard in self._parts and self._parts[shard].starts[place] >= 0)

    def recover(self) -> None:
        """Read the existing rows and the hashes of their inputs, and cut off truncated rows.

        Raises :class:`BadRun` if a line in the middle is not a row, or a row does not belong to a plan of its shard.
        """
        for shard, name, is_finished in shard_files(self.path):
            plans = self._plan_count(shard)
            if shard in self._finished_shards or plans <= 0:
                if plans <= 0:
                    raise self._damaged_error()
                os.unlink(name)  # the writer was killed between finishing the shard and deleting its part
                continue
            part = _Part(os.open(name, os.O_RDWR | os.O_APPEND), plans)
            with open(part.descriptor, "rb", closefd=False) as file:
                for line in read_lines(file):
                    if not line.endswith(b"\n"):
                        break
                    row = parse_row(line, self.path)
                    place = row["number"] - shard * self._size
                    if not 0 <= place < plans:
                        raise self._damaged_error()
                    if part.add_row(place, len(line)):
                        self._note_inputs(row)
                        self.done += 1
            if is_finished and part.left:
                raise self._damaged_error()
            if is_finished:
                os.close(part.descriptor)
                self._finished_shards.add(shard)
                continue
            os.ftruncate(part.descriptor, part.end)
            self._parts[shard] = part
            if not part.left:
                self._order_shard(shard)

    def append(self, number: int, line: bytes) -> None:
        """Write the row of a plan, unless the plan already has one. Raises ``OSError`` if the disk is full."""
        shard, place = divmod(number, self._size)
        if number in self:
            return
        part = self._parts.get(shard)
        if part is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            part = _Part(os.open(self._shard_path(shard, PART), flags, 0o666), self._plan_count(shard))
            self._parts[shard] = part
        unwritten = line
        while unwritten:
            unwritten = unwritten[os.write(part.descriptor, unwritten) :]
        part.add_row(place, len(line))
        self.done += 1
        if not part.left:
            self._order_shard(shard)

    def add_inputs(self, inputs: dict[str, str]) -> None:
        """Record the hashes of input files. Raises :class:`BadRun` if a file has two different hashes."""
        for path, digest in inputs.items():
            if self.inputs.setdefault(path, digest) != digest:
                message = f"{path} is not the same for all plans: it has changed, or differs between machines"
                raise BadRun(message, "begin a new run: a run uses one version of each file")

    def save(self) -> None:
        """Write the manifest atomically."""
        _write_atomically(os.path.join(self.path, MANIFEST), json.dumps(self.manifest, indent=1).encode() + b"\n")

    def finish(self) -> None:
        """Concatenate the shards, mark the run as complete, and delete the shards."""
        new = os.path.join(self.path, f"{RESULTS}.new")
        with open(new, "wb", _COPY_BUFFER) as out:
            for shard in range(-(-self.manifest["plans"] // self._size)):
                with open(self._shard_path(shard, FINISHED), "rb") as file:
                    shutil.copyfileobj(file, out, _COPY_BUFFER)
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, os.path.join(self.path, RESULTS))
        self.manifest["complete"] = True
        self.save()
        shutil.rmtree(self._shards, ignore_errors=True)

    def _order_shard(self, shard: int) -> None:
        """Write the rows of a complete part in the order of the inputs, as a finished shard."""
        part, name = self._parts.pop(shard), self._shard_path(shard, FINISHED)
        with open(part.descriptor, "rb") as file, open(f"{name}.new", "wb", _COPY_BUFFER) as out:
            for start in part.starts:
                file.seek(start)
                out.write(file.readline())
            out.flush()
            os.fsync(out.fileno())
        os.replace(f"{name}.new", name)
        os.unlink(self._shard_path(shard, PART))
        self._finished_shards.add(shard)

    def _note_inputs(self, row: dict[str, Any]) -> None:
        for file in row.get("inputs", ()):
            if file["role"] != "plan" and file["sha256"] is not None:
                self.add_inputs({file["path"]: file["sha256"]})

    def _plan_count(self, shard: int) -> int:
        plans: int = self.manifest["plans"]
        return min(self._size, plans - shard * self._size)

    def _shard_path(self, shard: int, ending: str) -> str:
        return os.path.join(self._shards, f"{shard:06}{ending}")

    def _damaged_error(self) -> BadRun:
        return BadRun(f"{self.path} is damaged: rows are missing, or do not belong to a plan", "audit the plans again")


def create_run_folder(path: str) -> None:
    """Create the folder of a run. Raises :class:`BadRun` if this is not possible, or if the folder is not empty."""
    try:
        os.makedirs(path, exist_ok=True)
        names = os.listdir(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadRun(f"cannot create the folder {path}: {why}", "name a folder that you may create") from None
    if MANIFEST in names:
        raise BadRun(f"there is a run in {path}", f"continue it with --resume {path}, or name another folder")
    if set(names) - {SHARDS, f"{MANIFEST}.new"} or set(_shard_names(path)) - {_LOCK}:
        raise BadRun(f"the folder {path} is not empty", "name a new folder")


def _shard_names(path: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(os.path.join(path, SHARDS))
    return []


def _write_atomically(path: str, data: bytes) -> None:
    new = f"{path}.new"
    with open(new, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def _lock_exclusively(descriptor: int) -> None:
    """Lock a file. The system releases the lock when the process ends; child processes do not inherit it."""
    try:
        import fcntl  # noqa: PLC0415 - not available on every system
    except ImportError:
        return
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError as error:  # some systems raise this if the file is locked
        raise BlockingIOError from error


def is_being_written(path: str) -> bool:
    """Whether a process has the run folder open for writing, or may have: not every system can tell."""
    try:
        import fcntl  # noqa: PLC0415 - not available on every system
    except ImportError:
        return True
    try:
        with open(os.path.join(path, SHARDS, _LOCK), "rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return True
    except OSError:
        return False
    return False
