"""The plans of a run: from files, folders or rows of tables, each with the files that belong to it.

The list is in temporary files, so that its size does not depend on memory. Its hash shows whether a resumed run has the
same plans.

A list of 64-bit numbers in a temporary file. A run of any size needs one or two for each plan.

Read tables of plans row by row: JSON lines and CSV, optionally compressed with gzip.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import struct
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

from plansafe.app.project.project import plan_stem
from plansafe.app.runs.item import Item
from plansafe.app.session.audit import expand
from plansafe.app.session.model import Settings
from plansafe.grammar.shallow_json import loads

ROLES = ("scene", "goal", "problem", "domain")
"""Settings that may contain a pattern for a file name."""
ROW_PLACEHOLDER = "{row}"
"""The value of ``--goal`` if the row of the plan is also its goal file."""
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_SAFE_VALUE = re.compile(r"[^/\\\x00-\x1f]{1,200}(?:/[^/\\\x00-\x1f]{1,200}){0,30}\Z")
_PLAN_COLUMNS = ("plan", "script", "steps", "step", "actions")
_MAX_CELL = 10_000


class Items:
    """The plans of a run, on disk. A context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._starts, self._tasks = NumberFile(), NumberFile()
        self._digest = hashlib.sha256()
        self.readable_count = 0
        """Number of plans that can be read."""
        self.last_problem = "nothing was named"
        """Why the last unreadable plan cannot be read."""

    def __enter__(self) -> Items:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._file, self._starts, self._tasks):
            file.close()

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def sha256(self) -> str:
        """The hash of the list."""
        return self._digest.hexdigest()

    def add(self, item: Item) -> None:
        """Append a plan."""
        encoded = json.dumps(item).encode() + b"\n"
        problem = item.wrong
        if problem is None and item.text is None and (item.path is None or not _is_readable(item.path)):
            is_folder = item.path is not None and os.path.isdir(item.path)
            problem = "the folder does not contain a plan" if is_folder else "the file does not exist"
        self.readable_count += problem is None
        if problem is not None:
            self.last_problem = f"{item.name}: {problem}"
        self._starts.append(self._file.tell())
        self._file.write(encoded)
        self._digest.update(encoded)
        digest = hashlib.sha256(json.dumps(item.key).encode()).digest()
        self._tasks.append(int.from_bytes(digest[:8]))

    def get(self, number: int) -> Item:
        """The plan with this number. Call it only after all plans have been added."""
        self._file.seek(self._starts[number])
        values = json.loads(self._file.readline())
        values[6] = tuple([(role, path) for role, path in values[6]])
        return Item(*values)

    def tasks(self, first: int, end: int) -> dict[int, list[int]]:
        """Group plan numbers from ``first`` to before ``end`` by task. The key is 64 bits of the task's hash."""
        numbers_by_task: dict[int, list[int]] = {}
        for number, task in enumerate(self._tasks.between(first, end), first):
            numbers_by_task.setdefault(task, []).append(number)
        return numbers_by_task


def list_items(
    paths: Iterable[str], settings: Settings, id_column: str | None, plan_column: str | None
) -> Iterator[Item]:
    """Yield the plans of paths in order: files, plans in folders, rows of tables (``.jsonl``, ``.csv``)."""
    number = 0
    paths = list(paths)
    tables = _table_labels(paths)
    for path in paths:
        if is_table(path) and not os.path.isdir(path):
            first = number
            for line, row in read_table(path):
                item = _item_of_row(number, path, line, row, settings, id_column, plan_column)
                yield item if path not in tables else _label_with_table(item, tables[path])
                number += 1
            if number == first:
                yield Item(number, path, None, path, None, {}, (), "the table has no rows")
                number += 1
            continue
        for plan in expand([path], settings):
            columns = {"folder": os.path.basename(os.path.dirname(os.path.abspath(plan)))}
            files, wrong = _files_from_patterns(settings, {"stem": plan_stem(plan)})
            yield Item(number, plan, plan, plan, None, columns, files, wrong)
            number += 1


def _table_labels(paths: list[str]) -> dict[str, str]:
    """A label for each of several tables: its stem, or its path if two tables have the same stem."""
    tables = list(dict.fromkeys([path for path in paths if is_table(path)]))
    names = [plan_stem(path) for path in tables]
    return {} if len(tables) < 2 else {p: n if names.count(n) == 1 else p for p, n in zip(tables, names, strict=True)}


