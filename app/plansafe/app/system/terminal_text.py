"""Untrusted text on a terminal: visible, of known width, and coloured only by us."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plansafe.verifier.reporting.report import Report

TAB = 4
WIDE = 120
"""Columns where nobody says how wide the terminal is: in a file, in a pipe."""
_NARROWEST = 40
LONGEST = 1_000
_UNSEEN = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""What Unicode counts as printable although nothing is to be seen: fillers, joiners, selectors of variants, the empty
braille pattern. A name with one of them looks like another name."""
_KINDS = {"error": "1;31", "warning": "1;33", "undecided": "1;33", "note": "1;36", "good": "1;32"}
_GOOD = ("SAFE", "VALID")


def visible(text: str) -> str:
    """Replace what is not printable by pictures of one column: no input can move the cursor or set colours.

    Not printable are controls, marks for direction or without width, foreign blanks, surrogates, and what Unicode
    leaves undefined.
    """
    if not text.isprintable():
        text = "".join([c if c.isprintable() else _picture(ord(c)) for c in text])
    return text if text.isascii() else re.sub(_UNSEEN, "\ufffd", text)


def escaped(text: str) -> str:
    r"""A text of several lines in which what :func:`visible` replaces stands as an escape, such as ``\u202e``.

    Ends of lines and tabs stay, so that a plan is still a plan; bytes that are not UTF-8 are ``\xe9``.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join([_escape(c, text[at + 1 : at + 2]) for at, c in enumerate(text)])


def _escape(character: str, following: str) -> str:
    code = ord(character)
    if character in "\n\t" or (character == "\r" and following == "\n"):
        return character
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if character.isprintable() and not re.match(_UNSEEN, character):
        return character
    return character.encode("unicode_escape").decode()


def brief(text: str) -> str:
    """A visible text of bounded length: what is wrong may be a name of a million letters."""
    return visible(text if len(text) <= LONGEST else f"{text[:LONGEST]}\u2026")


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def width(text: str) -> int:
    """Columns that a visible text takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - most texts are ASCII

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, columns: int) -> str:
    """Fill up with blanks on the right."""
    return text + " " * (columns - width(text))


def centre(text: str, columns: int) -> str:
    """Fill up with blanks on both sides, a spare one on the right."""
    left = (columns - width(text)) // 2
    return pad(" " * max(left, 0) + text, columns)


def not_checked(report: Report) -> str:
    """Why safety was not checked: there are no rules, or none of them is applicable."""
    count = report.inapplicable
    why = (
        "no rules" if count == 0 else "the only rule cannot apply" if count == 1 else f"none of {count} rules can apply"
    )
    return f"safe: not checked, {why}"


def values(report: Report) -> str:
    """The three values of a verdict; without an applicable rule, no claim about safety."""
    safe = not_checked(report) if report.safety is None else f"safe {report.safety.value}"
    return f"executable {report.executable.value}, goal {report.goal.value}, {safe}"


def cut(text: str, columns: int) -> str:
    """A visible text that takes at most so many columns."""
    if width(text) <= columns:
        return text
    kept, taken = [], 1
    for character in text:
        taken += width(character)
        if taken > columns:
            break
        kept.append(character)
    return "".join(kept) + "\u2026"


def folded(text: str, columns: int) -> list[str]:
    """A visible text in lines of at most so many columns, broken at blanks; a longer word stays whole."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(lines[-1]) + 1 + width(word) <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Style:
    """What a terminal can show: its columns, and colours or none. ``kind`` says what is being pointed at."""

    def __init__(self, enabled: bool, columns: int = WIDE, kind: str = "error") -> None:
        self._enabled = enabled
        self.columns = max(columns, _NARROWEST)
        self._kind = kind

    def about(self, kind: str) -> Style:
        """The style of an excerpt that goes with an ``error``, a ``warning``, a ``note`` or what is ``undecided``."""
        return Style(self._enabled, self.columns, kind)

    def mark(self, text: str) -> str:
        """Colour the caret and its words in the colour of what they are about."""
        return self.said(self._kind, text)

    def said(self, kind: str, text: str) -> str:
        """Colour an ``error``, a ``warning``, a ``note``, what is ``undecided`` and what is ``good``."""
        return self.paint(text, _KINDS.get(kind, _KINDS["error"]))

    def verdict(self, text: str) -> str:
        """Colour a headline by what it says."""
        return self.said("good" if text in _GOOD else "warning" if text == "UNKNOWN" else "error", text)

    def paint(self, text: str, code: str) -> str:
        """Wrap a text in an SGR sequence."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._enabled and text else text

    def bold(self, text: str) -> str:
        """The text in bold, where styles are shown."""
        return self.paint(text, "1")

    def frame(self, text: str) -> str:
        """Colour gutters and arrows."""
        return self.paint(text, "1;34")

    def error(self, text: str) -> str:
        """Colour what is wrong."""
        return self.paint(text, "1;31")

    def warning(self, text: str) -> str:
        """Colour what is doubtful."""
        return self.paint(text, "1;33")

    def good(self, text: str) -> str:
        """Colour what is right."""
        return self.paint(text, "1;32")

    def faint(self, text: str) -> str:
        """The text in a fainter style, where styles are shown."""
        return self.paint(text, "2")


PLAIN = Style(False)
