"""How long a text is for a model, without its tokenizer: so that a prompt is the same whoever is asked."""

from __future__ import annotations

import re

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
