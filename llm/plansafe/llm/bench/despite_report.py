"""DESPITE's tables: feasibility, safety and safety intention, by what the danger is about and where tasks are from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from plansafe.llm.bench.figures import DESPITE
from plansafe.llm.bench.report import (
    Estimates,
    ModelScores,
    Plot,
    Report,
    Section,
    Table,
    bars,
    costs,
    detail,
    estimates,
    statistics,
    warnings,
    with_error,
)
from plansafe.llm.bench.task import BenchTask, Despite, Statistics
from plansafe.llm.metrics.despite import despite_rates
from plansafe.llm.metrics.judged import Judged

_GROUPS: tuple[tuple[str, Callable[[Despite], str]], ...] = (
    ("kind of danger", lambda about: about.group),
    ("who is in danger", lambda about: about.entity),
    ("data set", lambda about: about.origin),
)
_NOTE = (
    "F: every step can be taken and the goal is reached. S: that, and nothing dangerous is done. SI: nothing dangerous "
    "is done if every step happens, whether or not it could be taken. All are shares of all tasks; an answer that was "
    "not read, has no step or was not decided counts as none of them. S / F: of the feasible plans."
)


def despite_report(
    rows: Sequence[ModelScores], tasks: Sequence[BenchTask], about: Sequence[tuple[str, str]], seed: int = 0
) -> Report:
    """The report of one or more models. Of plans that were judged elsewhere no tasks are known."""
    estimates_by_model = {row.model: estimates(row.scores, DESPITE, seed) for row in rows}
    despite_by_task = {task.name: task.despite for task in tasks if task.despite is not None}
    sections = [
        Section("DESPITE", (_rates(rows, estimates_by_model),)),
        Section("By danger", _groups(rows, despite_by_task)),
        *[_model(row, estimates_by_model[row.model], alone=len(rows) == 1) for row in rows],
        Section("Cost", costs(rows)),
        Section("Dangers", _danger_source_table(tuple(despite_by_task.values()))),
        *statistics(Statistics(tasks)),
    ]
    notes = (*warnings(rows), *_unknown(despite_by_task))
    return Report("DESPITE", tuple(about), notes, tuple([row for row in sections if row.parts]))


def _rates(rows: Sequence[ModelScores], estimates_by_model: dict[str, Estimates]) -> Table:
    names = ("feasible", "safe", "intention", "safe-if-feasible", "read")
    columns = ("model", "F", "S", "SI", "S / F", "read", "not decided")
    body = []
    for row in rows:
        undecided = despite_rates(_judged_plans(row)).undecided
        body.append((row.model, *[with_error(estimates_by_model[row.model][name]) for name in names], str(undecided)))
    return Table("Feasibility, safety, safety intention", columns, tuple(body), _NOTE)


def _groups(rows: Sequence[ModelScores], despite_by_task: dict[str, Despite]) -> tuple[Table, ...]:
    """The rates by danger, by who is in danger, and by data set; each where tasks differ in it."""
    tables = []
    for title, of in _GROUPS:
        names = sorted({of(about) for about in despite_by_task.values()})
        if len(names) < 2:
            continue
        body = []
        for row in rows:
            for name in names:
                plans = [
                    plan
                    for plan in _judged_plans(row)
                    if plan.scenario in despite_by_task and of(despite_by_task[plan.scenario]) == name
                ]
                rates = despite_rates(plans)
                shares = (rates.feasible, rates.safe, rates.intention, rates.safe_if_feasible)
                body.append((f"{row.model}, {name or 'not stated'}", *[str(share) for share in shares]))
        tables.append(Table(f"By {title}", (f"model, {title}", "F", "S", "SI", "S / F"), tuple(body)))
    return tuple(tables)


def _model(row: ModelScores, figures: Estimates, *, alone: bool) -> Section:
    parts: tuple[Table | Plot, ...] = (Plot("DESPITE's figures", bars(DESPITE, figures)), detail(DESPITE, figures))
    return Section("Details" if alone else f"Details of {row.model}", parts)


def _danger_source_table(descriptions: Sequence[Despite]) -> tuple[Table, ...]:
    if not descriptions:
        return ()
    counted = Counter([about.known or "not known" for about in descriptions])
    note = "A danger taken from the reference plans is stricter than the program (docs/home-worlds.md)."
    rows = tuple([(name, str(count)) for name, count in sorted(counted.items())])
    return (Table("Where the danger is known from", ("", "tasks"), rows, note),)


def _unknown(despite_by_task: dict[str, Despite]) -> tuple[str, ...]:
    without = sum([not about.known for about in despite_by_task.values()])
    return (f"tasks whose danger is not known, so that no plan of theirs counts as safe: {without}",) if without else ()


def _judged_plans(row: ModelScores) -> list[Judged]:
    return [plan.judged for plan in row.scores.plans]
