"""Close a text that breaks off at the end of its last complete step.

The length limit of a request cuts an answer off, often within a word. The cut part is left out: a step
whose parenthesis is open, the last line of an open fence, an element of an open list, a number without its step.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.llm.loose.calls import opens_record
from plansafe.llm.loose.wrapping import FENCE

_BARE_NUMBER = re.compile(r"[ \t>*_]*(?:(?:step)[ _#-]{0,2})?\(?\d{1,4}[.):]{0,2}[ \t*_]*\Z", re.IGNORECASE)
_NUMBERED = re.compile(r"^[ \t>*_]*(?:step[ _#-]{0,2})?\(?\d{1,4}[.):]", re.MULTILINE | re.IGNORECASE)
_ANSWER_TAG = re.compile(r"<(/?)(plan|answer|final|final_answer|output|solution|response|result|steps|actions)>", re.I)
_TOKENS = re.compile(r'\\.|["\[\]{}\n]', re.DOTALL)
LONGEST_CUT = 2_000
_CLOSES = {"[": "]", "{": "}"}


class Mended(NamedTuple):
    """The text up to ``end`` and, in ``closing``, what closes it there."""

    end: int
    closing: str


def mended(text: str) -> Mended | None:
    """The position where a text breaks off; ``None`` if it seems complete, or has no complete step before the break."""
    end = len(text.rstrip())
    if not end:
        return None
    opened = _open_fence(text)
    since = 0 if opened is None else opened
    data = _open_data(text, since, end)
    tag = _open_tag(text)
    cut, closing = end, ""
    if data is not None:
        cut, closing = data
    else:
        line = text.rfind("\n", 0, end) + 1
        last = text[line:end]
        if (unclosed := _unclosed(last)) >= 0:
            cut = line + unclosed if _is_call(last[:unclosed]) else line
            cut = line if not any([char in ")]" for char in text[line:cut]]) else cut
        elif _BARE_NUMBER.fullmatch(last) and _NUMBERED.search(text, 0, line):
            cut = line
        elif opened is not None and text[end:][:1] != "\n" and not last.endswith(")"):
            cut = max(line, since)
    if cut == end and opened is None and tag is None and not closing:
        return None
    if cut <= since or not _is_one_element(text[cut:end]):
        return None
    return Mended(cut, closing + ("\n```\n" if opened is not None else "") + (f"\n</{tag}>" if tag else ""))


def _open_fence(text: str) -> int | None:
    """Where the body of a fence begins that is not closed."""
    opened: str | None = None
    position = begin = 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        match = FENCE.match(line.rstrip("\n")) if "```" in line or "~~~" in line else None
        if match is not None and opened is None:
            opened, begin = match[1], position
        elif match is not None and opened is not None and not match[2].strip() and match[1].startswith(opened):
            opened = None
    return None if opened is None else begin


def _open_tag(text: str) -> str | None:
    opened: dict[str, None] = {}
    for match in _ANSWER_TAG.finditer(text):
        name = match[2].lower()
        if match[1]:
            opened.pop(name, None)
        else:
            opened[name] = None
    return next(iter(opened)) if len(opened) == 1 else None


def _unclosed(line: str) -> int:
    """The position of the first unclosed parenthesis of a line; -1 if all are closed."""
    stack: list[int] = []
    for match in re.finditer(r"[()]", line):
        if match.group() == "(":
            stack.append(match.start())
        elif stack:
            stack.pop()
    return stack[0] if stack else -1


def _is_call(before: str) -> bool:
    """Whether whole steps stand before a parenthesis in its line."""
    return ")" in before


def _open_data(text: str, start: int, end: int) -> tuple[int, str] | None:
    """Where the last whole element of a list ends that is not closed, and what closes it there."""
    stack: list[str] = []
    records = 0  # how many of them are steps: an inner one is part of it
    begun = -1
    quoted, opened_at = False, -1
    best: tuple[int, str] | None = None
    for match in _TOKENS.finditer(text, start, end):
        token = match.group()
        if token[0] == "\\":
            continue
        if token == '"':
            quoted = not quoted
            if quoted:
                opened_at = match.end()
            elif (
                not records
                and stack[-1:] == ["["]
                and len(stack) <= 2
                and _is_step_text(text[opened_at : match.start()])
            ):
                best = (match.end(), _closing(stack))
        elif token == "\n":
            quoted = False
        elif quoted:
            continue
        elif token in "[{":
            if not stack:
                begun = match.start()
                best = None
            stack.append(token)
            records += records > 0 or opens_record(text, match.start())
        elif stack and _CLOSES[stack[-1]] == token:
            stack.pop()
            records = max(records - 1, 0)
            if not records and stack[-1:] == ["["]:
                best = (match.end(), _closing(stack))
        else:
            return None
    if not stack:
        return None
    return best if best is not None else (begun, "")


def _is_one_element(left: str) -> bool:
    """Whether only the step in which the text ends is cut."""
    return len(left) <= LONGEST_CUT and ")" not in left and not re.search(r"\n[ \t]*\n", left)


def _is_step_text(text: str) -> bool:
    return len(text) < 500 and any([char in " (" for char in text.strip()])


def _closing(stack: list[str]) -> str:
    return "".join([_CLOSES[bracket] for bracket in reversed(stack)])
