"""Texts as rows of tokens, sorted once: after some tokens, those with which a text of any subset goes on.

A choice between texts as a mask over tokens: after each token, those with which some text goes on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from plansafe.llm.models.port import Vocabulary

_FEW = 64
"""Rows that are looked at one by one, rather than by what all rows of the table go on with."""

Row = tuple[int, ...]


class TokenTable:
    """Rows of tokens for texts. Rows with a common beginning are adjacent, so that a beginning is an interval of rows.

    A row ends with the vocabulary's end, or with the text ``end`` instead. A text is encoded once, when it is first
    asked for. What a beginning goes on with in the whole table is remembered; for a subset each of these tokens costs
    one search among its numbers.
    """

    def __init__(self, vocabulary: Vocabulary, texts: Iterable[str] = (), end: str = "") -> None:
        self._vocabulary = vocabulary
        self._end = end
        self._row_of: dict[str, Row] = {}
        self._rows: list[Row] = []
        self._place: dict[Row, int] = {}
        self._branches: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.numbers(texts)

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """The places of the rows of some texts, in order; they hold until texts are asked for that are new."""
        rows = [self._row(text) for text in dict.fromkeys(texts)]
        new = {row for row in rows if row not in self._place}
        if new:
            self._rows = sorted([*self._rows, *new])
            self._place = {row: number for number, row in enumerate(self._rows)}
            self._branches.clear()
        return sorted({self._place[row] for row in rows})

    def number(self, text: str) -> int:
        """The place of the row of a text that was asked for before. Raises ``KeyError`` for another."""
        return self._place[self._row_of[text]]

    def place(self, row: Row) -> int | None:
        """The place of a row; ``None`` if there is none."""
        return self._place.get(row)

    def row(self, number: int) -> Row:
        """The tokens of a row."""
        return self._rows[number]

    def following(self, numbers: Sequence[int], prefix: Row) -> list[int]:
        """The tokens with which a row among ``numbers`` continues after a beginning, in order; empty if no row does."""
        rows, depth = self._rows, len(prefix)
        low = bisect_left(rows, prefix)
        high = bisect_left(rows, (*prefix[:-1], prefix[-1] + 1), low) if prefix else len(rows)
        at = bisect_left(numbers, low)
        end = bisect_left(numbers, high, at)
        if end - at <= _FEW:
            return sorted({rows[number][depth] for number in numbers[at:end] if len(rows[number]) > depth})
        tokens = []
        for token, beyond in self._branched(low, high, depth):
            after = bisect_left(numbers, beyond, at, end)
            if after > at:
                tokens.append(token)
                at = after
        return tokens

    def _branched(self, low: int, high: int, depth: int) -> list[tuple[int, int]]:
        """The tokens with which rows of an interval go on, each with where its own rows end."""
        branches = self._branches.get((low, depth))
        if branches is None:
            rows, branches = self._rows, []
            at = low + 1 if len(rows[low]) == depth else low
            while at < high:
                row = rows[at]
                at = bisect_left(rows, (*row[:depth], row[depth] + 1), at, high)
                branches.append((row[depth], at))
            self._branches[low, depth] = branches
        return branches

    def _row(self, text: str) -> Row:
        row = self._row_of.get(text)
        if row is None:
            tokens = self._vocabulary.encode(f"{text}{self._end}")
            row = self._row_of[text] = tuple(tokens) if self._end else (*tokens, self._vocabulary.end)
        return row


class ChoiceMask:
    """The tokens of each text, and then the end. A text may be the beginning of another."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        self._table = TokenTable(vocabulary)
        self._numbers = self._table.numbers(texts)

    def __call__(self, tokens: Sequence[int]) -> Sequence[int]:
        """See :data:`~plansafe.llm.models.port.LogitsMask`."""
        return self._table.following(self._numbers, tuple(tokens))
