"""Score files of predictions, write reports and compare two files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import print_text
from plansafe.app.system.terminal_text import escaped
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.compare import compare
from plansafe.llm.bench.despite_tasks import despite_report
from plansafe.llm.bench.figures import DESPITE, SAFEL, SAFEPLAN
from plansafe.llm.bench.judging import JudgedPlan, safeplan_taxonomy
from plansafe.llm.bench.report import ModelScores, Report
from plansafe.llm.bench.report_text import brief, markdown, page
from plansafe.llm.bench.result_files import BadPredictions, Results, read_results
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.bench.safel_report import safel_report
from plansafe.llm.bench.safeplan_report import safeplan_report
from plansafe.llm.bench.scoring import Scores, UnknownTask, score
from plansafe.llm.bench.settings import Suite
from plansafe.llm.bench.sources import TaskSelection, compiled, selected, tasks_of
from plansafe.llm.bench.task import BenchTask, Statistics, sha256_of
from plansafe.llm.metrics.records import Module


def score_file(path: str, selection: TaskSelection, output: str | None) -> int:
    """Score a file, print its tables and write the full report to ``output``. Returns an exit code.

    Raises ``BadPredictions``, ``BadRun``, ``BadTasks``, ``BadOption``, ``NotWritten``.
    """
    report_paths = _report_paths(output, (path,))
    results = read_results(path)
    tasks = () if results.judged_plans else _tasks(results, selection)
    write_report(scores_of(results, tasks), tasks, results, selection.seed, *report_paths)
    return 0


def compare_files(first: str, second: str, selection: TaskSelection, output: str | None) -> int:
    """Compare two files and print the table. Returns an exit code. Raises the errors of :func:`score_file`."""
    report_paths = _report_paths(output, (first, second))
    files = read_results(first), read_results(second)
    tasks = [() if file.judged_plans else _tasks(file, selection) for file in files]
    hashes = [{task.name: task.sha256 for task in file_tasks} for file_tasks in tasks]
    if all(tasks) and hashes[0] != hashes[1]:
        raise BadRun(_task_mismatch(f"{first} and {second} have different tasks", "compare runs of the same tasks"))
    models = [
        _only_model(scores_of(file, file_tasks), file.name) for file, file_tasks in zip(files, tasks, strict=True)
    ]
    suites = [
        _suite_of(file, file_tasks, model.scores) for file, file_tasks, model in zip(files, tasks, models, strict=True)
    ]
    if suites[0] is not suites[1]:
        raise BadRun(_task_mismatch(f"{first} and {second} are of different suites", "compare runs of the same suite"))
    labels = (("first", f"{first} ({models[0].model})"), ("second", f"{second} ({models[1].model})"))
    _write(compare(models[0], models[1], _FIGURES[suites[0]], labels, selection.seed), *report_paths)
    return 0


def _only_model(rows: Sequence[ModelScores], path: str) -> ModelScores:
    if len(rows) != 1:
        models = ", ".join([row.model[:40] for row in rows[:4]])
        raise BadOption(f"{path} holds predictions of several models: {models}", "give each a file of its own")
    return rows[0]


_FIGURES = {Suite.SAFEL: SAFEL, Suite.SAFEPLAN: SAFEPLAN, Suite.DESPITE: DESPITE}


def _suite_of(results: Results, tasks: Sequence[BenchTask], *scores: Scores) -> Suite:
    """The suite of a file: the suite in its header, or else a suite inferred from its predictions and tasks."""
    if any([prediction.module is not Module.PLAN for prediction in results.predictions]):
        return Suite.SAFEL
    recorded = (results.header or {}).get("suite")
    if recorded in (Suite.SAFEPLAN, Suite.DESPITE):
        return Suite(recorded)
    has_intentions = any([plan.judged.intention is not None for model_scores in scores for plan in model_scores.plans])
    return Suite.DESPITE if has_intentions or any([task.despite is not None for task in tasks]) else Suite.SAFEPLAN


def scores_of(results: Results, tasks: Sequence[BenchTask]) -> list[ModelScores]:
    """The scores of each model of a file, in the order of their names. Raises ``BadPredictions``."""
    models = sorted(
        {prediction.model for prediction in results.predictions} | {plan.model for plan in results.judged_plans}
    )
    rows = []
    for model in models:
        if results.judged_plans:
            plans = tuple([JudgedPlan(plan, None, None, None) for plan in results.judged_plans if plan.model == model])
            scores = Scores((), (), (), (), plans, 0, {})
        else:
            try:
                chosen = [prediction for prediction in results.predictions if prediction.model == model]
                scores = score(chosen, tasks, safeplan_taxonomy())
            except UnknownTask as error:
                raise _unknown_task_error(results, str(error)) from None
        rows.append(ModelScores(model or "model", scores, results.cost if len(models) == 1 else None))
    return rows


def _unknown_task_error(results: Results, reason: str) -> BadPredictions:
    """An error about predictions for a scenario that is not among the tasks."""
    message = f"predictions cannot be read: {results.name}: {reason}"
    help_text = "name the scenarios with --tasks, --split or --drawn"
    return BadPredictions(Diagnostic(SC.BAD_PREDICTIONS, message, help=help_text))


def _tasks(results: Results, selection: TaskSelection) -> tuple[BenchTask, ...]:
    """The tasks that a run names, or else the selected tasks. Raises ``BadRun`` if their hash is different."""
    recorded = results.header.get("tasks") if results.header is not None else None
    if not isinstance(recorded, dict):
        selected_tasks = selected(selection)
        task_names = {task.name for task in selected_tasks}
        unknown_name = next((p.scenario for p in results.predictions if p.scenario not in task_names), None)
        if unknown_name is not None:
            raise _unknown_task_error(results, f"scenario {unknown_name[:80]!a} does not exist")
        return compiled(selected_tasks)
    source = _task_source(recorded, selection)
    if source.folder is None and recorded.get("source") in _FOLDERS:
        raise BadOption(f"{results.name} is about scenarios in a folder", "name the folder with --tasks")
    tasks = tasks_of(source)
    if sha256_of(tasks) != recorded.get("sha256"):
        raise BadRun(
            _task_mismatch(
                f"the tasks differ from the tasks of {results.name}",
                "score a run with its own tasks and the version of safecheck that wrote it",
            )
        )
    return tasks


_FOLDERS = ("folder", "despite")
"""Values of ``source`` in the header of a run whose tasks are in a folder."""


def _task_source(recorded: Mapping[str, Any], selection: TaskSelection) -> TaskSelection:
    """The task selection in the header of a run. Ignores values of wrong types; only the user names the folder."""
    limit, seed, per_family, split = (recorded.get(name) for name in ("limit", "seed", "each", "split"))
    return TaskSelection(
        selection.folder if recorded.get("source") in _FOLDERS else None,
        split if isinstance(split, str) else "all",
        per_family
        if isinstance(per_family, int) and 0 <= per_family <= 100 and recorded.get("source") == "drawn"
        else 0,
        limit if isinstance(limit, int) and limit > 0 else None,
        seed if isinstance(seed, int) else 0,
        recorded.get("source") == "despite",
    )


def _task_mismatch(message: str, help_text: str) -> Diagnostic:
    return Diagnostic(SC.BAD_RUN, message, help=help_text)


# -- reports ----------------------------------------------------------------------------------------------------------


def write_report(
    rows: Sequence[ModelScores],
    tasks: Sequence[BenchTask],
    results: Results,
    seed: int,
    markdown_file: str | None = None,
    page_file: str | None = None,
) -> None:
    """Print the tables of a file and write the full report. Raises ``NotWritten``."""
    provenance = _provenance(results)
    match _suite_of(results, tasks, *[row.scores for row in rows]):
        case Suite.SAFEL:
            report = safel_report(rows, Statistics(tasks), provenance, seed)
        case Suite.SAFEPLAN:
            report = safeplan_report(rows, Statistics(tasks), provenance, seed)
        case Suite.DESPITE:
            report = despite_report(rows, tasks, provenance, seed)
        case unexpected:
            assert_never(unexpected)
    _write(report, markdown_file, page_file)


def _provenance(results: Results) -> tuple[tuple[str, str], ...]:
    """The provenance of a report: the flattened header of the run."""
    entries = [("file", results.name)]
    for name, value in (results.header or {}).items():
        if isinstance(value, dict):
            entries += [(f"{name}: {key}", _format_value(inner)) for key, inner in value.items()]
        elif name not in ("kind", "version"):
            entries.append((name, _format_value(value)))
    return tuple(entries)


def _format_value(value: object) -> str:
    match value:
        case dict():
            text = ", ".join([f"{key} {inner}" for key, inner in value.items()])
        case list():
            text = ", ".join([str(item) for item in value])
        case None:
            text = "none"
        case bool():
            text = "yes" if value else "no"
        case _:
            text = str(value)
    return text if len(text) <= 300 else f"{text[:300]}.."


def _report_paths(output: str | None, inputs: Sequence[str]) -> tuple[str | None, str | None]:
    """The paths of the report, checked before scoring starts. Raises ``NotWritten`` if a path cannot be written."""
    if output is None:
        return None, None
    stem = output.removesuffix(".md").removesuffix(".html")
    paths = f"{stem}.md", f"{stem}.html"
    for path in paths:
        message = problem(path, Guard(inputs))
        if message is not None:
            raise NotWritten(message)
    return paths


def _write(report: Report, markdown_file: str | None, page_file: str | None) -> None:
    print_text(escaped(brief(report)))
    if markdown_file is not None and page_file is not None:
        save(markdown_file, markdown(report))
        save(page_file, page(report))
        print_text(f"\nwritten to {markdown_file} and {page_file}\n")
