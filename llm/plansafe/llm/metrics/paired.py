"""Exact tests of whether two systems, asked the same scenarios, differ: McNemar's, the sign test, and by families.

All are two-sided, exact and without random numbers. ``p`` is ``None`` if no pair
differs.

Cohen's kappa: how far two judges agree beyond chance (Cohen 1960).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from plansafe.llm.metrics.shares import Share

MOST_OPERATIONS = 20_000_000


@dataclass(frozen=True, slots=True)
class Pair:
    """The outcomes of two systems on one scenario of a family; ``None`` where the metric does not apply to one."""

    family: str
    first: bool | None
    second: bool | None


@dataclass(frozen=True, slots=True)
class Paired:
    """The result of a paired test.

    ``only_first`` and ``only_second``: what favours one system (scenarios for McNemar's test and the permutation,
    families for the sign test); ``ties`` favour neither; ``left_out``: pairs where one outcome does not apply.
    """

    only_first: int
    only_second: int
    ties: int
    left_out: int
    p: float | None


class TooManyPairs(ValueError):
    """The exact distribution over this many families and scenarios would take too long."""


def mcnemar(pairs: Iterable[Pair]) -> Paired:
    """McNemar's exact test: given the discordant pairs, each goes either way with probability 1/2.

    p = min(1, 2 * sum over i <= min(b, c) of C(b + c, i) / 2^(b + c)), b and c the discordant counts (McNemar 1947;
    exact: Fagerland et al. 2013). Assumes that scenarios are independent: see :func:`by_family` where they are not.
    """
    applicable, left_out = _applicable(pairs)
    differences = [first - second for _, first, second in applicable]
    first, second = differences.count(1), differences.count(-1)
    return Paired(first, second, len(differences) - first - second, left_out, binomial(first, second))


def sign_test(pairs: Iterable[Pair]) -> Paired:
    """The exact sign test over families: which system succeeds more often in each, ties left out (Dixon, Mood 1946)."""
    applicable, left_out = _applicable(pairs)
    sums = _by_family(applicable).values()
    first, second = sum([value > 0 for value in sums]), sum([value < 0 for value in sums])
    return Paired(first, second, len(sums) - first - second, left_out, binomial(first, second))


def by_family(pairs: Iterable[Pair]) -> Paired:
    """The exact permutation test with the two systems exchanged in whole families (Good 2005, section 3.6).

    With d_f the difference of successes in family f, p is the share of the 2^F sign vectors s with |sum of s_f d_f| at
    least |sum of d_f|. Computed by convolution over integer sums, not by drawing. With families of one scenario each it
    is McNemar's test. Raises :class:`TooManyPairs`.
    """
    applicable, left_out = _applicable(pairs)
    counted = [first - second for _, first, second in applicable]
    first, second = counted.count(1), counted.count(-1)
    differences = [abs(value) for value in _by_family(applicable).values() if value]
    ties = len(counted) - first - second
    if not differences:
        return Paired(first, second, ties, left_out, None)
    return Paired(first, second, ties, left_out, flipped(differences, abs(first - second)))


def binomial(first: int, second: int) -> float | None:
    """The two-sided exact binomial p of two counts under 1/2; ``None`` for none."""
    n = first + second
    if not n:
        return None
    tail = sum([comb(n, i) for i in range(min(first, second) + 1)])
    return float(min(Fraction(1), Fraction(2 * tail, 2**n)))


def flipped(differences: Sequence[int], observed: int) -> float:
    """The share of sign vectors under which the sum of the differences is at least ``observed`` away from 0."""
    total = sum(differences)
    if total * len(differences) > MOST_OPERATIONS:
        raise TooManyPairs(f"{len(differences)} families with differences of {total} in all")
    ways = {0: 1}
    for difference in differences:
        following: dict[int, int] = {}
        for value, count in ways.items():
            for moved in (value + difference, value - difference):
                following[moved] = following.get(moved, 0) + count
        ways = following
    extreme = sum([count for value, count in ways.items() if abs(value) >= observed])
    return float(Fraction(extreme, 2 ** len(differences)))


def _applicable(pairs: Iterable[Pair]) -> tuple[list[tuple[str, bool, bool]], int]:
    applicable: list[tuple[str, bool, bool]] = []
    left_out = 0
    for pair in pairs:
        if pair.first is None or pair.second is None:
            left_out += 1
        else:
            applicable.append((pair.family, pair.first, pair.second))
    return applicable, left_out


def _by_family(pairs: Iterable[tuple[str, bool, bool]]) -> Mapping[str, int]:
    sums: dict[str, int] = {}
    for family, first, second in pairs:
        sums[family] = sums.get(family, 0) + first - second
    return sums


@dataclass(frozen=True, slots=True)
class Agreement:
    """``observed`` agreement, agreement ``expected`` by chance, and ``kappa``; ``left_out``: items with one answer."""

    observed: Share
    expected: float | None
    kappa: float | None
    left_out: int


def cohen(pairs: Iterable[tuple[str | None, str | None]]) -> Agreement:
    """Kappa = (p_o - p_e) / (1 - p_e), p_e = sum over labels of the product of both judges' shares of it.

    n/a without pairs, and where both judges gave one and the same label throughout (p_e = 1): nothing shows then that
    they look at anything.
    """
    both_rated: list[tuple[str, str]] = []
    left_out = 0
    for first, second in pairs:
        if first is None or second is None:
            left_out += 1
        else:
            both_rated.append((first, second))
    n = len(both_rated)
    observed = Share(sum([first == second for first, second in both_rated]), n)
    if not n:
        return Agreement(observed, None, None, left_out)
    first_counts, second_counts = (
        Counter([first for first, _ in both_rated]),
        Counter([second for _, second in both_rated]),
    )
    chance = sum([count * second_counts[label] for label, count in first_counts.items()])  # n^2 p_e, in whole numbers
    if chance == n * n:
        return Agreement(observed, 1.0, None, left_out)
    kappa = (observed.hits * n - chance) / (n * n - chance)
    return Agreement(observed, chance / (n * n), kappa, left_out)
