"""Read the object table: the CSV files of this folder.

``kinds.csv`` has the kinds of the ontology, ``objects.csv`` a row for each class and kind, ``names.csv`` names that the
general rules for names do not resolve, and ``proposals.csv`` unconfirmed kinds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property
from typing import TypeVar

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

FOLDER = os.path.dirname(os.path.abspath(__file__))
NO_KIND = "-"
"""The kind of a row that says: the class was considered and has no kind."""
CONFIRMED, PROPOSED = "confirmed", "proposed"
BEINGS = frozenset(("person", "child", "animal"))
"""Kinds of objects that are not things."""
EVERYWHERE = ""
"""The world of a name that means the same in all worlds."""
_COLUMNS = {
    "kinds.csv": ("kind", "implies", "meaning"),
    "objects.csv": ("class", "kind", "status", "reason", "source", "reviewer", "worlds"),
    "names.csv": ("world", "name", "class"),
    "proposals.csv": ("class", "kind", "evidence"),
}
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_CLASS = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")


class Kind(NamedTuple):
    """A kind of the ontology; ``implies`` are the kinds that follow from it, directly or indirectly."""

    name: str
    implies: tuple[str, ...]
    meaning: str


class ObjectRow(NamedTuple):
    """A kind of a class; ``kind`` is :data:`NO_KIND` if the class was considered and has no kind.

    ``worlds``: the worlds whose former hand-made mapping gave the class this kind.
    """

    class_name: str
    kind: str
    status: str
    reason: str
    source: str
    reviewer: str
    worlds: tuple[str, ...]


class Proposal(NamedTuple):
    """A kind that a class may have."""

    class_name: str
    kind: str
    evidence: str


Row = TypeVar("Row", ObjectRow, Proposal)


class RowIndex(Mapping[str, tuple[Row, ...]]):
    """The rows of a file by the letters of the class in their first column.

    A task needs the rows of some hundred classes of several thousand, so that the rows of a class are parsed when they
    are looked up. Rows with errors are left out.
    """

    def __init__(self, source: Source, columns: tuple[str, ...], read_row: Callable[[list[str]], Row | str]) -> None:
        self._source = source
        self._columns = columns
        self._read_row: Callable[[list[str]], Row | str] = read_row
        self._parsed: dict[str, tuple[Row, ...]] = {}
        self._classes_with_errors: set[str] = set()
        self.errors: list[RowError] = []

    @cached_property
    def _lines(self) -> list[str]:
        return self._source.text.splitlines()

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """The numbers of the lines of each class; most tasks do not need the proposals."""
        numbers: dict[str, list[int]] = {}
        if self._lines and self._lines[0] != ",".join(self._columns):
            message = f"the first line must be `{','.join(self._columns)}`"
            self.errors.append(RowError(self._source, 1, message))
            return numbers
        for number, line in enumerate(self._lines[1:], 2):
            name = line.partition(",")[0]
            if name:
                key = name.replace("_", "") if name.islower() and "-" not in name else letters(name)
                numbers.setdefault(key, []).append(number)
        return numbers

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the names of all classes: ``kitchen_table`` has ``kitchen``."""
        names = {line.partition(",")[0] for line in self._lines[1:]}
        return frozenset([word for name in names for word in name.split("_")])

    def __getitem__(self, key: str) -> tuple[Row, ...]:
        if key not in self._parsed:
            errors = len(self.errors)
            self._parsed[key] = tuple(self._parse(self._numbers[key]))
            if len(self.errors) > errors:
                self._classes_with_errors.add(key)
        return self._parsed[key]

    def has_errors(self, key: str) -> bool:
        """Whether a row of a class has an error, so that its kinds are incomplete."""
        return bool(self.get(key, ())) and key in self._classes_with_errors

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def _parse(self, numbers: list[int]) -> Iterator[Row]:
        kinds: set[str] = set()
        for number in numbers:
            cells = split_cells(self._lines[number - 1])
            row = self._read_row(cells) if len(cells) == len(self._columns) else _wrong_columns(self._columns, cells)
            if not isinstance(row, str) and row.kind in kinds:
                row = f"`{row.class_name}` has the kind `{row.kind}` twice"
            if isinstance(row, str):
                self.errors.append(RowError(self._source, number, row))
            else:
                kinds.add(row.kind)
                yield row


class RowError(NamedTuple):
    """A mistake in a line of a file; the line is not used."""

    source: Source
    line: int
    message: str


class ObjectTable(NamedTuple):
    """The tables. Classes and names are compared by their letters (:func:`letters`).

    ``kinds`` are by letters, ``rows`` and ``proposals`` by the letters of the class. ``names`` maps a world and the
    letters of a name to a class. ``errors`` are in kinds and names; :meth:`find_errors` checks all rows.
    """

    kinds: Mapping[str, Kind]
    rows: RowIndex[ObjectRow]
    names: Mapping[tuple[str, str], str]
    proposals: RowIndex[Proposal]
    errors: tuple[RowError, ...] = ()

    def find_kind(self, name: str) -> Kind | None:
        """Return the kind of that name; `-` and `_` are the same."""
        return self.kinds.get(letters(name))

    def close(self, kinds: Iterable[str]) -> tuple[str, ...]:
        """Return kinds and then the kinds that follow from them; names that are not kinds stay."""
        names = tuple(kinds)
        known_kinds = [kind for kind in [self.find_kind(name) for name in names] if kind is not None]
        return tuple(dict.fromkeys([*names, *[implied for kind in known_kinds for implied in kind.implies]]))

    def find_errors(self) -> tuple[Diagnostic, ...]:
        """Check all rows, and return the errors in them."""
        for index in (self.rows, self.proposals):
            for _ in index.values():
                pass
        errors = dict.fromkeys([*self.errors, *self.rows.errors, *self.proposals.errors])
        return tuple([_make_diagnostic(error) for error in errors])


