"""Two runs of the same questions side by side: each figure, and whether the difference could be chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from plansafe.llm.metrics.paired import Pair, TooManyPairs, by_family
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent
from plansafe.llm.suites.figures import Figure, Point, estimate
from plansafe.llm.suites.report import ModelScores, Report, Section, Table

_NOTE = (
    "Only questions that both runs answered in both count for p and for what differs; values are those of the whole "
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
    for one in compared(first, second, figures, seed):
        gain = NOT_APPLICABLE
        if one.first is not None and one.second is not None:
            gain = f"{100 * (one.second - one.first):+.1f}"
        differs = (str(one.better), str(one.worse)) if one.tested else (NOT_APPLICABLE, NOT_APPLICABLE)
        p = NOT_APPLICABLE if one.p is None else f"{one.p:.4f}"
        rows.append((one.title, percent(one.first), percent(one.second), gain, *differs, p))
    columns = ("figure", "first", "second", "difference", "second only", "first only", "p")
    table = Table(f"{first.model} and {second.model}", columns, tuple(rows), _NOTE)
    return Report("Comparison of two runs", tuple(about), (), (Section("Figures", (table,)),))


def compared(first: ModelScores, second: ModelScores, figures: Iterable[Figure], seed: int = 0) -> Iterator[Compared]:
    """Each figure that applies to either run."""
    for figure in figures:
        one, other = list(figure.points(first.scores)), list(figure.points(second.scores))
        if not any([point.whole for point in (*one, *other)]):
            continue
        values = estimate(one, seed).interval.value, estimate(other, seed).interval.value
        pairs = paired(one, other)
        if pairs is None:
            yield Compared(figure.title, *values, 0, 0, None, tested=False)
            continue
        try:
            found = by_family(pairs)
        except TooManyPairs:
            yield Compared(figure.title, *values, 0, 0, None, tested=False)
            continue
        yield Compared(figure.title, *values, found.only_second, found.only_first, found.p, tested=True)


def paired(first: Iterable[Point], second: Iterable[Point]) -> list[Pair] | None:
    """The outcomes of two runs on the questions of both; of recalled literals as many pairs as one run has more.

    ``None`` where the figure is no count. Where the same question has another number below the line in each run (F1,
    means), nothing is paired.
    """
    known = {point.key: point for point in first}
    found: list[Pair] = []
    for point in second:
        other = known.get(point.key)
        if other is None:
            continue
        if point.whole != other.whole or any([value != int(value) for value in (point.part, other.part)]):
            return None
        if point.whole == 1:
            found.append(Pair(point.family, other.part == 1, point.part == 1))
            continue
        more = int(other.part - point.part)  # of the first run
        found += [Pair(point.family, more > 0, more < 0)] * abs(more)
    return found
