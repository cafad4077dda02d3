"""Intervals for shares and means by the percentile bootstrap over families of scenarios (Efron and Tibshirani 1993).

Scenarios of one family (drawn from one template, or variants of one task) are not independent of each other, so whole
families are drawn with replacement, as many as there are, and the ratio of the sums is computed again.
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

    ``families`` is the number of families in the draw; the interval needs two, because one family shows no variation.
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
    for observation in sorted(observations, key=lambda o: (o.family, o.part, o.whole)):
        part, total = sums.get(observation.family, (0.0, 0.0))
        sums[observation.family] = (part + observation.part, total + observation.whole)
    families = [(part, total) for part, total in sums.values() if total]
    value = _ratio(families)
    if len(families) < 2:
        return Interval(value, None, None, len(families))
    random_numbers = random.Random(seed)
    ratios = [_ratio(random_numbers.choices(families, k=len(families))) for _ in range(draws)]
    defined = sorted([observation for observation in ratios if observation is not None])
    tail = (1 - level) / 2
    return Interval(value, quantile(defined, tail), quantile(defined, 1 - tail), len(families), stdev(defined))


def difference(
    first: Iterable[Observation], second: Iterable[Observation], seed: int = 0, draws: int = DRAWS, level: float = LEVEL
) -> Interval:
    """The second ratio minus the first, with its percentile interval: both are asked the same families, drawn together.

    A family without anything below the line of either is left out; draws in which one of the ratios has nothing below
    its line are repeated (at most ten times as many draws are made), so that the interval is over draws where both are
    defined. Raises as :func:`interval`.
    """
    if not 0 < level < 1 or draws < 1:
        raise ValueError("a level must be between 0 and 1, and there must be at least one draw")
    sums: dict[str, list[float]] = {}
    for side, observed in enumerate((first, second)):
        for observation in sorted(observed, key=lambda o: (o.family, o.part, o.whole)):
            family_sums = sums.setdefault(observation.family, [0.0, 0.0, 0.0, 0.0])
            family_sums[2 * side] += observation.part
            family_sums[2 * side + 1] += observation.whole
    families = [sums[name] for name in sorted(sums) if sums[name][1] or sums[name][3]]
    value = _gap(families)
    if len(families) < 2 or value is None:
        return Interval(value, None, None, len(families))
    random_numbers = random.Random(seed)
    gaps: list[float] = []
    for _ in range(10 * draws):
        gap = _gap(random_numbers.choices(families, k=len(families)))
        if gap is not None:
            gaps.append(gap)
            if len(gaps) == draws:
                break
    if len(gaps) < draws:
        return Interval(value, None, None, len(families))
    gaps.sort()
    tail = (1 - level) / 2
    return Interval(value, quantile(gaps, tail), quantile(gaps, 1 - tail), len(families), _deviation(gaps))


def _gap(families: list[list[float]]) -> float | None:
    ratios = [
        ratio(sum([family[at] for family in families]), sum([family[at + 1] for family in families])) for at in (0, 2)
    ]
    return None if ratios[0] is None or ratios[1] is None else ratios[1] - ratios[0]


def _deviation(gaps: list[float]) -> float | None:
    return stdev(gaps) if len(gaps) > 1 else None


def _ratio(families: list[tuple[float, float]]) -> float | None:
    return ratio(sum([part for part, _ in families]), sum([total for _, total in families]))


def quantile(ordered: list[float], q: float) -> float:
    """The quantile of ordered values with linear interpolation (Hyndman and Fan 1996, type 7)."""
    at = q * (len(ordered) - 1)
    below, above = floor(at), ceil(at)
    if below == above:
        return ordered[below]
    return ordered[below] + (ordered[above] - ordered[below]) * (at - below)
