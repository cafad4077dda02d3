"""Read a run folder: its manifest and its rows. docs/batches.md describes the format.

Validate the rows and the manifest of a run: a file may be damaged or written by another program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import NoneType
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.shallow_json import loads

if TYPE_CHECKING:
    import pandas


MANIFEST = "manifest.json"
RESULTS = "results.jsonl"
SHARDS = "shards"
"""The folder of the rows of an incomplete run: finished shards ``000000.jsonl`` and parts ``000000.part``."""
FINISHED, PART = ".jsonl", ".part"
_SHARD = re.compile(r"(\d{6,12})(\.jsonl|\.part)")
VERSION = 1
MAX_MANIFEST = 1 << 28
"""Maximum size of a manifest in bytes: enough for a million scenes with their hashes."""
MAX_ROW = 1 << 26
"""Maximum size of a row in bytes."""


class BadRun(Exception):
    """A folder that is not a run, or a damaged run (SC643)."""

    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_RUN, message, help=advice)


class Run(NamedTuple):
    """A run: its folder and its manifest. :meth:`rows` reads the rows one at a time, in the order of the inputs."""

    path: str
    manifest: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether every plan has a row."""
        return bool(self.manifest["complete"])

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows that exist. Raises :class:`BadRun` at a line that is not a row."""
        if self.complete:
            row_count = 0
            with _opened(os.path.join(self.path, RESULTS)) as file:
                for row_count, line in enumerate(read_lines(file), 1):
                    row = parse_row(line, self.path)
                    if row["number"] != row_count - 1:
                        raise BadRun(
                            f"{self.path} is damaged: rows are missing or out of order", "audit the plans again"
                        )
                    yield row
            if row_count != self.manifest["plans"]:
                message = f"{self.path} is damaged: it has {row_count} rows for {self.manifest['plans']} plans"
                raise BadRun(message, "audit the plans again")
            return
        previous_shard = -1
        for shard, name, is_finished in shard_files(self.path):
            if shard == previous_shard:
                continue  # the part of a finished shard has not been deleted yet
            previous_shard = shard
            with _opened(name) as file:
                if is_finished:
                    for line in read_lines(file):
                        yield parse_row(line, self.path)
                    continue
                for _, start in sorted(_index_part(file, self.path)):
                    file.seek(start)
                    yield parse_row(file.readline(MAX_ROW), self.path)


def shard_files(path: str) -> list[tuple[int, str, bool]]:
    """The shards of an incomplete run in order: number, file, and whether it is finished.

    A finished shard comes before a part with the same number.
    """
    folder = os.path.join(path, SHARDS)
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadRun(f"cannot read {folder}: {(error.strerror or str(error)).lower()}") from None
    matches = [match for match in map(_SHARD.fullmatch, names) if match is not None]
    shards = [(int(match[1]), os.path.join(folder, match[0]), match[2] == FINISHED) for match in matches]
    return sorted(shards, key=lambda shard: (shard[0], not shard[2]))


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read the manifest of a run folder. Raises :class:`BadRun` if it is missing or not valid."""
    folder = os.fspath(path)
    name = os.path.join(folder, MANIFEST)
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_MANIFEST + 1)
    except OSError as error:
        if not os.path.exists(folder):
            reason = "the folder does not exist"
        elif not os.path.isdir(folder):
            reason = "it is not a folder"
        elif isinstance(error, FileNotFoundError):
            reason = f"the folder has no {MANIFEST}"
        else:
            reason = f"cannot read {MANIFEST}: {(error.strerror or str(error)).lower()}"
        raise BadRun(f"{folder} is not a run: {reason}", "create a run with --run FOLDER") from None
    if len(data) > MAX_MANIFEST:
        raise BadRun(f"{name} is larger than {MAX_MANIFEST >> 20} MiB")
    try:
        manifest = loads(data)
    except (ValueError, RecursionError):
        raise BadRun(f"{name} is not JSON") from None
    if isinstance(manifest, dict) and manifest.get("version", VERSION) != VERSION:
        raise BadRun(f"{name} is of version {manifest.get('version')!a}, not {VERSION}", "audit the plans again")
    if not is_manifest(manifest):
        raise BadRun(f"{name} is not the manifest of a run")
    return Run(folder, manifest)


