"""Run the cells of the papers' tables in their order of priority, or print their estimated times."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice, RunOutput, run_benchmark
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import save
from plansafe.app.system.process import print_text
from plansafe.app.system.terminal_text import escaped
from plansafe.llm.bench.cells import CELLS, Cell, Speed, estimate_seconds
from plansafe.llm.bench.sources import TaskSelection, tasks_of
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
    states = [
        (cell.name, model.name, _run_cell(cell, model, selection, options, deadline))
        for cell in cells
        for model in models
    ]
    table = "\n".join(
        [
            "| cell | model | state |",
            "|---|---|---|",
            *[f"| {name} | {model} | {state} |" for name, model, state in states],
        ]
    )
    save(os.path.join(options.folder, "cells.md"), f"{table}\n")
    print_text(escaped(f"{table}\n"))
    return 0 if all([state == "complete" for _, _, state in states]) else 3


def _chosen_cells(options: CellOptions) -> list[Cell]:
    names = [cell.name for cell in CELLS]
    unknown = next((name for name in options.names if name not in names), None)
    if unknown is not None:
        raise BadOption(f"there is no cell {unknown[:60]!a}", f"the cells are: {', '.join(names)}")
    cells = [cell for cell in CELLS if not options.names or cell.name in options.names]
    return [cell if options.limit is None else cell._replace(limit=min(cell.limit, options.limit)) for cell in cells]


def _run_cell(cell: Cell, model: ModelChoice, selection: TaskSelection, options: CellOptions, deadline: float) -> str:
    """Run a cell as far as the time allows, and return its state."""
    if cell.needs_trained_model and not options.trained:
        return "not run: needs a model trained on embodied experience (--trained)"
    if time.monotonic() > deadline:
        return f"not run: the time was over. Command: {cell.command(model.name)}"
    path = os.path.join(options.folder, f"{cell.name}.{re.sub(r'[^A-Za-z0-9.-]+', '-', model.name)[-60:]}.jsonl")
    output = RunOutput(path, mocks=True, deadline=deadline)
    seed = selection.seed
    try:
        code = run_benchmark(cell.settings(seed), selection._replace(limit=cell.limit), model, output)
    except ModelError as error:
        return f"not run: {error.diagnostic.message}"
    return "complete" if code == 0 else "incomplete: run the command again to continue"


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
        command = cell.command(models[0].name if models else "MODEL")
        lines.append(f"| {cell.name} | {scenarios} | {count} | {seconds / 60:.1f} | `{command}` |")
    lines.append(f"| all | | | {total / 60:.1f} | |")
    print_text(escaped("\n".join([*lines, ""])))
