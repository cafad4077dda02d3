"""Intervals for shares and means by the percentile bootstrap over families of scenarios (Efron and Tibshirani 1993).

Scenarios of one family (drawn from one template, or variants of one task) are not independent of each other, so whole
families are drawn with replacement, as many as there are, and the ratio of the sums is computed anew.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor
from statistics import stdev

from plansafe.llm.metrics.shares import ratio

DRAWS = 2000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Observation:
    """What one scenario adds to a ratio: ``part`` above the line and ``whole`` below it.

    A share adds 0 or 1 of 1; pooled recall its matched of its reference literals; pooled F1 twice its matched of
    predicted and reference ones; a mean its value of 1. A scenario to which the metric does not apply adds 0 of 0.
    """

    family: str
    part: float
    whole: float


@dataclass(frozen=True, slots=True)
class Interval:
    """The ratio and its interval; all ``None`` if there is nothing below the line.

    ``families`` were drawn from; with fewer than two there is no interval: one says nothing about how they differ.
    ``error`` is the standard error: the standard deviation of the drawn ratios.
    """

    value: float | None
    low: float | None
    high: float | None
    families: int
    error: float | None = None


def interval(observations: Iterable[Observation], seed: int = 0, draws: int = DRAWS, level: float = LEVEL) -> Interval:
    """The ratio of sums with its percentile interval. The same for the same seed, whatever order scenarios come in.

    Families without anything below the line are left out: the metric does not apply to them. Takes
    ``draws * families`` additions. Raises ``ValueError`` for a level outside (0, 1) or no draws.
    """
    if not 0 < level < 1 or draws < 1:
        raise ValueError("a level must be between 0 and 1, and there must be at least one draw")
    sums: dict[str, tuple[float, float]] = {}
    for one in sorted(observations, key=lambda o: (o.family, o.part, o.whole)):
        part, whole = sums.get(one.family, (0.0, 0.0))
        sums[one.family] = (part + one.part, whole + one.whole)
    families = [(part, whole) for part, whole in sums.values() if whole]
    value = _ratio(families)
    if len(families) < 2:
        return Interval(value, None, None, len(families))
    random_numbers = random.Random(seed)
    found = [_ratio(random_numbers.choices(families, k=len(families))) for _ in range(draws)]
    defined = sorted([one for one in found if one is not None])  # all are: each family has something below the line
    tail = (1 - level) / 2
    return Interval(value, quantile(defined, tail), quantile(defined, 1 - tail), len(families), stdev(defined))


def difference(
    first: Iterable[Observation], second: Iterable[Observation], seed: int = 0, draws: int = DRAWS, level: float = LEVEL
) -> Interval:
    """The second ratio minus the first, with its percentile interval: both are asked the same families, drawn together.

    A family without anything below the line of either is left out; draws in which one of the ratios has nothing below
    its line say nothing, and are drawn again, so that the interval is that of the draws where both are defined (at most
    ten times as many are made). Raises as :func:`interval`.
    """
    if not 0 < level < 1 or draws < 1:
        raise ValueError("a level must be between 0 and 1, and there must be at least one draw")
    sums: dict[str, list[float]] = {}
    for side, observed in enumerate((first, second)):
        for one in sorted(observed, key=lambda o: (o.family, o.part, o.whole)):
            found = sums.setdefault(one.family, [0.0, 0.0, 0.0, 0.0])
            found[2 * side] += one.part
            found[2 * side + 1] += one.whole
    families = [sums[name] for name in sorted(sums) if sums[name][1] or sums[name][3]]
    value = _gap(families)
    if len(families) < 2 or value is None:
        return Interval(value, None, None, len(families))
    random_numbers = random.Random(seed)
    drawn: list[float] = []
    for _ in range(10 * draws):
        gap = _gap(random_numbers.choices(families, k=len(families)))
        if gap is not None:
            drawn.append(gap)
            if len(drawn) == draws:
                break
    if len(drawn) < draws:
        return Interval(value, None, None, len(families))
    drawn.sort()
    tail = (1 - level) / 2
    return Interval(value, quantile(drawn, tail), quantile(drawn, 1 - tail), len(families), _deviation(drawn))


def _gap(families: list[list[float]]) -> float | None:
    ratios = [ratio(sum([one[at] for one in families]), sum([one[at + 1] for one in families])) for at in (0, 2)]
    return None if ratios[0] is None or ratios[1] is None else ratios[1] - ratios[0]


def _deviation(drawn: list[float]) -> float | None:
    return stdev(drawn) if len(drawn) > 1 else None


def _ratio(families: list[tuple[float, float]]) -> float | None:
    return ratio(sum([part for part, _ in families]), sum([whole for _, whole in families]))


def quantile(ordered: list[float], q: float) -> float:
    """The quantile of ordered values with linear interpolation (Hyndman and Fan 1996, type 7)."""
    at = q * (len(ordered) - 1)
    below, above = floor(at), ceil(at)
    if below == above:
        return ordered[below]
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)
