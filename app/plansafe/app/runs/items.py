"""What a run judges: plans in files and folders, or in the rows of tables, each with the files that belong to it.

The list is written to temporary files as it is made, so that a run of any size keeps nothing of it in memory; its hash
tells whether a resumed run is given the same plans.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from plansafe.app.project.project_file import plan_stem
from plansafe.app.runs.input_tables import BadRow, Row, is_table, rows
from plansafe.app.runs.number_file import Numbers
from plansafe.app.session.audit import expand
from plansafe.app.session.model import Settings
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

ROLES = ("scene", "goal", "problem", "domain")
"""Settings whose files may be named by a pattern."""
ROW = "{row}"
"""The goal file of a plan that is the row it stands in."""
_HOLE = re.compile(r"\{([^{}]*)\}")
_PLAIN = re.compile(r"[^/\\\x00-\x1f]{1,200}(?:/[^/\\\x00-\x1f]{1,200}){0,30}\Z")
_SEVERAL = ("plan", "script", "steps", "step", "actions")
_LONGEST = 10_000


class Item(NamedTuple):
    """A plan of a run: its number from 0, its id, its path or else its text, kept columns, and its files.

    ``files`` are (role, path) of what differs from plan to plan. ``wrong`` says why there is no plan. ``task`` is the
    row itself where it is the goal file (``--goal '{row}'``).
    """

    number: int
    id: str
    path: str | None
    name: str
    text: str | None
    columns: dict[str, Any]
    files: tuple[tuple[str, str], ...]
    wrong: str | None = None
    task: str | None = None

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """What plans of one task have in common: their files, and the folder that others are looked for in."""
        return (("folder", os.path.dirname(self.name)), *self.files)


class Items:
    """The plans of a run, on disk. A context manager."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._starts, self._tasks = Numbers(), Numbers()
        self._digest = hashlib.sha256()
        self.judged = 0
        """How many of them are there to be judged."""
        self.why = "nothing was named"
        """Why the last of the others is not."""

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
        """Put a plan at the end."""
        line = json.dumps(item).encode() + b"\n"
        wrong = item.wrong
        if wrong is None and item.text is None and (item.path is None or not _is_file(item.path)):
            is_folder = item.path is not None and os.path.isdir(item.path)
            wrong = "there is no plan in this folder" if is_folder else "there is no such file"
        self.judged += wrong is None
        if wrong is not None:
            self.why = f"{item.name}: {wrong}"
        self._starts.append(self._file.tell())
        self._file.write(line)
        self._digest.update(line)
        named = hashlib.sha256(json.dumps(item.key).encode()).digest()
        self._tasks.append(int.from_bytes(named[:8]))

    def get(self, number: int) -> Item:
        """The plan of this number. Not while plans are still put in."""
        self._file.seek(self._starts[number])
        values = json.loads(self._file.readline())
        values[6] = tuple([(role, path) for role, path in values[6]])
        return Item(*values)

    def tasks(self, first: int, end: int) -> dict[int, list[int]]:
        """The numbers of some plans by their task, of which 64 bits of a hash are all that is kept."""
        found: dict[int, list[int]] = {}
        for number, task in enumerate(self._tasks.between(first, end), first):
            found.setdefault(task, []).append(number)
        return found


def listed(paths: Iterable[str], settings: Settings, id_column: str | None, plan_column: str | None) -> Iterator[Item]:
    """The plans that paths stand for, in order: files, plans in folders, rows of tables (``.jsonl``, ``.csv``)."""
    number = 0
    paths = list(paths)
    tables = _tables(paths)
    for path in paths:
        if is_table(path) and not os.path.isdir(path):
            first = number
            for line, row in rows(path):
                item = _of_row(number, path, line, row, settings, id_column, plan_column)
                yield item if path not in tables else _of_table(item, tables[path])
                number += 1
            if number == first:
                yield Item(number, path, None, path, None, {}, (), "the table has no rows")
                number += 1
            continue
        for plan in expand([path], settings):
            columns = {"folder": os.path.basename(os.path.dirname(os.path.abspath(plan)))}
            files, wrong = _files(settings, {"stem": plan_stem(plan)})
            yield Item(number, plan, plan, plan, None, columns, files, wrong)
            number += 1


