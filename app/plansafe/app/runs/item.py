"""A plan of a run before its audit, and its row after it."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic


class Item(NamedTuple):
    """A plan of a run: its number from 0, its id, its path or else its text, extra columns, and its files.

    ``files`` are (role, path) of the files that differ between plans. ``wrong`` is the reason if the plan cannot be
    read. ``task`` is the row as JSON if it is the goal file (``--goal '{row}'``).
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
        """A key of the task: the files of the plan, and the folder in which other files are searched."""
        return (("folder", os.path.dirname(self.name)), *self.files)


class AuditedRow(NamedTuple):
    """The row of a plan as a JSON line, and the rules and input files that appear first in this row.

    ``rules`` is by name, ``inputs`` maps paths to hashes. The hash of the plan itself is only in the row.
    """

    number: int
    line: bytes
    rules: dict[str, dict[str, Any]]
    inputs: dict[str, str]


def unreadable_row(item: Item) -> Diagnostic:
    """A diagnostic for a plan that cannot be read."""
    advice = "name the columns with --plan-column and --id; see docs/batches.md"
    return Diagnostic(SC.BAD_ROW, f"{item.name}: {item.wrong}", help=advice)
