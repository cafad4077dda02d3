"""The report of runs: methods side by side in each population of tasks, the paper's tables and figures, mistakes.

Populations are never pooled: tasks of known families and rules, of held-out families, with held-out rules, and of
another world are in sections of their own.

The paper's figures 6 and 7 as SVG, by matplotlib (extra ``plots``).
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from plansafe.align.evaluating.comparing import Group, compare, conclusion, grouped, holm, over_lambda
from plansafe.align.evaluating.figures import BY_NAME, FIGURES, Cluster, Figure, estimated
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.llm.bench.figures import Estimate
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.bench.report import Bar, Plot, Report, Section, Table
from plansafe.llm.metrics.bootstrap import Interval
from plansafe.llm.metrics.judged import Moment
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

ENDPOINT = BY_NAME["safe-goal"]
"""The figure by which methods are tested."""
MAIN = ("safe-goal", "safer-all", "safer-executable", "succr-goal", "safer-at-goal", "executable", "rouge-l", "length")
PAPER = ("safer-all", "succr-goal", "succr-paper", "safer-at-goal", "rouge-l")
"""The figures of the paper's tables 1 and 2."""
LAMBDA = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l")
"""The figures over lambda (figure 7)."""
POPULATIONS: Mapping[str, str] = {
    "in": "Known families and rules",
    "family": "Held-out families",
    "rule": "Held-out rules",
    "world": "Another world",
}
"""The titles of populations, by what is new in their tasks."""
SOURCES: Mapping[str, str] = {
    "scenario": "hazard scenarios",
    "virtualhome": "VirtualHome's scripts",
    "stated": "tasks with stated rules",
    "drawn": "drawn households",
}
"""Sources of tasks. The paper's SafeRisks and WorldModel tasks are not public; its VirtualHome is the second source."""
MAX_LABELS = 30
"""Rows of a table of rules or classes."""
_ERROR_NOTE = "With the standard error of the bootstrap."


def compared(
    runs: Sequence[Evaluation],
    tested: str | None = None,
    by: Cluster = "task",
    seed: int = 0,
    title: str = "Comparison of methods",
    about: Iterable[tuple[str, str]] = (),
) -> Report:
    """The report of some runs. ``tested``: the method that is tested against the others (default: the first one).

    Raises ``ValueError``: no runs, two runs of the same seed, or no run of that method.
    """
    if not runs:
        raise ValueError("no runs to compare")
    groups = grouped(runs)
    tested = tested or groups[0].name
    if tested not in {name for group in groups for name in (group.method, group.name)}:
        raise ValueError(f"no run is of the method {tested}")
    tested = next(group.name for group in groups if tested in (group.name, group.method))
    sections = []
    for shift, name in POPULATIONS.items():
        members = [member for group in groups if (member := group.with_shift(shift)).answers]
        if members:
            sections.append(Section(name, tuple(_population(name, members, tested, by, seed))))
    paper = (*_table_1(groups, by, seed), *_figure_6(groups), *_figure_7(groups, by, seed))
    sections += [Section("The paper's tables and figures", paper), Section("Mistakes", tuple(_mistakes(groups)))]
    sizes = [(group.name, f"runs: {len(group.runs)}, answers: {len(group.answers)}") for group in groups]
    return Report(title, (*about, *sizes), _warnings(runs), tuple(sections))


def evaluation_report(run: Evaluation, by: Cluster = "task") -> Report:
    """The report of one run, with its settings and costs."""
    header, method = run.header, run.method
    cpu_s = sum([float(record["cpu_s"]) for record in run.records])
    tokens = sum([int(record["cost"]["completion_tokens"]) for record in run.records])
    about = [
        ("lambda", NOT_APPLICABLE if method.factor is None else f"{method.factor:g}"),
        ("seed", NOT_APPLICABLE if method.seed is None else str(method.seed)),
        ("model", str(header["model"])),
        ("tasks", str(header["tasks"]["count"])),
        ("tokens written", str(tokens)),
        ("tokens a CPU second", f"{tokens / cpu_s:.1f}" if cpu_s and tokens else NOT_APPLICABLE),
        *[(str(name), str(value)) for name, value in header["settings"].items()],
    ]
    return compared([run], by=by, title=f"Evaluation of {method.name}", about=about)


