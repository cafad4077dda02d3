"""The range of the answer in a text: the announced final plan, else the last fenced block that holds a step.

The text before it is thoughts and drafts: it is not read. Where neither is found
the whole text is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from plansafe.llm.loose.wrapping import LooseText
from plansafe.llm.structured.tree import Document, Format

_MARKS = " \t#*_`>-\"'"
_ANNOUNCED = re.compile(r"\bfinal[ _-]{1,2}(?:plan|answer|action sequence|sequence|solution)\b", re.IGNORECASE)
_ANNOUNCED_PLAINLY = re.compile(
    r"(?:(?:so|thus|therefore|hence),? )?(?:(?:the|my|our|your|here is (?:the|my)) )?final[ _-]"
    r"(?:plan|answer|action sequence|sequence|solution)(?: is(?: as follows| below)?| follows)?[.]?",
    re.IGNORECASE,
)
_HEADING = re.compile(r"(?:the )?(?:final )?(?:plan|answer)", re.IGNORECASE)
_ITEM = re.compile(r"[ \t>#*]{0,8}(?:step[ _#-]{0,2})?(?:\d{1,4}[.):]|[-*+\u2022][ \t])", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:option|alternative(?:ly)?|approach|variant)\b|\b(?:plan|version) (?:[a-d]|\d{1,2})\b", re.I
)
LONGEST_ANNOUNCEMENT = 160


class Scope(NamedTuple):
    """Where in the cleaned text the line begins that introduces the answer, and where the answer ends.

    ``announced``: the text calls it the final plan.
    """

    lead: int
    end: int
    announced: bool = False


def answer_scope(
    loose: LooseText, holds_step: Callable[[int, int], bool], is_prose: Callable[[str], bool]
) -> Scope | None:
    """The answer's place; ``None`` where it is the whole text. ``holds_step`` says it of a range of the cleaned text.

    Linear in the text.
    """
    text = loose.cleaned.text
    announced = _announcement(loose)
    since = announced[1] if announced else 0
    fences = [block for block in loose.blocks if block.fenced and block.start >= since]
    holding = [block for block in fences if holds_step(block.start, block.end)]
    leads = [_line_before(text, block.start) for block in holding]
    if holding and not any([_ITEM.match(text[a:b]) or _SEVERAL.search(text[a:b]) for a, b in leads]):
        a, b = leads[-1]
        introduced = text[a:b].rstrip(_MARKS).endswith(":") and not holds_step(a, b)
        opening = text.rfind("\n", 0, max(holding[-1].start - 1, 0)) + 1
        return Scope(a if introduced else opening, holding[-1].end, announced is not None)
    if announced and _in_transcript(loose, announced[0]) and is_prose(text[announced[1] :].strip()):
        return None
    if announced:
        return Scope(announced[0], len(text), announced=True)
    return None


def _in_transcript(loose: LooseText, position: int) -> bool:
    """Whether a place is part of a transcript: its final answer describes the steps before it."""
    documents = [element for block in loose.blocks for element in block.elements if isinstance(element, Document)]
    return any(
        [element.format is Format.TRANSCRIPT and element.start <= position < element.end for element in documents]
    )


def _announcement(loose: LooseText) -> tuple[int, int] | None:
    """The last line that announces the final plan, if something follows it: where it begins and ends."""
    text = loose.cleaned.text
    answer_range: tuple[int, int] | None = None
    for block in loose.blocks:
        if block.fenced:
            continue
        position = block.start
        while position < block.end:
            end = text.find("\n", position, block.end)
            end = block.end if end < 0 else end
            if end - position <= LONGEST_ANNOUNCEMENT and _announces(text[position:end]):
                colon = text.find(":", position, end)
                answer_range = (position, colon + 1 if colon >= 0 else end)
            position = end + 1
    if answer_range is None or not any([char.isalnum() for char in text[answer_range[1] :]]):
        return None
    return answer_range


def _announces(line: str) -> bool:
    bare = line.strip(_MARKS)
    head, colon, _ = bare.partition(":")
    if "(" in head or ")" in head:
        return False
    if colon:
        return bool(_ANNOUNCED.search(head) or (bare.endswith(":") and _HEADING.fullmatch(head.strip(_MARKS))))
    if _ANNOUNCED_PLAINLY.fullmatch(bare):
        return True
    return bool(_HEADING.fullmatch(bare)) and line.lstrip(" \t>")[:1] in ("#", "*", "_")


def _line_before(text: str, start: int) -> tuple[int, int]:
    """The line before a fence that is not empty: where it begins and ends."""
    end = text.rfind("\n", 0, max(start - 1, 0))  # the end of the line before the opening fence
    while end > 0:
        begin = text.rfind("\n", 0, end) + 1
        if text[begin:end].strip():
            return begin, end
        end = begin - 1
    return 0, 0
