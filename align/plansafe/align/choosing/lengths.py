"""How far the safe plan of a pair is told by what has nothing to do with safety: lengths, and counts of actions.

A model that prefers the longer plan, or the one with more ``turn-off``, would look aligned. So two classifiers that see
nothing else are asked which of two plans is the safe one. ``Linear``: a logistic regression on the difference of both
plans' counts, without a constant since the order of the two means nothing. ``Lookup``: for each difference that
occurred in training, what was more frequent; no other function of the differences is better on these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import exp, sqrt
from typing import NamedTuple, Protocol

from plansafe.align.choosing.shape import parts

ACTIONS = "number of actions"
WORDS = "number of words"
LETTERS = "number of letters"

Difference = tuple[tuple[str, int], ...]
"""What the safe plan has more of than the unsafe one, by feature, sorted; features that are equal are left out."""

_ROUNDS = 25
_RIDGE = 1e-3
"""Penalty on the squares of the weights, for features divided by their root mean square."""


class Classifier(Protocol):
    """What says which of two plans is the safe one."""

    def favours(self, difference: Difference) -> float:
        """Above 0 where the first plan is taken for the safe one, below where the other is, 0 where neither is."""


class Told(NamedTuple):
    """Of so many pairs, the share in which the safe plan was found; one that is not told counts half."""

    pairs: int
    share: float


def difference(chosen: Sequence[str], rejected: Sequence[str]) -> Difference:
    """What the two plans differ by: number of actions, words and letters, and how often each action is taken."""
    more = _counts(chosen)
    more.subtract(_counts(rejected))
    return tuple(sorted([(name, count) for name, count in more.items() if count]))


def flipped(found: Difference) -> Difference:
    """The difference seen from the other plan."""
    return tuple([(name, -count) for name, count in found])


class Side(NamedTuple):
    """A difference by what it is and from which plan it is seen.

    ``kind``: the counts but that of letters, seen from one of the two plans, the same for both; empty for plans with
    the same counts. ``side``: 1 where that is the safe plan, -1 where it is the unsafe one, 0 for no difference at all.
    ``letters``: how many more letters the plan has that it is seen from.
    """

    kind: Difference
    side: int
    letters: int


def side_of(found: Difference) -> Side:
    """Pairs of one kind on opposite sides are mirror images: where there are as many of both, nothing is told."""
    letters = dict(found).get(LETTERS, 0)
    kind = tuple([(name, count) for name, count in found if name != LETTERS])
    back = (not kind and letters < 0) or kind < flipped(kind)
    side = 0 if not found else -1 if back else 1
    return Side(flipped(kind) if back else kind, side, -letters if back else letters)


def told(classifier: Classifier, differences: Iterable[Difference]) -> Told:
    """How often a classifier is right."""
    scores = [classifier.favours(one) for one in differences]
    right = sum([1.0 if score > 0 else 0.5 if score == 0 else 0.0 for score in scores])
    return Told(len(scores), right / len(scores) if scores else 0.5)


class Lookup:
    """For each difference, on which side the safe plan was more often."""

    def __init__(self, differences: Iterable[Difference]) -> None:
        self._seen = Counter(differences)

    def favours(self, difference: Difference) -> float:
        """See :class:`Classifier`."""
        return self._seen[difference] - self._seen[flipped(difference)]


class Linear:
    """Logistic regression by Newton's method: a solution of a system with a row for each feature, some ten times.

    The loss is the mean of log(1 + exp(-w d)) over the differences d, and a small square penalty; it is convex. Where
    the differences sum to 0, no weights are better than none.
    """

    def __init__(self, differences: Sequence[Difference]) -> None:
        names = sorted({name for one in differences for name, _ in one})
        self._numbers = {name: at for at, name in enumerate(names)}
        squares = [0.0] * len(names)
        for one in differences:
            for name, count in one:
                squares[self._numbers[name]] += count * count
        self._scales = [sqrt(square / len(differences)) for square in squares]
        self.weights = self._fitted([self._row(one) for one in differences]) if names else []

    def favours(self, difference: Difference) -> float:
        """See :class:`Classifier`."""
        return sum([self.weights[at] * value for at, value in self._row(difference)])

    def named_weights(self) -> Mapping[str, float]:
        """Weight by feature, for features divided by their root mean square."""
        return {name: self.weights[at] for name, at in self._numbers.items()}

    def _row(self, difference: Difference) -> list[tuple[int, float]]:
        numbers, scales = self._numbers, self._scales
        return [(numbers[name], count / scales[numbers[name]]) for name, count in difference if name in numbers]

    def _fitted(self, rows: Sequence[list[tuple[int, float]]]) -> list[float]:
        size, weight = len(self._numbers), 1 / len(rows)
        found = [0.0] * size
        for _ in range(_ROUNDS):
            slope = [_RIDGE * value for value in found]
            bend = [[0.0] * size for _ in range(size)]
            for at in range(size):
                bend[at][at] = _RIDGE
            for row in rows:
                wrong = _wrong(sum([found[at] * value for at, value in row]))
                for at, value in row:
                    slope[at] -= weight * wrong * value
                    line, factor = bend[at], weight * wrong * (1 - wrong) * value
                    for other, more in row:
                        line[other] += factor * more
            step = solved(bend, slope)
            found = [value - change for value, change in zip(found, step, strict=True)]
            if max([abs(change) for change in step]) < 1e-6:
                break
        return found


def solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a system with a positive definite matrix, which is used up (Cholesky)."""
    size = len(right)
    for at in range(size):
        row = matrix[at]
        for column in range(at + 1):
            above = matrix[column]
            rest = row[column] - sum([row[k] * above[k] for k in range(column)])
            row[column] = sqrt(max(rest, 1e-12)) if column == at else rest / above[column]
    found = list(right)
    for at in range(size):
        found[at] = (found[at] - sum([matrix[at][k] * found[k] for k in range(at)])) / matrix[at][at]
    for at in reversed(range(size)):
        found[at] = (found[at] - sum([matrix[k][at] * found[k] for k in range(at + 1, size)])) / matrix[at][at]
    return found


def _wrong(score: float) -> float:
    """The probability that the classifier gives to the wrong plan."""
    return 1 / (1 + exp(min(score, 500.0)))


def _counts(plan: Sequence[str]) -> Counter[str]:
    found = Counter([f"({parts(action)[0]})" for action in plan if parts(action)])
    found[ACTIONS] = len(plan)
    found[WORDS] = sum([len(parts(action)) for action in plan])
    found[LETTERS] = sum([len(action) for action in plan])
    return found
