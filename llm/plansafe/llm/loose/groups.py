"""Steps with brackets within a line: ``(a b)``, ``a(b, c)``, ``x.a(b)``, ``[A] <b> (1)``, and their arguments."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_LEAF = re.compile(r"\(([^()]*)\)")
_SQUARE = re.compile(
    r"(?:<(?P<who>[\w -]{1,60})>[ \t]{0,8}(?:\(\d{1,9}\)[ \t]{0,8})?)?\[[ \t]{0,8}(?P<act>[A-Za-z][\w -]{0,60})\]"
    r"(?P<rest>(?:[ \t]{0,8},?[ \t]{0,8}<[^<>\n]{1,80}>(?:[ \t]{0,8}\([ \t]{0,8}\d[\d.]{0,20}[ \t]{0,8}\))?){0,8})"
)
_SQUARE_ARGUMENT = re.compile(r"<([^<>\n]{1,80})>(?:[ \t]{0,8}\([ \t]{0,8}(\d[\d.]{0,20})[ \t]{0,8}\))?")
_QUOTES = "\"'`"
_LABEL = re.compile(r"\??([A-Za-z_][\w-]{0,60})[ \t]*(?:=|:)[ \t]*(.+)", re.DOTALL)
_TYPE = re.compile(r"[A-Za-z_][\w-]{0,60}")


class Argument(NamedTuple):
    """An argument as written: its words, and where given its parameter's name, its type and its number."""

    text: str
    label: str | None = None
    type: str | None = None
    number: str | None = None


class Group(NamedTuple):
    """Something with brackets that may be a step: ``(a b)``, ``a(b)``, ``x.a(b)``, ``[A] <b> (1)``.

    ``head`` is the word before the bracket, directly (in ``[A]`` inside it); ``lead`` is everything before it in the
    line or since the previous group. Places count from the beginning of the line.
    """

    square: bool
    head: str
    body: str
    receiver: str
    start: int
    end: int
    arguments: tuple[Argument, ...] = ()


def groups(text: str) -> list[Group]:
    """The bracketed groups of a line, innermost only, in order."""
    result = []
    spans: list[tuple[int, int]] = []
    if "[" in text:
        for match in _SQUARE.finditer(text):
            arguments = tuple([Argument(a[1].strip(), number=a[2]) for a in _SQUARE_ARGUMENT.finditer(match["rest"])])
            result.append(Group(True, match["act"], "", match["who"] or "", *match.span(), arguments))
            spans.append(match.span())
    for match in _LEAF.finditer(text):
        start, end = match.span()
        if _within(spans, start):
            continue
        head_start = _identifier_before(text, start)
        head = text[head_start:start]
        receiver = ""
        begin = head_start
        if head and text[head_start - 1 : head_start] == ".":
            begin = _identifier_before(text, head_start - 1)
            receiver = text[begin : head_start - 1]
            begin = begin if receiver else head_start
        result.append(Group(False, head, match[1], receiver, begin, end))
    return sorted(result, key=lambda group: group.start)


def _within(spans: list[tuple[int, int]], position: int) -> bool:
    index = bisect_right(spans, (position, 1 << 60)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


def _identifier_before(text: str, end: int) -> int:
    start = end
    while start > 0 and end - start < 80 and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return start


def unquoted(text: str) -> str:
    """A name without the quotes and brackets around it."""
    text = text.strip()
    for _ in range(3):
        ends = text[:1] + text[-1:]
        if len(text) < 2 or not (ends in ("<>", "{}", "[]") or (ends[0] == ends[1] and ends[0] in _QUOTES)):
            break
        text = text[1:-1].strip()
    return text


def argument(text: str) -> Argument:
    """One argument between commas: ``mug``, ``"mug"``, ``obj=mug``, ``mug - item``."""
    text = text.strip()
    label = kind = None
    if text[:1] not in _QUOTES and (match := _LABEL.fullmatch(text)):
        label, text = match[1], match[2]
    before, dash, after = " ".join(text.split()).rpartition(" - ")
    if dash and _TYPE.fullmatch(after):
        text, kind = before, after
    return Argument(unquoted(text), label, kind)


def split_commas(body: str) -> list[str]:
    """The parts of a body between commas that are not inside quotes."""
    if "," not in body:
        return [body]
    parts = []
    start = 0
    quote = ""
    for index, char in enumerate(body):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES and not body[index - 1 : index].isalnum():
            quote = char
        elif char == ",":
            parts.append(body[start:index])
            start = index + 1
    parts.append(body[start:])
    return parts
