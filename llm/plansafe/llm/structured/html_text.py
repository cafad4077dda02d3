"""HTML lists and tables as values, by the parser of the standard library."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.keys import DONE_WORDS, REMOVED_WORDS
from plansafe.llm.structured.tables import Cell, rows_as_maps
from plansafe.llm.structured.tree import (
    Document,
    Format,
    Kind,
    LinePlaces,
    Mark,
    Node,
    NotThisFormat,
    Unreadable,
    breaks_off,
    not_understood,
)

LONGEST = 100_000
"""Characters of an HTML document."""
OPENING = re.compile(r"<(!doctype html|html|body|div|section|table|ol|ul)\b[^<>]{0,400}>", re.IGNORECASE)
_STRUCK = frozenset(("del", "s", "strike"))
_INLINE = frozenset(
    [
        "b",
        "i",
        "em",
        "strong",
        "code",
        "span",
        "tt",
        "kbd",
        "p",
        "a",
        "u",
        "small",
        "mark",
        "label",
        "br",
        "samp",
        "var",
    ]
)
_ROWS = frozenset(("tr", "thead", "tbody", "tfoot", "caption", "colgroup", "col"))
_OUTER = frozenset(("html", "head", "body", "div", "section", "article", "main", "title", "meta", "hr", "style"))
_ATTRIBUTES = frozenset(
    [
        "class",
        "id",
        "style",
        "align",
        "valign",
        "width",
        "border",
        "type",
        "start",
        "checked",
        "disabled",
        "lang",
        "dir",
        "scope",
        "href",
        "for",
    ]
)
_VOID = frozenset(("br", "hr", "input", "meta", "col", "link", "img"))
HTML_TEXT = frozenset(
    ("p", "h1", "h2", "h3", "h4", "h5", "h6", "span", "b", "strong", "em", "i", "br", "hr", "blockquote")
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def read_html(text: str, start: int, end: int) -> Document:
    """Return the list or table of the element that begins at ``start``.

    Raises :class:`NotThisFormat` if it holds none, :class:`Unreadable` if it holds several, nested ones, or elements
    that are not understood.
    """
    end = _outermost_end(text, start, end)
    if end - start > LONGEST:
        refused = Refused(SC.TEXT_TOO_LARGE, f"an HTML answer may have {LONGEST:,} characters")
        raise Unreadable(refused, start, start + 1)
    reader = _Reader(text, start, end)
    try:
        reader.feed(text[start:end])
        reader.close()
    except _Stop:
        return reader.document()
    except AssertionError:  # how the parser reports a declaration that is none
        raise not_understood("this is not HTML", start, start + 1) from None
    raise breaks_off("an element that is not closed", start)


def _outermost_end(text: str, start: int, end: int) -> int:
    """Where the last closing tag of the outermost element ends.

    Raises :class:`Unreadable` for tags and comments that are not closed: the parser would look for the end of each
    again and again.
    """
    match = OPENING.match(text, start, end)
    assert match is not None
    name = match[1].lower()
    tag_end = re.compile(f"</{'html' if name.startswith('!') else name}", re.IGNORECASE)
    closing = max([tag_match.start() for tag_match in tag_end.finditer(text, start, end)], default=-1)
    stop = text.find(">", closing, end) + 1 if closing >= 0 else 0
    if not stop:
        raise breaks_off("an element that is not closed", start)
    position = start
    while (tag := text.find("<", position, stop)) >= 0:
        opened = "-->" if text.startswith("<!--", tag) else ">"
        position = text.find(opened, tag, stop)
        if position < 0 or (opened == ">" and text.find("<", tag + 1, position) >= 0):
            raise not_understood("a tag or a comment that is not closed", tag, tag + 1)
    return stop


class _Stop(Exception):
    """The outermost element has ended."""


class _Item:
    """A list item or a cell that is being read."""

    def __init__(self, start: int, removed: bool) -> None:
        self.start = start
        self.texts: list[str] = []
        self.struck = self.plain = False
        self.ended = False  # the next text is on a line of its own, or in small print
        self.removed = removed
        self.box = Mark.NONE


class _Reader(HTMLParser):
    """Reads one outermost element."""

    def __init__(self, text: str, start: int, end: int) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.start, self.end = text, start, end
        self.places = LinePlaces(text, start, end)
        self.open: list[str] = []
        self.asides: list[Span] = []
        self.lists: list[list[Node]] = []
        self.rows: list[list[Cell]] = []
        self.tables = 0
        self.struck_row = False
        self.item: _Item | None = None
        self.stop = start
        self.count = 0

    def _place(self) -> int:
        return self.places.offset(*self.getpos())

    def _refused(self, message: str) -> Unreadable:
        place = self._place()
        return not_understood(message, place, place + 1)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        self.count += 1
        attributes_by_name = dict(attributes)
        style = (attributes_by_name.get("style") or "").replace(" ", "").lower()
        classes = set((attributes_by_name.get("class") or "").lower().split())
        odd = not set(attributes_by_name) <= _ATTRIBUTES or bool(classes & (REMOVED_WORDS | DONE_WORDS | _STRUCK))
        if len(attributes_by_name) < len(attributes) or odd or "display:none" in style or len(self.open) > 64:
            raise self._refused(f"the element `{tag}` is not understood")
        removed = "line-through" in style
        if tag not in _VOID:
            self._close_implied(tag)
            self.open.append(tag)
        inside = self.item is not None
        if self.item is not None and tag in ("br", "small"):
            self.item.ended = bool("".join(self.item.texts).strip())
        match tag:
            case "ol" | "ul" | "table" if removed:
                raise self._refused("a list or a table that is struck out")
            case "ol" | "ul" if not inside:
                if "start" in attributes_by_name and attributes_by_name["start"] != "1":
                    raise self._refused("a list that does not begin with 1 is not understood")
                self.lists.append([])
            case "table" if not inside:
                self.tables += 1
            case "tr" if not inside:
                self.rows.append([])
                self.struck_row = removed
            case "li" | "td" | "th" if not inside:
                if set(attributes_by_name) & {"colspan", "rowspan", "value"}:
                    raise self._refused("cells over several rows or columns, and numbers of items, are not understood")
                if (tag == "li" and not self.lists) or (tag != "li" and not self.rows):
                    raise self._refused(f"`{tag}` outside of a list or a table")
                self.item = _Item(self._place(), removed or (tag != "li" and self.struck_row))
            case "input" if self.item is not None and attributes_by_name.get("type") == "checkbox":
                self.item.box = Mark.TICKED if "checked" in attributes_by_name else Mark.UNTICKED
            case _ if tag in _STRUCK or tag in _INLINE:
                if removed:
                    raise self._refused("text that is struck out by its style is not understood")
            case _ if not inside and not removed and (tag in _ROWS or tag in _OUTER or tag in _HEADINGS):
                pass
            case _:
                raise self._refused(f"the element `{tag}` is not understood here")

    def _close_implied(self, tag: str) -> None:
        """``<li>`` and ``<td>`` end the one before, as HTML allows."""
        ended = {"li": ("li",), "td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr")}.get(tag, ())
        while self.open and self.open[-1] in ended:
            self.handle_endtag(self.open[-1])

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        while self.open and self.open[-1] != tag and self.open[-1] in ("li", "td", "th", "tr", "p", "tbody", "thead"):
            self._end(self.open.pop())
        if not self.open or self.open[-1] != tag:
            raise self._refused(f"`</{tag}>` does not close what is open")
        self._end(self.open.pop())
        if not self.open:
            closing = self.text.find(">", self._place(), self.end)
            self.stop = (self.end if closing < 0 else closing) + 1
            raise _Stop

    def _end(self, tag: str) -> None:
        item = self.item
        if item is None or tag not in ("li", "td", "th"):
            return
        self.item = None
        end = self._place()
        text = " ".join("".join(item.texts).split())
        if item.struck and item.plain:
            raise not_understood("part of a step is struck out", item.start, end)
        struck = item.struck or item.removed
        if tag == "li":
            if struck and item.box is not Mark.NONE:
                raise not_understood("a step with a box that is struck out is not understood", item.start, end)
            mark = Mark.REMOVED if struck else item.box
            self.lists[-1].append(Node(Kind.TEXT, text, item.start, end, mark=mark))
        else:
            if item.box is not Mark.NONE:
                text = "true" if item.box is Mark.TICKED else "false"
            self.rows[-1].append(Cell(text, item.start, end, struck))

    def handle_data(self, data: str) -> None:
        """Take text: of an item, or outside the list."""
        if not data.strip():
            if self.item is not None:
                self.item.texts.append(" ")
            return
        if self.item is not None and self.item.ended:
            begin = self._place()
            self.asides.append(Span(begin, min(begin + len(data), self.end)))
        elif self.item is not None:
            struck = bool(_STRUCK & set(self.open))
            self.item.struck |= struck
            self.item.plain |= not struck
            self.item.texts.append(data)
        elif "style" not in self.open:
            begin = self._place()
            self.asides.append(Span(begin, min(begin + len(data), self.end)))

    def handle_comment(self, data: str) -> None:
        """Take a comment: a step in it is none."""
        begin = self._place()
        self.asides.append(Span(begin + 4, min(max(begin + 4 + len(data), begin + 5), self.end)))

    def handle_pi(self, data: str) -> None:
        """Refuse a processing instruction."""
        del data
        raise self._refused("processing instructions are not read")

    def unknown_decl(self, data: str) -> None:
        """Refuse a declaration."""
        del data
        raise self._refused("this declaration is not understood")

    def document(self) -> Document:
        """Return the document."""
        lists = [items for items in self.lists if items]
        if len(lists) + (self.tables > 0) != 1 or self.tables > 1:
            if not lists and not self.tables:
                raise NotThisFormat
            raise not_understood("several lists or tables: which is the plan?", self.start, self.start + 1)
        rows = [row for row in self.rows if row]
        nodes = tuple(lists[0]) if lists else self._without_head(rows) or rows_as_maps(rows, self.start, self.stop)
        return Document(Format.HTML, nodes, self.start, self.stop, tuple(self.asides))

    def _without_head(self, rows: list[list[Cell]]) -> tuple[Node, ...]:
        """The second cells of rows of two cells that begin with their numbers, the first row too; else nothing."""
        nodes = []
        for number, row in enumerate(rows, 1):
            label = row[0].text.lower().removeprefix("step").strip(" .:#")
            if len(row) != 2 or label != str(number) or not row[1].text or (row[0].struck and not row[1].struck):
                return ()
            mark = Mark.REMOVED if row[1].struck else Mark.NONE
            nodes.append(Node(Kind.TEXT, row[1].text, row[1].start, row[1].end, mark=mark))
        return tuple(nodes)
