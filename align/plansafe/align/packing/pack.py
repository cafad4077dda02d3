"""Files to a pack: parts with sums, a manifest, and the script that joins them. The same files give the same bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, NamedTuple

from plansafe.align.packing.unpack import (
    MANIFEST,
    MOST_FILES,
    MOST_PART_BYTES,
    MOST_PARTS,
    MOST_RATIO,
    SCRIPT,
    WEIGHTS,
    File,
    Manifest,
    Part,
    content_problem,
    part_name,
    path_problem,
)
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_CHUNK = 1 << 20
_LEVEL = 9
_WORTH = 0.9
"""A file is compressed where that leaves less than this of it."""


class NotPacked(Exception):
    """Something cannot be packed; the diagnostic (SC671) names it. Nothing was written."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.NOT_PACKED, message, help=help)


PART_MIB, RESULT_MIB = 56, 15
"""What a part has at most, where nobody says otherwise: on the way there, and on the way back."""


class Member(NamedTuple):
    """A file of a pack: its path there, and where it is now."""

    path: str
    source: str


def pack(members: Sequence[Member], target: str, part_bytes: int) -> Manifest:
    """Write a pack into a new (or empty) folder, whole or not at all.

    ``part_bytes``: what a part has at most, below 60 MiB. Raises :class:`NotPacked`, and ``OSError`` where the folder
    cannot be written.
    """
    if not 0 < part_bytes < MOST_PART_BYTES:
        raise ValueError(f"a part of {part_bytes} bytes")
    _check(members)
    path = os.path.abspath(target)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path) or os.listdir(path)):
        raise NotPacked(f"{target} exists already", "name a new folder")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    new = os.path.join(os.path.dirname(path), f".safecheck-{os.urandom(8).hex()}.tmp")
    os.mkdir(new)
    try:
        manifest = _fill(members, new, part_bytes)
        os.rename(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return manifest


def _check(members: Sequence[Member]) -> None:
    if len(members) > MOST_FILES:
        raise NotPacked(f"{len(members):,} files are more than the maximum of a pack ({MOST_FILES:,})")
    taken: dict[str, str] = {}
    folders = {name.path.lower()[:at] for name in members for at, letter in enumerate(name.path) if letter == "/"}
    for member in members:
        wrong = path_problem(member.path)
        if wrong is not None:
            raise NotPacked(f"{member.source} cannot be packed: {wrong}", "rename it, or leave it out")
        low = member.path.lower()
        if low in taken or low in folders:
            raise NotPacked(
                f"{member.source} and {taken.get(low, 'a folder')} would both be {member.path}", "rename one of them"
            )
        taken[low] = member.source
        if not os.path.isfile(member.source):
            raise NotPacked(f"{member.source} cannot be packed: it is not a regular file")
        try:
            wrong = content_problem(member.source)
        except OSError as error:
            wrong = (error.strerror or "it cannot be read").lower()
        if wrong is not None:
            raise NotPacked(
                f"{member.source} cannot be packed: {wrong}", "a pack may contain text, safetensors and GGUF"
            )


def _fill(members: Sequence[Member], folder: str, part_bytes: int) -> Manifest:
    with open(os.path.join(os.path.dirname(__file__), SCRIPT), "rb") as file:
        script = file.read()
    parts = _Parts(folder, part_bytes)
    files = [_add(parts, member) for member in sorted(members)]
    parts.end()
    manifest = Manifest(hashlib.sha256(script).hexdigest(), tuple(parts.parts), tuple(files))
    for name, content in ((SCRIPT, script), (MANIFEST, manifest.dump())):
        with open(os.path.join(folder, name), "xb") as out:
            out.write(content)
    return manifest


def _add(parts: _Parts, member: Member) -> File:
    """Add one file to the parts: read twice, first for its sums and whether compression is worth it."""
    size, stored, whole = 0, 0, hashlib.sha256()
    deflate = None if member.path.endswith(WEIGHTS) else zlib.compressobj(_LEVEL)
    for piece in _pieces(member):
        size += len(piece)
        whole.update(piece)
        stored += 0 if deflate is None else len(deflate.compress(piece))
    stored += 0 if deflate is None else len(deflate.flush())
    plain = deflate is None or stored > _WORTH * size or size > MOST_RATIO * stored
    if plain:
        stored = size
    before, again, deflate = parts.total, hashlib.sha256(), None if plain else zlib.compressobj(_LEVEL)
    for piece in _pieces(member):
        again.update(piece)
        parts.write(piece if deflate is None else deflate.compress(piece))
    parts.write(b"" if deflate is None else deflate.flush())
    if parts.total - before != stored or again.digest() != whole.digest():
        raise NotPacked(f"{member.source} was changed while it was packed", "try again")
    return File(member.path, size, whole.hexdigest(), "plain" if plain else "zlib", stored)


def _pieces(member: Member) -> Iterator[bytes]:
    try:
        with open(member.source, "rb") as file:
            while piece := file.read(_CHUNK):
                yield piece
    except OSError as error:
        raise NotPacked(f"{member.source} cannot be read: {error.strerror}") from None


class _Parts:
    """Bytes to parts of one size, the last of which is shorter."""

    def __init__(self, folder: str, part_bytes: int) -> None:
        self._folder, self._most = folder, part_bytes
        self._file: IO[bytes] | None = None
        self._sum = hashlib.sha256()
        self._size = 0
        self.total = 0
        self.parts: list[Part] = []

    def write(self, piece: bytes) -> None:
        """Add some bytes. Raises :class:`NotPacked` where they would make too many parts."""
        left = memoryview(piece)
        while left:
            if self._file is None:
                if len(self.parts) == MOST_PARTS:
                    raise NotPacked(f"this would take more than {MOST_PARTS:,} parts", "allow larger parts")
                self._file = open(os.path.join(self._folder, part_name(len(self.parts) + 1)), "xb")  # noqa: SIM115 - closed by end
            now = left[: self._most - self._size]
            self._file.write(now)
            self._sum.update(now)
            self._size += len(now)
            self.total += len(now)
            left = left[len(now) :]
            if self._size == self._most:
                self.end()

    def end(self) -> None:
        """End the part that is written, if there is one."""
        if self._file is not None:
            self._file.close()
            self.parts.append(Part(part_name(len(self.parts) + 1), self._size, self._sum.hexdigest()))
            self._file, self._sum, self._size = None, hashlib.sha256(), 0
