"""The regret of each step of a pair's plans, and the point of no return of its unsafe plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from plansafe.align.records import Both, Pair
from plansafe.align.tasks import task_of
from plansafe.align.weights import weights_of
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.regrets import Grade, RegretCalculator

SECONDS = 5.0
"""Time for a plan; the bounds of the search are reached before on most machines, so that the results agree."""


def with_regret(pair: Pair, calculator: RegretCalculator, grade: Grade) -> Pair:
    """The pair with ``regret``, ``grade``, ``no_return`` and the weights that follow from them."""
    plans = [Source("plan", plan) for plan in (pair.chosen, pair.rejected)]
    chosen, rejected = calculator.compute(plans, grade, SECONDS)
    low, high = rejected.point_of_no_return
    pair = replace(
        pair,
        regret=Both(chosen.regret, rejected.regret),
        grade=Both(tuple([step.value for step in chosen.grade]), tuple([step.value for step in rejected.grade])),
        no_return=(low, high) if low >= 0 else None,
    )
    return replace(pair, weights=weights_of(pair))


def regret_adder(grade: Grade, data: str | None) -> Callable[[Pair], Pair]:
    """A function that adds the regret to pairs of any tasks; a task is compiled once for consecutive pairs."""

    @lru_cache(maxsize=1)
    def calculator(origin: str) -> RegretCalculator:
        return RegretCalculator(task_of(origin, data).checker)

    return lambda pair: with_regret(pair, calculator(pair.origin), grade)
