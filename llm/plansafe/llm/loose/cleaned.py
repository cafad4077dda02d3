"""A text without the characters that only look different, and the way back to the original."""

from __future__ import annotations

import re
from bisect import bisect_right

from plansafe.grammar.diagnostics import Span

_DASHES = "\u2012\u2013\u2015"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = (
    "\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff\u00ad\ufe0e\ufe0f\u202a\u202b\u202c\u202d\u202e"
)
_INVISIBLE += "\u2066\u2067\u2068\u2069\u180e"
_SAME = {
    **dict.fromkeys(_SPACES, " "),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2794\u279c\u21d2\u27f6\u27a1\u21a6\u2b62", "\u2192"),
    **dict.fromkeys("\u2023\u25e6\u25aa\u25cf\u00b7\u2043", "\u2022"),
    **dict(zip("\uff08\uff09\uff3b\uff3d\uff0c\uff1a\uff1b\uff1c\uff1e\u3002\u3001", "()[],:;<>.,", strict=True)),
    **dict.fromkeys("\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e", "\n"),
    "\u20e3": ".",  # the frame of a keycap: a digit and this are a numbering
    "\x00": " ",
    "\x1f": " ",
}
_SPECIAL = re.compile(f"\r\n?|\\\\(?=[_*-])|[{_INVISIBLE}]|[{_DASHES}]|[{''.join(map(re.escape, _SAME))}]")


class Cleaned:
    """A text with its odd characters replaced, and the way back to the places in the original."""

    def __init__(self, text: str) -> None:
        self.replaced: list[int] = []
        self.invisible: list[int] = []
        self._starts, self._shifts = [0], [0]
        self._size = len(text)
        parts: list[str] = []
        position = shift = length = 0
        for match in _SPECIAL.finditer(text):
            start, end = match.span()
            new = self._replacement(text, start, match.group())
            parts += (text[position:start], new)
            length += start - position + len(new)
            position = end
            if end - start != len(new):
                shift += end - start - len(new)
                self._starts.append(length)
                self._shifts.append(shift)
        parts.append(text[position:])
        self.text = "".join(parts)

    def _replacement(self, text: str, start: int, character: str) -> str:
        if character[0] == "\r":
            return "\n"
        if character == "\\":
            return ""
        if character in _INVISIBLE:
            self.invisible.append(start)
            return ""
        if character in _DASHES:  # a hyphen within a word, else a dash
            inside = text[start - 1 : start].isalnum() and text[start + 1 : start + 2].isalnum()
            return "-" if inside else "\u2014"
        if character not in "\u20e3\u2022":
            self.replaced.append(start)
        return _SAME[character]

    def origin(self, start: int, end: int) -> Span:
        """The place in the original of a range of the cleaned text."""
        first = min(self._original(start), self._size)
        return Span(first, min(max(first, self._original(end - 1) + 1), self._size))

    def _original(self, offset: int) -> int:
        return offset + self._shifts[bisect_right(self._starts, offset) - 1]
