"""Open texts in an editor: apply changes, and convert positions, which count UTF-16 code units."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from lsprotocol import types

_WIDE = "\uffff"
"""Characters above this one take two code units."""


class Text:
    """One version of an open file. Lines end with LF, CR LF or CR alone, as the protocol defines."""

    def __init__(self, uri: str, path: str, text: str, version: int | None = None, language: str = "") -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.language = language
        self.source = Source(path, text)
        self._narrow = text.isascii() or max(text) <= _WIDE

    @property
    def text(self) -> str:
        """The characters."""
        return self.source.text

    def offset(self, position: types.Position) -> int:
        """Return the offset of a position; a position after the end of a line or text is clipped to that end."""
        starts = self.source.line_starts
        if position.line >= len(starts):
            return len(self.text)
        start = starts[position.line]
        line = self.source.line(position.line + 1)
        if self._narrow:
            return start + min(position.character, len(line))
        units = 0
        for number, character in enumerate(line):
            if units >= position.character:
                return start + number
            units += 2 if character > _WIDE else 1
        return start + len(line)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset."""
        from lsprotocol import types  # noqa: PLC0415 - an optional package

        line, column = self.source.position(min(offset, len(self.text)))
        units = column - 1
        if not self._narrow:
            start = self.source.line_starts[line - 1]
            units += sum([c > _WIDE for c in self.text[start : start + units]])
        return types.Position(line - 1, units)

    def range(self, span: Span) -> types.Range:
        """Convert a span to a protocol range."""
        from lsprotocol import types  # noqa: PLC0415 - an optional package

        return types.Range(self.position(span.start), self.position(span.end))

    def span(self, place: types.Range) -> Span:
        """Convert a protocol range to a span; reversed ends are swapped."""
        start, end = self.offset(place.start), self.offset(place.end)
        return Span(min(start, end), max(start, end))

    def changed(self, changes: list[types.TextDocumentContentChangeEvent], version: int | None) -> Text:
        """Return the next version: each change applies to the result of the previous change."""
        from lsprotocol import types  # noqa: PLC0415 - an optional package

        current = self
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangePartial):
                span = current.span(change.range)
                text = current.text[: span.start] + change.text + current.text[span.end :]
            else:
                text = change.text
            current = Text(self.uri, self.path, text, version, self.language)
        return current


def path_of(uri: str) -> str:
    """Return the path of a URI; an unsaved document gets a name in the current folder."""
    from pygls.uris import to_fs_path  # noqa: PLC0415 - an optional package

    path = to_fs_path(uri) if uri.startswith("file:") else None
    if path:
        return os.path.abspath(path)
    name = uri.rpartition("/")[2].rpartition(":")[2]
    plain = "".join([c if c.isalnum() or c in "-_." else "_" for c in name]).lstrip(".")
    return os.path.abspath(plain or "untitled")


def uri_of(path: str) -> str:
    """Return the URI of a file."""
    from pygls.uris import from_fs_path  # noqa: PLC0415 - an optional package

    return from_fs_path(os.path.abspath(path)) or ""
