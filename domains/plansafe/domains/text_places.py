"""Locate names of a PDDL step in a script, and objects in a scene file.

If a world has no functions of its own, a name is at the place where the file has the same letters as a whole word. An
object that a file calls by other words is not found.

Locate the steps of a plan in words: JSON strings of a list, or lines, numbered or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.domains.world import Benchmark, Scene
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

_WORD = re.compile(r"[\w.-]+")


def word_places(world: Benchmark, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
    """The places of the words of a PDDL step in the script's step; ``None`` for words that are not written there."""
    if world.word_places is not None:
        return world.word_places(source, place, words)
    remaining: list[str | None] = list(words)
    places: list[Span | None] = [None] * len(words)
    for match in _WORD.finditer(source.text, place.start, place.end):
        name = match[0].lower()
        if name in remaining:
            number = remaining.index(name)
            remaining[number] = None
            places[number] = Span(*match.span())
    return tuple(places)


def object_place(world: Benchmark, source: Source, scene: Scene, name: str) -> Span | None:
    """The first place at which a scene file names an object."""
    if world.object_place is not None:
        return world.object_place(source, scene, name)
    match = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", source.text, re.IGNORECASE)
    return None if match is None else Span(*match.span())


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
