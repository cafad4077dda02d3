"""A choice between texts as a mask over tokens: after each token, those with which some text goes on."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.llm.models.port import Vocabulary
from plansafe.llm.models.token_table import TokenTable


class ChoiceMask:
    """The tokens of each text, and then the end. A text may be the beginning of another."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self._table = TokenTable(vocabulary)
        self._numbers = self._table.numbers(texts)

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """See :data:`~plansafe.llm.models.port.LogitsMask`."""
        return self._table.following(self._numbers, tuple(tokens))
