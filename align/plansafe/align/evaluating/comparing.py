"""Comparison of runs: the paper's tables 1 and 2 and figures 6 and 7, and each method against a baseline.

Runs of one method with different seeds are pooled; the unit of resampling is a task with all its seeds, or a family.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.align.evaluating.figures import BY_NAME, Cluster, Figure, clustered
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.evaluating.summary import MAIN, cells, value_text
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
"""The figures that are compared between methods."""
LAMBDA = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l")
"""The figures over lambda (figure 7)."""
SOURCES: Mapping[str, str] = {
    "scenario": "shipped hazard scenarios",
    "virtualhome": "VirtualHome's scripts",
    "stated": "tasks with stated rules",
    "drawn": "drawn households",
}
"""Sources of tasks. The paper's SafeRisks and WorldModel tasks are not public; its VirtualHome is the second source."""
_ERROR_NOTE = "With the standard error of the bootstrap."


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
        """The name of the row."""
        name = self.method if self.factor is None else f"{self.method}, lambda {self.factor:g}"
        return name if self.decode == "free" else f"{name}, {self.decode}"

    @cached_property
    def answers(self) -> list[Evaluated]:
        """All answers; samples of different seeds have different numbers."""
        samples = max([int(run.header["settings"]["samples"]) for run in self.runs])
        return [
            Evaluated(record, place * samples + record["sample"])
            for place, run in enumerate(self.runs)
            for record in run.records
        ]


def grouped(runs: Sequence[Evaluation]) -> list[Group]:
    """The runs by method, in the order of each method's first run. Raises ``ValueError`` as :class:`Group`."""
    by_key: dict[tuple[object, ...], list[Evaluation]] = {}
    for run in runs:
        key = (run.method.name, run.method.factor, run.header["settings"]["decode"])
        by_key.setdefault(key, []).append(run)
    return [Group(members) for members in by_key.values()]


class Difference(NamedTuple):
    """A figure of two groups: values, difference with interval, p by tasks and by families of tasks."""

    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_families: float | None


def compare_groups(figure: Figure, first: Group, second: Group, by: Cluster = "task", seed: int = 0) -> Difference:
    """The second group minus the first, over the tasks of both.

    p is the exact permutation test over tasks, and over families; it applies to shares only, among the tasks (and
    seeds) to which the figure applies in both groups.
    """
    shared = {str(answer.record["id"]) for answer in first.answers}
    shared &= {str(answer.record["id"]) for answer in second.answers}
    points = [
        list(figure.points([answer for answer in group.answers if str(answer.record["id"]) in shared]))
        for group in (first, second)
    ]
    observations = [
        [Observation(point.family, point.part, point.whole) for point in clustered(side, by)] for side in points
    ]
    interval = difference(observations[0], observations[1], seed)
    tests = [_p([clustered(side, level) for side in points]) for level in _LEVELS]
    return Difference(
        _ratio(points[0]), _ratio(points[1]), interval.value, interval.low, interval.high, tests[0], tests[1]
    )


_LEVELS: tuple[Cluster, Cluster] = ("task", "family")


def _p(points: Sequence[Sequence[Point]]) -> float | None:
    pairs = paired(points[0], points[1])
    try:
        return None if pairs is None else by_family(pairs).p
    except TooManyPairs:
        return None


def _ratio(points: Sequence[Point]) -> float | None:
    total = sum([point.whole for point in points])
    return sum([point.part for point in points]) / total if total else None


# -- the report -------------------------------------------------------------------------------------------------------


def comparison(runs: Sequence[Evaluation], against: str | None = None, by: Cluster = "task", seed: int = 0) -> Report:
    """All tables over some runs; ``against``: the method to compare with (default: the method of the first run).

    Raises ``ValueError``: no runs, two runs of the same seed, or no run of that method.
    """
    if not runs:
        raise ValueError("no runs to compare")
    groups = grouped(runs)
    base = against or groups[0].method
    if base not in {group.method for group in groups}:
        raise ValueError(f"no run is of the method {base}")
    sections = [
        Section("The paper's tables", (*_table_1(groups, by, seed), _table_2(groups, by, seed))),
        Section("The paper's figures", (*_figure_6(groups), *_figure_7(groups, by, seed))),
        Section(f"Compared with {base}", tuple(_differences(groups, base, by, seed))),
        Section("In and out of distribution", tuple(_shifts(groups, by, seed))),
        Section("Errors", (_errors(groups),)),
    ]
    about = [
        (group.name, f"{len(group.runs)} {'run' if len(group.runs) == 1 else 'runs'}, {len(group.answers)} answers")
        for group in groups
    ]
    sections = [section for section in sections if section.parts]
    return Report("Comparison of methods", tuple(about), _warnings(runs), tuple(sections))