def _label_with_table(item: Item, table: str) -> Item:
    """Add the label of the table to the id of a plan and as a column: several tables may use the same ids."""
    item_id = item.id if item.id == item.name else f"{table}/{item.id}"
    return item._replace(id=item_id, columns={"table": table, **item.columns})


def _is_readable(path: str) -> bool:
    """Whether a path is a file, a pipe or standard input."""
    return path == "-" or (os.path.exists(path) and not os.path.isdir(path))


def _item_of_row(
    number: int,
    path: str,
    line: int,
    row: Row | BadRow,
    settings: Settings,
    id_column: str | None,
    plan_column: str | None,
) -> Item:
    name = f"{path}:{line}"
    if isinstance(row, BadRow):
        return Item(number, name, None, name, None, {}, (), row.reason)
    plan_column_name = plan_column or next((column for column in _PLAN_COLUMNS if column in row), _PLAN_COLUMNS[0])
    id_value = row.get(id_column or "id")
    item_id = str(id_value) if isinstance(id_value, (str, int)) and str(id_value) else name
    columns = {
        key: value
        for key, value in row.items()
        if key != plan_column_name
        and isinstance(value, (str, int, float, bool, type(None)))
        and len(str(value)) <= _MAX_CELL
    }
    text = _text(row.get(plan_column_name))
    if id_column is not None and id_column not in row:
        return Item(
            number, name, None, name, None, columns, (), f"the row does not have the column {id_column!a} (--id)"
        )
    if text is None:
        column_list = ", ".join(list(row)[:8])
        reason = f"the row does not have a plan in the column {plan_column_name!a}; columns: {column_list}"
        return Item(number, item_id, None, name, None, columns, (), reason)
    is_task = settings.goal == ROW_PLACEHOLDER
    files, wrong = _files_from_patterns(
        settings._replace(goal=None) if is_task else settings, {"stem": item_id, **columns}
    )
    if is_task:
        files = (*files, ("goal", f"{name} (row)"))
    return Item(number, item_id, None, name, text, columns, files, wrong, json.dumps(row) if is_task else None)


def _text(value: Any) -> str | None:
    """The plan in a cell: a text, or a list of steps; ``None`` if the value is neither."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all([isinstance(step, str) and "\n" not in step for step in value]):
        return "\n".join(value) + "\n"
    return json.dumps(value) if isinstance(value, (list, dict)) else None


def _files_from_patterns(settings: Settings, values: dict[str, Any]) -> tuple[tuple[tuple[str, str], ...], str | None]:
    """Fill the placeholders of file patterns for one plan. Returns the files, or the reason of a failure.

    The resulting path must be below the folder that the pattern names before its first placeholder.
    """
    files = []
    for role in ROLES:
        pattern = getattr(settings, role)
        placeholder = None if pattern is None else _PLACEHOLDER.search(pattern)
        if placeholder is None:
            continue
        folder = os.path.dirname(pattern[: placeholder.start()])
        for name in _PLACEHOLDER.findall(pattern):
            if name not in values:
                return (), f"--{role} has {{{name}}}, which is not a column"
            value = str(values[name])
            if _SAFE_VALUE.match(value) is None or not {".", ".."}.isdisjoint(value.split("/")):
                return (), f"--{role} has {{{name}}}: {value[:80]!a} is not a path below {folder or '.'}"
        path = _PLACEHOLDER.sub(lambda name: str(values[name[1]]), pattern)
        if path.count("/") > pattern.count("/") and not _is_below(path, folder):
            return (), f"--{role} has {{{name}}}: {value[:80]!a} leads out of {folder or '.'} through a link"
        files.append((role, path))
    return tuple(files), None


def _is_below(path: str, folder: str) -> bool:
    """Whether a path is below a folder after links are resolved."""
    base = os.path.realpath(folder)
    return os.path.commonpath((base, os.path.realpath(path))) == base


class NumberFile:
    """A list of numbers. Append all numbers before reading the first."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, number: int) -> None:
        """Append a number."""
        self._file.write(struct.pack("=Q", number))
        self._count += 1

    def __getitem__(self, place: int) -> int:
        (number,) = self.between(place, place + 1)
        return number

    def between(self, first: int, end: int) -> array[int]:
        """The numbers from index ``first`` to before ``end``."""
        self._file.seek(8 * first)
        return array("Q", self._file.read(8 * (end - first)))

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()


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
