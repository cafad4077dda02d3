"""Show untrusted text on a terminal: visible characters, known width, and only the colours of this module."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plansafe.verifier.reporting.report import Report

TAB = 4
WIDE = 120
"""Columns of files and pipes, which have no width."""
_NARROWEST = 40
LONGEST = 1_000
_UNSEEN = "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
"""Invisible characters that Unicode counts as printable: fillers, joiners, variation selectors, the empty braille
pattern. A name with such a character looks like a different name."""
_KINDS = {"error": "1;31", "warning": "1;33", "undecided": "1;33", "note": "1;36", "good": "1;32"}
_GOOD = ("SAFE", "VALID")


def visible(text: str) -> str:
    """Replace unprintable characters by symbols of one column, so that input cannot move the cursor or set colours.

    Unprintable are controls, direction marks, characters without width, unusual blanks, surrogates and undefined code
    points.
    """
    if not text.isprintable():
        text = "".join([c if c.isprintable() else _picture(ord(c)) for c in text])
    return text if text.isascii() else re.sub(_UNSEEN, "\ufffd", text)


def escaped(text: str) -> str:
    r"""Escape the characters that :func:`visible` replaces, such as ``\u202e``, in a text of several lines.

    Line ends and tabs stay, so that a plan remains readable; bytes that are not UTF-8 become ``\xe9``.
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
    """Shorten a text and make it visible: an invalid name may have a million letters."""
    return visible(text if len(text) <= LONGEST else f"{text[:LONGEST]}\u2026")


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def width(text: str) -> int:
    """Columns of a visible text: two for wide characters, none for combining characters."""
    if text.isascii():
        return len(text)
    import unicodedata  # noqa: PLC0415 - most texts are ASCII

    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, columns: int) -> str:
    """Pad with blanks on the right."""
    return text + " " * (columns - width(text))


def centre(text: str, columns: int) -> str:
    """Pad with blanks on both sides, with an odd blank on the right."""
    left = (columns - width(text)) // 2
    return pad(" " * max(left, 0) + text, columns)


def not_checked(report: Report) -> str:
    """The reason why safety was not checked: a task without applicable rules."""
    count = report.rule_count_if_none_applicable
    reason = (
        "no rules" if count == 0 else "the only rule cannot apply" if count == 1 else f"none of {count} rules can apply"
    )
    return f"safe: not checked, {reason}"


def values(report: Report) -> str:
    """The three values of a verdict; without an applicable rule, no claim about safety."""
    safe = not_checked(report) if report.safety is None else f"safe {report.safety.value}"
    return f"executable {report.executable.value}, goal {report.goal.value}, {safe}"


def cut(text: str, columns: int) -> str:
    """Cut a visible text to at most ``columns``."""
    if width(text) <= columns:
        return text
    characters, used_columns = [], 1
    for character in text:
        used_columns += width(character)
        if used_columns > columns:
            break
        characters.append(character)
    return "".join(characters) + "\u2026"


def folded(text: str, columns: int) -> list[str]:
    """Break a visible text at blanks into lines of at most ``columns``; longer words are not broken."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width(lines[-1]) + 1 + width(word) <= columns:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


class Style:
    """Colours and columns of a terminal. ``kind`` is the kind of message whose colour :meth:`mark` uses."""

    def __init__(self, enabled: bool, columns: int = WIDE, kind: str = "error") -> None:
        self._enabled = enabled
        self.columns = max(columns, _NARROWEST)
        self._kind = kind

    def about(self, kind: str) -> Style:
        """The style of an excerpt of a message: ``error``, ``warning``, ``note`` or ``undecided``."""
        return Style(self._enabled, self.columns, kind)

    def mark(self, text: str) -> str:
        """Colour a caret and its label in the colour of the message."""
        return self.paint_kind(self._kind, text)

    def paint_kind(self, kind: str, text: str) -> str:
        """Use the colour of a kind: ``error``, ``warning``, ``note``, ``undecided`` or ``good``."""
        return self.paint(text, _KINDS.get(kind, _KINDS["error"]))

    def verdict(self, text: str) -> str:
        """Colour a headline by its verdict."""
        return self.paint_kind("good" if text in _GOOD else "warning" if text == "UNKNOWN" else "error", text)

    def paint(self, text: str, code: str) -> str:
        """Wrap a text in an SGR sequence."""
        return f"\x1b[{code}m{text}\x1b[0m" if self._enabled and text else text

    def bold(self, text: str) -> str:
        """Make the text bold, if styles are enabled."""
        return self.paint(text, "1")

    def frame(self, text: str) -> str:
        """Colour gutters and arrows."""
        return self.paint(text, "1;34")

    def error(self, text: str) -> str:
        """Use the colour of errors."""
        return self.paint(text, "1;31")

    def warning(self, text: str) -> str:
        """Use the colour of warnings."""
        return self.paint(text, "1;33")

    def good(self, text: str) -> str:
        """Use the colour of success."""
        return self.paint(text, "1;32")

    def faint(self, text: str) -> str:
        """Make the text fainter, if styles are enabled."""
        return self.paint(text, "2")


PLAIN = Style(False)
