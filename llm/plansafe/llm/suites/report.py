"""A report as data: what was run, tables and plots; the renderers beside this file write it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent
from plansafe.llm.suites.figures import Estimate, Figure, estimate
from plansafe.llm.suites.scoring import Scores
from plansafe.llm.suites.task import Statistics


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
    """A whole report. ``about``: what was run, each by name; ``warnings``: what makes its figures worth less."""

    title: str
    about: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]


class Cost(NamedTuple):
    """What a run's questions took: tokens as far as the provider says them (``silent``: answers that it said none of).

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


def share_of(found: Estimate) -> str:
    """The figure in percent; n/a with nothing below the line."""
    return percent(found.interval.value)


def with_error(found: Estimate) -> str:
    """The figure with its standard error, as papers print it."""
    if found.interval.error is None:
        return share_of(found)
    return f"{percent(found.interval.value)} ± {100 * found.interval.error:.1f}"


def detail(figures: Iterable[Figure], found: Estimates) -> Table:
    """Each figure with its counts, interval and standard error; those that nothing applies to are left out."""
    rows = []
    for figure in figures:
        one = found[figure.name]
        if one.whole == 0:
            continue
        known = one.interval
        span = NOT_APPLICABLE if known.low is None else f"{percent(known.low)} to {percent(known.high)}"
        error = NOT_APPLICABLE if known.error is None else f"{100 * known.error:.1f}"
        counts = f"{_number(one.part)} / {_number(one.whole)}"
        rows.append((figure.title, percent(known.value), counts, span, error, str(known.families)))
    note = (
        "The interval is the 95 % percentile bootstrap over families of scenarios, the error its standard deviation, "
        "in percentage points."
    )
    columns = ("figure", "value", "of", "95 % interval", "standard error", "families")
    return Table("Every figure", columns, tuple(rows), note)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def bars(figures: Iterable[Figure], found: Estimates) -> tuple[Bar, ...]:
    """Figures as bars, those that nothing applies to left out."""
    return tuple(
        [
            Bar(figure.title, known.value, known.low, known.high)
            for figure in figures
            if (known := found[figure.name].interval).value is not None
        ]
    )


def statistics(found: Statistics) -> tuple[Section, ...]:
    """What the data are about, where they are known."""
    if not found.tasks:
        return ()
    steps = sorted(found.steps)
    middle = str(steps[len(steps) // 2]) if steps else NOT_APPLICABLE
    rows = (
        ("tasks", str(found.tasks)),
        ("families", str(found.families)),
        ("malicious", str(found.harmful)),
        ("to be refused", str(found.refused)),
        ("steps of the reference plans, median", middle),
    )
    tables = [Table("Tasks", ("", "number"), rows)]
    for title, counted in (
        ("Types of hazard", found.hazards),
        ("Targets of harm", found.targets),
        ("SafePlan-Bench's categories", found.categories),
        ("Types of things (in how many tasks)", found.objects),
    ):
        ordered = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:40]
        if ordered:
            tables.append(Table(title, ("", "tasks"), tuple([(name, str(count)) for name, count in ordered])))
    return (Section("Data", tuple(tables)),)


def costs(rows: Iterable[ModelScores]) -> tuple[Table, ...]:
    """What the questions took, where that is known."""
    known = [(one.model, one.cost) for one in rows if one.cost is not None]
    if not known:
        return ()
    columns = ("model", "questions", "calls", "tokens read", "tokens written", "cut", "no answer")
    body = []
    for model, cost in known:
        figures = (cost.questions, cost.calls, cost.prompt_tokens, cost.completion_tokens, cost.cut, cost.failed)
        body.append((model, *[f"{figure:,}" for figure in figures]))
    return (Table("Cost", columns, tuple(body), "Cut: answers that ended at the limit of tokens."),)


def warnings(rows: Iterable[ModelScores]) -> tuple[str, ...]:
    """What makes the figures worth less: questions without an answer, tasks without a prediction."""
    found = []
    for one in rows:
        if one.scores.unanswered:
            found.append(f"{one.model}: {one.scores.unanswered} questions have no answer; they count as wrong")
        for module, missing in one.scores.missing.items():
            if missing:
                found.append(f"{one.model}: {missing} tasks have no prediction for {module.value} and are not counted")
    return tuple(found)
