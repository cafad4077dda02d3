"""Read the object table: the CSV files of this folder.

``kinds.csv`` has the kinds of the ontology, ``objects.csv`` a row for each class and kind, ``names.csv`` names that the
general rules for names do not resolve, and ``proposals.csv`` kinds that nobody has confirmed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

FOLDER = os.path.dirname(os.path.abspath(__file__))
NO_KIND = "-"
"""The kind of a row that says: the class was considered and has no kind."""
CONFIRMED, PROPOSED = "confirmed", "proposed"
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


class ObjectTable(NamedTuple):
    """The tables. Classes and names are compared by their letters (:func:`letters`).

    ``kinds`` are by letters, ``rows`` and ``proposals`` by the letters of the class. ``names`` maps a world and the
    letters of a name to a class. ``diagnostics`` are errors in the files; the rows with errors are left out.
    """

    kinds: Mapping[str, Kind]
    rows: Mapping[str, tuple[ObjectRow, ...]]
    names: Mapping[tuple[str, str], str]
    proposals: Mapping[str, tuple[Proposal, ...]]
    diagnostics: tuple[Diagnostic, ...] = ()

    def find_kind(self, name: str) -> Kind | None:
        """Return the kind of that name; `-` and `_` are the same."""
        return self.kinds.get(letters(name))

    def close(self, kinds: list[str]) -> list[str]:
        """Return kinds followed by the kinds that they imply, each once."""
        return list(
            dict.fromkeys([*kinds, *[implied for kind in kinds for implied in self.kinds[letters(kind)].implies]])
        )


def letters(name: str) -> str:
    """Return the letters and digits of a name in lower case: ``coffee_cup`` and ``CoffeeCup`` are the same class."""
    return _NOT_LETTERS.sub("", name.lower())


@cache
def load_table() -> ObjectTable:
    """Return the shipped table."""
    return read_table(FOLDER)


def read_table(folder: str) -> ObjectTable:
    """Read the tables of a folder; a file that does not exist is empty."""
    reader = _TableReader(folder)
    kinds = reader.read_kinds()
    rows: dict[str, list[ObjectRow]] = {}
    for place, (name, kind, status, reason, source, reviewer, worlds) in reader.read_rows("objects.csv"):
        wrong = None
        if not _CLASS.match(name):
            wrong = f"`{name}` is not a class: write a singular noun in lower case, with `_` between words"
        elif kind != NO_KIND and letters(kind) not in kinds:
            wrong = f"`{kind}` is not a kind: kinds.csv lists them, and `{NO_KIND}` means that the class has no kind"
        elif status not in (CONFIRMED, PROPOSED):
            wrong = f"the status is `{status}`, not `{CONFIRMED}` or `{PROPOSED}`"
        elif any([kind == row.kind for row in rows.get(letters(name), ())]):
            wrong = f"`{name}` has the kind `{kind}` twice"
        elif status == CONFIRMED and not (reason and source and reviewer):
            wrong = f"`{name}` is confirmed without a reason, a source or a reviewer"
        if wrong is not None:
            reader.report(place, wrong)
            continue
        row = ObjectRow(name, kind, status, reason, source, reviewer, tuple(worlds.split()))
        rows.setdefault(letters(name), []).append(row)
    names: dict[tuple[str, str], str] = {}
    for place, (world, name, class_name) in reader.read_rows("names.csv"):
        key = (world, letters(name))
        if names.get(key, class_name) != class_name:
            reader.report(place, f"`{name}` has two classes: `{names[key]}` and `{class_name}`")
        else:
            names[key] = class_name
    proposals: dict[str, list[Proposal]] = {}
    for place, (name, kind, evidence) in reader.read_rows("proposals.csv"):
        if letters(kind) in kinds:
            proposals.setdefault(letters(name), []).append(Proposal(name, kind, evidence))
        elif kind != NO_KIND:
            reader.report(place, f"`{kind}` is not a kind: kinds.csv lists them")
    return ObjectTable(
        kinds,
        {key: tuple(class_rows) for key, class_rows in rows.items()},
        names,
        {key: tuple(class_proposals) for key, class_proposals in proposals.items()},
        tuple(reader.diagnostics),
    )


class _Place(NamedTuple):
    """A line of a file, from 1."""

    source: Source
    line: int


class _TableReader:
    """Reads the files of a folder and collects the mistakes in them."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.diagnostics: list[Diagnostic] = []

    def read_rows(self, file_name: str) -> Iterator[tuple[_Place, list[str]]]:
        """Yield the rows of a file with the expected number of columns; report other rows."""
        import csv  # noqa: PLC0415 - only for tasks of home worlds

        path = os.path.join(self.folder, file_name)
        try:
            source = Source.from_path(path)
        except FileNotFoundError:
            return
        columns = _COLUMNS[file_name]
        rows = csv.reader(source.text.splitlines())
        header = next(rows, [])
        if tuple(header) != columns:
            self.report(_Place(source, 1), f"the first line must be `{','.join(columns)}`")
            return
        for row in rows:
            place = _Place(source, rows.line_num)
            if len(row) == len(columns):
                yield place, [cell.strip() for cell in row]
            elif row:
                message = f"expected {len(columns)} columns ({', '.join(columns)}), found {len(row)}"
                self.report(place, message, 'put a text with a comma between double quotes: "a, b"')

    def read_kinds(self) -> dict[str, Kind]:
        """Read ``kinds.csv``."""
        direct: dict[str, tuple[str, ...]] = {}
        meanings: dict[str, str] = {}
        places: dict[str, _Place] = {}
        for place, (name, implies, meaning) in self.read_rows("kinds.csv"):
            if name in direct:
                self.report(place, f"the kind `{name}` has two rows")
                continue
            direct[name], meanings[name], places[name] = tuple(implies.split()), meaning, place
        kinds = {}
        for name in direct:
            implied = [name]
            for above in implied:
                for kind in direct.get(above, ()):
                    if kind not in direct:
                        self.report(places[above], f"`{above}` implies `{kind}`, which is not a kind")
                    elif kind not in implied:
                        implied.append(kind)
            kinds[letters(name)] = Kind(name, tuple(implied[1:]), meanings[name])
        return kinds

    def report(self, place: _Place, message: str, help: str | None = None) -> None:
        """Record an error in a line."""
        source, line = place
        start = source.line_starts[min(line, len(source.line_starts)) - 1]
        span = Span(start, start + max(len(source.line(line)), 1))
        label = Label(source.name, span, "this row is not used")
        self.diagnostics.append(Diagnostic(SC.STRUCTURE, message, (label,), help=help))
