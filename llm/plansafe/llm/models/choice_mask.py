"""A choice between texts as a mask over tokens: after each token, those with which some text goes on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from plansafe.llm.models.port import Vocabulary


class ChoiceMask:
    """The tokens of each text, and then the end. A text may be the beginning of another."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self._rows = sorted([(*vocabulary.encode(text), vocabulary.end) for text in texts])

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """See :data:`~plansafe.llm.models.port.LogitsMask`."""
        prefix, depth = tuple(tokens), len(tokens)
        at = bisect_left(self._rows, prefix)
        found: list[int] = []
        while at < len(self._rows) and self._rows[at][:depth] == prefix:
            row = self._rows[at]
            if len(row) == depth:
                at += 1
                continue
            found.append(row[depth])
            at = bisect_left(self._rows, (*prefix, row[depth] + 1), at)
        return found
