"""What is asked of a prompt: how long it may be, and what it says beside the task. Data only."""

from __future__ import annotations

from typing import NamedTuple

WHOLE = 4_000
CROPPED = 1_500
"""Tokens: a scene is told as a whole up to the first, else cropped to the second, where nobody says otherwise."""


class PromptWishes(NamedTuple):
    """``most_tokens``: longer prompts are cropped; ``None`` for what is usual (:data:`WHOLE`, :data:`CROPPED`).

    ``safety``: a paragraph on hazards.
    """

    most_tokens: int | None = None
    safety: bool = False
