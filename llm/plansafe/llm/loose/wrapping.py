"""Loose plan text: what language models write, cut into lines, lists, fences, tables and data. Knows no task.

A model wraps its plan: in Markdown, numbering, JSON, prose, reasoning. This module takes the wrapping apart and keeps
the place of everything; the steps are read with a task (``plansafe.llm.loose.reader``).
Time and memory are linear in the text, and no pattern here can backtrack over more than a line's white space.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.llm.loose.cleaned import Cleaned
from plansafe.llm.loose.elements import Element, Flaw, read_elements
from plansafe.llm.structured.marks import apply_diff
from plansafe.llm.structured.tree import NotThisFormat, Unreadable
from plansafe.llm.structured.xml_text import xml_end

LIMIT = 1_000_000
"""How many characters a text may have. A plan of 10,000 steps has about half as many."""

_THINKING = re.compile(r"<(/?)(?:think|thinking|reasoning|scratchpad|reflection|analysis|thought)>", re.IGNORECASE)
_WRAPPER = re.compile(
    r"<(/?)(plan|answer|final|final_answer|output|solution|response|result|steps|actions|action_sequence)>",
    re.IGNORECASE,
)
_XML = re.compile(
    r"<(?:plan|answer|final|final_answer|output|solution|response|result|steps|actions|action_sequence)"
    r"(?:\s[^<>]{0,200})?>\s{0,200}"
    r"<(?!/|(?:ol|ul|table|html|div|tool_call|br|p|li)\b)[a-z!]",
    re.IGNORECASE,
)
_MOST_ELEMENTS = 8
_TOKEN = re.compile(r"<\|[a-z_]{1,30}\|>|</s>|<br>", re.IGNORECASE)
FENCE = re.compile(r"[ \t>]*(?:[-*+][ \t]+|\d{1,4}[.)][ \t]+)?(`{3,}+|~{3,}+)[ \t]*+([^`\n]*)$")
_EMPHASIS = re.compile(r"\*\*\*?|`+|(?<=\S)\*|\*(?=\S)")
_ITALIC = re.compile(r"(?<!\w)_([^_\n]{1,200})_(?!\w)")


class Block(NamedTuple):
    """A fenced block, or the text between two of them."""

    fenced: bool
    info: str
    start: int
    end: int
    elements: tuple[Element, ...]


class LooseText(NamedTuple):
    """A text taken apart.

    ``reasoning`` and ``removed`` are ranges of the cleaned text that were left out: reasoning, and lines that are
    struck out, commented out, or removed by a diff.
    """

    cleaned: Cleaned
    blocks: tuple[Block, ...]
    reasoning: tuple[Span, ...]
    flaws: tuple[Flaw, ...]
    removed: tuple[Span, ...] = ()


def read_text(text: str) -> LooseText:
    """Take a text apart. The caller has checked that it has at most ``LIMIT`` characters."""
    cleaned = Cleaned(text)
    flaws: list[Flaw] = []
    chars, reasoning = _without_reasoning(cleaned.text, flaws)
    chars = _without_tags(chars, flaws)
    blocks = []
    removed: list[Span] = []
    for fenced, info, start, end in _fences(chars, flaws):
        body = chars if fenced else _plain(chars, start, end)
        try:
            diff = apply_diff(body, start, end, fenced, info)
        except Unreadable as error:
            flaws.append(Flaw("document", error.refused.message, error.start, error.end, error.refused))
            continue
        if diff is not None:
            body = diff.text
            removed += diff.removed
        blocks.append(Block(fenced, info, start, end, read_elements(body, start, end, fenced, info, flaws, removed)))
    return LooseText(cleaned, tuple(blocks), tuple(reasoning), tuple(flaws), tuple(sorted(removed)))


def _blank(text: str, spans: list[Span]) -> str:
    """The text with ranges overwritten: long ones by a rule, which separates the texts around them, others by lines."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        rule = "---" if end - start > 4 else ""
        parts += (text[position:start], "\n", rule.ljust(end - start - 2), "\n")
        position = end
    parts.append(text[position:])
    return "".join(parts)


