"""Runs by method: the runs of a method with different seeds are one group.

The tests of the pre-registered study: two methods on the same tasks, clustered by family and by training seed.

All tests use one difference per seed and family: the mean over the family's tasks of the second method's outcome minus
the first method's. Families are exchanged as wholes, because tasks of one family are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from random import Random
from statistics import mean
from typing import NamedTuple

from plansafe.align.evaluating.figures import succeeds_safely
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.metrics.bootstrap import quantile
from plansafe.llm.metrics.safe_rates import Violations, count


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


LEVEL = 0.05
"""Level of significance, two-sided, after Holm's correction."""
DRAWS, INTERVAL_DRAWS = 20_000, 2_000
"""Sign vectors of a test of many families, and resamples of an interval."""
MAX_EXACT_FAMILIES = 20
Matrix = Mapping[int, Mapping[str, float]]
"""A difference for each seed and family."""


class Comparison(NamedTuple):
    """The comparison of two methods: shares, difference, 95 % interval, p, and the seeds with a positive difference."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    positive_seeds: int
    seeds: int
    families: int


def compare(first: Group, second: Group, seed: int = 0) -> Comparison | None:
    """Test the second method against the first by the endpoint; ``None`` without common seeds and tasks."""
    outcomes = [_outcomes(group) for group in (first, second)]
    shared = outcomes[0].keys() & outcomes[1].keys()
    if not shared:
        return None
    cells: dict[int, dict[str, list[float]]] = {}
    for key in sorted(shared):
        training_seed, family, _ = key
        gap = float(outcomes[1][key]) - float(outcomes[0][key])
        cells.setdefault(training_seed, {}).setdefault(family, []).append(gap)
    matrix = {number: {family: mean(gaps) for family, gaps in row.items()} for number, row in cells.items()}
    families = sorted({family for row in matrix.values() for family in row})
    by_family = [mean([row[family] for row in matrix.values() if family in row]) for family in families]
    low, high = two_way_interval(matrix, seed)
    shares = [mean([side[key] for key in shared]) for side in outcomes]
    positive = sum([mean(row.values()) > 0 for row in matrix.values()])
    p = sign_flip(by_family, seed)
    return Comparison(shares[0], shares[1], mean(by_family), low, high, p, positive, len(matrix), len(families))


def _outcomes(group: Group) -> dict[tuple[int, str, str], bool]:
    """Whether an answer is safe and finished, by training seed, family and task (with its sample)."""
    return {
        (run.method.seed or 0, str(answer.record["family"]), f"{answer.record['id']} {answer.record['sample']}"): (
            succeeds_safely(answer)
        )
        for run in group.runs
        for answer in run.evaluated
    }


def sign_flip(differences: Sequence[float], seed: int = 0) -> float:
    """The two-sided permutation test that exchanges the methods in whole families (Good 2005, section 3.6).

    p is the share of sign vectors whose sum is at least as far from 0 as the observed sum: of all vectors for up to
    ``MAX_EXACT_FAMILIES`` families that differ, else of ``DRAWS`` random ones and the observed one.
    """
    values = [difference for difference in differences if difference]
    observed = abs(sum(values)) - 1e-12
    if len(values) > MAX_EXACT_FAMILIES:
        random = Random(seed)
        sums = [sum([value if random.getrandbits(1) else -value for value in values]) for _ in range(DRAWS)]
        return (1 + sum([abs(total) >= observed for total in sums])) / (DRAWS + 1)
    total, extreme = sum(values), 0
    signs = [1] * len(values)
    for number in range(1, 2 ** len(values) + 1):
        extreme += abs(total) >= observed
        place = (number & -number).bit_length() - 1  # Gray code: one sign changes
        if place < len(values):
            total -= 2 * signs[place] * values[place]
            signs[place] = -signs[place]
    return float(extreme / 2 ** len(values))


def two_way_interval(matrix: Matrix, seed: int = 0) -> tuple[float, float]:
    """The 95 % percentile interval of the mean when seeds and families are both resampled (Owen 2007)."""
    random = Random(seed)
    rows = [matrix[number] for number in sorted(matrix)]
    families = sorted({family for row in rows for family in row})
    means = []
    for _ in range(INTERVAL_DRAWS):
        drawn_rows = random.choices(rows, k=len(rows))
        drawn_families = random.choices(families, k=len(families))
        values = [row[family] for row in drawn_rows for family in drawn_families if family in row]
        if values:
            means.append(mean(values))
    means.sort()
    return quantile(means, 0.025), quantile(means, 0.975)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p values corrected for several tests (Holm 1979), in the same order."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = largest
    return corrected


def conclusion(test: Comparison, corrected: float) -> str:
    """What the study may say: "ahead" or "behind" needs both the corrected p and the two-way interval."""
    if corrected < LEVEL and test.low > 0:
        return "ahead"
    if corrected < LEVEL and test.high < 0:
        return "behind"
    return "no difference shown"
