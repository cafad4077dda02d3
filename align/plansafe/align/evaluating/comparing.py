"""Runs by method: the runs of a method with different seeds are one group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.metrics.violations import Violations, count


class Group:
    """The runs of one method with one lambda, one for each seed. Raises ``ValueError`` for two runs of a seed."""

    def __init__(self, runs: Sequence[Evaluation]) -> None:
        seeds = [run.method.seed for run in runs]
        if len(set(seeds)) != len(seeds):
            raise ValueError(f"two runs of {runs[0].method.name} have the same seed")
        self.runs = tuple(sorted(runs, key=lambda run: -1 if run.method.seed is None else run.method.seed))
        self.method, self.factor, _ = self.runs[0].method

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.method if self.factor is None else f"{self.method}, lambda {self.factor:g}"

    @cached_property
    def answers(self) -> list[Evaluated]:
        """All answers; samples of different seeds have different numbers."""
        samples = max([int(run.header["settings"]["samples"]) for run in self.runs])
        return [
            Evaluated(record, place * samples + record["sample"])
            for place, run in enumerate(self.runs)
            for record in run.records
        ]

    @cached_property
    def violations(self) -> Violations:
        """The violations by moment and by category of hazard."""
        categories = [category.name for category in safeplan_taxonomy().categories]
        return count([answer.judged for answer in self.answers], categories)

    def with_shift(self, shift: str) -> Group:
        """The same runs, with only the tasks in which this is new."""
        return Group(
            [run._replace(records=[record for record in run.records if record["shift"] == shift]) for run in self.runs]
        )


def grouped(runs: Sequence[Evaluation]) -> list[Group]:
    """The runs by method, in the order of each method's first run. Raises ``ValueError`` as :class:`Group`."""
    by_method: dict[tuple[str, float | None], list[Evaluation]] = {}
    for run in runs:
        by_method.setdefault((run.method.name, run.method.factor), []).append(run)
    return [Group(members) for members in by_method.values()]


def over_lambda(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The methods that were run with several lambdas, in the order of lambda."""
    by_method: dict[str, list[Group]] = {}
    for group in sorted(groups, key=lambda group: group.factor or 0.0):
        if group.factor is not None:
            by_method.setdefault(group.method, []).append(group)
    return {name: members for name, members in by_method.items() if len(members) > 1}
