"""Diagnostics as data: a code, a severity, labelled places and advice. Renderers live in the application."""

from __future__ import annotations

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
