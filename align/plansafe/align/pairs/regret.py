"""The regret of each step of a pair's plans, and the point of no return of its unsafe plan."""

from __future__ import annotations

from dataclasses import replace

from plansafe.align.records import Both, Pair
from plansafe.align.tasks import task_of
from plansafe.align.weights import weights_of
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.regrets import Grade, RegretCalculator

SECONDS = 5.0
"""Time for a plan; the bounds of the search are reached before on most machines, so that the results agree."""


def with_regret(pair: Pair, calculator: RegretCalculator, grade: Grade, seconds: float = SECONDS) -> Pair:
    """The pair with ``regret``, ``grade``, ``no_return`` and the weights that follow from them."""
    plans = [Source("plan", plan) for plan in (pair.chosen, pair.rejected)]
    chosen, rejected = calculator.compute(plans, grade, seconds)
    low, high = rejected.point_of_no_return
    pair = replace(
        pair,
        regret=Both(chosen.regret, rejected.regret),
        grade=Both(tuple([step.value for step in chosen.grade]), tuple([step.value for step in rejected.grade])),
        no_return=(low, high) if low >= 0 else None,
    )
    return replace(pair, weights=weights_of(pair))


class RegretOfPairs:
    """Computes the regret of pairs of any tasks; a task is compiled once for consecutive pairs."""

    def __init__(self, grade: Grade, data: str | None) -> None:
        self._grade = grade
        self._data = data
        self._origin = ""
        self._calculator: RegretCalculator | None = None

    def __call__(self, pair: Pair) -> Pair:
        """The pair with its regret. Raises what :func:`~plansafe.align.tasks.task_of` raises."""
        if self._calculator is None or pair.origin != self._origin:
            self._origin, self._calculator = pair.origin, RegretCalculator(task_of(pair.origin, self._data).checker)
        return with_regret(pair, self._calculator, self._grade, SECONDS)
