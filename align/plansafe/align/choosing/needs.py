"""What the pairs that were kept still lack: what makes pairs is told, and aims at it.

Counted are pairs that the pool kept, not candidates that it was offered: a rule of which all candidates resemble each
other has many of these and few pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from plansafe.align.choosing.lengths import Difference
from plansafe.align.records import SPLITS, Split

FREQUENT = 0.04
"""Of the pairs kept, for one rule, from which on few more are made of a task."""
FEW = 100
"""Pairs of a rule, up to which it is not frequent."""
_MOST_PULL = 3.0
"""For one feature; else the pull of a sum that is far off would outweigh that plans are near each other."""


class Needs:
    """Counts over kept pairs: by rule, by type of SAFEL, and what safe plans had more of on each side of the split."""

    def __init__(self) -> None:
        self.pairs = 0
        self.rules: Counter[str] = Counter()
        self.types: Counter[str] = Counter()
        self._sums: dict[Split, Counter[str]] = {side: Counter() for side in SPLITS}
        self._squares: Counter[str] = Counter()

    def keep(self, rule: str, types: Sequence[str], split: Split, difference: Difference) -> None:
        """Count a pair."""
        self.pairs += 1
        self.rules[rule] += 1
        self.types.update(types)
        self._sums[split].update(dict(difference))
        self._squares.update({name: count * count for name, count in difference})

    def has(self, rule: str, types: Sequence[str]) -> tuple[int, int]:
        """By this rules are in order, the neediest first: pairs of its rarest type, and its own."""
        return min([self.types[one] for one in types], default=0), self.rules[rule]

    def frequent(self, rule: str) -> bool:
        """Whether a rule has so many pairs that few more are of use."""
        return self.rules[rule] > max(FEW, FREQUENT * self.pairs)

    def telling(self, split: Split, difference: Difference) -> float:
        """How much a pair with this difference would add to what lengths and counts of actions tell; below 0: less.

        As in ``balance.py``: the growth of the sum of squares of the sums, each in units of what is usual for it.
        """
        sums = self._sums[split]
        total = 0.0
        for name, count in difference:
            usual = (self._squares[name] + 1) / (self.pairs + 1)
            pull = count * (count + 2 * sums[name]) / max(usual, 0.05)
            total += max(-_MOST_PULL, min(_MOST_PULL, pull))
        return total
