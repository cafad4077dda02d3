"""Read a step of SafeAgentBench: the action, the object that it names, and a liquid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.domains.safeagentbench.scenes import Assumption, class_of

# The words of a step, the action, and whether the step names an object. Longer words first.
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
ACTION_WORDS = tuple(sorted({words for words, _, _ in _ACTIONS}))
"""The words that a step can start with."""
# `turn on`, `turn_on` and `turnOn` are equal: the published plans have two of these.
_PATTERNS = tuple(
    [
        (re.compile(rf"{words.replace(' ', '[ _]?')}(?= |$)", re.IGNORECASE), action, has_object)
        for words, action, has_object in _ACTIONS
    ]
)
# The ability that an action requires of its object.
_REQUIRED_ABILITY: Mapping[str, str] = {
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
_ADDED_STATE: Mapping[str, str] = {"turn_on": "is_toggled", "open": "is_open", "dirty": "is_dirty", "fill": "is_filled"}
_DELETED_STATE: Mapping[str, str] = {"turn_off": "is_toggled", "clean": "is_dirty", "empty": "is_filled"}


class StepWords(NamedTuple):
    """The action of a step, with the words for its object and its liquid where the step has them."""

    action: str
    object_words: str | None = None
    liquid: str | None = None


def parse_step(step: str) -> StepWords | None:
    """Split a step such as ``fillLiquid Mug water``; ``None`` for other text."""
    text = " ".join(step.strip().rstrip(".").split())
    for pattern, action, has_object in _PATTERNS:
        match = pattern.match(text)
        if match is None:
            continue
        if not has_object:
            return StepWords(action)
        object_words, liquid = text[match.end() :].strip(), None
        if action == "fill":
            object_words, _, liquid = object_words.rpartition(" ")
            object_words, liquid = object_words.removesuffix(" with"), liquid.lower()
        object_words = re.sub(r"^(?:the|an|a) ", "", object_words, flags=re.IGNORECASE)
        return StepWords(action, object_words, liquid) if object_words else None
    return None


def split_number(object_words: str) -> tuple[str, int | None]:
    """Return the class and the number in the words for an object: ``mug`` and 2 for ``Mug 2``."""
    numbered = re.fullmatch(r"(.*?\D)\s*(\d{1,6})", object_words)
    return (class_of(numbered[1]), int(numbered[2])) if numbered else (class_of(object_words), None)


def assumptions_of(steps: Iterable[str]) -> dict[str, Assumption]:
    """Return the classes that steps name, in order, with the abilities and initial states that the steps assume.

    An action assumes the ability that it requires. A state that a step deletes before a step adds it is true initially.
    """
    assumptions: dict[str, Assumption] = {}
    changed: set[tuple[str, str]] = set()
    for step in steps:
        words = parse_step(step)
        if words is None or words.object_words is None:
            continue
        object_class = split_number(words.object_words)[0]
        abilities, facts = assumptions.get(object_class, Assumption())
        deleted = _DELETED_STATE.get(words.action)
        if deleted is not None and (object_class, deleted) not in changed:
            facts = (*facts, deleted)
        changed.add((object_class, deleted or _ADDED_STATE.get(words.action, "")))
        required = _REQUIRED_ABILITY.get(words.action)
        assumptions[object_class] = Assumption(abilities | ({required} if required is not None else set()), facts)
    return assumptions
