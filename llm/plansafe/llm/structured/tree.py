"""What every parser of structured answers makes of a text: a tree of values with places and marks.

Places that a library gives as line and column, or as bytes, as offsets of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from enum import StrEnum
from itertools import accumulate
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


class LinePlaces:
    """Offsets of lines (from 1) and columns within a range of a text. ``in_bytes``: columns count bytes of UTF-8."""

    def __init__(self, text: str, start: int, end: int, *, in_bytes: bool = False) -> None:
        self._text = text
        self._end = end
        self._in_bytes = in_bytes
        self._starts = [start]
        position = text.find("\n", start, end)
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1, end)
        self._columns: dict[int, list[int] | None] = {}

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line and a column."""
        if line > len(self._starts):
            return self._end
        start = self._starts[line - 1]
        if self._in_bytes:
            columns = self._columns_of(line)
            column = bisect_right(columns, column) - 1 if columns is not None else column
        return min(start + column, self._end)

    def line_end(self, line: int) -> int:
        """Return the offset at which a line ends, its line break aside."""
        return self._starts[line] - 1 if line < len(self._starts) else self._end

    def _columns_of(self, line: int) -> list[int] | None:
        """The byte at which each character of a line begins; ``None`` where it is the character's own number."""
        if line not in self._columns:
            written = self._text[self._starts[line - 1] : self.line_end(line)]
            sizes = [len(char.encode("utf-8", "surrogatepass")) for char in written]
            self._columns[line] = None if written.isascii() else list(accumulate(sizes, initial=0))
        return self._columns[line]


class BytePlaces:
    """Offsets of bytes of UTF-8 within a text."""

    def __init__(self, text: str) -> None:
        sizes = () if text.isascii() else [len(char.encode("utf-8", "surrogatepass")) for char in text]
        self._bytes = list(accumulate(sizes, initial=0)) if sizes else None

    def offset(self, byte: int) -> int:
        """Return the number of the character that begins at a byte."""
        return byte if self._bytes is None else bisect_right(self._bytes, byte) - 1
