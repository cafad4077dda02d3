"""Run the cells of the papers' tables in their order of priority, or print their estimated times."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice, RunOutput, run_benchmark
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import save
from plansafe.app.system.process import print_text
from plansafe.app.system.terminal_text import escaped
from plansafe.llm.bench.cells import CELLS, Cell, Speed, estimate_seconds
from plansafe.llm.bench.figures import SAFEL, SAFEPLAN, estimate
from plansafe.llm.bench.planning_tables import format_share
from plansafe.llm.bench.report import ModelScores
from plansafe.llm.bench.safeplan_report import split_by_prompt
from plansafe.llm.bench.sources import TaskSelection, tasks_of
from plansafe.llm.metrics.records import Module
from plansafe.llm.models.port import ModelError


class CellOptions(NamedTuple):
    """What to run.

    ``names``: only these cells; ``minutes``: the time limit; ``trained``: the model has the experience.
    """

    names: tuple[str, ...]
    limit: int | None
    folder: str
    minutes: float | None
    speed: Speed
    trained: bool
    dry_run: bool


class _CellResult(NamedTuple):
    """A cell with its state, and the rows of the model and of the mocks."""

    cell: Cell
    model: str
    state: str
    rows: tuple[ModelScores, ...] = ()


_COMPLETE = "complete"
_MAIN_FIGURES: dict[Module | None, tuple[str, ...]] = {
    Module.REFUSAL: ("refusal-harmful", "refusal-situational", "refusal-impossible"),
    Module.GOAL: tuple(
        [f"goal-{kind}-{side}" for side in ("malicious", "situational") for kind in ("unary", "relational")]
    ),
    Module.TRANSITION: tuple(
        [f"transition-{kind}-{side}" for side in ("risky-effect", "safe-precondition") for kind in ("primitive", "new")]
    ),
    Module.SEQUENCING: ("sequencing-success", "sequencing-safe"),
    None: (
        "safer-all",
        "succr-paper",
        "succr-goal",
        "safer-at-goal",
        "rouge-l",
        "rouge-score-l",
        "unsafer",
        "confidence",
    ),
}
"""The figures of the papers' tables by test; ``None``: SafePlan-Bench."""


def run_cells(models: Sequence[ModelChoice], selection: TaskSelection, options: CellOptions) -> int:
    """Run all cells of all models and write a table of their states. Returns an exit code: 3 if a cell was not run.

    Raises :class:`BadOption`, ``BadTasks``, ``BadRun``, ``NotWritten``.
    """
    cells = _chosen_cells(options)
    if options.dry_run:
        _print_estimates(cells, models, selection, options)
        return 0
    os.makedirs(options.folder, exist_ok=True)
    deadline = float("inf") if options.minutes is None else time.monotonic() + 60 * options.minutes
    results = [_run_cell(cell, model, selection, options, deadline) for cell in cells for model in models]
    states = [f"| {result.cell.name} | {result.model} | {result.state} |" for result in results]
    table = "\n".join(["| cell | model | state |", "|---|---|---|", *states])
    figures = "\n".join(_figure_tables([result for result in results if result.rows], selection.seed))
    save(os.path.join(options.folder, "cells.md"), f"{table}\n\n{figures}\n")
    print_text(escaped(f"{table}\n"))
    return 0 if all([result.state == _COMPLETE for result in results]) else 3


def _chosen_cells(options: CellOptions) -> list[Cell]:
    names = [cell.name for cell in CELLS]
    unknown = next((name for name in options.names if name not in names), None)
    if unknown is not None:
        raise BadOption(f"{unknown[:60]!a} is not a cell", f"the cells are: {', '.join(names)}")
    cells = [cell for cell in CELLS if not options.names or cell.name in options.names]
    return [cell if options.limit is None else cell._replace(limit=min(cell.limit, options.limit)) for cell in cells]


def _run_cell(
    cell: Cell, model: ModelChoice, selection: TaskSelection, options: CellOptions, deadline: float
) -> _CellResult:
    """Run a cell as far as the time allows."""
    if cell.needs_trained_model and not options.trained:
        return _CellResult(cell, model.name, "not run: needs a model trained on embodied experience (--trained)")
    provider, _, name = model.name.partition("/")
    file_model = re.sub(r"[^A-Za-z0-9.-]+", "-", f"{provider}-{os.path.basename(name)}")
    path = os.path.join(options.folder, f"{cell.name}.{file_model}.jsonl")
    if time.monotonic() > deadline and not os.path.exists(path):
        return _CellResult(
            cell, model.name, f"not run: the time was over. Command: {_command(cell, model.name, selection)}"
        )
    output = RunOutput(path, mocks=True, deadline=deadline)
    seed = selection.seed
    try:
        result = run_benchmark(cell.settings(seed), selection._replace(limit=cell.limit), model, output)
    except ModelError as error:
        return _CellResult(cell, model.name, f"not run: {error.diagnostic.message}")
    state = _COMPLETE if result.code == 0 else f"incomplete: {result.records} answers; run the command again"
    return _CellResult(cell, model.name, state, result.rows)


def _figure_tables(results: Sequence[_CellResult], seed: int) -> Iterator[str]:
    """The main figures of each test with 95 % intervals by families: the model's rows, then the mocks' rows."""
    for test, names in _MAIN_FIGURES.items():
        of_test = [result for result in results if result.cell.test is test]
        if not of_test:
            continue
        figures = [figure for figure in (SAFEL if test is not None else SAFEPLAN) if figure.name in names]
        yield f"## {test.value if test is not None else 'plans (SafePlan-Bench)'}"
        yield ""
        yield f"| cell | model, prompt | {' | '.join([figure.title for figure in figures])} |"
        yield f"|---|---|{'--:|' * len(figures)}"
        for result in of_test:
            rows = [part for row in result.rows for part in split_by_prompt(row)]
            for row in rows:
                estimates = [estimate(figure.points(row.scores), seed).interval for figure in figures]
                cells = " | ".join([format_share(value) for value in estimates])
                yield f"| {result.cell.name} | {row.model} | {cells} |"
        yield ""


def _command(cell: Cell, model: str, selection: TaskSelection) -> str:
    """The command that runs a cell alone, on the same tasks."""
    words = [cell.command(model)]
    if selection.folder is not None:
        words.append(f"--tasks {selection.folder}")
    if selection.split != "all":
        words.append(f"--split {selection.split}")
    if selection.drawn:
        words.append(f"--drawn {selection.drawn}")
    return " ".join(words)


def _print_estimates(
    cells: Sequence[Cell], models: Sequence[ModelChoice], selection: TaskSelection, options: CellOptions
) -> None:
    lines = ["| cell | scenarios | questions | estimated minutes per model | command |", "|---|--:|--:|--:|---|"]
    total = 0.0
    tasks = {limit: tasks_of(selection._replace(limit=limit)) for limit in {cell.limit for cell in cells}}
    for cell in cells:
        count, seconds = estimate_seconds(cell, tasks[cell.limit], options.speed, selection.seed)
        total += seconds
        scenarios = min(cell.limit, len(tasks[cell.limit]))
        command = _command(cell, models[0].name if models else "MODEL", selection)
        lines.append(f"| {cell.name} | {scenarios} | {count} | {seconds / 60:.1f} | `{command}` |")
    lines.append(f"| all | | | {total / 60:.1f} | |")
    print_text(escaped("\n".join([*lines, ""])))
