"""Places that a library gives as line and column, or as bytes, as offsets of the text."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate


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
