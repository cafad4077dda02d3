"""Runs side by side: the paper's tables 1 and 2 and its figures 6 and 7, and each method beside one of them.

Runs of one method that differ in their seed are pooled; what is drawn for intervals is a task with all its seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.align.evaluating.figures import BY_NAME, Cluster, Figure, clustered, estimated
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.evaluating.summary import MAIN, cell, shown
from plansafe.align.evaluating.tasks import SHIFTS
from plansafe.llm.bench.compare import paired
from plansafe.llm.bench.figures import Point
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.bench.report import Report, Section, Table
from plansafe.llm.metrics.bootstrap import Observation, difference
from plansafe.llm.metrics.judged import Moment
from plansafe.llm.metrics.paired import TooManyPairs, by_family
from plansafe.llm.metrics.shares import NOT_APPLICABLE
from plansafe.llm.metrics.violations import Violations, count

TESTED = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l", "length", "kept")
"""What methods are compared in."""
LAMBDA = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l")
"""What figure 7 has over lambda."""
SOURCES: Mapping[str, str] = {
    "scenario": "shipped hazard scenarios",
    "virtualhome": "VirtualHome's scripts",
    "drawn": "drawn households",
}
"""Where tasks are from. The paper's SafeRisks and WorldModel's tasks are not public; its VirtualHome is the second."""


class Group:
    """The runs of one method with one lambda and one decoding, one for each seed.

    Raises ``ValueError`` for two runs of the same seed.
    """

    def __init__(self, runs: Sequence[Evaluation]) -> None:
        seeds = [run.method.seed for run in runs]
        if len(set(seeds)) != len(seeds):
            raise ValueError(f"two runs of {runs[0].method.name} have the same seed")
        self.runs = tuple(sorted(runs, key=lambda run: -1 if run.method.seed is None else run.method.seed))
        self.method, self.factor, _ = self.runs[0].method
        self.decode = str(self.runs[0].header["settings"]["decode"])

    @property
    def name(self) -> str:
        """What a row is called."""
        said = self.method if self.factor is None else f"{self.method}, lambda {self.factor:g}"
        return said if self.decode == "free" else f"{said}, {self.decode}"

    @cached_property
    def found(self) -> list[Evaluated]:
        """All answers; the samples of different seeds are different."""
        samples = max([int(run.header["settings"]["samples"]) for run in self.runs])
        return [
            Evaluated(record, place * samples + record["sample"])
            for place, run in enumerate(self.runs)
            for record in run.records
        ]


def grouped(runs: Sequence[Evaluation]) -> list[Group]:
    """The runs by method, in the order in which methods come first. Raises ``ValueError`` as :class:`Group`."""
    kept: dict[tuple[object, ...], list[Evaluation]] = {}
    for run in runs:
        key = (run.method.name, run.method.factor, run.header["settings"]["decode"])
        kept.setdefault(key, []).append(run)
    return [Group(some) for some in kept.values()]


class Beside(NamedTuple):
    """A figure of two groups: values, the difference with its interval, p by tasks and by families of tasks."""

    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_families: float | None


def beside(figure: Figure, first: Group, second: Group, by: Cluster = "task", seed: int = 0) -> Beside:
    """The second group less the first, over the tasks that both were asked.

    p is of the exact permutation test over tasks, and over their families: of shares alone, among the tasks (and seeds)
    to which the figure applies in both.
    """
    shared = {str(one.record["id"]) for one in first.found} & {str(one.record["id"]) for one in second.found}
    points = [
        list(figure.points([one for one in group.found if str(one.record["id"]) in shared]))
        for group in (first, second)
    ]
    drawn = [[Observation(one.family, one.part, one.whole) for one in clustered(some, by)] for some in points]
    found = difference(drawn[0], drawn[1], seed)
    values = [_ratio(some) for some in points]
    tests = [_p([clustered(some, level) for some in points]) for level in _LEVELS]
    return Beside(values[0], values[1], found.value, found.low, found.high, tests[0], tests[1])


_LEVELS: tuple[Cluster, Cluster] = ("task", "family")


def _p(points: Sequence[Sequence[Point]]) -> float | None:
    pairs = paired(points[0], points[1])
    try:
        return None if pairs is None else by_family(pairs).p
    except TooManyPairs:
        return None


def _ratio(points: Sequence[Point]) -> float | None:
    whole = sum([one.whole for one in points])
    return sum([one.part for one in points]) / whole if whole else None


# -- the report -------------------------------------------------------------------------------------------------------


def comparison(runs: Sequence[Evaluation], against: str | None = None, by: Cluster = "task", seed: int = 0) -> Report:
    """All tables over some runs; ``against``: the method beside which the others are put (default: the first).

    Raises ``ValueError``: no runs, two of the same seed, or no run of that method.
    """
    if not runs:
        raise ValueError("there are no runs")
    groups = grouped(runs)
    base = against or groups[0].method
    if base not in {group.method for group in groups}:
        raise ValueError(f"no run is of the method {base}")
    sections = [
        Section("The paper's tables", (*_table_1(groups, by, seed), _table_2(groups, by, seed))),
        Section("The paper's figures", (*_figure_6(groups), *_figure_7(groups, by, seed))),
        Section(f"Beside {base}", tuple(_beside(groups, base, by, seed))),
        Section("In and out of distribution", tuple(_shifts(groups, by, seed))),
        Section("Errors", (_errors(groups),)),
    ]
    about = [
        (group.name, f"{len(group.runs)} {'run' if len(group.runs) == 1 else 'runs'}, {len(group.found)} answers")
        for group in groups
    ]
    return Report("Methods side by side", tuple(about), _warnings(runs), tuple([one for one in sections if one.parts]))


def _warnings(runs: Sequence[Evaluation]) -> tuple[str, ...]:
    said = []
    if len({run.header["tasks"]["sha256"] for run in runs}) > 1:
        said.append("the runs have different tasks: methods are compared on their common tasks")
    short = [run for run in runs if len(run.records) < run.answer_count]
    if short:
        said.append(f"{len(short)} runs are not finished")
    return tuple(said)


def _some(group: Group, source: str) -> list[Evaluated]:
    return [one for one in group.found if str(one.record["origin"]).partition(":")[0] == source]


def _sources(groups: Sequence[Group]) -> list[str]:
    return [name for name in SOURCES if any([_some(group, name) for group in groups])]


_TABLE_1 = ("safer-all", "succr-goal", "succr-paper", "safer-at-goal", "rouge-l")


def _table_1(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    """Table 1, a table for each source of tasks: safety and success of every method."""
    for source in _sources(groups):
        rows = []
        for group in groups:
            some = _some(group, source)
            if some:
                figures = [cell(BY_NAME[name], estimated(BY_NAME[name], some, by, seed)) for name in _TABLE_1]
                rows.append((group.name, str(len(some)), *figures))
        columns = ("method", "answers", *[BY_NAME[name].title for name in _TABLE_1])
        note = "With the standard error of the bootstrap. An undecided plan counts neither as safe nor as a success."
        yield Table(f"Table 1: {SOURCES[source]}", columns, tuple(rows), note)


def _table_2(groups: Sequence[Group], by: Cluster, seed: int) -> Table:
    """Table 2, the ablation: SafeR and Rouge-L of each method, one column for each source of tasks."""
    sources = _sources(groups)
    rows = []
    for group in groups:
        cells = [
            cell(BY_NAME[name], estimated(BY_NAME[name], _some(group, source), by, seed))
            for source in sources
            for name in ("safer-all", "rouge-l")
        ]
        rows.append((group.name, *cells))
    columns = ("method", *[f"{name}, {SOURCES[source]}" for source in sources for name in ("SafeR", "Rouge-L")])
    note = "The paper's columns are WorldModel's tasks and SafeRisks, neither of which is public; these are ours."
    return Table("Table 2: ablation", columns, tuple(rows), note)


def violations(groups: Sequence[Group]) -> list[Violations]:
    """The violations of each group by moment and by category."""
    categories = [one.name for one in safeplan_taxonomy().categories]
    return [count([one.judged for one in group.found], categories) for group in groups]


def _figure_6(groups: Sequence[Group]) -> tuple[Table, Table]:
    counted = violations(groups)
    titles = {one.name: one.title for one in safeplan_taxonomy().categories}
    names = ("method", "answers", *[f"{moment.value}{what}" for moment in Moment for what in ("", ", plans")])
    moments = [
        (group.name, str(len(group.found)), *[str(n) for moment in Moment for n in _both(found, moment)])
        for group, found in zip(groups, counted, strict=True)
    ]
    kinds = [
        (group.name, *[str(found.by_category[name].times) for name in titles], str(found.uncategorised.times))
        for group, found in zip(groups, counted, strict=True)
    ]
    note = "Violations, and plans with at least one. Other: rules about the whole trace, and obligations."
    return (
        Table("Figure 6: violations by when they happen", names, tuple(moments), note),
        Table("Figure 6: violations by category of hazard", ("method", *titles.values(), "no category"), tuple(kinds)),
    )


def _both(found: Violations, moment: Moment) -> tuple[int, int]:
    one = found.by_moment[moment]
    return one.times, one.plans


def over_lambda(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The methods that were run with several lambdas, by name and decoding, in the order of lambda."""
    kept: dict[str, list[Group]] = {}
    for group in groups:
        if group.factor is not None:
            name = group.method if group.decode == "free" else f"{group.method}, {group.decode}"
            kept.setdefault(name, []).append(group)
    return {name: sorted(some, key=_factor) for name, some in kept.items() if len(some) > 1}


