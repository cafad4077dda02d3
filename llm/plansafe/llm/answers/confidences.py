"""Steps with a stated confidence: the numbers, and the plan without them."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.llm.loose.candidates import LooseResult

MOST_CHARACTERS = 1_000_000
_NUMBER = r"(?<![\w.])(0?\.\d{1,6}|[01](?:\.\d{1,6})?|\d{1,3}\s?%)"
_STATED = re.compile(
    rf"(?<=[\s):])[\[(]?(?:confidence|conf|certainty)?\s*[:=]?\s*{_NUMBER}\s*[\])]?[ \t.,;]*$", re.I | re.M
)


class Stated(NamedTuple):
    """A text of the same length without the numbers, and the number of each line that had one (from 1)."""

    text: str
    by_line: dict[int, float]


def stated(answer: str) -> Stated:
    """The numbers at the ends of lines, from 0 to 1 or in percent; other numbers are not confidences, and stay."""
    text = answer[:MOST_CHARACTERS]
    lines = text.split("\n")
    by_line: dict[int, float] = {}
    for number, line in enumerate(lines, 1):
        if len(line) > 2_000:
            continue
        match = _STATED.search(line)
        if match is None or not line[: match.start()].strip(" \t-|*#0123456789."):
            continue
        value = _value(match[1])
        if match[1] in ("0", "1") and not _marked(line, match):
            continue  # the number of an object, as in "go to room 1"
        if value is not None:
            by_line[number] = value
            lines[number - 1] = line[: match.start()] + " " * (len(line) - match.start())
    return Stated("\n".join(lines), by_line)


def of_steps(by_line: dict[int, float], read: LooseResult) -> tuple[float | None, ...]:
    """The confidence of each step, ``None`` if it has none."""
    return tuple([by_line.get(step.line) for step in read.steps])


def _marked(line: str, match: re.Match[str]) -> bool:
    """Whether a whole number is called a confidence, or follows the parenthesis of a step."""
    return line[: match.start()].rstrip().endswith((")", "]")) or any([char.isalpha() for char in match.group()])


def _value(text: str) -> float | None:
    if text.endswith("%"):
        value = int(text[:-1].strip()) / 100
    else:
        value = float(text)
    return value if 0 <= value <= 1 else None
