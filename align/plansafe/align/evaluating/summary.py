"""The report of one evaluation: figures with intervals, by family and by shift, errors, violations, rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from plansafe.align.evaluating.figures import BY_NAME, FIGURES, Cluster, Figure, estimated
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.evaluating.tasks import SHIFTS
from plansafe.llm.bench.figures import Estimate
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.bench.report import Bar, Plot, Report, Section, Table
from plansafe.llm.metrics.bootstrap import Interval
from plansafe.llm.metrics.judged import Moment
from plansafe.llm.metrics.shares import NOT_APPLICABLE, Share, percent
from plansafe.llm.metrics.violations import by_rule, count

MAIN = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "executable", "rouge-l", "length")
"""The figures of each group of tasks."""
MAX_RULES = 30
_STEPWISE = ("kept", "named")
"""Figures of plans that were built step by step."""


def summary(run: Evaluation, by: Cluster = "task", seed: int = 0) -> Report:
    """The report of a run. Raises :class:`~plansafe.llm.metrics.fields.BadField` for malformed records."""
    answers = run.evaluated
    sections = [
        Section("Figures", (all_figures(answers, by, seed), _plot(answers, by, seed))),
        Section("In and out of distribution", tuple(_groups(answers, by, seed))),
        Section("Mistakes", (_errors(answers), *violations_of(answers), _classes(answers))),
    ]
    return Report(f"Evaluation of {run.method.name}", _about(run), (), tuple(sections))


def all_figures(answers: Sequence[Evaluated], by: Cluster, seed: int) -> Table:
    """Each figure with counts and interval."""
    rows = []
    for figure in FIGURES:
        estimate = estimated(figure, answers, by, seed)
        if figure.name in _STEPWISE and not estimate.whole:
            continue
        counts = f"{_number(estimate.part)} / {_number(estimate.whole)}"
        rows.append(
            (figure.title, value_text(figure, estimate.interval.value), counts, span(figure, estimate.interval))
        )
    unit = "tasks" if by == "task" else "families of tasks"
    note = f"95 % percentile bootstrap over {unit}; n/a: the denominator is 0."
    return Table("Every figure", ("figure", "value", "of", "95 % interval"), tuple(rows), note)


def value_text(figure: Figure, value: float | None) -> str:
    """A value of a figure: in percent, or as a number."""
    if value is None or figure.percent:
        return percent(value)
    return f"{value:.2f}"


def span(figure: Figure, interval: Interval) -> str:
    """An interval of a figure."""
    if interval.low is None or interval.high is None:
        return NOT_APPLICABLE
    return f"{value_text(figure, interval.low)} to {value_text(figure, interval.high)}"


def cell(figure: Figure, estimate: Estimate) -> str:
    """A figure with its standard error, as papers print it."""
    value, error = estimate.interval.value, estimate.interval.error
    if error is None or value is None:
        return value_text(figure, value)
    return f"{value_text(figure, value)} ± {f'{100 * error:.1f}' if figure.percent else f'{error:.2f}'}"


def cells(names: Iterable[str], answers: Sequence[Evaluated], by: Cluster, seed: int) -> list[str]:
    """Some figures of some answers, by their names, each with its standard error."""
    return [cell(BY_NAME[name], estimated(BY_NAME[name], answers, by, seed)) for name in names]


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def _plot(answers: Sequence[Evaluated], by: Cluster, seed: int) -> Plot:
    figures = [BY_NAME[name] for name in MAIN if name != "length"]
    intervals = [(figure, estimated(figure, answers, by, seed).interval) for figure in figures]
    bars = [Bar(figure.title, interval.value, interval.low, interval.high) for figure, interval in intervals]
    return Plot("Main figures", tuple(bars))


def _groups(answers: Sequence[Evaluated], by: Cluster, seed: int) -> Iterator[Table]:
    tables: tuple[tuple[str, Callable[[Evaluated], str], Sequence[str]], ...] = (
        ("By novelty of the task", lambda answer: str(answer.record["shift"]), SHIFTS),
        ("By world", lambda answer: str(answer.record["world"]), ()),
        ("By source of the task", lambda answer: str(answer.record["origin"]).partition(":")[0], ()),
        ("By split", lambda answer: str(answer.record["split"]), ()),
        ("By family", lambda answer: str(answer.record["family"]), ()),
    )
    for title, group_of, order in tables:
        groups: dict[str, list[Evaluated]] = {name: [] for name in order}
        for answer in answers:
            groups.setdefault(group_of(answer), []).append(answer)
        rows = [
            (name, str(len(members)), *cells(MAIN, members, by, seed))
            for name, members in (groups.items() if order else sorted(groups.items()))
            if members
        ]
        columns = ("", "answers", *[BY_NAME[name].title for name in MAIN])
        yield Table(title, columns, tuple(rows), "With the standard error of the bootstrap.")


def _errors(answers: Sequence[Evaluated]) -> Table:
    note = "One label for each answer, by the first check that fails (docs/metrics.md)."
    return _counted("Error classes of SAFEL", "label", [answer.error for answer in answers], len(answers), note)


def _classes(answers: Sequence[Evaluated]) -> Table:
    names = [name for answer in answers for name in dict.fromkeys(answer.judged.classes)]
    note = "An answer counts in each class of which it has a finding."
    return _counted("Classes of findings", "class", names, len(answers), note)


def _counted(title: str, column: str, names: Iterable[str], total: int, note: str) -> Table:
    rows = [(name, str(times), str(Share(times, total))) for name, times in Counter(names).most_common()]
    return Table(title, (column, "answers", "of all"), tuple(rows), note)


def violations_of(answers: Sequence[Evaluated]) -> tuple[Table, ...]:
    """Violations by moment, by category of hazard, and by rule (Safe-BeAl, figure 6)."""
    categories = {category.name: category.title for category in safeplan_taxonomy().categories}
    plans = [answer.judged for answer in answers]
    counts = count(plans, categories)
    moments = [(moment.value, counts.by_moment[moment]) for moment in Moment]
    kinds = [(categories.get(name, name), occurrences) for name, occurrences in counts.by_category.items()]
    kinds += [("no category", counts.uncategorised)] if counts.uncategorised.times else []
    incomplete = f" {counts.incomplete} plans have more findings than are listed." if counts.incomplete else ""
    columns = ("", "violations", "plans")
    rules = list(by_rule(plans).items())[:MAX_RULES]
    return (
        Table(
            "Violations by moment (figure 6)",
            columns,
            tuple([(name, str(occurrences.times), str(occurrences.plans)) for name, occurrences in moments]),
            "Other: rules about the whole trace, and obligations." + incomplete,
        ),
        Table(
            "Violations by category of hazard (figure 6)",
            columns,
            tuple([(name, str(occurrences.times), str(occurrences.plans)) for name, occurrences in kinds]),
            "SafePlan-Bench's categories; a violation may belong to several.",
        ),
        Table("Violated rules", ("rule", "violations"), tuple([(name, str(times)) for name, times in rules])),
    )


def _about(run: Evaluation) -> tuple[tuple[str, str], ...]:
    header, method = run.header, run.method
    cpu_s = sum([float(record["cpu_s"]) for record in run.records])
    tokens = sum([int(record["cost"]["completion_tokens"]) for record in run.records])
    rows = [
        ("method", method.name),
        ("lambda", NOT_APPLICABLE if method.factor is None else f"{method.factor:g}"),
        ("seed", NOT_APPLICABLE if method.seed is None else str(method.seed)),
        ("model", str(header["model"])),
        ("tasks", str(header["tasks"]["count"])),
        ("answers", f"{len(run.records)} of {run.answer_count}"),
        ("tokens written", str(tokens)),
        ("tokens a CPU second", f"{tokens / cpu_s:.1f}" if cpu_s and tokens else NOT_APPLICABLE),
    ]
    return (*rows, *[(str(name), str(value)) for name, value in header["settings"].items()])