def _tables(paths: list[str]) -> dict[str, str]:
    """What each table is called where there are several: its name, or its path where two have one name."""
    found = list(dict.fromkeys([path for path in paths if is_table(path)]))
    names = [plan_stem(path) for path in found]
    return {} if len(found) < 2 else {p: n if names.count(n) == 1 else p for p, n in zip(found, names, strict=True)}


def _of_table(item: Item, table: str) -> Item:
    """A plan of one of several tables, which may all count from 1: the id says which, and so does a column."""
    named = item.id if item.id == item.name else f"{table}/{item.id}"
    return item._replace(id=named, columns={"table": table, **item.columns})


def _is_file(path: str) -> bool:
    """Whether there is something to read: a file, a pipe, standard input."""
    return path == "-" or (os.path.exists(path) and not os.path.isdir(path))


def _of_row(
    number: int, path: str, line: int, row: Row | BadRow, settings: Settings, id_column: str | None, plan: str | None
) -> Item:
    name = f"{path}:{line}"
    if isinstance(row, BadRow):
        return Item(number, name, None, name, None, {}, (), row.reason)
    wanted = plan or next((column for column in _SEVERAL if column in row), _SEVERAL[0])
    named = row.get(id_column or "id")
    own = str(named) if isinstance(named, (str, int)) and str(named) else name
    columns = {
        key: value
        for key, value in row.items()
        if key != wanted and isinstance(value, (str, int, float, bool, type(None))) and len(str(value)) <= _LONGEST
    }
    text = _text(row.get(wanted))
    if id_column is not None and id_column not in row:
        return Item(number, name, None, name, None, columns, (), f"there is no column {id_column!a} (--id)")
    if text is None:
        there = ", ".join(list(row)[:8])
        reason = f"there is no plan in the column {wanted!a}; columns: {there}"
        return Item(number, own, None, name, None, columns, (), reason)
    is_task = settings.goal == ROW
    files, wrong = _files(settings._replace(goal=None) if is_task else settings, {"stem": own, **columns})
    if is_task:
        files = (*files, ("goal", f"{name} (row)"))
    return Item(number, own, None, name, text, columns, files, wrong, json.dumps(row) if is_task else None)


def _text(value: Any) -> str | None:
    """The plan in a cell: a text, or a list of steps; ``None`` if it is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all([isinstance(step, str) and "\n" not in step for step in value]):
        return "\n".join(value) + "\n"
    return json.dumps(value) if isinstance(value, (list, dict)) else None


def _files(settings: Settings, said: dict[str, Any]) -> tuple[tuple[tuple[str, str], ...], str | None]:
    """The files that patterns name for a plan; or why they name none.

    A value may lead into folders below the one that the pattern names before its first placeholder, and nowhere else.
    """
    files = []
    for role in ROLES:
        pattern = getattr(settings, role)
        hole = None if pattern is None else _HOLE.search(pattern)
        if hole is None:
            continue
        folder = os.path.dirname(pattern[: hole.start()])
        for name in _HOLE.findall(pattern):
            if name not in said:
                return (), f"--{role} has {{{name}}}: there is no such column"
            value = str(said[name])
            if _PLAIN.match(value) is None or not {".", ".."}.isdisjoint(value.split("/")):
                return (), f"--{role} has {{{name}}}: {value[:80]!a} is not a path below {folder or '.'}"
        path = _HOLE.sub(lambda name: str(said[name[1]]), pattern)
        if path.count("/") > pattern.count("/") and not _is_below(path, folder):
            return (), f"--{role} has {{{name}}}: {value[:80]!a} leads out of {folder or '.'} through a link"
        files.append((role, path))
    return tuple(files), None


def _is_below(path: str, folder: str) -> bool:
    """Whether a path, its links followed, is below a folder."""
    base = os.path.realpath(folder)
    return os.path.commonpath((base, os.path.realpath(path))) == base


def not_a_row(item: Item) -> Diagnostic:
    """Why a plan of a run could not be had."""
    advice = "name the columns with --plan-column and --id; docs/batches.md says how tables are read"
    return Diagnostic(SC.BAD_ROW, f"{item.name}: {item.wrong}", help=advice)
