"""A run folder, read: its manifest, and its rows one after the other. docs/batches.md says what is in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED
from plansafe.app.runs.row_schema import is_manifest, is_row
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.shallow_json import loads

if TYPE_CHECKING:
    import pandas

MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
SHARDS = "shards"
"""The folder of the rows while a run is under way: ``000000.jsonl``, or as far as it is there ``000000.part``."""
WHOLE, PART = ".jsonl", ".part"
_SHARD = re.compile(r"(\d{6,12})(\.jsonl|\.part)")
VERSION = 1
MOST_MANIFEST = 1 << 28
"""Bytes of a manifest that are read: a million scenes with their hashes."""
MOST_ROW = 1 << 26
"""Bytes of one row that are read."""


class BadRun(Exception):
    """A folder that is no run, or a damaged one (SC643)."""

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_RUN, message, help=advice)


class Run(NamedTuple):
    """A run: its folder and its manifest. Iterating reads the rows, in the order of the inputs, one at a time."""

    path: str
    manifest: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every plan has its row."""
        return bool(self.manifest["complete"])

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows; of a run under way those that there are. Raises :class:`BadRun` at a row that is none."""
        if self.complete:
            there = 0
            with _opened(os.path.join(self.path, RESULTS)) as file:
                for there, line in enumerate(lines(file), 1):
                    row = row_of(line, self.path)
                    if row["number"] != there - 1:
                        raise BadRun(f"{self.path} is damaged: rows are lost, or out of order", "judge the plans again")
                    yield row
            if there != self.manifest["plans"]:
                message = f"{self.path} is damaged: it has {there} rows for {self.manifest['plans']} plans"
                raise BadRun(message, "judge the plans again")
            return
        seen = -1
        for shard, name, whole in shard_files(self.path):
            if shard == seen:
                continue  # its part is not gone yet
            seen = shard
            with _opened(name) as file:
                if whole:
                    for line in lines(file):
                        yield row_of(line, self.path)
                    continue
                for _, start in sorted(_index(file, self.path)):
                    file.seek(start)
                    yield row_of(file.readline(MOST_ROW), self.path)


def shard_files(path: str) -> list[tuple[int, str, bool]]:
    """The shards of a run under way in their order: number, file, whether it is whole, which comes before its part."""
    folder = os.path.join(path, SHARDS)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadRun(f"cannot read {folder}: {(error.strerror or str(error)).lower()}") from None
    found = [match for match in map(_SHARD.fullmatch, names) if match is not None]
    out = [(int(match[1]), os.path.join(folder, match[0]), match[2] == WHOLE) for match in found]
    return sorted(out, key=lambda one: (one[0], not one[2]))


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read the manifest of a run folder. Raises :class:`BadRun` where there is none, or where it is of no use."""
    folder = os.fspath(path)
    name = os.path.join(folder, MANIFEST)
    try:
        with open(name, "rb") as file:
            data = file.read(MOST_MANIFEST + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadRun(f"{folder} is no run: cannot read {MANIFEST}: {reason}", "a run is made by --run FOLDER") from None
    if len(data) > MOST_MANIFEST:
        raise BadRun(f"{name} is larger than {MOST_MANIFEST >> 20} MiB")
    try:
        manifest = loads(data)
    except (ValueError, RecursionError):
        raise BadRun(f"{name} is no JSON") from None
    if isinstance(manifest, dict) and manifest.get("version", VERSION) != VERSION:
        raise BadRun(f"{name} is of version {manifest.get('version')!a}, not {VERSION}", "judge the plans again")
    if not is_manifest(manifest):
        raise BadRun(f"{name} is not the manifest of a run")
    return Run(folder, manifest)


def to_dataframe(run: Run) -> pandas.DataFrame:
    """The rows as a table of pandas (extra ``plots``): a column for each key, ``columns.NAME`` for kept columns."""
    import pandas  # noqa: PLC0415 - an extra

    flat = []
    for row in run.rows():
        kept = row.pop("columns", None) or {}
        flat.append({**row, **{f"columns.{name}": value for name, value in kept.items()}})
    return pandas.DataFrame(flat)


def lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; none is read beyond a bound."""
    while True:
        line = file.readline(MOST_ROW)
        if not line:
            return
        yield line


def row_of(line: bytes, name: str) -> dict[str, Any]:
    """The row that a line holds. Raises :class:`BadRun`."""
    row: Any = None
    with suppress(ValueError, RecursionError):
        row = loads(line) if line.endswith(b"\n") else None
    if not is_row(row):
        raise BadRun(f"{name} is damaged: a line of it is no row", "judge the plans again")
    whole: dict[str, Any] = row
    whole["headline"] = whole["headline"] or NOT_CHECKED  # null in older runs
    return whole


def _index(file: IO[bytes], name: str) -> Iterator[tuple[int, int]]:
    """The number of each whole row of a part, and where it begins."""
    start = 0
    for line in lines(file):
        if not line.endswith(b"\n"):
            return  # torn: it is being written, or its writer was killed
        yield row_of(line, name)["number"], start
        start += len(line)


def _opened(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise BadRun(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
