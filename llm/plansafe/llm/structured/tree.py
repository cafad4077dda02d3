"""What every parser of structured answers makes of a text: a tree of values with places and marks."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused

DEPTH = 32
"""How deep values nest. What nests deeper is refused."""
MOST_NODES = 100_000
"""How many values a document has at most."""


class Format(StrEnum):
    """The notation of a document, as a note names it."""

    JSON = "JSON"
    YAML = "YAML"
    XML = "XML"
    TOOL_CALLS = "<tool_call> blocks"
    CSV = "CSV"
    MARKDOWN_TABLE = "a Markdown table"
    HTML = "HTML"
    LATEX = "LaTeX"
    PYTHON = "Python"
    TRANSCRIPT = "a transcript"


class Kind(StrEnum):
    """The kind of a value. A ``WORD`` has no quotes: a number, ``true``, a name. A ``CALL`` has a name."""

    TEXT = "text"
    WORD = "word"
    LIST = "list"
    MAP = "map"
    CALL = "call"


class Mark(StrEnum):
    """What a document says about one of its steps."""

    NONE = "none"
    REMOVED = "removed"
    TICKED = "ticked"
    UNTICKED = "not ticked"
    FAILED = "failed"


class Node(NamedTuple):
    """A value.

    ``text`` is the content of a text, a word as written, or the name of a call. ``items`` are the values of a list or
    of a map, or the arguments of a call; ``keys`` the keys of a map or the labels of arguments (empty: none).
    """

    kind: Kind
    text: str
    start: int
    end: int
    items: tuple[Node, ...] = ()
    keys: tuple[str, ...] = ()
    mark: Mark = Mark.NONE

    @property
    def pairs(self) -> list[tuple[str, Node]]:
        """The pairs of a map, in order, repeated keys included."""
        return list(zip(self.keys, self.items, strict=True))

    @property
    def is_flat(self) -> bool:
        """Whether no item is a list, a map or a call."""
        return all([item.kind in (Kind.TEXT, Kind.WORD) for item in self.items])


class Document(NamedTuple):
    """A structured part of a text.

    ``nodes`` are its outermost values: the steps, or one value that holds them. ``comments`` are the ranges of comments
    and of words that are not a step.
    """

    format: Format
    nodes: tuple[Node, ...]
    start: int
    end: int
    comments: tuple[Span, ...] = ()
    lead: str = ""


class Unreadable(Exception):
    """A document of a format that cannot be read as a plan, with the reason and the place.

    ``cut``: the text ends inside it. ``malformed``: it may be damaged JSON, and its parts be read as they are written.
    """

    def __init__(self, refused: Refused, start: int, end: int, *, cut: bool = False, malformed: bool = False) -> None:
        super().__init__(refused.message)
        self.refused = refused
        self.start = start
        self.end = max(end, start + 1)
        self.cut = cut
        self.malformed = malformed


class NotThisFormat(Exception):
    """The text is not of the format, and may be read in another."""


def too_deep(start: int) -> Unreadable:
    """That values nest too deeply."""
    refused = Refused(SC.TEXT_TOO_LARGE, f"lists and objects nest deeper than {DEPTH}")
    return Unreadable(refused, start, start + 1)


def breaks_off(construct: str, start: int) -> Unreadable:
    """That the text ends within something."""
    return Unreadable(Refused(SC.TEXT_CUT_OFF, f"the text ends inside {construct}"), start, start + 1, cut=True)


def malformed(start: int) -> Unreadable:
    """That brackets hold neither JSON nor a Python value."""
    message = "this is neither JSON nor a Python list: is a comma or a bracket missing?"
    return Unreadable(Refused(SC.NOT_UNDERSTOOD, message), start, start + 1, malformed=True)


def not_understood(message: str, start: int, end: int, help: str | None = None) -> Unreadable:
    """That something in a document is not understood."""
    return Unreadable(Refused(SC.NOT_UNDERSTOOD, message, help), start, end)
