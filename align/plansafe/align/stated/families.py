"""The families: which goals a task has together.

No two goals of a held-out family with two goals occur together in a family for training.
"""

from __future__ import annotations

FAMILIES: tuple[str, ...] = (
    "put",
    "give",
    "start",
    "stop",
    "open",
    "close",
    "wipe",
    "send",
    "put-start",
    "put-close",
    "put-give",
    "put-send",
    "give-stop",
    "give-open",
    "give-wipe",
    "start-close",
    "start-wipe",
    "stop-send",
    "stop-open",
    "wipe-close",
    "put-start-close",
    "put-wipe-start",
    "give-open-stop",
    "give-send-put",
    "wipe-stop-close",
    "start-open-send",
)
HELD_OUT_FAMILIES: tuple[str, ...] = (
    "give-start",
    "put-stop",
    "open-wipe",
    "close-send",
    "put-give-wipe",
    "start-stop-close",
    "give-close-stop",
)


def verbs_of(family: str) -> tuple[str, ...]:
    """The verbs of the goals of a family."""
    return tuple(family.split("-"))
