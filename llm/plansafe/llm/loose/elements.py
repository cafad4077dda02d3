"""The elements of a block of text: lines with their markers taken off, structured documents and definitions."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.detection import Detector
from plansafe.llm.structured.marks import BOX, SIGN, STRUCK, box_mark, struck_beginning
from plansafe.llm.structured.tree import Document, Mark, Unreadable

_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)+")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_TIME = re.compile(r"[ \t]*(\d{1,9}\.\d{1,9})[ \t]*:[ \t]*")
_MARKER = re.compile(
    r"""[ \t]*(?:
      (?P<bullet>[-*+\u2014](?=[ \t])|\u2022)
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
_DEFINE = re.compile(r"\(\s*define\b", re.IGNORECASE)
_DEFINED = re.compile(r"\s*\(\s*(\w{0,20})")
MAX_WRAPPERS = 8
_WRAPPED = re.compile(r"[ \t]{0,40}(\([ \t\n]{0,40}:?(?:plan|steps|actions|sequence)?)(?=\s{0,40}\()", re.IGNORECASE)
_BRACKET = re.compile(r"[()]|;[^\n]*")


class Line(NamedTuple):
    """A line without its marker, or several where a parenthesis runs over the line's end.

    ``kind`` is ``line``, ``blank``, ``comment``, ``heading`` or ``rule``; ``number`` is set for a numbered line,
    ``time`` for a timed one. ``box`` is the box before it. A ``removed`` line begins with text that is struck out.
    ``start`` is where ``text`` begins in the cleaned text; ``indent`` is the marker's.
    """

    kind: str
    text: str
    start: int
    indent: int
    marked: bool = False
    number: int | None = None
    time: str | None = None
    box: Mark = Mark.NONE
    removed: bool = False


class Form(NamedTuple):
    """A ``(define (plan ..) ..)``, or a domain or problem that the text repeats; ``what`` says which."""

    what: str
    start: int
    end: int


Element: TypeAlias = Line | Document | Form


class Flaw(NamedTuple):
    """Something that makes the text unreadable whatever the task: its kind, message and place in the cleaned text."""

    kind: str
    message: str
    start: int
    end: int
    refused: Refused | None = None
    """Why a structured document cannot be read: then nothing else is read in its place."""


def read_elements(
    text: str, start: int, end: int, fenced: bool, info: str, flaws: list[Flaw], removed: list[Span]
) -> tuple[Element, ...]:
    """The elements of a range of a text, in order.

    What makes it unreadable is added to ``flaws``, the places of lines that are struck out or commented out to
    ``removed``.
    """
    elements = _Elements(text, start, end, fenced, info, flaws)
    element_list = tuple(elements.read())
    removed += elements.removed
    return element_list


class _Elements:
    """The elements of one block."""

    def __init__(self, text: str, start: int, end: int, fenced: bool, info: str, flaws: list[Flaw]) -> None:
        self.text, self.position, self.end = text, start, end
        self.fenced = fenced
        self.flaws = flaws
        self.removed: list[Span] = []
        self.wrappers = 0
        self.detector = Detector(text, start, end, fenced, info)

    def read(self) -> list[Element]:
        elements: list[Element] = []
        while self.position < self.end:
            self._unwrap()
            elements.append(self._form() or self._document() or self._line())
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
        index = self.text.find("\n", position, self.end)
        return self.end if index < 0 else index

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
        kind = _DEFINED.match(text, match.end(), self.end)
        self.position = position
        return Form(kind[1].lower() if kind else "", start, position)

    def _document(self) -> Document | Line | None:
        """A structured document that begins with this line."""
        try:
            document = self.detector.document_at(self.text, self.position)
        except Unreadable as error:
            kind = "cut" if error.cut else "data" if error.malformed else "document"
            self.flaws.append(Flaw(kind, error.refused.message, error.start, error.end, error.refused))
            start, self.position = self.position, self.end
            return Line("blank", "", start, 0)
        if document is not None:
            self.position = min(self._line_end(max(document.end - 1, self.position)) + 1, self.end)
        return document

    def _line(self) -> Line:
        start = self.position
        end = self._line_end(start)
        text = self.text
        raw = text[start:end]
        if not raw.strip():
            self.position = min(end + 1, self.end)
            return Line("blank", "", start, 0)
        if raw.lstrip().startswith("<!--"):
            return self._comment(start)
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
        struck = STRUCK.search(text, start, end) is not None or text.find("<!--", start, end) >= 0
        position, marked, number, time, box = self._markers(position, end)
        removed = struck and struck_beginning(text[position:end]) > 0 and box is Mark.NONE
        if removed:
            self.removed.append(Span(start, end))
        elif struck:
            self.flaws.append(Flaw("struck", "part of the text is struck out", start, end))
        self.position = min(end + 1, self.end)
        return Line("line", text[position:end].rstrip(), position, indent, marked, number, time, box, removed)

    def _comment(self, start: int) -> Line:
        """A comment of HTML that begins a line, over one line or several."""
        closing = self.text.find("-->", start, self.end)
        end = self._line_end(start if closing < 0 else closing)
        if closing < 0 or self.text[closing + 3 : end].strip():
            self.flaws.append(Flaw("struck", "part of a line is commented out", start, start + 4))
        begin = self.text.index("<!--", start) + 4
        closing = end if closing < 0 else closing
        self.removed.append(Span(start, end))
        self.position = min(end + 1, self.end)
        return Line("comment", self.text[begin:closing].strip(), begin, 0)

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

    def _markers(self, position: int, end: int) -> tuple[int, bool, int | None, str | None, Mark]:
        marked, number, box = False, None, Mark.NONE
        text = self.text
        for _ in range(3):
            while position < end and text[position] in " \t":
                position += 1
            sign = BOX.match(text, position, end) or (SIGN.match(text, position, end) if marked else None)
            if sign is not None:
                box = box_mark(sign[sign.lastgroup or 0]) if box is Mark.NONE else Mark.FAILED
                marked, position = True, sign.end()
                continue
            if text[position:end].lstrip()[:1] == "[" and _SQUARE_STEP.match(text[position:end].lstrip()):
                break
            match = _MARKER.match(text, position, end)
            if match is None or _TIME.match(text, position, end):
                break
            kind = match.lastgroup
            if kind != "bullet":
                if number is not None:
                    break
                written = match[str(kind)]
                number = ord(written.lower()) - ord("a") + 1 if kind == "letter" else int(written)
            marked = True
            position = match.end()
        timed = _TIME.match(text, position, end)
        if timed:
            return timed.end(), marked, number, timed[1], box
        while position < end and text[position] in " \t":
            position += 1
        return position, marked, number, None, box
