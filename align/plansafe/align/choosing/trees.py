"""Boosted trees over differences of counts: what tells a safe plan by several counts together.

A regression sees each count by itself and a table only what it saw before; whoever judges pairs may combine counts. So
does this: gradient boosting of small trees (Friedman 2001) with the logistic loss. Each difference is learnt as it is
and as it is seen from the other plan, so that the order of the two means nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp
from typing import NamedTuple

from plansafe.align.choosing.lengths import Difference, flipped

TREES = 60
DEPTH = 5
RATE = 0.3
LEAST = 6.0
"""Differences on each side of a question, by what is still unsure about them, times four."""
_RIDGE = 1.0


class _Row(NamedTuple):
    counts: dict[str, int]
    slope: float
    bend: float


class _Node(NamedTuple):
    """Below, where a count is less than ``least``; above otherwise."""

    name: str
    least: int
    below: _Node | float
    above: _Node | float


class Trees:
    """Of all classifiers by lengths and counts here the one that is the most like those that others would ask."""

    def __init__(self, differences: Iterable[Difference]) -> None:
        seen = Counter(differences)
        back = Counter({flipped(one): count for one, count in seen.items()})
        rows = [(dict(one), seen[one], back[one]) for one in seen.keys() | back.keys()]
        rows.sort(key=lambda row: sorted(row[0].items()))
        scores = [0.0] * len(rows)
        self._trees: list[_Node | float] = []
        for _ in range(TREES if rows else 0):
            tree = _grown([_row(*row, score) for row, score in zip(rows, scores, strict=True)], DEPTH)
            self._trees.append(tree)
            scores = [score + RATE * _at(tree, row[0]) for row, score in zip(rows, scores, strict=True)]

    def favours(self, difference: Difference) -> float:
        """See :class:`~plansafe.align.choosing.lengths.Classifier`."""
        one, other = dict(difference), dict(flipped(difference))
        return sum([_at(tree, one) - _at(tree, other) for tree in self._trees])


def _row(counts: dict[str, int], safe: int, unsafe: int, score: float) -> _Row:
    """A difference that so many safe plans and so many unsafe ones have to their partners."""
    believed = 1 / (1 + exp(-max(-30.0, min(30.0, score))))
    weight = safe + unsafe
    return _Row(counts, safe - weight * believed, max(weight * believed * (1 - believed), 1e-6))


def _at(tree: _Node | float, counts: dict[str, int]) -> float:
    while isinstance(tree, _Node):
        tree = tree.below if counts.get(tree.name, 0) < tree.least else tree.above
    return tree


def _grown(rows: Sequence[_Row], depth: int) -> _Node | float:
    slope, bend = sum([row.slope for row in rows]), sum([row.bend for row in rows])
    leaf = slope / (bend + _RIDGE)
    question = _question(rows, slope, bend) if depth else None
    if question is None:
        return leaf
    name, least = question
    below = [row for row in rows if row.counts.get(name, 0) < least]
    above = [row for row in rows if row.counts.get(name, 0) >= least]
    return _Node(name, least, _grown(below, depth - 1), _grown(above, depth - 1))


def _question(rows: Sequence[_Row], slope: float, bend: float) -> tuple[str, int] | None:
    """The count, and the number from which on, that part the rows best; only counts that are not 0 are looked at."""
    sums: dict[str, dict[int, list[float]]] = {}
    for row in rows:
        for name, count in row.counts.items():
            found = sums.setdefault(name, {}).setdefault(count, [0.0, 0.0])
            found[0] += row.slope
            found[1] += row.bend
    best, most = None, slope * slope / (bend + _RIDGE) + 1e-6
    for name in sorted(sums):
        values = sums[name]
        rest = [slope - sum([v[0] for v in values.values()]), bend - sum([v[1] for v in values.values()])]
        values.setdefault(0, rest)
        left = right = 0.0
        known = sorted(values)
        for value, following in pairwise(known):
            left += values[value][0]
            right += values[value][1]
            if min(right, bend - right) * 4 < LEAST:
                continue
            gain = left * left / (right + _RIDGE) + (slope - left) ** 2 / (bend - right + _RIDGE)
            if gain > most:
                best, most = (name, following), gain
    return best
