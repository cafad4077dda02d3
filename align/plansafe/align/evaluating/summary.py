"""The report of one evaluation: figures with intervals, by family and by shift, errors, violations, rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

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
"""What is told of each group of tasks."""
_MOST_RULES = 30
_STEPWISE = ("kept", "named")
"""Told where plans were built step by step."""


def summary(run: Evaluation, by: Cluster = "task", seed: int = 0) -> Report:
    """The whole report of a run. Raises :class:`~plansafe.llm.metrics.fields.BadField` for records that are none."""
    found = run.evaluated
    sections = [
        Section("Figures", (every(found, by, seed), _plot(found, by, seed))),
        Section("In and out of distribution", tuple(_groups(found, by, seed))),
        Section("What is wrong", (_errors(found), *violated(found), _classes(found))),
    ]
    return Report(f"Evaluation of {run.method.name}", _about(run), (), tuple(sections))


def figures_of(found: Sequence[Evaluated], by: Cluster = "task", seed: int = 0) -> dict[str, Estimate]:
    """All figures by name."""
    return {one.name: estimated(one, found, by, seed) for one in FIGURES}


def every(found: Sequence[Evaluated], by: Cluster, seed: int) -> Table:
    """Each figure with counts and interval."""
    rows = []
    for figure in FIGURES:
        one = estimated(figure, found, by, seed)
        if figure.name in _STEPWISE and not one.whole:
            continue
        counts = f"{_number(one.part)} / {_number(one.whole)}"
        rows.append((figure.title, shown(figure, one.interval.value), counts, span(figure, one.interval)))
    note = f"95 % percentile bootstrap over {_drawn(by)}; n/a: nothing below the line."
    return Table("Every figure", ("figure", "value", "of", "95 % interval"), tuple(rows), note)


def shown(figure: Figure, value: float | None) -> str:
    """A value of a figure: in percent, or as a number."""
    if value is None or figure.percent:
        return percent(value)
    return f"{value:.2f}"


def span(figure: Figure, known: Interval) -> str:
    """An interval of a figure."""
    if known.low is None or known.high is None:
        return NOT_APPLICABLE
    return f"{shown(figure, known.low)} to {shown(figure, known.high)}"


def cell(figure: Figure, one: Estimate) -> str:
    """A figure with its standard error, as papers print it."""
    known = one.interval
    if known.error is None or known.value is None:
        return shown(figure, known.value)
    error = f"{100 * known.error:.1f}" if figure.percent else f"{known.error:.2f}"
    return f"{shown(figure, known.value)} ± {error}"


def _drawn(by: Cluster) -> str:
    return "tasks" if by == "task" else "families of tasks"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def _plot(found: Sequence[Evaluated], by: Cluster, seed: int) -> Plot:
    chosen = [BY_NAME[name] for name in MAIN if name != "length"]
    values = [(figure, estimated(figure, found, by, seed).interval) for figure in chosen]
    return Plot("Main figures", tuple([Bar(figure.title, one.value, one.low, one.high) for figure, one in values]))


def _groups(found: Sequence[Evaluated], by: Cluster, seed: int) -> Iterator[Table]:
    names: tuple[tuple[str, Callable[[Evaluated], str], Sequence[str]], ...] = (
        ("By what training did not see", lambda one: str(one.record["shift"]), SHIFTS),
        ("By world", lambda one: str(one.record["world"]), ()),
        ("By where tasks are from", lambda one: str(one.record["origin"]).partition(":")[0], ()),
        ("By split", lambda one: str(one.record["split"]), ()),
        ("By family", lambda one: str(one.record["family"]), ()),
    )
    for title, group, order in names:
        kept: dict[str, list[Evaluated]] = {name: [] for name in order}
        for one in found:
            kept.setdefault(group(one), []).append(one)
        rows = [
            (name, str(len(some)), *[cell(BY_NAME[one], estimated(BY_NAME[one], some, by, seed)) for one in MAIN])
            for name, some in (kept.items() if order else sorted(kept.items()))
            if some
        ]
        columns = ("", "tasks", *[BY_NAME[one].title for one in MAIN])
        yield Table(title, columns, tuple(rows), "With the standard error of the bootstrap.")


def _errors(found: Sequence[Evaluated]) -> Table:
    counted = Counter([one.error for one in found])
    rows = [(name, str(times), str(Share(times, len(found)))) for name, times in counted.most_common()]
    note = "One label for each answer, by the first check that fails (docs/metrics.md)."
    return Table("Error classes of SAFEL", ("label", "answers", "of all"), tuple(rows), note)


def _classes(found: Sequence[Evaluated]) -> Table:
    counted = Counter([name for one in found for name in dict.fromkeys(one.judged.classes)])
    rows = [(name, str(times), str(Share(times, len(found)))) for name, times in counted.most_common()]
    note = "An answer counts in each class that it has a finding of."
    return Table("Classes of findings", ("class", "answers", "of all"), tuple(rows), note)


def violated(found: Sequence[Evaluated]) -> tuple[Table, ...]:
    """Violations by when they happen, by category of hazard, and by rule (Safe-BeAl, figure 6)."""
    categories = {one.name: one.title for one in safeplan_taxonomy().categories}
    plans = [one.judged for one in found]
    counted = count(plans, categories)
    moments = [(one.value, counted.by_moment[one]) for one in Moment]
    kinds = [(categories.get(name, name), one) for name, one in counted.by_category.items()]
    kinds += [("no category", counted.uncategorised)] if counted.uncategorised.times else []
    incomplete = f" {counted.incomplete} plans have more findings than are listed." if counted.incomplete else ""
    columns = ("", "violations", "plans")
    return (
        Table(
            "Violations by when they happen (figure 6)",
            columns,
            tuple([(name, str(one.times), str(one.plans)) for name, one in moments]),
            "Other: rules about the whole trace, and obligations." + incomplete,
        ),
        Table(
            "Violations by category of hazard (figure 6)",
            columns,
            tuple([(name, str(one.times), str(one.plans)) for name, one in kinds]),
            "SafePlan-Bench's categories; a violation may belong to several.",
        ),
        Table(
            "Violated rules",
            ("rule", "violations"),
            tuple([(name, str(times)) for name, times in list(by_rule(plans).items())[:_MOST_RULES]]),
        ),
    )


def _about(run: Evaluation) -> tuple[tuple[str, str], ...]:
    header, method = run.header, run.method
    spent = [float(record["cpu_s"]) for record in run.records]
    tokens = sum([int(record["cost"]["completion_tokens"]) for record in run.records])
    rate = f"{tokens / sum(spent):.1f}" if sum(spent) and tokens else NOT_APPLICABLE
    found = [
        ("method", method.name),
        ("lambda", NOT_APPLICABLE if method.factor is None else f"{method.factor:g}"),
        ("seed", NOT_APPLICABLE if method.seed is None else str(method.seed)),
        ("model", str(header["model"])),
        ("tasks", str(header["tasks"]["count"])),
        ("answers", f"{len(run.records)} of {run.answer_count}"),
        ("tokens written", str(tokens)),
        ("tokens a CPU second", rate),
    ]
    return (*found, *[(str(name), str(value)) for name, value in header["settings"].items()])
