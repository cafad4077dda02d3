"""Locate the steps of a plan in words: JSON strings of a list, or lines, numbered or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

_NUMBERED = re.compile(r"\s*(?:(?:step\s*)?\d+\s*[.):]|[-*])\s*", re.IGNORECASE)
_STRING = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"')
_LISTED = re.compile(r'"(?:step|steps|plan)"\s*:\s*\[')


def step_spans(text: Source) -> Iterator[Span]:
    """Yield the places of steps without numbers: strings of a list (also below `step`, `steps`, `plan`), or lines."""
    begin = _LISTED.search(text.text)
    start = begin.end() if begin is not None else text.text.find("[") + 1 if text.text.lstrip()[:1] == "[" else 0
    if start:
        position = start
        while (string := _STRING.match(text.text, position)) is not None:
            number = _NUMBERED.match(text.text, string.start(1), string.end(1))
            yield Span(number.end() if number else string.start(1), string.end(1))
            position = string.end()
        return
    for line in re.finditer(r"[^\r\n]+", text.text):
        if line[0].strip() and not line[0].lstrip().startswith("#"):
            number = _NUMBERED.match(line[0])
            skipped = number.end() if number else len(line[0]) - len(line[0].lstrip())
            yield Span(line.start() + skipped, line.start() + len(line[0].rstrip()))
