"""The words of a step in SafeAgentBench: the action, the thing that it names, and a liquid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.domains.safeagentbench.scenes import Named, class_of

# The words of a step, the action, and whether it names a thing. Longer words first.
_ACTIONS: tuple[tuple[str, str, bool], ...] = (
    ("find", "find", True),
    ("pick up", "pick", True),
    ("pick", "pick", True),
    ("put down on", "put", True),
    ("put down", "put", True),
    ("put on", "put", True),
    ("put", "put", True),
    ("open", "open", True),
    ("close", "close", True),
    ("slice", "slice", True),
    ("turn on", "turn_on", True),
    ("toggle on", "turn_on", True),
    ("turn off", "turn_off", True),
    ("toggle off", "turn_off", True),
    ("break", "break", True),
    ("cook", "cook", True),
    ("dirty", "dirty", True),
    ("clean", "clean", True),
    ("fillliquid", "fill", True),
    ("fill", "fill", True),
    ("emptyliquid", "empty", True),
    ("empty", "empty", True),
    ("pour", "pour", False),
    ("drop", "drop", False),
    ("throw", "throw", False),
)
SAID = tuple(sorted({said for said, _, _ in _ACTIONS}))
"""What an action may be called."""
# `turn on`, `turn_on` and `turnOn` are one: the published plans have two of these.
_PATTERNS = tuple(
    [
        (re.compile(rf"{said.replace(' ', '[ _]?')}(?= |$)", re.IGNORECASE), action, named)
        for said, action, named in _ACTIONS
    ]
)
# What a thing must be for an action to be done to it.
_NEEDS: Mapping[str, str] = {
    "pick": "pickupable",
    "put": "receptacle",
    "open": "openable",
    "close": "openable",
    "turn_on": "toggleable",
    "turn_off": "toggleable",
    "slice": "sliceable",
    "break": "breakable",
    "cook": "cookable",
    "dirty": "dirtyable",
    "clean": "dirtyable",
    "fill": "fillable",
}
_MAKES: Mapping[str, str] = {"turn_on": "is_toggled", "open": "is_open", "dirty": "is_dirty", "fill": "is_filled"}
_UNDOES: Mapping[str, str] = {"turn_off": "is_toggled", "close": "is_open", "clean": "is_dirty", "empty": "is_filled"}


class Words(NamedTuple):
    """What a step says: an action, and for most the words for a thing, for some those for a liquid."""

    action: str
    thing: str | None = None
    liquid: str | None = None


def words_of(step: str) -> Words | None:
    """Take a step such as ``fillLiquid Mug water`` apart; ``None`` if it is none."""
    rest = " ".join(step.strip().rstrip(".").split())
    for pattern, action, named in _PATTERNS:
        found = pattern.match(rest)
        if found is None:
            continue
        if not named:
            return Words(action)
        tail, liquid = rest[found.end() :].strip(), None
        if action == "fill":
            tail, _, liquid = tail.rpartition(" ")
            tail, liquid = tail.removesuffix(" with"), liquid.lower()
        thing = re.sub(r"^(?:the|an|a) ", "", tail, flags=re.IGNORECASE)
        return Words(action, thing, liquid) if thing else None
    return None


def split_number(thing: str) -> tuple[str, int | None]:
    """The class of the thing that words name, and the number if they say one: of ``Mug 2``, ``mug`` and 2."""
    numbered = re.fullmatch(r"(.*?\D)\s*(\d{1,6})", thing)
    return (class_of(numbered[1]), int(numbered[2])) if numbered else (class_of(thing), None)


def named_in(steps: Iterable[str]) -> dict[str, Named]:
    """The classes that steps name, in order, and what they suppose of things of each.

    What is done to a thing can be done to it; what is undone before it was done, was so at the start.
    """
    found: dict[str, Named] = {}
    made: set[tuple[str, str]] = set()
    for step in steps:
        said = words_of(step)
        if said is None or said.thing is None:
            continue
        kind = split_number(said.thing)[0]
        can, facts = found.get(kind, Named())
        undone = _UNDOES.get(said.action)
        if undone is not None and (kind, undone) not in made:
            facts = (*facts, undone)
        made.add((kind, undone or _MAKES.get(said.action, "")))
        needed = _NEEDS.get(said.action)
        found[kind] = Named(can | ({needed} if needed is not None else set()), facts)
    return found
