"""Calls as they stand in a text, whatever they name: ``(a b)``, ``a(b, c)``, ``[A] <b>``.

Only the outermost calls are returned: inner ones are arguments. A call says nothing about the task; its words are
the author's own. Time and memory are linear in the text, and every call is bounded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.groups import argument, groups, split_commas, unquoted
from plansafe.llm.loose.names import Refused
from plansafe.llm.loose.placing import Resolved
from plansafe.llm.structured.keys import ACTION_KEYS, ARGUMENT_KEYS, bare_key

LONGEST = 2_000
"""The maximum number of characters of a call.

A longer text is not a call, nor is a text nested deeper than ``DEEPEST``.
"""
MOST_WORDS = 64
MOST_CALLS = 20_000
LONGEST_WORD = 80
DEEPEST = 64
_NO_WORD = re.compile(r"[^\w?.+*/<>=&@'\-]+|'")
_WRAPPER = re.compile(r"\(\s{0,40}(?:define\b|:?(?:plan|steps|actions|sequence)\b|\()", re.IGNORECASE)
_BRACKET = re.compile(r"[()]|\n[ \t]*(?=\n)")
_COMMENT_LINE = re.compile(r"^[ \t]*(?:;|//|%|#(?![ \t]*\d))[^\n]*", re.MULTILINE)
_COMMENT_BEHIND = re.compile(r"[)\]}][ \t,.]*(;[^\n]*|(?:#|//)[ \t]?[^\n]*)")
_FIRST_KEY = re.compile(r"\{\s{0,40}[\"']?([\w -]{1,40}?)[\"']?\s{0,8}:")


class Call(NamedTuple):
    """A call: its name and arguments as written, one word each, and its place.

    ``form`` is ``form``, ``call``, ``square``, ``data`` or ``string``, a step of a document in one text; ``said``: it
    declares itself an action, as an object with such a key does. ``within``: an argument was a call itself.
    ``group`` is where the document of a step begins, ``outcome`` what such a step is of the task, or why it is none.
    """

    words: tuple[str, ...]
    start: int
    end: int
    form: str
    said: bool = False
    within: bool = False
    group: int = -1
    outcome: Resolved | Refused | None = None


class Calls(NamedTuple):
    """The calls of a text in order; ``open`` is where a parenthesis begins that is not closed (-1 if all are)."""

    found: tuple[Call, ...]
    open: int


def calls_in(text: str, start: int, end: int, documents: Sequence[Span] = ()) -> Calls:
    """The outermost calls of a range of a text outside its documents; without commented-out ones."""
    body = _without_comments(text[start:end])
    spans, opened = _parentheses(body)
    calls: list[Call] = []
    documents_inside = [
        (span.start - start, span.end - start) for span in documents if span.end > start and span.start < end
    ]
    for a, b in spans:
        call = None if _covered(documents_inside, a) else _call(body, a, b)
        if call is not None:
            calls.append(call._replace(start=call.start + start, end=call.end + start))
    covered = sorted([*documents_inside, *spans])
    position = 0
    for line in body.splitlines(keepends=True):
        for group in groups(line) if "[" in line and len(line) <= LONGEST else ():
            a = position + group.start
            if group.square and group.arguments and not _covered(covered, a):
                words = (as_word(group.head), *[as_word(argument.text) for argument in group.arguments])
                calls.append(Call(words, start + a, start + position + group.end, "square"))
        position += len(line)
    calls.sort(key=lambda call: call.start)
    return Calls(tuple(calls[:MOST_CALLS]), -1 if opened < 0 else start + opened)


def _without_comments(body: str) -> str:
    """The text with its comments overwritten, places unchanged. A ``#`` before a number is a numbering."""
    body = _COMMENT_LINE.sub(lambda match: " " * len(match.group()), body)
    return _COMMENT_BEHIND.sub(lambda match: match.group()[: match.start(1) - match.start()].ljust(len(match[0])), body)


def _covered(spans: list[tuple[int, int]], position: int) -> bool:
    index = bisect_right(spans, (position, 1 << 60)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


# -- parentheses ------------------------------------------------------------------------------------------------------


def _parentheses(body: str) -> tuple[list[tuple[int, int]], int]:
    """Outermost pairs of parentheses, wrappers such as ``(plan ..)`` aside; and where one is left open."""
    stack: list[tuple[int, bool]] = []  # where it opens, and whether it is a wrapper
    spans: list[tuple[int, int]] = []
    opened = -1
    for bracket in _BRACKET.finditer(body):
        match bracket.group()[0]:
            case "(":
                stack.append((bracket.start(), bool(_WRAPPER.match(body, bracket.start()))))
                if len(stack) > DEEPEST:
                    return [], -1
            case ")":
                if stack:
                    begin, wrapper = stack.pop()
                    if not wrapper and all([is_wrapper for _, is_wrapper in stack]):
                        spans.append((begin, bracket.end()))
            case _:  # an empty line closes unfinished calls
                opened = next((at for at, wrapper in stack if not wrapper), opened)
                stack = [frame for frame in stack if frame[1]]
    return sorted(spans), next((at for at, wrapper in stack if not wrapper), opened)


def _call(body: str, start: int, end: int) -> Call | None:
    """A pair of parentheses as a call, with the name directly before it if there is one."""
    inside = body[start + 1 : end - 1]
    if len(inside) > LONGEST:
        return None
    within = "(" in inside
    begin = start
    while begin > 0 and start - begin < 80 and (body[begin - 1].isalnum() or body[begin - 1] in "_-"):
        begin -= 1
    head = body[begin:start].strip("-")
    if head and body[begin - 1 : begin] == ".":  # the receiver: robot.take(..)
        while begin > 0 and start - begin < 120 and (body[begin - 1].isalnum() or body[begin - 1] in "_-."):
            begin -= 1
        head = body[begin:start]
    if head and not head.isdecimal():
        parts = [argument(part).text for part in split_commas(_flat(inside)) if part.strip()]
        words = (as_word(head), *[as_word(part) for part in parts])
        return Call(words[:MOST_WORDS], begin, end, "call", False, within)
    parts = _flat(inside).replace(",", " ").split()
    if not parts or all([part.strip(".:").isdecimal() for part in parts]):
        return None
    return Call(tuple([as_word(part) for part in parts])[:MOST_WORDS], start, end, "form", False, within)


def _flat(inside: str) -> str:
    """A text with every call in it made one word."""
    if "(" not in inside:
        return inside
    out: list[str] = []
    depth = 0
    for char in inside:
        depth += {"(": 1, ")": -1}.get(char, 0)
        out.append("-" if char in "()" or (depth and (char.isspace() or char == ",")) else char)
    return "".join(out)


def as_word(text: str) -> str:
    """Return a text as one word of a plan: lower case, without characters that have a meaning there."""
    word = _NO_WORD.sub("-", unquoted(text).lower()).strip("-")
    return word[:LONGEST_WORD] or "-"


# -- data -------------------------------------------------------------------------------------------------------------


def opens_record(text: str, start: int) -> bool:
    """Whether an object begins with the name of an action, or with arguments."""
    match = _FIRST_KEY.match(text, start)
    return match is not None and bare_key(match[1]) in ACTION_KEYS | ARGUMENT_KEYS


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text, as words of a plan."""
    return tuple([as_word(word) for word in text.replace(",", " ").split()])[:MOST_WORDS] or ("-",)
