"""What each step of a chosen pair costs, and its point of no return: too dear to be asked of all candidates."""

from __future__ import annotations

from dataclasses import replace

from plansafe.align.records import Both, Pair
from plansafe.align.records import Grade as Name
from plansafe.align.tasks import task_of
from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.regrets import Grade, PlanRegrets, RegretCalculator

_NAMES: dict[Grade, Name] = {
    Grade.PROVED: "proved",
    Grade.FOUND: "found",
    Grade.ESTIMATE: "estimate",
    Grade.UNKNOWN: "unknown",
}
SECONDS = 5.0
"""For a plan; bounds of the search decide before, so that machines agree."""


class Regretting:
    """Fills in ``regret``, ``grade`` and ``no_return``. Pairs of one task in a row have it made once."""

    def __init__(self, grade: Grade, data: str | None) -> None:
        self._grade = grade
        self._data = data
        self._origin = ""
        self._asked: RegretCalculator | None = None

    def __call__(self, pair: Pair) -> Pair:
        """The pair with what was found. Raises what :func:`~plansafe.align.tasks.task_of` raises."""
        if self._asked is None or pair.origin != self._origin:
            self._origin, self._asked = pair.origin, RegretCalculator(task_of(pair.origin, self._data).checker)
        plans = [Source("plan", plan) for plan in (pair.chosen, pair.rejected)]
        chosen, rejected = self._asked.compute(plans, self._grade, SECONDS)
        low, high = rejected.point_of_no_return
        return replace(
            pair,
            regret=Both(chosen.regret, rejected.regret),
            grade=Both(_names(chosen), _names(rejected)),
            no_return=(low, high) if low >= 0 else None,
        )


def _names(found: PlanRegrets) -> tuple[Name, ...]:
    return tuple([_NAMES[grade] for grade in found.grade])
