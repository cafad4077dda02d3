"""Diagnostics as data: a code, a severity, labelled places and advice. Renderers live in the application."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from plansafe.grammar.named_tuple import NamedTuple

_VOWEL_SOUND = r"(?i)\W*(?!eu|one\b|uni(?![dnm])|us[aeiu]|ut[ei])[aeiou]"
"""A noun that begins with the sound of a vowel, also in quotes. `re` compiles it when a message needs it."""


def with_article(noun: str) -> str:
    """Put the indefinite article before a noun or a name: ``an `object```, ``a `unit```."""
    return f"{'an' if re.match(_VOWEL_SOUND, noun) else 'a'} {noun}"


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
    """A place in a source and a text about it. The primary label is where the mistake is."""

    source: str
    span: Span
    text: str = ""
    primary: bool = True


class Diagnostic(NamedTuple):
    """An error, warning or note for the user.

    ``code`` is stable (``SC103``), and ``safecheck --explain`` prints its page. ``labels`` may be in several sources,
    for example at two declarations that disagree. ``notes``: further facts. ``help``: the action to take.
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: Severity = Severity.ERROR


def suggest_name(name: str, candidates: Sequence[str]) -> str | None:
    """Return a help text with the candidate that is most similar to a name; ``None`` if no candidate is similar."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    nearest = difflib.get_close_matches(name[:60], candidates[:1000], n=1)
    return f"did you mean `{nearest[0]}`?" if nearest else None