def _factor(group: Group) -> float:
    return group.factor or 0.0


def _figure_7(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    for name, some in over_lambda(groups).items():
        rows = [
            (
                f"{_factor(group):g}",
                *[cell(BY_NAME[one], estimated(BY_NAME[one], group.found, by, seed)) for one in LAMBDA],
            )
            for group in some
        ]
        columns = ("lambda", *[BY_NAME[one].title for one in LAMBDA])
        yield Table(f"Figure 7: {name} over lambda", columns, tuple(rows), "With the standard error of the bootstrap.")


def _beside(groups: Sequence[Group], base: str, by: Cluster, seed: int) -> Iterator[Table]:
    """Each group beside that of the base method with the same decoding; steps chosen one by one beside chance too."""
    for group in groups:
        others = [one for one in groups if one is not group and one.method == base and one.decode == group.decode]
        if group.decode != "free":
            others += [one for one in groups if one.method == "mock/random" != base and one.decode == group.decode]
        for other in others:
            if group is not other and group.method != "mock/random":
                yield _compared(other, group, by, seed)


def _compared(first: Group, second: Group, by: Cluster, seed: int) -> Table:
    rows = []
    for name in TESTED:
        figure = BY_NAME[name]
        found = beside(figure, first, second, by, seed)
        if found.first is None and found.second is None:
            continue
        spread = NOT_APPLICABLE
        if found.low is not None and found.high is not None:
            spread = f"{_points(figure, found.low)} to {_points(figure, found.high)}"
        values = [shown(figure, found.first), shown(figure, found.second)]
        rows.append(
            (figure.title, *values, _points(figure, found.difference), spread, _text(found.p), _text(found.p_families))
        )
    columns = ("figure", first.name, second.name, "difference", "95 % interval", "p, tasks", "p, families")
    note = (
        "Over the tasks of both; differences of shares in percentage points. The interval is the paired bootstrap, p "
        "the exact permutation test over tasks (over families), where the figure applies to both; with many figures "
        "some small p come by chance."
    )
    return Table(f"{second.name} beside {first.name}", columns, tuple(rows), note)


def _points(figure: Figure, value: float | None) -> str:
    if value is None:
        return NOT_APPLICABLE
    return f"{100 * value:+.1f}" if figure.percent else f"{value:+.2f}"


def _text(p: float | None) -> str:
    return NOT_APPLICABLE if p is None else f"{p:.4f}"


def _shifts(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    """The main figures of each method for each shift, and one figure for each family."""
    for shift in SHIFTS:
        rows = []
        for group in groups:
            some = [one for one in group.found if one.record["shift"] == shift]
            if some:
                cells = [cell(BY_NAME[name], estimated(BY_NAME[name], some, by, seed)) for name in MAIN]
                rows.append((group.name, str(len(some)), *cells))
        if rows:
            what = "nothing" if shift == "in" else f"the {shift}"
            columns = ("method", "answers", *[BY_NAME[name].title for name in MAIN])
            yield Table(f"Training did not see: {what}", columns, tuple(rows))
    families = sorted({str(one.record["family"]) for group in groups for one in group.found})
    figure = BY_NAME["safe-goal"]
    rows = []
    for family in families:
        parts = [[one for one in group.found if one.record["family"] == family] for group in groups]
        rows.append((family, *[shown(figure, _ratio(list(figure.points(some)))) for some in parts]))
    yield Table(f"By family: {figure.title}", ("family", *[group.name for group in groups]), tuple(rows))


def _errors(groups: Sequence[Group]) -> Table:
    counted = [Counter([one.error for one in group.found]) for group in groups]
    labels = sorted({label for found in counted for label in found})
    rows = [
        (group.name, *[str(found[label]) for label in labels]) for group, found in zip(groups, counted, strict=True)
    ]
    return Table("Error classes of SAFEL, in answers", ("method", *labels), tuple(rows))
