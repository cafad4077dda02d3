"""Tables of plans: JSON lines and CSV, also packed by gzip, read row by row with bounded work."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from plansafe.grammar.shallow_json import loads

MOST_LINE = 1 << 25
"""Bytes of one row that are read."""
_SUFFIXES = (".jsonl", ".ndjson", ".csv", ".jsonl.gz", ".ndjson.gz", ".csv.gz")
Row = dict[str, Any]


class BadRow(NamedTuple):
    """A row that cannot be read, and why."""

    reason: str


def is_table(path: str) -> bool:
    """Whether a name is that of a table."""
    return path.lower().endswith(_SUFFIXES)


def rows(path: str) -> Iterator[tuple[int, Row | BadRow]]:
    """The rows of a table with the lines that they begin on. Raises ``OSError``; a bad row is part of the answer."""
    with opened(path) as file:
        yield from (_csv(file) if ".csv" in path.lower()[-7:] else _json_lines(file))


def opened(path: str) -> IO[bytes]:
    """A file, unpacked if it is packed by gzip."""
    file = open(path, "rb")  # noqa: SIM115 - handed on
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[return-value] # is one, but for its name


def _json_lines(file: IO[bytes]) -> Iterator[tuple[int, Row | BadRow]]:
    number = 0
    while True:
        line = file.readline(MOST_LINE + 1)
        number += 1
        if not line:
            return
        if len(line) > MOST_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(MOST_LINE)
            yield number, BadRow(f"the line is longer than {MOST_LINE >> 20} MiB")
            continue
        if not line.strip():
            continue
        try:
            row = loads(line.decode("utf-8-sig" if number == 1 else "utf-8", "replace"))
        except (ValueError, RecursionError):
            yield number, BadRow("the line is no JSON")
            continue
        yield number, row if isinstance(row, dict) else BadRow("the line is no JSON object")


def _csv(file: IO[bytes]) -> Iterator[tuple[int, Row | BadRow]]:
    csv.field_size_limit(MOST_LINE)
    text = io.TextIOWrapper(file, "utf-8-sig", "replace", newline="")
    reader = csv.reader(text)
    head: list[str] = []
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield number, BadRow(f"the row is no CSV: {error}")
            continue
        if not cells:
            continue
        if not head:
            head = cells
            other = next((mark for mark in (";", "\t") if mark in cells[0]), None) if len(cells) == 1 else None
            if other is not None:
                said = "tabs" if other == "\t" else f"`{other}`"
                reason = f"the head is one cell, {cells[0][:80]!a}: cells are separated by commas, not {said}"
                yield number, BadRow(reason)
                return
            twice = next((name for name in head if name and head.count(name) > 1), None)
            if twice is not None:  # which of them is meant, nobody can say
                yield number, BadRow(f"the head names the column {twice[:80]!a} twice: no row of it is read")
                return
        elif len(cells) != len(head):
            yield number, BadRow(f"the row has {len(cells)} cells, and the head has {len(head)}")
        else:
            yield number, dict(zip(head, cells, strict=True))
