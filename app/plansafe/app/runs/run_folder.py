"""A run folder while it is written: a manifest that is replaced at once, and shards that only grow.

A shard is for so many plans, one after the other in the order of the inputs. Rows are put at the end of its part,
whole, as they come. Whoever is killed leaves rows, and at most a torn one at the end of a part, which the next one
cuts off. A part with all its rows is put into order and becomes a shard; when all are there, they are put together,
and go. What is in memory is some bytes for each plan of the few shards that have a part.
"""

from __future__ import annotations

import json
import os
import shutil
from array import array
from contextlib import suppress
from typing import Any

from plansafe.app.runs.run_reader import MANIFEST, PART, RESULTS, SHARDS, WHOLE, BadRun, lines, row_of, shard_files

SHARD = 100_000
"""Plans of a shard."""
_COPIED = 1 << 20
_LOCK = "lock"


class _Part:
    """The part of a shard: where the row of each plan begins in it, eight bytes for each; how many there are."""

    def __init__(self, descriptor: int, plans: int) -> None:
        self.descriptor = descriptor
        self.starts = array("q", [-1]) * plans
        self.end = 0
        self.left = plans

    def add(self, place: int, size: int) -> bool:
        """Note a row at the end; whether it is the first of this plan."""
        first = self.starts[place] < 0
        if first:
            self.starts[place] = self.end
            self.left -= 1
        self.end += size
        return first


