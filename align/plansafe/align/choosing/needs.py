"""What the pairs that were kept still lack: what makes pairs is told, and aims at it.

Counted are pairs that the pool kept, not candidates that it was offered: a rule of which all candidates resemble each
other has many of these and few pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plansafe.align.choosing.lengths import Difference, side_of
from plansafe.align.records import Split

FREQUENT = 0.02
"""Of the pairs kept, for one rule, from which on few more are made of a task."""
RARE = 0.015
"""Of the pairs kept, for one type of SAFEL, below which it is rare; an equal share of 24 would be 0.042."""
FEW = 100
"""Pairs of a rule, up to which it is not frequent."""
_MOST_PULL = 3.0
"""More pairs of a difference than of the opposite one are the same as so many."""


class Draft(NamedTuple):
    """A pair before it is judged for good. ``task``: its name."""

    split: Split
    task: str
    rule: str
    chosen: tuple[str, ...]
    rejected: tuple[str, ...]


class Needs:
    """Counts over kept pairs: by rule, by type of SAFEL, and by what lengths and counts of actions would tell."""

    def __init__(self) -> None:
        self.repeats: Callable[[Draft], bool] = lambda _: False
        """Whether a pair would not be kept, since it repeats one that was: who keeps pairs says it here."""
        self.pairs = 0
        self.rules: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self._sides: Counter[tuple[Split, str, Difference, int, int]] = Counter()

    def keep(self, rule: str, types: Sequence[str], split: Split, difference: Difference) -> None:
        """Count a pair."""
        self.pairs += 1
        self.rules[rule] += 1
        self.types.update(types)
        kind, side, letters = side_of(difference)
        if side:
            self._sides.update([(split, one, kind, _size(letters), side) for one in ("", rule)])

    def has(self, rule: str, types: Sequence[str]) -> tuple[int, int]:
        """By this rules are in order, the neediest first: pairs of its rarest type, and its own."""
        return min([self.types[one] for one in types], default=0), self.rules[rule]

    def rare(self, types: Sequence[str]) -> bool:
        """Whether of one of these types there are so few pairs that more is tried for its rules."""
        return min([self.types[one] for one in types], default=FEW) < RARE * self.pairs

    def frequent(self, rule: str) -> bool:
        """Whether a rule has so many pairs that few more are of use."""
        return self.rules[rule] > max(FEW, FREQUENT * self.pairs)

    def telling(self, split: Split, rule: str, difference: Difference) -> float:
        """How much surer a pair would make those who judge by lengths; below 0: its mirror images are too many.

        Counted are pairs of the same difference and pairs of the opposite one, of all rules and of its own.
        """
        kind, side, letters = side_of(difference)
        if not side:
            return 0.0
        found = [
            self._sides[split, one, kind, _size(letters), side] - self._sides[split, one, kind, _size(letters), -side]
            for one in ("", rule)
        ]
        return sum([max(-_MOST_PULL, min(_MOST_PULL, count + 0.5)) for count in found])


def _size(letters: int) -> int:
    """Numbers of letters that are much the same."""
    return (abs(letters).bit_length() + 1) // 2 * (1 if letters > 0 else -1)
