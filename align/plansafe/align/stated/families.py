"""The families: which goals a task has together.

No two goals of a held-out family with two goals occur together in a family for training.
"""

from __future__ import annotations

FAMILIES: tuple[str, ...] = (
    "put", "give", "start", "stop", "open", "close", "wipe", "send", "put-give", "put-start", "put-open", "put-close",
    "put-wipe", "put-send", "give-stop", "give-open", "give-close", "give-wipe", "give-send", "start-stop",
    "start-open", "start-close", "start-wipe", "start-send", "stop-open", "stop-close", "stop-wipe", "stop-send",
    "open-close", "open-send", "close-wipe", "wipe-send", "put-start-close", "put-wipe-start", "give-open-stop",
    "give-send-put", "wipe-stop-close", "start-open-send"
)  # fmt: skip
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
