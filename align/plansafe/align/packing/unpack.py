"""Join the parts of a pack and verify them. Needs nothing but the standard library (docs/alignment.md).

A pack carries its own copy of this file, which is why it is one file and imports nothing of ours: ``python3 unpack.py
FOLDER`` beside the parts. Everything is written into a new folder, which gets its name only when every sum is right.
What is wrong is refused with its name, exit code 2.
"""

from __future__ import annotations

import argparse
import codecs
import hashlib
import json
import os
import re
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

VERSION = 1
KIND = "safecheck pack"
MANIFEST = "manifest.json"
SCRIPT = "unpack.py"
MOST_MANIFEST_BYTES = 32 << 20
MOST_PART_BYTES = 60 << 20
MOST_PARTS = 9_999
MOST_FILES = 100_000
MOST_BYTES = 256 << 30
"""Of all files together."""
MOST_RATIO = 100
"""How many times its stored size a file may have. A file that can be compressed by more is stored as it is."""
MOST_PATH = 240
MOST_DEPTH = 8
"""Of JSON."""
MOST_HEADER_BYTES = 32 << 20
"""Of a file of safetensors."""
WEIGHTS = (".safetensors", ".gguf")
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle", ".joblib", ".msgpack", ".h5", ".npz", ".npy")
_CHUNK = 1 << 20
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NAME = re.compile(r"(?!.*\.\Z)[A-Za-z0-9_][A-Za-z0-9_.+-]*\Z")
_BRACKET = re.compile(rb'"[^"]*"|[\[\]{}]')
_SUM = re.compile(r"[0-9a-f]{64}\Z")
_SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
_SIZES.update({"I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "C64": 8})


class Refused(Exception):
    """A pack, or a file of it, is not taken; the message names what is wrong, ``help`` a way out."""

    def __init__(self, message: str, help: str = "fetch the pack again, or create it again") -> None:
        super().__init__(message)
        self.message, self.help = message, help


class Part(NamedTuple):
    """A part: the parts, joined in their order, are the stored files in theirs."""

    name: str
    bytes: int
    sha256: str


class File(NamedTuple):
    """A file, from the root of the pack. ``how``: ``plain`` or ``zlib``; ``stored``: its bytes in the parts."""

    path: str
    bytes: int
    sha256: str
    how: str
    stored: int


class Manifest(NamedTuple):
    """What a pack holds. ``script``: the SHA-256 of its ``unpack.py``."""

    script: str
    parts: tuple[Part, ...]
    files: tuple[File, ...]

    def content(self) -> dict[str, Any]:
        """All that the sum is over, as JSON values."""
        parts, files = [part._asdict() for part in self.parts], [file._asdict() for file in self.files]
        return {"kind": KIND, "version": VERSION, "script": self.script, "parts": parts, "files": files}

    @property
    def sum(self) -> str:
        """The SHA-256 that stands for the whole pack."""
        return hashlib.sha256(_dumped(self.content())).hexdigest()

    def dump(self) -> bytes:
        """The bytes of ``manifest.json``."""
        return _dumped({**self.content(), "sum": self.sum})

    def describe(self, where: str) -> str:
        """What was packed or unpacked, in two lines."""
        size, packed = sum([file.bytes for file in self.files]), sum([part.bytes for part in self.parts])
        counts = f"{len(self.files):,} files ({size:,} bytes) in {len(self.parts)} parts ({packed:,} bytes)"
        return f"{where}: {counts}\nsum {self.sum}\n"


def _dumped(value: Any) -> bytes:
    return (json.dumps(value, sort_keys=True, indent=0) + "\n").encode("ascii")


# -- the manifest -----------------------------------------------------------------------------------------------------


def read_manifest(folder: str) -> Manifest:
    """Read and check ``manifest.json``. Raises :class:`Refused`."""
    path = os.path.join(folder, MANIFEST)
    with _opened(path, MANIFEST) as file:
        text = file.read(MOST_MANIFEST_BYTES + 1)
    if len(text) > MOST_MANIFEST_BYTES:
        raise Refused(f"{MANIFEST} has more than {MOST_MANIFEST_BYTES:,} bytes")
    try:
        said = _json(text)
    except ValueError:
        raise Refused(f"{MANIFEST} is not JSON or was changed") from None
    if not isinstance(said, dict) or said.get("kind") != KIND:
        raise Refused(f"{MANIFEST} is not the manifest of a pack")
    if said.get("version") != VERSION or isinstance(said["version"], bool):
        raise Refused(f"{MANIFEST} has another version than {VERSION}", f"use the {SCRIPT} next to it")
    manifest = Manifest(
        _text(said.get("script"), "script"),
        tuple([Part(**_row(row, Part, "parts")) for row in _rows(said.get("parts"), "parts", MOST_PARTS)]),
        tuple([File(**_row(row, File, "files")) for row in _rows(said.get("files"), "files", MOST_FILES)]),
    )
    if text != manifest.dump():
        raise Refused(f"{MANIFEST} does not match its checksum")
    _check(manifest)
    return manifest


def _json(text: bytes) -> Any:
    """JSON that is not deep: the standard reader may crash on what is. Raises ``ValueError``."""
    depth = 0
    for found in _BRACKET.finditer(text.replace(b"\\\\", b"").replace(b'\\"', b"")):  # strings without escapes
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(found[0], 0)
        if depth > MOST_DEPTH:
            raise ValueError("nested too deep")
    return json.loads(text.decode("utf-8"), parse_constant=_no_number)


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > MOST_PATH:
        raise Refused(f"{MANIFEST}: {what} is not a short text")
    return value


def _rows(value: Any, what: str, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise Refused(f"{MANIFEST}: {what} is not a list of at most {most:,}")
    return value


def _row(row: Any, kind: Any, what: str) -> dict[str, Any]:
    """An entry whose fields have the types of ``kind``."""
    if not isinstance(row, dict) or set(row) != set(kind._fields):
        raise Refused(f"{MANIFEST}: an entry of {what} has other fields than {', '.join(kind._fields)}")
    for name, value in row.items():
        if name in ("bytes", "stored"):
            if type(value) is not int or not 0 <= value <= MOST_BYTES:
                raise Refused(f"{MANIFEST}: an entry of {what} has no size")
        else:
            _text(value, f"{name} of an entry of {what}")
    return row


def _check(manifest: Manifest) -> None:
    """Whether what the manifest says makes sense. Raises :class:`Refused`."""
    for number, part in enumerate(manifest.parts, 1):
        if part.name != part_name(number) or not 0 < part.bytes < MOST_PART_BYTES or not _SUM.match(part.sha256):
            raise Refused(f"{MANIFEST}: part {number} has an invalid name, size or checksum")
    taken: set[str] = set()
    folders: set[str] = set()
    for file in manifest.files:
        wrong = path_problem(file.path)
        low = file.path.lower()
        above = {low[:at] for at, letter in enumerate(low) if letter == "/"}
        if wrong is None and (low in taken or low in folders or above & taken):
            wrong = "another file has the same path"
        if wrong is None and not _SUM.match(file.sha256):
            wrong = "its checksum is invalid"
        if wrong is None and (file.how not in ("plain", "zlib") or (file.how == "plain" and file.stored != file.bytes)):
            wrong = "its storage format is unknown"
        if wrong is None and file.bytes > MOST_RATIO * file.stored:
            wrong = f"it would grow to more than {MOST_RATIO} times its size"
        if wrong is not None:
            raise Refused(f"{MANIFEST}: the file {file.path[:80]!a} is rejected: {wrong}")
        taken.add(low)
        folders |= above
    if sum([file.bytes for file in manifest.files]) > MOST_BYTES:
        raise Refused(f"{MANIFEST}: the files have more than {MOST_BYTES:,} bytes")
    if sum([file.stored for file in manifest.files]) != sum([part.bytes for part in manifest.parts]):
        raise Refused(f"{MANIFEST}: files and parts do not have the same number of bytes")


def part_name(number: int) -> str:
    """The name of a part, numbered from 1."""
    return f"part-{number:04}.pack"


def path_problem(path: str) -> str | None:
    """Why a path is not one from the root of a pack downwards, in names that every system has; ``None`` if it is."""
    if len(path) > MOST_PATH:
        return f"its path has more than {MOST_PATH} characters"
    if not all([_NAME.match(name) for name in path.split("/")]):
        return "a name may have letters, digits, `_`, `.`, `+` and `-`, and must start with a letter, a digit or `_`"
    if path.lower().endswith(PICKLES):
        return "this format can run code when it is loaded"
    return None


# -- what files may hold ----------------------------------------------------------------------------------------------


def content_problem(path: str) -> str | None:
    """Why a file on the disk does not hold what its name says; ``None`` if it does.

    Safetensors by their header, GGUF and compressed text by how they begin, a sentencepiece model by what it is not;
    all else is UTF-8. Raises ``OSError``.
    """
    low = path.lower()
    with open(path, "rb") as file:
        if low.endswith(".safetensors"):
            return _header_problem(file, os.fstat(file.fileno()).st_size)
        head = file.read(32)
        if low.endswith(".gguf"):
            return None if head.startswith(b"GGUF") and len(head) == 32 else "it is not a GGUF file"
        if head.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05", b"PK\x03\x04")):
            return "it contains a pickle or an archive"
        if low.endswith(".model"):
            return None
        if low.endswith((".json.gz", ".jsonl.gz", ".txt.gz")):
            return None if head.startswith(b"\x1f\x8b\x08") else "it is not a gzip file"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while chunk := file.read(_CHUNK):
                if b"\0" in chunk:
                    return "it is not text"
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "it is not text in UTF-8"
    return None


def _header_problem(file: Any, size: int) -> str | None:
    """The tensors of a file of safetensors must lie one behind the other, up to its end."""
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or not 2 <= length <= min(MOST_HEADER_BYTES, size - 8):
        return "its header is longer than the file: it is truncated or not a safetensors file"
    try:
        header = _json(file.read(length))
        header.pop("__metadata__", None)
        at = 0
        for tensor in sorted(header.values(), key=lambda tensor: tuple(tensor["data_offsets"])):
            count = _SIZES[tensor["dtype"]]
            for extent in tensor["shape"]:
                if type(extent) is not int or not 0 <= extent <= MOST_BYTES or count > MOST_BYTES:
                    return "a tensor has no shape"
                count *= extent
            first, last = tensor["data_offsets"]
            if (first, last) != (at, at + count):
                return "its tensors are not contiguous"
            at = last
    except (ValueError, KeyError, TypeError, AttributeError):
        return "its header is not a safetensors header"
    return (
        None
        if at == size - 8 - length
        else "its tensors do not end at the end of the file: it is truncated or extended"
    )


# -- parts and files --------------------------------------------------------------------------------------------------


def unpack(folder: str, target: str, expected: str | None = None) -> Manifest:
    """Verify a pack and write its files into a new (or empty) folder ``target``, all of them or nothing.

    ``expected``: the sum that the pack must have. Raises :class:`Refused`, and ``OSError`` where it cannot be written.
    """
    manifest = read_manifest(folder)
    if expected is not None and manifest.sum != expected.lower():
        raise Refused(
            f"the pack has the checksum {manifest.sum}, not the expected one", "check that this is the intended pack"
        )
    _check_parts(folder, manifest)
    path = os.path.abspath(target)
    if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path) or os.listdir(path)):
        raise Refused(f"{target} exists already", "name a new folder")
    above = os.path.dirname(path)
    os.makedirs(above, exist_ok=True)
    needed = sum([file.bytes for file in manifest.files])
    if shutil.disk_usage(above).free < needed:
        raise Refused(
            f"{target} needs {needed:,} bytes, more than the disk has", "free some space, or name another place"
        )
    new = os.path.join(above, f".unpack-{os.urandom(8).hex()}.tmp")
    os.mkdir(new)
    try:
        stream = _Stream(folder, manifest)
        for file in manifest.files:
            _write(stream, file, new)
        stream.close()
        os.rename(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return manifest


def _check_parts(folder: str, manifest: Manifest) -> None:
    """All parts are there with their sums, and nothing else. Raises :class:`Refused`."""
    there = set(os.listdir(folder))
    wanted = {part.name for part in manifest.parts} | {MANIFEST, SCRIPT}
    missing, extra = sorted(wanted - there), sorted(there - wanted)
    if missing:
        raise Refused(f"{_some(missing)} missing from {folder}", "put all parts into one folder")
    if extra:
        raise Refused(f"{_some(extra)} not listed in {MANIFEST}", "remove other files from the folder of the pack")
    _check_sum(folder, SCRIPT, None, manifest.script)
    for part in manifest.parts:
        _check_sum(folder, part.name, part.bytes, part.sha256)


def _check_sum(folder: str, name: str, size: int | None, expected: str) -> None:
    whole = hashlib.sha256()
    with _opened(os.path.join(folder, name), name) as file:
        found = os.fstat(file.fileno()).st_size
        if size is not None and found != size:
            raise Refused(f"{name} has {found:,} bytes instead of {size:,}")
        while chunk := file.read(_CHUNK):
            whole.update(chunk)
    if whole.hexdigest() != expected:
        raise Refused(f"{name} does not match its checksum: it is damaged or belongs to another pack")


def _some(names: list[str]) -> str:
    shown = ", ".join([repr(name[:80]) if not _NAME.match(name) else name for name in names[:5]])
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{shown}{more} {'is' if len(names) == 1 else 'are'}"


def _opened(path: str, name: str) -> Any:
    """A regular file that is no link. Raises :class:`Refused`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _CAREFUL)
    except OSError as error:
        why = "it is a link" if os.path.islink(path) else (error.strerror or "it cannot be opened").lower()
        raise Refused(f"{name} cannot be read: {why}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused(f"{name} cannot be read: it is not a regular file")
    return os.fdopen(descriptor, "rb")


class _Stream:
    """The bytes of all parts, one behind the other."""

    def __init__(self, folder: str, manifest: Manifest) -> None:
        self._folder, self._left = folder, [part.name for part in reversed(manifest.parts)]
        self._file: Any = None

    def read(self, count: int) -> Iterator[bytes]:
        """The next ``count`` bytes, in pieces. Raises :class:`Refused` where there are less."""
        while count:
            if self._file is None:
                if not self._left:
                    raise Refused("the parts end too early")
                name = self._left.pop()
                self._file = _opened(os.path.join(self._folder, name), name)
            piece = self._file.read(min(count, _CHUNK))
            if piece:
                count -= len(piece)
                yield piece
            else:
                self.close()

    def close(self) -> None:
        """Let go of the part that is read."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _write(stream: _Stream, file: File, root: str) -> None:
    """Write one file below ``root`` and verify it. Raises :class:`Refused`."""
    path = os.path.join(root, *file.path.split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    whole = hashlib.sha256()
    size = 0
    with open(path, "xb") as out:
        for piece in _plain(stream, file) if file.how == "plain" else _inflated(stream, file):
            size += len(piece)
            if size > file.bytes:
                break
            whole.update(piece)
            out.write(piece)
    if size != file.bytes or whole.hexdigest() != file.sha256:
        raise Refused(f"{file.path} does not match its checksum")
    wrong = content_problem(path)
    if wrong is not None:
        raise Refused(f"{file.path} is rejected: {wrong}")


def _plain(stream: _Stream, file: File) -> Iterator[bytes]:
    return stream.read(file.stored)


def _inflated(stream: _Stream, file: File) -> Iterator[bytes]:
    """What a compressed file holds, never more than a chunk at once. Raises :class:`Refused`."""
    inflate = zlib.decompressobj()
    try:
        for piece in stream.read(file.stored):
            while piece:
                yield inflate.decompress(piece, _CHUNK)
                if inflate.unused_data:
                    raise Refused(f"{file.path} does not end at the expected position")
                piece = inflate.unconsumed_tail
        yield inflate.flush()
    except zlib.error:
        raise Refused(f"{file.path} cannot be decompressed") from None
    if not inflate.eof:
        raise Refused(f"{file.path} does not end at the expected position")


# -- the script -------------------------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Unpack the pack that this script lies in; an exit code."""
    parser = argparse.ArgumentParser(prog=SCRIPT, description="Verify a pack and write its files into a new folder.")
    parser.add_argument("folder", help="a new folder")
    parser.add_argument("--pack", default=os.path.dirname(os.path.abspath(__file__)), help="the folder of the parts")
    parser.add_argument("--sum", help="the expected checksum of the pack, as printed by `safecheck align pack`")
    given = parser.parse_args(arguments)
    try:
        manifest = unpack(given.pack, given.folder, given.sum)
    except Refused as refused:
        sys.stderr.write(f"error: {_visible(refused.message)}\n  = help: {_visible(refused.help)}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"error: {_visible(str(error))}\n")
        return 2
    for line in manifest.describe(given.folder).splitlines():
        print(_visible(line))
    return 0


def _visible(text: str) -> str:
    return "".join([letter if letter.isprintable() and letter.isascii() else ascii(letter)[1:-1] for letter in text])


if __name__ == "__main__":
    sys.exit(main())
