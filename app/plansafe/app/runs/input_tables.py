"""Read tables of plans row by row: JSON lines and CSV, optionally compressed with gzip."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from plansafe.grammar.shallow_json import loads

MAX_LINE = 1 << 25
"""Maximum size of a row in bytes."""
_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".jsonl.gz", ".ndjson.gz", ".csv.gz")
Row = dict[str, Any]


class BadRow(NamedTuple):
    """A row that cannot be read, and why."""

    reason: str


def is_table(path: str) -> bool:
    """Whether the suffix of a path is the suffix of a table."""
    return path.lower().endswith(_SUFFIXES)


def read_table(path: str) -> Iterator[tuple[int, Row | BadRow]]:
    """Yield the rows of a table with their line numbers; an unreadable row as :class:`BadRow`. Raises ``OSError``."""
    with open_unpacked(path) as file:
        yield from (_csv(file) if ".csv" in path.lower()[-7:] else _json_lines(file))


def open_unpacked(path: str) -> IO[bytes]:
    """Open a file, and decompress it if it is a gzip file."""
    file = open(path, "rb")  # noqa: SIM115 - the caller closes it
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value] # GzipFile has the methods of IO[bytes]


def _json_lines(file: IO[bytes]) -> Iterator[tuple[int, Row | BadRow]]:
    number = 0
    while True:
        line = file.readline(MAX_LINE + 1)
        number += 1
        if not line:
            return
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
            yield number, BadRow(f"the line is longer than {MAX_LINE >> 20} MiB")
            continue
        if not line.strip():
            continue
        try:
            row = loads(line.decode("utf-8-sig" if number == 1 else "utf-8", "replace"))
        except (ValueError, RecursionError):
            yield number, BadRow("the line is not JSON")
            continue
        yield number, row if isinstance(row, dict) else BadRow("the line is not a JSON object")


def _csv(file: IO[bytes]) -> Iterator[tuple[int, Row | BadRow]]:
    csv.field_size_limit(MAX_LINE)
    text = io.TextIOWrapper(file, "utf-8-sig", "replace", newline="")
    reader = csv.reader(text)
    header: list[str] = []
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, BadRow(f"the row is not CSV: {error}")
            continue
        if not cells:
            continue
        if not header:
            header = cells
            separator = next((mark for mark in (";", "\t") if mark in cells[0]), None) if len(cells) == 1 else None
            if separator is not None:
                separator_name = "tabs" if separator == "\t" else f"`{separator}`"
                reason = f"the head is one cell, {cells[0][:80]!a}: cells are separated by commas, not {separator_name}"
                yield number, BadRow(reason)
                return
            repeated_column = next((name for name in header if name and header.count(name) > 1), None)
            if repeated_column is not None:  # the column is ambiguous
                yield number, BadRow(f"the header has the column {repeated_column[:80]!a} twice: the table is not read")
                return
        elif len(cells) != len(header):
            yield number, BadRow(f"the row has {len(cells)} cells, and the head has {len(header)}")
        else:
            yield number, dict(zip(header, cells, strict=True))