def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case: ``coffee_cup`` and ``CoffeeCup`` are the same class."""
    return _NOT_LETTERS.sub("", name.lower())


def split_cells(line: str) -> list[str]:
    """Split a row of a CSV file into its cells."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(",")]
    import csv  # noqa: PLC0415 - only for rows with quotes

    return [cell.strip() for cell in next(csv.reader([line]))]


@cache
def load_table(folder: str = FOLDER) -> ObjectTable:
    """Return the shipped table, or the table in another folder; each is read once."""
    return read_table(folder)


def read_table(folder: str) -> ObjectTable:
    """Read the tables of a folder; a file that does not exist is empty."""
    errors: list[RowError] = []
    kinds = _read_kinds(folder, errors)

    def read_object_row(cells: list[str]) -> ObjectRow | str:
        name, kind, status, reason, source, reviewer, worlds = cells
        if not _CLASS.match(name):
            return f"`{name}` is not a class: write a singular noun in lower case, with `_` between words"
        if kind != NO_KIND and letters(kind) not in kinds:
            return f"`{kind}` is not a kind: kinds.csv lists them, and `{NO_KIND}` means that the class has no kind"
        if status not in (CONFIRMED, PROPOSED):
            return f"the status is `{status}`, not `{CONFIRMED}` or `{PROPOSED}`"
        if status == CONFIRMED and not (reason and source and reviewer):
            return f"`{name}` is confirmed without a reason, a source or a reviewer"
        return ObjectRow(name, kind, status, reason, source, reviewer, tuple(worlds.split()))

    def read_proposal(cells: list[str]) -> Proposal | str:
        name, kind, evidence = cells
        return Proposal(name, kind, evidence) if letters(kind) in kinds else f"`{kind}` is not a kind of kinds.csv"

    names: dict[tuple[str, str], str] = {}
    for error, (world, name, class_name) in _read_rows(folder, "names.csv", errors):
        key = (world, letters(name))
        if names.setdefault(key, class_name) != class_name:
            errors.append(error._replace(message=f"`{name}` has two classes: `{names[key]}` and `{class_name}`"))
    rows = RowIndex(_read_source(folder, "objects.csv"), _COLUMNS["objects.csv"], read_object_row)
    proposals = RowIndex(_read_source(folder, "proposals.csv"), _COLUMNS["proposals.csv"], read_proposal)
    return ObjectTable(kinds, rows, names, proposals, tuple(errors))


def _read_source(folder: str, file_name: str) -> Source:
    path = os.path.join(folder, file_name)
    return Source.from_path(path) if os.path.isfile(path) else Source(path, "")


def _read_rows(folder: str, file_name: str, errors: list[RowError]) -> Iterator[tuple[RowError, list[str]]]:
    """Yield the rows of a file, each with an error without a message at its place; record wrong numbers of columns."""
    source, columns = _read_source(folder, file_name), _COLUMNS[file_name]
    lines = source.text.splitlines()
    if lines and lines[0] != ",".join(columns):
        errors.append(RowError(source, 1, f"the first line must be `{','.join(columns)}`"))
        return
    for number, line in enumerate(lines[1:], 2):
        cells = split_cells(line)
        if len(cells) == len(columns):
            yield RowError(source, number, ""), cells
        elif line:
            errors.append(RowError(source, number, _wrong_columns(columns, cells)))


def _read_kinds(folder: str, errors: list[RowError]) -> dict[str, Kind]:
    direct: dict[str, tuple[str, ...]] = {}
    meanings: dict[str, str] = {}
    places: dict[str, RowError] = {}
    for error, (name, implies, meaning) in _read_rows(folder, "kinds.csv", errors):
        if name in direct:
            errors.append(error._replace(message=f"the kind `{name}` has two rows"))
            continue
        direct[name], meanings[name], places[name] = tuple(implies.split()), meaning, error
    kinds = {}
    for name in direct:
        implied = [name]
        for above in implied:
            for kind in direct.get(above, ()):
                if kind not in direct:
                    errors.append(places[above]._replace(message=f"`{above}` implies `{kind}`, which is not a kind"))
                elif kind not in implied:
                    implied.append(kind)
        kinds[letters(name)] = Kind(name, tuple(implied[1:]), meanings[name])
    return kinds


def _wrong_columns(columns: tuple[str, ...], cells: list[str]) -> str:
    return f"expected {len(columns)} columns ({', '.join(columns)}), found {len(cells)}"


def _make_diagnostic(error: RowError) -> Diagnostic:
    start = error.source.line_starts[error.line - 1]
    span = Span(start, start + max(len(error.source.line(error.line)), 1))
    label = Label(error.source.name, span, "this row is not used")
    help = None
    if " columns (" in error.message:
        separator = next((char for char in (";", "\t") if char in error.source.line(error.line)), None)
        help = 'put a text with a comma between double quotes: "a, b"'
        if separator is not None and "," not in error.source.line(error.line):
            help = "separate the columns with commas: save the table as CSV with the separator `,`"
    return Diagnostic(SC.STRUCTURE, error.message, (label,), help=help)
