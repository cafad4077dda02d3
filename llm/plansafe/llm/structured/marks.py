"""Marks in plain lines: boxes, struck-out and commented-out lines, and the lines of a diff."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.names import Refused
from plansafe.llm.structured.tree import Mark, Unreadable

BOX = re.compile("\\[(?P<sign>[ xX\u2713\u2714])\\](?=[ \\t])|(?P<bare>[\u2610\u2611\u2612])(?=[ \\t])")
SIGN = re.compile("[\u2705\u274c\u2713\u2714\u2717\u2718](?=[ \\t])")
_UNTICKED, _CROSSED = " \u2610", "\u2612\u274c\u2717\u2718"
STRUCK = re.compile(r"~~(?!~)|<(?:del|strike|s)>", re.IGNORECASE)
_WHOLLY_STRUCK = re.compile(
    r"[ \t*_`]*(?:~~[^~\n]{1,2000}~~|<(del|strike|s)>[^<>\n]{1,2000}</\1>)[ \t*_`.,;]*", re.IGNORECASE
)
_HUNK = re.compile(r"@@ -(\d{1,6})(?:,\d{1,6})? \+(\d{1,6})(?:,\d{1,6})? @@")
_HEAD = re.compile(r"--- [^\n]{1,200}\n\+\+\+ [^\n]{1,200}$", re.MULTILINE)
_GIT_LINE = re.compile(r"diff --git |index [0-9a-f]{4,}\.\.|\\ No newline|new file mode |deleted file mode ")
_PLUS = re.compile(r"^\+(?=[ \t(\[{\"'\w])", re.MULTILINE)
_MINUS = re.compile(r"^-(?=[ \t(\[{\"'\w])", re.MULTILINE)
_BULLETS = re.compile(r"^([-+])[ \t(][^\n]*\n(?=([-+])[ \t(])", re.MULTILINE)


def box_mark(sign: str) -> Mark:
    """Return what a box or a sign before an item says."""
    if sign in _UNTICKED:
        return Mark.UNTICKED
    return Mark.FAILED if sign in _CROSSED else Mark.TICKED


def is_struck(text: str) -> bool:
    """Return whether all of a text is struck out."""
    return _WHOLLY_STRUCK.fullmatch(text) is not None


def struck_beginning(text: str) -> int:
    """Return where the text ends that is struck out at the beginning of another; 0 if none is, or if more follows."""
    match = _WHOLLY_STRUCK.match(text)
    return 0 if match is None or STRUCK.search(text, match.end()) else match.end()


class Diff(NamedTuple):
    """A text with the removed lines and the signs of a diff overwritten, and where the removed lines stand."""

    text: str
    removed: tuple[Span, ...]


def apply_diff(text: str, start: int, end: int, fenced: bool, info: str) -> Diff | None:
    """Return the text with the diff in a range applied, places unchanged; ``None`` if the range is not a diff.

    Raises :class:`Unreadable` for a part of a plan, and for bullets that may be the signs of a diff.
    """
    body = text[start:end]
    headed = bool(_HEAD.search(body)) or any([_HUNK.match(line) for line in body.splitlines() if line[:2] == "@@"])
    signed = fenced and bool(_PLUS.search(body)) and bool(_MINUS.search(body))
    if not (headed or signed or (fenced and info.split()[:1] in (["diff"], ["patch"]))):
        for match in _BULLETS.finditer(body):
            if match[1] != match[2]:
                message = (
                    "`+` and `-` before these lines may be bullets, or lines of a diff that were added and removed"
                )
                place = start + match.start()
                raise Unreadable(Refused(SC.AMBIGUOUS_NAME, message, "give the final plan alone"), place, place + 1)
        return None
    lines: list[str] = []
    removed: list[Span] = []
    position, hunks = start, 0
    heads = {start + match.start() for match in _HEAD.finditer(body)}
    after_head = False
    for line in body.splitlines(keepends=True):
        bare = line.rstrip("\n")
        hunk = _HUNK.match(line)
        if hunk is not None:
            hunks += 1
            if hunks > 1 or int(hunk[1]) > 1 or int(hunk[2]) > 1:
                refused = Refused(SC.TEXT_CUT_OFF, "a diff that shows a part of the plan", "ask for the plan in full")
                raise Unreadable(refused, position, position + len(bare))
        if hunk is not None or position in heads or after_head or _GIT_LINE.match(line):
            after_head = position in heads
            lines.append(" " * len(bare) + line[len(bare) :])
        elif line.startswith("-"):
            removed.append(Span(position, position + len(bare)))
            lines.append(" " * len(bare) + line[len(bare) :])
        else:
            lines.append(" " + line[1:] if line.startswith("+") else line)
        position += len(line)
    return Diff(text[:start] + "".join(lines) + text[end:], tuple(removed))