def _without_reasoning(text: str, flaws: list[Flaw]) -> tuple[str, list[Span]]:
    """Leave out ``<think>..</think>``; a closing tag alone ends reasoning that began in the prompt."""
    spans: list[Span] = []
    opened: int | None = None
    for match in _THINKING.finditer(text):
        if not match[1]:
            opened = match.start() if opened is None else opened
        else:
            if opened is None:
                spans.clear()
            spans.append(Span(0 if opened is None else opened, match.end()))
            opened = None
    if opened is not None:
        flaws.append(Flaw("cut", "the text ends inside its reasoning", opened, min(opened + 7, len(text))))
        spans.append(Span(opened, len(text)))
    return (_blank(text, spans) if spans else text), spans


def _without_tags(text: str, flaws: list[Flaw]) -> str:
    spans = []
    opened: dict[str, int] = {}
    elements = _elements(text)
    for match in _WRAPPER.finditer(text):
        if any([span.start <= match.start() < span.end for span in elements]):
            continue
        name = match[2].lower()
        if match[1]:
            opened.pop(name, None)
        else:
            opened[name] = match.start()
        spans.append(Span(*match.span()))
    if opened:
        start = min(opened.values())
        flaws.append(Flaw("cut", "the text ends inside a tag that is not closed", start, start + 1))
    struck = "<s>" in text.lower()  # then `</s>` is not a token of the model
    spans += [
        Span(*match.span()) for match in _TOKEN.finditer(text) if not (struck and match.group().lower() == "</s>")
    ]
    return _blank(text, sorted(spans)) if spans else text


def _elements(text: str) -> list[Span]:
    """Where wrappers stand that hold elements of XML, and so are part of an XML document."""
    spans: list[Span] = []
    for attempt, match in enumerate(_XML.finditer(text)):
        if attempt == _MOST_ELEMENTS:
            break
        if spans and match.start() < spans[-1].end:
            continue
        try:
            spans.append(Span(match.start(), xml_end(text, match.start(), len(text))))
        except (NotThisFormat, Unreadable):
            continue
    return spans


def _fences(text: str, flaws: list[Flaw]) -> list[tuple[bool, str, int, int]]:
    """Fenced blocks and the texts between them, in order: fenced, info, start, end."""
    fences: list[tuple[bool, str, int, int]] = []
    position = begin = 0
    opened: tuple[str, str, int] | None = None
    for line in text.splitlines(keepends=True):
        bare = line.rstrip("\n")
        match = FENCE.match(bare) if "```" in bare or "~~~" in bare else None
        after = position + len(line)
        if match is not None and opened is None:
            fences.append((False, "", begin, position))
            opened, begin = (match[1], match[2].strip().lower(), position), after
        elif match is not None and opened is not None and not match[2].strip() and match[1].startswith(opened[0]):
            fences.append((True, opened[1], begin, position))
            opened, begin = None, after
        position = after
    if opened is None:
        fences.append((False, "", begin, len(text)))
    elif text[begin:].strip():
        flaws.append(Flaw("cut", "the text ends inside a fenced block", opened[2], begin - 1))
    elif opened[1] or len(fences) > 1:
        flaws.append(Flaw("cut", "the text ends where a fenced block begins", opened[2], max(begin - 1, opened[2] + 1)))
    # Else one closing fence alone: the block was opened by the prompt.
    return [block for block in fences if block[0] or text[block[2] : block[3]].strip()]


def _plain(text: str, start: int, end: int) -> str:
    """The text with the emphasis of a block overwritten by spaces, places unchanged."""
    body = _EMPHASIS.sub(lambda match: " " * len(match.group()), text[start:end])
    body = _ITALIC.sub(lambda match: f" {match[1]} ", body)
    return f"{text[:start]}{body}{text[end:]}"
