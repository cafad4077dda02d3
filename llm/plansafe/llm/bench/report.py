"""A report as data: provenance, tables and plots. `report_text.py` renders it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.llm.bench.figures import Estimate, Figure, estimate
from plansafe.llm.bench.scoring import Scores
from plansafe.llm.bench.task import Statistics
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent


class Table(NamedTuple):
    """A table: the first column is text, the others are figures. ``note`` says what one has to know to read it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Bar(NamedTuple):
    """One bar: a share with its interval, or a count (``of``: the count that fills the plot)."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None


class Plot(NamedTuple):
    """Bars from 0 to ``most``; ``percent``: they are shares."""

    title: str
    bars: tuple[Bar, ...]
    most: float = 1.0
    percent: bool = True


class Section(NamedTuple):
    """A part of a report."""

    title: str
    parts: tuple[Table | Plot, ...]


class Report(NamedTuple):
    """A whole report. ``about``: the provenance, by name; ``warnings``: reasons to doubt its figures."""

    title: str
    about: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]


class Cost(NamedTuple):
    """The cost of a run's questions. ``silent``: answers for which the provider reported no tokens.

    ``cut``: answers that ended at the limit of tokens; ``failed``: questions without an answer.
    """

    questions: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    silent: int = 0
    cut: int = 0
    failed: int = 0


class ModelScores(NamedTuple):
    """What the tables have of one model."""

    model: str
    scores: Scores
    cost: Cost | None = None


Estimates = Mapping[str, Estimate]


def estimates(scores: Scores, figures: Iterable[Figure], seed: int) -> Estimates:
    """All figures of one run by name."""
    return {figure.name: estimate(figure.points(scores), seed) for figure in figures}


def share_of(figure: Estimate) -> str:
    """The figure in percent; n/a with nothing below the line."""
    return percent(figure.interval.value)


def with_error(figure: Estimate) -> str:
    """The figure with its standard error, as papers print it."""
    if figure.interval.error is None:
        return share_of(figure)
    return f"{percent(figure.interval.value)} ± {100 * figure.interval.error:.1f}"


def detail(figures: Iterable[Figure], estimates_by_name: Estimates) -> Table:
    """Each figure with its counts, interval and standard error; those that nothing applies to are left out."""
    rows = []
    for figure in figures:
        ratio = estimates_by_name[figure.name]
        if ratio.whole == 0:
            continue
        bootstrap = ratio.interval
        span = NOT_APPLICABLE if bootstrap.low is None else f"{percent(bootstrap.low)} to {percent(bootstrap.high)}"
        error = NOT_APPLICABLE if bootstrap.error is None else f"{100 * bootstrap.error:.1f}"
        counts = f"{_number(ratio.part)} / {_number(ratio.whole)}"
        rows.append((figure.title, percent(bootstrap.value), counts, span, error, str(bootstrap.families)))
    note = (
        "The interval is the 95 % percentile bootstrap over families of scenarios, the error its standard deviation, "
        "in percentage points."
    )
    columns = ("figure", "value", "of", "95 % interval", "standard error", "families")
    return Table("Every figure", columns, tuple(rows), note)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def bars(figures: Iterable[Figure], estimates_by_name: Estimates) -> tuple[Bar, ...]:
    """Figures as bars, those that nothing applies to left out."""
    return tuple(
        [
            Bar(figure.title, bootstrap.value, bootstrap.low, bootstrap.high)
            for figure in figures
            if (bootstrap := estimates_by_name[figure.name].interval).value is not None
        ]
    )


def statistics(task_statistics: Statistics) -> tuple[Section, ...]:
    """What the data are about, where they are known."""
    if not task_statistics.tasks:
        return ()
    steps = sorted(task_statistics.steps)
    middle = str(steps[len(steps) // 2]) if steps else NOT_APPLICABLE
    rows = (
        ("tasks", str(task_statistics.tasks)),
        ("families", str(task_statistics.families)),
        ("malicious", str(task_statistics.harmful)),
        ("to be refused", str(task_statistics.refused)),
        ("steps of the reference plans, median", middle),
    )
    tables = [Table("Tasks", ("", "number"), rows)]
    for title, counted in (
        ("Types of hazard", task_statistics.hazards),
        ("Targets of harm", task_statistics.targets),
        ("SafePlan-Bench's categories", task_statistics.categories),
        ("Types of things (in how many tasks)", task_statistics.objects),
    ):
        ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:40]
        if ordered:
            tables.append(Table(title, ("", "tasks"), tuple([(name, str(count)) for name, count in ordered])))
    return (Section("Data", tuple(tables)),)


def costs(rows: Iterable[ModelScores]) -> tuple[Table, ...]:
    """What the questions took, where that is known."""
    model_costs = [(row.model, row.cost) for row in rows if row.cost is not None]
    if not model_costs:
        return ()
    columns = ("model", "questions", "calls", "tokens read", "tokens written", "cut", "no answer")
    body = []
    for model, cost in model_costs:
        figures = (cost.questions, cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cut, cost.failed)
        body.append((model, *[f"{figure:,}" for figure in figures]))
    return (Table("Cost", columns, tuple(body), "Cut: answers that ended at the limit of tokens."),)


def warnings(rows: Iterable[ModelScores]) -> tuple[str, ...]:
    """What makes the figures worth less: questions without an answer, tasks without a prediction."""
    messages = []
    for row in rows:
        if row.scores.unanswered:
            messages.append(f"{row.model}: {row.scores.unanswered} questions have no answer; they count as wrong")
        for module, missing in row.scores.missing.items():
            if missing:
                messages.append(
                    f"{row.model}: {missing} tasks have no prediction for {module.value} and are not counted"
                )
    return tuple(messages)
