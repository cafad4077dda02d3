"""The elements of a block of text: lines with their markers taken off, data, tables and definitions."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from plansafe.grammar.data_text import BrokenOff, Malformed, TooDeep, Value, read_value
from plansafe.grammar.diagnostics import Span

_STRUCK = re.compile(r"~~(?!~)|<(?:del|strike)>", re.IGNORECASE)
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_TIME = re.compile(r"[ \t]*(\d{1,9}\.\d{1,9})[ \t]*:[ \t]*")
_MARKER = re.compile(
    r"""[ \t]*(?:
      (?P<bullet>[-*+\u2014](?=[ \t])|\u2022)
    | (?P<box>\[[ ]\])
    | (?:step|action|move)[ _\#-]{0,2}(?P<step>\d{1,4})
      (?:[ \t]*[.):,]|[ \t]+[-\u2014](?=[ \t])|(?=[ \t]*[(\[<])|(?=[ \t]*$))
    | \((?P<round>\d{1,4})\) | \[(?P<square>\d{1,4})\] | \#(?P<hash>\d{1,4})[.):]?(?=[ \t])
    | (?P<number>\d{1,4})(?:[.)](?!\d)|[ \t]+[-\u2014](?=[ \t])|(?=[ \t]+\()|(?=\t)|(?=[ \t]*$))
    | (?P<colon>\d{1,4})[ \t]*:(?!\d)
    | (?P<letter>[a-z])\)(?=[ \t])
    )[ \t]*""",
    re.VERBOSE | re.IGNORECASE,
)
_COMMENT = re.compile(r"[ \t]*(?:;|//|%)")
_CODE_COMMENT = re.compile(r"[ \t]*#")
_SQUARE_STEP = re.compile(r"\[[ \t]*[A-Za-z][\w -]{0,60}\]")
_DATA = re.compile(r"[ \t]*(?:\"?'?[A-Za-z_][\w -]{0,40}\"?'?[ \t]*[:=][ \t]*)?(?=[\[{])")
_LOOKS_LIKE_DATA = re.compile(r"\{\s*(?:[\"'}]|$)|\[\s*(?:[\"'{\[(\]]|$|[A-Za-z_][^\[\]\n]{0,200}[\](])")
_DEFINE = re.compile(r"\(\s*define\b", re.IGNORECASE)
_DEFINED = re.compile(r"\s*\(\s*(\w{0,20})")
MAX_WRAPPERS = 8
_WRAPPED = re.compile(r"[ \t]{0,40}(\([ \t\n]{0,40}:?(?:plan|steps|actions|sequence)?)(?=\s{0,40}\()", re.IGNORECASE)
_BRACKET = re.compile(r"[()]|;[^\n]*")


class Line(NamedTuple):
    """A line without its marker, or several where a parenthesis runs over the line's end.

    ``kind`` is ``line``, ``blank``, ``comment``, ``heading`` or ``rule``; ``number`` that of a numbered line, ``time``
    that of a timed one. ``start`` is where ``text`` begins in the cleaned text; ``indent`` is that of the marker.
    """

    kind: str
    text: str
    start: int
    indent: int
    marked: bool = False
    number: int | None = None
    time: str | None = None


class Datum(NamedTuple):
    """A JSON or Python value that stands on lines of its own; ``lead`` is a name before it (``plan =``)."""

    value: Value
    start: int
    end: int
    lead: str
    comments: tuple[Span, ...] = ()


class Form(NamedTuple):
    """A ``(define (plan ..) ..)``, or a domain or problem that the text repeats; ``what`` says which."""

    what: str
    start: int
    end: int


class Table(NamedTuple):
    """A Markdown table: for each row its cells, as text and where that begins. The first row is the head."""

    rows: tuple[tuple[tuple[str, int], ...], ...]
    start: int
    end: int


Element: TypeAlias = Line | Datum | Form | Table


class Flaw(NamedTuple):
    """Something that makes the text unreadable whatever the task: its kind, message and place in the cleaned text."""

    kind: str
    message: str
    start: int
    end: int


def read_elements(text: str, start: int, end: int, fenced: bool, flaws: list[Flaw]) -> tuple[Element, ...]:
    """The elements of a range of a text, in order; what makes it unreadable is added to ``flaws``."""
    return tuple(_Elements(text, start, end, fenced, flaws).read())


class _Elements:
    """The elements of one block."""

    def __init__(self, text: str, start: int, end: int, fenced: bool, flaws: list[Flaw]) -> None:
        self.text, self.position, self.end = text, start, end
        self.fenced = fenced
        self.flaws = flaws
        self.wrappers = 0
        self.tried = 0  # data that failed to parse is not tried again before this offset

    def read(self) -> list[Element]:
        elements: list[Element] = []
        while self.position < self.end:
            self._unwrap()
            elements.append(self._form() or self._datum() or self._table() or self._line())
        return elements

    def _unwrap(self) -> None:
        """Overwrite the parentheses of ``(plan (a b) (c d))`` that opens on this line and is closed on a later one."""
        match = _WRAPPED.match(self.text, self.position, self.end)
        if match is None or self.wrappers == MAX_WRAPPERS:
            return
        self.wrappers += 1
        depth = 0
        for bracket in _BRACKET.finditer(self.text, match.start(1), self.end):
            if bracket.group()[0] != ";":
                depth += 1 if bracket.group() == "(" else -1
                if depth == 0:
                    break
        else:
            return
        last = bracket.start()
        if last > self._line_end(self.position):
            hidden = " " * (match.end(1) - match.start(1))
            self.text = f"{self.text[: match.start(1)]}{hidden}{self.text[match.end(1) : last]} {self.text[last + 1 :]}"

    def _line_end(self, position: int) -> int:
        found = self.text.find("\n", position, self.end)
        return self.end if found < 0 else found

    def _form(self) -> Form | None:
        """A definition that begins this line."""
        text = self.text
        start = self.position
        while start < self.end and text[start] in " \t":
            start += 1
        match = _DEFINE.match(text, start, self.end)
        if match is None:
            return None
        depth = 0
        position = start
        for bracket in _BRACKET.finditer(text, start, self.end):
            if bracket.group()[0] == ";":
                continue
            depth += 1 if bracket.group() == "(" else -1
            position = bracket.end()
            if depth == 0:
                break
        if depth:
            self.flaws.append(Flaw("cut", "the text ends inside a definition", start, match.end()))
            position = self.end
        what = _DEFINED.match(text, match.end(), self.end)
        self.position = position
        return Form(what[1].lower() if what else "", start, position)

    def _datum(self) -> Datum | None:
        """A JSON or Python value that begins this line (or after a name and ``=`` or ``:``) and ends one."""
        text = self.text
        match = _DATA.match(text, self.position, self._line_end(self.position))
        if match is None or self.position < self.tried:
            return None
        start = match.end()
        if _SQUARE_STEP.match(text, start, self.end) or not _LOOKS_LIKE_DATA.match(text, start, self.end):
            return None
        try:
            comments: list[Span] = []
            value, end = read_value(text, start, self.end, comments)
        except BrokenOff as broken:
            match broken:
                case TooDeep():
                    kind, message = "deep", "lists and objects are nested too deeply"
                case Malformed():
                    kind, message = "data", "this is neither JSON nor a Python list: is a comma or a bracket missing?"
                case _:
                    kind, message = "cut", "the text ends inside a list or an object"
            self.flaws.append(Flaw(kind, message, broken.start, broken.start + 1))
            self.position = self.end
            return Datum(Value("list", "", (), start, self.end), start, self.end, "")
        after = self._line_end(end)
        if text[end:after].strip(" \t,;."):
            self.tried = end
            return None
        self.position = min(after + 1, self.end)
        return Datum(value, start, end, text[match.start() : start].strip(" \t:=\"'"), tuple(comments))

    def _table(self) -> Table | None:
        start = self.position
        position = start
        rows = []
        while position < self.end:
            end = self._line_end(position)
            line = self.text[position:end]
            if not line.lstrip().startswith("|") or line.count("|") < 2:
                break
            if line.strip(" \t|:-+"):
                rows.append(_cells(line, position))
            position = min(end + 1, self.end)
        if not rows:
            return None
        self.position = position
        return Table(tuple(rows), start, position)

    def _line(self) -> Line:
        start = self.position
        end = self._line_end(start)
        text = self.text
        raw = text[start:end]
        if not raw.strip():
            self.position = min(end + 1, self.end)
            return Line("blank", "", start, 0)
        position = start
        if not self.fenced and (quote := _QUOTE.match(raw)):
            position += quote.end()
            raw = text[position:end]
        indent = len(raw) - len(raw.lstrip(" \t"))
        kind = "line"
        if _RULE.match(raw):
            kind = "rule"
        elif _COMMENT.match(raw) or (self.fenced and _CODE_COMMENT.match(raw)):
            kind = "comment"
        elif not self.fenced and (heading := _HEADING.match(raw)):
            kind = "heading"
            position += heading.end()
        if kind != "line":
            self.position = min(end + 1, self.end)
            return Line(kind, text[position:end].rstrip(), position, indent)
        end = self._joined(position, end)
        if _STRUCK.search(text, start, end):
            self.flaws.append(Flaw("struck", "part of the text is struck out", start, end))
        position, marked, number, time = self._markers(position, end)
        self.position = min(end + 1, self.end)
        return Line("line", text[position:end].rstrip(), position, indent, marked, number, time)

    def _joined(self, start: int, end: int) -> int:
        """Where a line ends whose last parenthesis is closed on a later line, before an empty one."""
        while end < self.end:
            opened = self.text.rfind("(", start, end)
            if opened < 0 or self.text.find(")", opened, end) >= 0:
                return end
            closed = self.text.find(")", end, min(self.end, end + 2000))
            if closed < 0 or self.text.find("(", end, closed) >= 0 or re.search(r"\n[ \t]*\n", self.text[end:closed]):
                return end
            end = self._line_end(closed)
        return end

    def _markers(self, position: int, end: int) -> tuple[int, bool, int | None, str | None]:
        marked, number = False, None
        text = self.text
        for _ in range(3):
            if text[position:end].lstrip()[:1] == "[" and _SQUARE_STEP.match(text[position:end].lstrip()):
                break
            match = _MARKER.match(text, position, end)
            if match is None or _TIME.match(text, position, end):
                break
            kind = match.lastgroup
            if kind not in ("bullet", "box"):
                if number is not None:
                    break
                written = match[str(kind)]
                number = ord(written.lower()) - ord("a") + 1 if kind == "letter" else int(written)
            marked = True
            position = match.end()
        timed = _TIME.match(text, position, end)
        if timed:
            return timed.end(), marked, number, timed[1]
        while position < end and text[position] in " \t":
            position += 1
        return position, marked, number, None


def _cells(line: str, start: int) -> tuple[tuple[str, int], ...]:
    cells = []
    position = line.index("|") + 1
    parts = line.rstrip()[position:].removesuffix("|").split("|")
    for part in parts:
        cells.append((part.strip(), start + position + len(part) - len(part.lstrip())))
        position += len(part) + 1
    return tuple(cells)
