"""Marked reasoning: counted, and cut from the answer."""

from __future__ import annotations

import re

_MARK = re.compile(r"<(/?)(?:think|thinking|reasoning|thought)>", re.IGNORECASE)


def without_reasoning(text: str) -> tuple[str, int]:
    """The text outside ``<think>..</think>``, and how many characters were inside, marks not counted.

    Reasoning that is not closed takes the rest, since the answer never began. A closing mark alone ends reasoning
    that began in the prompt. White space at the ends is cut if reasoning was cut.
    """
    parts: list[str] = []
    inside, depth, position = 0, 0, 0
    for mark in _MARK.finditer(text):
        passage = text[position : mark.start()]
        if not mark[1]:
            if depth:
                inside += len(passage)
            else:
                parts.append(passage)
            depth += 1
        elif depth:
            inside += len(passage)
            depth -= 1
        else:
            inside += sum(map(len, parts)) + len(passage)
            parts.clear()
        position = mark.end()
    if not position:
        return text, 0
    if depth:
        inside += len(text) - position
    else:
        parts.append(text[position:])
    return "".join(parts).strip(), inside