def to_dataframe(run: Run) -> pandas.DataFrame:
    """Convert the rows to a pandas table (extra ``plots``). Extra columns are named ``columns.NAME``."""
    import pandas  # noqa: PLC0415 - an extra

    flat = []
    for row in run.rows():
        columns = row.pop("columns", None) or {}
        flat.append({**row, **{f"columns.{name}": value for name, value in columns.items()}})
    return pandas.DataFrame(flat)


def read_lines(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the lines of a file. A line longer than ``MAX_ROW`` is split."""
    while True:
        line = file.readline(MAX_ROW)
        if not line:
            return
        yield line


def parse_row(line: bytes, name: str) -> dict[str, Any]:
    """Parse and validate a row. Raises :class:`BadRun`."""
    row: Any = None
    with suppress(ValueError, RecursionError):
        row = loads(line) if line.endswith(b"\n") else None
    if not is_row(row):
        raise BadRun(f"{name} is damaged: a line is not a row", "audit the plans again")
    parsed: dict[str, Any] = row
    parsed["headline"] = parsed["headline"] or NOT_CHECKED  # null in older runs
    return parsed


def _index_part(file: IO[bytes], name: str) -> Iterator[tuple[int, int]]:
    """Yield the plan number and the offset of each complete row of a part."""
    start = 0
    for line in read_lines(file):
        if not line.endswith(b"\n"):
            return  # truncated: it is being written, or its writer was killed
        yield parse_row(line, name)["number"], start
        start += len(line)


def _opened(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise BadRun(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


_FieldTypes = type | tuple[type, ...]
_NAME = (str, NoneType)
_ROW: dict[str, _FieldTypes] = {
    "id": str, "number": int, "columns": dict, "seconds": (int, float), "taxonomy": dict, "plan": str,
    "headline": _NAME, "exit_code": int, "executable": str, "safe": _NAME, "steps": int, "findings": list,
    "suppressed": int, "diagnostics": list, "inputs": list,
}  # fmt: skip
_FINDING: dict[str, _FieldTypes] = {
    "class": str, "message": str, "step": (int, NoneType), "at_end": bool, "rule": _NAME, "readings": list,
    "blame": _NAME, "hazard": _NAME, "targets": list, "severity": _NAME,
}  # fmt: skip
_DIAGNOSTIC: dict[str, _FieldTypes] = {"code": str, "severity": str, "message": str}
_INPUT: dict[str, _FieldTypes] = {"role": str, "path": str, "sha256": _NAME}
_CELL = (str, int, float, NoneType)


def is_row(row: Any) -> bool:
    """Whether a JSON value is a row of a run. Checks the fields that statistics use."""
    return (
        _has_fields(row, _ROW)
        and all([isinstance(cell, _CELL) for cell in row["columns"].values()])
        and all(
            [
                _has_fields(item, _FINDING) and _is_name_list(item["readings"]) and _is_name_list(item["targets"])
                for item in row["findings"]
            ]
        )
        and all([_has_fields(item, _DIAGNOSTIC) for item in row["diagnostics"]])
        and all([_has_fields(item, _INPUT) for item in row["inputs"]])
        and all(
            [
                isinstance(by_taxonomy, dict) and all(map(_is_name_list, by_taxonomy.values()))
                for by_taxonomy in row["taxonomy"].values()
            ]
        )
        and _is_name_list(row.get("script", []))
        and isinstance(row.get("rules", []), list)
        and all([_has_fields(rule, {"instances": int}) for rule in row.get("rules", ())])
    )


def is_manifest(manifest: Any) -> bool:
    """Whether a JSON value is the manifest of a run. Checks the fields that are read."""
    fields: dict[str, _FieldTypes] = {"complete": bool, "plans": int}
    return _has_fields(manifest, fields) and manifest["plans"] >= 0 and isinstance(manifest.get("settings", {}), dict)


def _has_fields(value: Any, fields: Mapping[str, _FieldTypes]) -> bool:
    return isinstance(value, dict) and all([name in value and isinstance(value[name], fields[name]) for name in fields])


def _is_name_list(value: Any) -> bool:
    return isinstance(value, list) and all([isinstance(name, str) for name in value])
