"""Where names stand in the files of a world that does not say it itself: where the same letters stand as a word.

What is found so has the name's letters, and nothing else is claimed: an object that a file calls by other words is not
found.
"""

from __future__ import annotations

import re

from plansafe.domains.world import Benchmark, Scene
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

_WORD = re.compile(r"[\w.-]+")


def word_places(world: Benchmark, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
    """Where the words of a PDDL step stand in the step as a script has it."""
    if world.word_places is not None:
        return world.word_places(source, place, words)
    left: list[str | None] = list(words)
    out: list[Span | None] = [None] * len(words)
    for found in _WORD.finditer(source.text, place.start, place.end):
        name = found[0].lower()
        if name in left:
            number = left.index(name)
            left[number] = None
            out[number] = Span(*found.span())
    return tuple(out)


def object_place(world: Benchmark, source: Source, scene: Scene, name: str) -> Span | None:
    """Where a scene's file first names an object."""
    if world.object_place is not None:
        return world.object_place(source, scene, name)
    found = re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", source.text, re.IGNORECASE)
    return None if found is None else Span(*found.span())
