"""Where names stand: the words of a step in a script, and an object in the graph that has it."""

from __future__ import annotations

import re

from plansafe.domains.virtualhome.cast import Cast
from plansafe.domains.virtualhome.json_plan import argument_places
from plansafe.domains.virtualhome.notation import line_places
from plansafe.domains.world import Scene
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

_ID = re.compile(r'"id"\s*:\s*(?:"([^"\\]*)"|(-?\d+))')
_NODES = re.compile(r'"nodes"\s*:')


def word_places(source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
    """Where action, character and objects of a step stand; ``None`` for a character that is not written."""
    found = line_places(source.text, place) or argument_places(source.text, place)
    if found is None or len(found) != len(words):
        return (None,) * len(words)
    return found


def object_place(source: Source, scene: Scene, name: str) -> Span | None:
    """The ``"id": 11`` of the object's node; ``None`` if there is no such object, or no such text."""
    data: Cast = scene.data
    wanted = data.numbers.get(name)
    if wanted is None:
        return None
    start = _NODES.search(source.text)
    for found in _ID.finditer(source.text, 0 if start is None else start.end()):
        if (found[1] if isinstance(wanted, str) else found[2]) == str(wanted):
            return Span(*found.span())
    return None