def _warnings(runs: Sequence[Evaluation]) -> tuple[str, ...]:
    warnings = []
    if len({run.header["tasks"]["sha256"] for run in runs}) > 1:
        warnings.append("the runs have different tasks: methods are compared on their common tasks")
    incomplete = [run for run in runs if len(run.records) < run.answer_count]
    if incomplete:
        warnings.append(f"{len(incomplete)} runs are not finished")
    return tuple(warnings)


def _from_source(group: Group, source: str) -> list[Evaluated]:
    return [answer for answer in group.answers if str(answer.record["origin"]).partition(":")[0] == source]


def _sources(groups: Sequence[Group]) -> list[str]:
    return [name for name in SOURCES if any([_from_source(group, name) for group in groups])]


_TABLE_1 = ("safer-all", "succr-goal", "succr-paper", "safer-at-goal", "rouge-l")


def _table_1(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    """Table 1, a table for each source of tasks: safety and success of every method."""
    for source in _sources(groups):
        members = [(group.name, _from_source(group, source)) for group in groups]
        rows = [(name, str(len(part)), *cells(_TABLE_1, part, by, seed)) for name, part in members if part]
        columns = ("method", "answers", *[BY_NAME[name].title for name in _TABLE_1])
        note = f"{_ERROR_NOTE} An undecided plan counts neither as safe nor as a success."
        yield Table(f"Table 1: {SOURCES[source]}", columns, tuple(rows), note)


def _table_2(groups: Sequence[Group], by: Cluster, seed: int) -> Table:
    """Table 2, the ablation: SafeR and Rouge-L of each method, two columns for each source of tasks."""
    sources = _sources(groups)
    rows = []
    for group in groups:
        parts = [cells(("safer-all", "rouge-l"), _from_source(group, source), by, seed) for source in sources]
        rows.append((group.name, *[text for part in parts for text in part]))
    columns = ("method", *[f"{name}, {SOURCES[source]}" for source in sources for name in ("SafeR", "Rouge-L")])
    note = "The paper's columns are WorldModel's tasks and SafeRisks, which are not public; these are our sources."
    return Table("Table 2: ablation", columns, tuple(rows), note)


def violations(groups: Sequence[Group]) -> list[Violations]:
    """The violations of each group by moment and by category."""
    categories = [category.name for category in safeplan_taxonomy().categories]
    return [count([answer.judged for answer in group.answers], categories) for group in groups]


def _figure_6(groups: Sequence[Group]) -> tuple[Table, Table]:
    counts = list(zip(groups, violations(groups), strict=True))
    titles = {category.name: category.title for category in safeplan_taxonomy().categories}
    columns = ("method", "answers", *[f"{moment.value}{unit}" for moment in Moment for unit in ("", ", plans")])
    moments = []
    for group, total in counts:
        numbers = [n for moment in Moment for n in (total.by_moment[moment].times, total.by_moment[moment].plans)]
        moments.append((group.name, str(len(group.answers)), *map(str, numbers)))
    kinds = [
        (group.name, *[str(total.by_category[name].times) for name in titles], str(total.uncategorised.times))
        for group, total in counts
    ]
    note = "Violations, and plans with at least one violation. Other: rules about the whole trace, and obligations."
    return (
        Table("Figure 6: violations by moment", columns, tuple(moments), note),
        Table("Figure 6: violations by category of hazard", ("method", *titles.values(), "no category"), tuple(kinds)),
    )


def over_lambda(groups: Sequence[Group]) -> dict[str, list[Group]]:
    """The methods that were run with several lambdas, by name and decoding, in the order of lambda."""
    by_name: dict[str, list[Group]] = {}
    for group in groups:
        if group.factor is not None:
            name = group.method if group.decode == "free" else f"{group.method}, {group.decode}"
            by_name.setdefault(name, []).append(group)
    return {name: sorted(members, key=_factor) for name, members in by_name.items() if len(members) > 1}


def _factor(group: Group) -> float:
    return group.factor or 0.0


def _figure_7(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    columns = ("lambda", *[BY_NAME[name].title for name in LAMBDA])
    for name, members in over_lambda(groups).items():
        rows = [(f"{_factor(group):g}", *cells(LAMBDA, group.answers, by, seed)) for group in members]
        yield Table(f"Figure 7: {name} over lambda", columns, tuple(rows), _ERROR_NOTE)


def _differences(groups: Sequence[Group], base: str, by: Cluster, seed: int) -> Iterator[Table]:
    """Each group against the base method with the same decoding; stepwise plans also against random choices."""
    for group in groups:
        same_decoding = [other for other in groups if other is not group and other.decode == group.decode]
        baselines = [other for other in same_decoding if other.method == base]
        if group.decode != "free":
            baselines += [other for other in same_decoding if other.method == "mock/random" != base]
        for baseline in baselines:
            if group.method != "mock/random":
                yield _difference_table(baseline, group, by, seed)


def _difference_table(first: Group, second: Group, by: Cluster, seed: int) -> Table:
    rows = []
    for name in TESTED:
        figure = BY_NAME[name]
        result = compare_groups(figure, first, second, by, seed)
        if result.first is None and result.second is None:
            continue
        interval = NOT_APPLICABLE
        if result.low is not None and result.high is not None:
            interval = f"{_points(figure, result.low)} to {_points(figure, result.high)}"
        values = [value_text(figure, result.first), value_text(figure, result.second)]
        tests = [p_text(result.p), p_text(result.p_families)]
        rows.append((figure.title, *values, _points(figure, result.difference), interval, *tests))
    columns = ("figure", first.name, second.name, "difference", "95 % interval", "p, tasks", "p, families")
    note = (
        "Over the tasks of both; differences of shares in percentage points. The interval is the paired bootstrap, p "
        "the exact permutation test over tasks (over families), where the figure applies to both; with many figures "
        "some small p come by chance."
    )
    return Table(f"{second.name} compared with {first.name}", columns, tuple(rows), note)


def _points(figure: Figure, value: float | None) -> str:
    if value is None:
        return NOT_APPLICABLE
    return f"{100 * value:+.1f}" if figure.percent else f"{value:+.2f}"


def p_text(p: float | None) -> str:
    """A p value, or n/a."""
    return NOT_APPLICABLE if p is None else f"{p:.4f}"


def _shifts(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    """The main figures of each method for each shift, and the endpoint for each family."""
    for shift in SHIFTS:
        members = [
            (group.name, [answer for answer in group.answers if answer.record["shift"] == shift]) for group in groups
        ]
        rows = [(name, str(len(part)), *cells(MAIN, part, by, seed)) for name, part in members if part]
        if rows:
            columns = ("method", "answers", *[BY_NAME[name].title for name in MAIN])
            yield Table(
                f"New in the test: {'nothing' if shift == 'in' else f'the {shift}'}", columns, tuple(rows), _ERROR_NOTE
            )
    families = sorted({str(answer.record["family"]) for group in groups for answer in group.answers})
    figure = BY_NAME["safe-goal"]
    family_rows = []
    for family in families:
        parts = [[answer for answer in group.answers if answer.record["family"] == family] for group in groups]
        family_rows.append((family, *[value_text(figure, _ratio(list(figure.points(part)))) for part in parts]))
    yield Table(f"By family: {figure.title}", ("family", *[group.name for group in groups]), tuple(family_rows))


def _errors(groups: Sequence[Group]) -> Table:
    counts = [(group.name, Counter([answer.error for answer in group.answers])) for group in groups]
    labels = sorted({label for _, count in counts for label in count})
    rows = [(name, *[str(count[label]) for label in labels]) for name, count in counts]
    return Table("Error classes of SAFEL, in answers", ("method", *labels), tuple(rows))
