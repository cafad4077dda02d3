"""Two runs of the same questions side by side: each figure, and whether the difference could be chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plansafe.llm.bench.figures import Figure, Point, estimate
from plansafe.llm.bench.report import ModelScores, Report, Section, Table
from plansafe.llm.metrics.paired import Pair, TooManyPairs, by_family
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

_NOTE = (
    "Only questions that both runs answered in both count for p and for what differs; values are of the whole "
    "runs. p is the exact two-sided permutation test by families of scenarios, for shares and for recalled literals; "
    "with many figures some small p come by chance."
)


class Compared(NamedTuple):
    """One figure of two runs. ``better`` and ``worse``: what the second has more or fewer of; ``p`` as above."""

    title: str
    first: float | None
    second: float | None
    better: int
    worse: int
    p: float | None
    tested: bool


def compare(
    first: ModelScores, second: ModelScores, figures: Sequence[Figure], about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The comparison as a report."""
    rows = []
    for figure_pair in compared(first, second, figures, seed):
        gain = NOT_APPLICABLE
        if figure_pair.first is not None and figure_pair.second is not None:
            gain = f"{100 * (figure_pair.second - figure_pair.first):+.1f}"
        differs = (
            (str(figure_pair.better), str(figure_pair.worse))
            if figure_pair.tested
            else (NOT_APPLICABLE, NOT_APPLICABLE)
        )
        p = NOT_APPLICABLE if figure_pair.p is None else f"{figure_pair.p:.4f}"
        rows.append((figure_pair.title, percent(figure_pair.first), percent(figure_pair.second), gain, *differs, p))
    columns = ("figure", "first", "second", "difference", "second only", "first only", "p")
    table = Table(f"{first.model} and {second.model}", columns, tuple(rows), _NOTE)
    return Report("Comparison of two runs", tuple(about), (), (Section("Figures", (table,)),))


def compared(first: ModelScores, second: ModelScores, figures: Iterable[Figure], seed: int = 0) -> Iterator[Compared]:
    """Each figure that applies to either run."""
    for figure in figures:
        first_points, second_points = list(figure.points(first.scores)), list(figure.points(second.scores))
        if not any([point.whole for point in (*first_points, *second_points)]):
            continue
        values = estimate(first_points, seed).interval.value, estimate(second_points, seed).interval.value
        pairs = paired(first_points, second_points)
        if pairs is None:
            yield Compared(figure.title, *values, 0, 0, None, tested=False)
            continue
        try:
            test = by_family(pairs)
        except TooManyPairs:
            yield Compared(figure.title, *values, 0, 0, None, tested=False)
            continue
        yield Compared(figure.title, *values, test.only_second, test.only_first, test.p, tested=True)


def paired(first: Iterable[Point], second: Iterable[Point]) -> list[Pair] | None:
    """The outcomes of two runs on the questions of both; of recalled literals as many pairs as one run has more.

    ``None`` if the figure is not a count. If a question has different denominators in the two runs (F1,
    means), nothing is paired.
    """
    first_by_key = {point.key: point for point in first}
    pairs: list[Pair] = []
    for point in second:
        counterpart = first_by_key.get(point.key)
        if counterpart is None:
            continue
        if point.whole != counterpart.whole or any([value != int(value) for value in (point.part, counterpart.part)]):
            return None
        if point.whole == 1:
            pairs.append(Pair(point.family, counterpart.part == 1, point.part == 1))
            continue
        more = int(counterpart.part - point.part)  # of the first run
        pairs += [Pair(point.family, more > 0, more < 0)] * abs(more)
    return pairs
