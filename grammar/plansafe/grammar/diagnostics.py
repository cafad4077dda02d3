"""Diagnostics as data: a code, a severity, labelled places and advice. Renderers live in the application."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple


class Severity(Enum):
    """How much a diagnostic matters; only errors change an exit code."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Span(NamedTuple):
    """A half-open range of characters ``[start, end)`` in the text of one source, counted from 0."""

    start: int
    end: int


class Label(NamedTuple):
    """A place in a source and what is to be said about it. The primary label is where the mistake is."""

    source: str
    span: Span
    text: str = ""
    primary: bool = True


class Diagnostic(NamedTuple):
    """One thing that a user should know.

    ``code`` is stable (``SC103``) and has a page under ``safecheck --explain``. ``labels`` may lie in several
    sources: where two declarations disagree, both are shown.
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: Severity = Severity.ERROR


def suggest_name(name: str, known: Sequence[str]) -> str | None:
    """A help text with the nearest of the names, if one is near."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    found = difflib.get_close_matches(name[:60], known[:1000], n=1)
    return f"did you mean `{found[0]}`?" if found else None
