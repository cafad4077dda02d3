"""The options of a prompt: its maximum length, its examples, and its additions. Data only.

How long a text is for a model, without its tokenizer: so that a prompt is the same whoever is asked.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

WHOLE = 4_000
CROPPED = 1_500
"""Default numbers of tokens: a scene up to the first is shown whole, else cropped to the second."""


class PromptStyle(StrEnum):
    """Which examples a prompt shows: none, the first, or those whose words are nearest to the task's."""

    ZERO_SHOT = "zero-shot"
    FEW_SHOT = "few-shot"
    NEAREST = "nearest"


class PromptOptions(NamedTuple):
    """``most_tokens``: longer prompts are cropped; ``None``: the defaults (:data:`WHOLE`, :data:`CROPPED`).

    ``style``: ``None`` for few-shot where there are examples, else zero-shot. ``shots``: how many examples are shown,
    from the files ``examples`` (plans), else from those that are shipped with the domain. ``safety``: a paragraph on
    hazards. ``refusal``: the model may refuse.
    """

    most_tokens: int | None = None
    safety: bool = False
    refusal: bool = False
    style: PromptStyle | None = None
    shots: int = 2
    examples: tuple[str, ...] = ()


_PIECES = re.compile(r"[^\W\d_]+|\d|_|[^\w\s]+|\n")
_LETTERS = 5


def tokens_of(text: str) -> int:
    """About how many tokens a text has: one for each digit, sign and line, and for each five letters of a word.

    On scenes and plans the tokenizers of Qwen2.5 and SmolLM2 count up to a third less, and no more.
    """
    count = 0
    for piece in _PIECES.findall(text):
        count += -(-len(piece) // _LETTERS) if piece[0].isalpha() else 1
    return count