def _warnings(runs: Sequence[Evaluation]) -> tuple[str, ...]:
    warnings = []
    if len({run.header["tasks"]["sha256"] for run in runs}) > 1:
        warnings.append("the runs have different tasks: methods are tested on their common tasks")
    incomplete = len([run for run in runs if not run.is_complete])
    if incomplete:
        warnings.append(f"{incomplete} runs are not finished")
    return tuple(warnings)


# -- populations ------------------------------------------------------------------------------------------------------


def _population(name: str, groups: Sequence[Group], tested: str, by: Cluster, seed: int) -> Iterator[Table | Plot]:
    if len(groups) == 1:
        yield _every_figure(name, groups[0].answers, by, seed)
    else:
        if tested in [group.name for group in groups]:
            yield _tests(name, groups, tested)
        rows = [(group.name, str(len(group.answers)), *cells(MAIN, group.answers, by, seed)) for group in groups]
        columns = ("method", "answers", *[BY_NAME[figure].title for figure in MAIN])
        yield Table(f"{name}: figures", columns, tuple(rows), _ERROR_NOTE)
    yield _plot(groups, by, seed)
    yield _families(groups)


def _tests(name: str, groups: Sequence[Group], tested: str) -> Table:
    """A method against every other one by the endpoint, corrected for their number."""
    treatment = next(group for group in groups if group.name == tested)
    results = [(group.name, compare(group, treatment)) for group in groups if group is not treatment]
    tests = [(method, test) for method, test in results if test is not None]
    corrected = holm([test.p for _, test in tests])
    rows = [
        (
            method,
            value_text(ENDPOINT, test.first),
            f"{100 * test.difference:+.1f}",
            f"{100 * test.low:+.1f} to {100 * test.high:+.1f}",
            f"{test.positive_seeds} of {test.seeds}",
            f"{test.p:.4f}",
            f"{p:.4f}",
            conclusion(test, p),
        )
        for (method, test), p in zip(tests, corrected, strict=True)
    ]
    share = value_text(ENDPOINT, tests[0][1].second) if tests else ""
    columns = ("against", ENDPOINT.title, "difference", "95 % interval", "seeds above", "p", "p, Holm", tested)
    note = (
        f"{tested}: {share} {ENDPOINT.title}. Difference: {tested} minus the other method in points, the mean over "
        "families. Interval: bootstrap over seeds and families. p: signs of whole families, two-sided. Ahead or "
        "behind: Holm's p below 0.05, and the interval excludes 0."
    )
    return Table(f"{name}: {tested} against the other methods", columns, tuple(rows), note)


def _every_figure(name: str, answers: Sequence[Evaluated], by: Cluster, seed: int) -> Table:
    rows = []
    for figure in FIGURES:
        estimate = estimated(figure, answers, by, seed)
        counts = f"{estimate.part:.2f} / {estimate.whole:.2f}".replace(".00", "")
        value = value_text(figure, estimate.interval.value)
        rows.append((figure.title, value, counts, _span(figure, estimate.interval)))
    unit = "tasks" if by == "task" else "families of tasks"
    note = f"95 % percentile bootstrap over {unit}; n/a: the denominator is 0."
    return Table(f"{name}: every figure", ("figure", "value", "of", "95 % interval"), tuple(rows), note)


def _plot(groups: Sequence[Group], by: Cluster, seed: int) -> Plot:
    intervals = [(group.name, estimated(ENDPOINT, group.answers, by, seed).interval) for group in groups]
    bars = [
        Bar(f"{name} ({_span(ENDPOINT, interval)})", interval.value, interval.low, interval.high)
        for name, interval in intervals
    ]
    return Plot(ENDPOINT.title, tuple(bars))


