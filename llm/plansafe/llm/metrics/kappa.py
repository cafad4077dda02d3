"""Cohen's kappa: how far two judges agree beyond chance (Cohen 1960)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from plansafe.llm.metrics.shares import Share


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