class Folder:
    """A run folder that is written. A context manager; only one process can have it."""

    def __init__(self, path: str, manifest: dict[str, Any]) -> None:
        """Have the folder. Raises :class:`BadRun` where another process has it, or it cannot be written."""
        self.path = path
        self.manifest = manifest
        self.done = 0
        self.inputs: dict[str, str] = {}
        if not isinstance(manifest.get("shard"), int) or manifest["shard"] < 1:
            raise BadRun(f"{path} was begun by another version", "begin a new run")
        self._size: int = manifest["shard"]
        self._shards = os.path.join(path, SHARDS)
        self._parts: dict[int, _Part] = {}
        self._whole: set[int] = set()
        try:
            os.makedirs(self._shards, exist_ok=True)
            self._lock = os.open(os.path.join(self._shards, _LOCK), os.O_RDWR | os.O_CREAT, 0o666)
            _lock(self._lock)
        except BlockingIOError:
            raise BadRun(f"{path} is being written by another process", "wait for it, or end it") from None
        except OSError as error:
            raise BadRun(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from None

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *_: object) -> None:
        for part in self._parts.values():
            os.close(part.descriptor)
        os.close(self._lock)

    @classmethod
    def new(cls, path: str, manifest: dict[str, Any]) -> Folder:
        """Begin a run in a folder that is not there yet, or empty. Raises :class:`BadRun`."""
        unused(path)
        folder = cls(path, manifest)
        folder.save()
        return folder

    def __contains__(self, number: int) -> bool:
        """Whether a plan has its row."""
        shard, place = divmod(number, self._size)
        return shard in self._whole or (shard in self._parts and self._parts[shard].starts[place] >= 0)

    def recover(self) -> None:
        """Take up the rows that there are, with what they say of their inputs, and cut off torn ones.

        Raises :class:`BadRun` where a row in the middle is none, or is of no plan of its shard.
        """
        for shard, name, whole in shard_files(self.path):
            plans = self._plans_of(shard)
            if shard in self._whole or plans <= 0:
                if plans <= 0:
                    raise self._damaged()
                os.unlink(name)  # its writer was killed when the shard was in order, before the part was gone
                continue
            part = _Part(os.open(name, os.O_RDWR | os.O_APPEND), plans)
            with open(part.descriptor, "rb", closefd=False) as file:
                for line in lines(file):
                    if not line.endswith(b"\n"):
                        break
                    row = row_of(line, self.path)
                    place = row["number"] - shard * self._size
                    if not 0 <= place < plans:
                        raise self._damaged()
                    if part.add(place, len(line)):
                        self._note(row)
                        self.done += 1
            if whole and part.left:
                raise self._damaged()
            if whole:
                os.close(part.descriptor)
                self._whole.add(shard)
                continue
            os.ftruncate(part.descriptor, part.end)
            self._parts[shard] = part
            if not part.left:
                self._ordered(shard)

    def append(self, number: int, line: bytes) -> None:
        """Write the row of a plan that has none. Raises ``OSError`` where the disk is full."""
        shard, place = divmod(number, self._size)
        if number in self:
            return
        part = self._parts.get(shard)
        if part is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
            part = _Part(os.open(self._name(shard, PART), flags, 0o666), self._plans_of(shard))
            self._parts[shard] = part
        rest = line
        while rest:
            rest = rest[os.write(part.descriptor, rest) :]
        part.add(place, len(line))
        self.done += 1
        if not part.left:
            self._ordered(shard)

    def used(self, inputs: dict[str, str]) -> None:
        """Note the hashes of files that plans were judged with. Raises :class:`BadRun` where a file has two."""
        for path, digest in inputs.items():
            if self.inputs.setdefault(path, digest) != digest:
                message = f"{path} is not the same for all plans: it has changed, or a machine has another one"
                raise BadRun(message, "begin a new run: one run is about one version of each file")

    def save(self) -> None:
        """Write the manifest, whole or not at all."""
        _replace(os.path.join(self.path, MANIFEST), json.dumps(self.manifest, indent=1).encode() + b"\n")

    def finish(self) -> None:
        """Put the shards together; then the run is complete, and they go."""
        new = os.path.join(self.path, f"{RESULTS}.new")
        with open(new, "wb", _COPIED) as out:
            for shard in range(-(-self.manifest["plans"] // self._size)):
                with open(self._name(shard, WHOLE), "rb") as file:
                    shutil.copyfileobj(file, out, _COPIED)
            out.flush()
            os.fsync(out.fileno())
        os.replace(new, os.path.join(self.path, RESULTS))
        self.manifest["complete"] = True
        self.save()
        shutil.rmtree(self._shards, ignore_errors=True)

    def _ordered(self, shard: int) -> None:
        """All rows of a shard are there: put them into the order of the inputs."""
        part, name = self._parts.pop(shard), self._name(shard, WHOLE)
        with open(part.descriptor, "rb") as file, open(f"{name}.new", "wb", _COPIED) as out:
            for start in part.starts:
                file.seek(start)
                out.write(file.readline())
            out.flush()
            os.fsync(out.fileno())
        os.replace(f"{name}.new", name)
        os.unlink(self._name(shard, PART))
        self._whole.add(shard)

    def _note(self, row: dict[str, Any]) -> None:
        for one in row.get("inputs", ()):
            if one["role"] != "plan" and one["sha256"] is not None:
                self.used({one["path"]: one["sha256"]})

    def _plans_of(self, shard: int) -> int:
        plans: int = self.manifest["plans"]
        return min(self._size, plans - shard * self._size)

    def _name(self, shard: int, ending: str) -> str:
        return os.path.join(self._shards, f"{shard:06}{ending}")

    def _damaged(self) -> BadRun:
        return BadRun(f"{self.path} is damaged: it has rows of no plan, or lacks some", "judge the plans again")


def unused(path: str) -> None:
    """Make a folder for a run, where there is none. Raises :class:`BadRun` where it cannot be, or is in use."""
    try:
        os.makedirs(path, exist_ok=True)
        there = os.listdir(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadRun(f"cannot make the folder {path}: {why}", "name a folder where you may make one") from None
    if MANIFEST in there:
        raise BadRun(f"there is a run in {path}", f"--resume {path} goes on with it; or name another folder")
    if set(there) - {SHARDS, f"{MANIFEST}.new"} or set(_listed(path)) - {_LOCK}:
        raise BadRun(f"the folder {path} is not empty", "name a new folder")


def _listed(path: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(os.path.join(path, SHARDS))
    return []


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