def _families(groups: Sequence[Group]) -> Table:
    """The endpoint by family."""
    rows = []
    for family in sorted({str(answer.record["family"]) for group in groups for answer in group.answers}):
        parts = [[answer for answer in group.answers if answer.record["family"] == family] for group in groups]
        values = [estimated(ENDPOINT, part).interval.value for part in parts]
        rows.append((family, *[value_text(ENDPOINT, value) for value in values]))
    return Table(f"By family: {ENDPOINT.title}", ("family", *[group.name for group in groups]), tuple(rows))


# -- the paper --------------------------------------------------------------------------------------------------------


def _table_1(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    """The figures of tables 1 and 2, a table for each source of tasks."""
    for source, title in SOURCES.items():
        rows = []
        for group in groups:
            part = [answer for answer in group.answers if str(answer.record["origin"]).partition(":")[0] == source]
            if part:
                rows.append((group.name, str(len(part)), *cells(PAPER, part, by, seed)))
        if rows:
            columns = ("method", "answers", *[BY_NAME[name].title for name in PAPER])
            note = f"{_ERROR_NOTE} An undecided plan counts neither as safe nor as a success."
            yield Table(f"Tables 1 and 2: {title}", columns, tuple(rows), note)


def _figure_6(groups: Sequence[Group]) -> tuple[Table, Table]:
    columns = ("method", *[f"{moment.value}{unit}" for moment in Moment for unit in ("", ", plans")])
    moments = []
    for group in groups:
        occurrences = [group.violations.by_moment[moment] for moment in Moment]
        moments.append((group.name, *[str(number) for row in occurrences for number in (row.times, row.plans)]))
    titles = {category.name: category.title for category in safeplan_taxonomy().categories}
    kinds = [
        (
            group.name,
            *[str(group.violations.by_category[name].times) for name in titles],
            str(group.violations.uncategorised.times),
        )
        for group in groups
    ]
    note = "Violations, and plans with at least one violation. Other: rules about the whole trace, and obligations."
    return (
        Table("Figure 6: violations by moment", columns, tuple(moments), note),
        Table("Figure 6: violations by category of hazard", ("method", *titles.values(), "no category"), tuple(kinds)),
    )


def _figure_7(groups: Sequence[Group], by: Cluster, seed: int) -> Iterator[Table]:
    columns = ("lambda", *[BY_NAME[name].title for name in LAMBDA])
    for name, members in over_lambda(groups).items():
        rows = [(f"{group.factor:g}", *cells(LAMBDA, group.answers, by, seed)) for group in members]
        yield Table(f"Figure 7: {name} over lambda", columns, tuple(rows), _ERROR_NOTE)


# -- mistakes, and figures as texts -----------------------------------------------------------------------------------


def _mistakes(groups: Sequence[Group]) -> Iterator[Table]:
    yield _counts("Error classes of SAFEL, in answers", groups, lambda answer: [answer.error])
    yield _counts("Classes of findings, in answers", groups, lambda answer: dict.fromkeys(answer.judged.classes))
    yield _counts("Violated rules", groups, lambda answer: [violation.rule for violation in answer.judged.violations])


def _counts(title: str, groups: Sequence[Group], labels_of: Callable[[Evaluated], Iterable[str]]) -> Table:
    """The number of answers, or of violations, with each label, by method; the most frequent labels first."""
    counts = [Counter([label for answer in group.answers for label in labels_of(answer)]) for group in groups]
    total = sum(counts, Counter[str]())
    labels = sorted(total, key=lambda label: (-total[label], label))[:MAX_LABELS]
    rows = [(label, *[str(count[label]) for count in counts]) for label in labels]
    return Table(title, ("", *[group.name for group in groups]), tuple(rows))


def value_text(figure: Figure, value: float | None) -> str:
    """A value of a figure: in percent, or as a number."""
    return percent(value) if value is None or figure.percent else f"{value:.2f}"


def cells(names: Iterable[str], answers: Sequence[Evaluated], by: Cluster, seed: int) -> list[str]:
    """Some figures of some answers, by their names, each with its standard error."""
    return [_cell(BY_NAME[name], estimated(BY_NAME[name], answers, by, seed)) for name in names]


def _cell(figure: Figure, estimate: Estimate) -> str:
    value, error = estimate.interval.value, estimate.interval.error
    if error is None or value is None:
        return value_text(figure, value)
    return f"{value_text(figure, value)} ± {f'{100 * error:.1f}' if figure.percent else f'{error:.2f}'}"


def _span(figure: Figure, interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return NOT_APPLICABLE
    return f"{value_text(figure, interval.low)} to {value_text(figure, interval.high)}"


_SETTINGS: Any = {"svg.hashsalt": "safecheck", "svg.fonttype": "path", "text.parse_math": False}


class NoPlots(Exception):
    """Matplotlib is not installed."""


Rows = Mapping[str, Sequence[Interval]]
"""For each name, a value with its interval at each place of a plot; ``None`` where a figure does not apply."""


def plots(groups: Sequence[Group], by: Cluster = "task", seed: int = 0) -> dict[str, str]:
    """Each plot as SVG, by the name of its file without extension. Raises :class:`NoPlots`."""

    def interval(group: Group, name: str) -> Interval:
        return estimated(BY_NAME[name], group.answers, by, seed).interval

    titles = {category.name: category.title for category in safeplan_taxonomy().categories}
    moments = {group.name: [interval(group, f"breaks-{moment.value}") for moment in Moment] for group in groups}
    counts = {group.name: [group.violations.by_category[name].times for name in titles] for group in groups}
    kinds = {name: [Interval(float(times), None, None, 0) for times in row] for name, row in counts.items()}
    drawings = {
        "figure-6-moments": bars(
            "Answers that break a rule, by moment (figure 6)", [moment.value for moment in Moment], moments
        ),
        "figure-6-categories": bars("Violations by category of hazard (figure 6)", [*titles.values()], kinds),
    }
    for number, (name, members) in enumerate(over_lambda(groups).items(), 1):
        rows = {BY_NAME[figure].title: [interval(group, figure) for group in members] for figure in LAMBDA}
        title = f"{name} over lambda, the weight of the common prefix"
        factors = [group.factor or 0.0 for group in members]
        drawings["figure-7" if number == 1 else f"figure-7-{number}"] = curves(title, factors, rows)
    return drawings


def bars(title: str, places: Sequence[str], rows: Rows) -> str:
    """Bars in groups: one group for each place, one bar for each row."""

    def draw(axes: Any) -> None:
        width = 0.8 / max(1, len(rows))
        for number, (name, row) in enumerate(rows.items()):
            positions = [place + (number + 0.5) * width - 0.4 for place in range(len(places))]
            axes.bar(positions, [interval.value or 0.0 for interval in row], width, label=name, yerr=_errors(row))
        turned = len(places) > 4
        axes.set_xticks(range(len(places)), places, rotation=25 if turned else 0, ha="right" if turned else "center")

    return _svg(title, draw)


def curves(title: str, places: Sequence[float], rows: Rows) -> str:
    """Lines over numbers with intervals; a figure that does not apply leaves a gap."""

    def draw(axes: Any) -> None:
        for name, row in rows.items():
            values = [math.nan if interval.value is None else interval.value for interval in row]
            axes.errorbar(places, values, yerr=_errors(row), label=name, marker="o", capsize=2)
        axes.set_xticks(places)

    return _svg(title, draw)


def _errors(row: Sequence[Interval]) -> list[list[float]]:
    """The distances from the values to the ends of their intervals, as matplotlib wants them."""
    below, above = [0.0] * len(row), [0.0] * len(row)
    for place, interval in enumerate(row):
        if interval.value is not None and interval.low is not None and interval.high is not None:
            below[place] = max(interval.value - interval.low, 0.0)
            above[place] = max(interval.high - interval.value, 0.0)
    return [below, above]


def _svg(title: str, draw: Any) -> str:
    try:
        import matplotlib  # noqa: PLC0415 - an extra, slow to import
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise NoPlots from error
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(10, 5), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(title)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside right upper", fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
