"""What is made of files of predictions: scores, a report of one, a comparison of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import print_text
from plansafe.app.system.terminal_text import escaped
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.metrics.reading import BadPredictions
from plansafe.llm.metrics.records import Module
from plansafe.llm.suites.compare import compare
from plansafe.llm.suites.despite_report import despite_report
from plansafe.llm.suites.figures import DESPITE, SAFEL, SAFEPLAN
from plansafe.llm.suites.judging import JudgedPlan, safeplan_taxonomy
from plansafe.llm.suites.markdown import brief, markdown
from plansafe.llm.suites.page import page
from plansafe.llm.suites.reading import Loaded, load_file
from plansafe.llm.suites.report import ModelScores, Report
from plansafe.llm.suites.safel_report import safel_report
from plansafe.llm.suites.safeplan_report import safeplan_report
from plansafe.llm.suites.scoring import Scores, UnknownTask, score
from plansafe.llm.suites.settings import Suite
from plansafe.llm.suites.sources import Wanted, compiled, selected, tasks_of
from plansafe.llm.suites.task import BenchTask, Statistics, sha256_of


def scored(path: str, wanted: Wanted, output: str | None) -> int:
    """Score a file and print its tables; ``output`` names where the whole report is written. An exit code.

    Raises ``BadPredictions``, ``BadRun``, ``BadTasks``, ``BadOption``, ``NotWritten``.
    """
    places = _places(output, (path,))
    loaded = load_file(path)
    tasks = () if loaded.judged else _tasks(loaded, wanted)
    reported(scores_of(loaded, tasks), tasks, loaded, wanted.seed, *places)
    return 0


def compared(first: str, second: str, wanted: Wanted, output: str | None) -> int:
    """Compare two files, and print the table. An exit code. Raises as above."""
    places = _places(output, (first, second))
    files = load_file(first), load_file(second)
    tasks = [() if one.judged else _tasks(one, wanted) for one in files]
    if all(tasks) and {one.name: one.sha256 for one in tasks[0]} != {one.name: one.sha256 for one in tasks[1]}:
        raise BadRun(_other_tasks(f"{first} and {second} are about different tasks", "compare runs of the same tasks"))
    one, other = [_one(scores_of(file, known), file.name) for file, known in zip(files, tasks, strict=True)]
    kinds = [_suite(file, known, one.scores) for file, known, one in zip(files, tasks, (one, other), strict=True)]
    if kinds[0] is not kinds[1]:
        raise BadRun(_other_tasks(f"{first} and {second} are of different suites", "compare runs of the same suite"))
    about = (("first", f"{first} ({one.model})"), ("second", f"{second} ({other.model})"))
    _write(compare(one, other, _FIGURES[kinds[0]], about, wanted.seed), *places)
    return 0


def _one(rows: Sequence[ModelScores], path: str) -> ModelScores:
    if len(rows) != 1:
        models = ", ".join([row.model[:40] for row in rows[:4]])
        raise BadOption(f"{path} holds predictions of several models: {models}", "give each a file of its own")
    return rows[0]


_FIGURES = {Suite.SAFEL: SAFEL, Suite.SAFEPLAN: SAFEPLAN, Suite.DESPITE: DESPITE}


def _suite(loaded: Loaded, tasks: Sequence[BenchTask], *scores: Scores) -> Suite:
    """Whose benchmark a file is about: what its run says, else what was asked, and of which tasks."""
    if any([one.module is not Module.PLAN for one in loaded.predictions]):
        return Suite.SAFEL
    said = (loaded.header or {}).get("suite")
    if said in (Suite.SAFEPLAN, Suite.DESPITE):
        return Suite(said)
    intended = any([plan.judged.intention is not None for found in scores for plan in found.plans])
    return Suite.DESPITE if intended or any([task.despite is not None for task in tasks]) else Suite.SAFEPLAN


def scores_of(loaded: Loaded, tasks: Sequence[BenchTask]) -> list[ModelScores]:
    """The scores of each model of a file, in the order of their names. Raises ``BadPredictions``."""
    models = sorted({one.model for one in loaded.predictions} | {one.model for one in loaded.judged})
    rows = []
    for model in models:
        if loaded.judged:
            plans = tuple([JudgedPlan(one, None, None, None) for one in loaded.judged if one.model == model])
            found = Scores((), (), (), (), plans, 0, {})
        else:
            try:
                chosen = [one for one in loaded.predictions if one.model == model]
                found = score(chosen, tasks, safeplan_taxonomy())
            except UnknownTask as error:
                raise _foreign(loaded, str(error)) from None
        rows.append(ModelScores(model or "model", found, loaded.cost if len(models) == 1 else None))
    return rows


def _foreign(loaded: Loaded, reason: str) -> BadPredictions:
    """What to say of predictions about something that the tasks do not have."""
    message = f"predictions cannot be read: {loaded.name}: {reason}"
    help = "name the scenarios with --tasks, --split or --drawn"
    return BadPredictions(Diagnostic(SC.BAD_PREDICTIONS, message, help=help))


def _tasks(loaded: Loaded, wanted: Wanted) -> tuple[BenchTask, ...]:
    """The tasks that a run names, else those of the flags. Raises ``BadRun`` where they are not those of the run."""
    said = loaded.header.get("tasks") if loaded.header is not None else None
    if not isinstance(said, dict):
        read = selected(wanted)
        known = {one.name for one in read}
        other = next((one.scenario for one in loaded.predictions if one.scenario not in known), None)
        if other is not None:
            raise _foreign(loaded, f"there is no scenario {other[:80]!a}")
        return compiled(read)
    source = _source(said, wanted)
    if source.folder is None and said.get("source") in _FOLDERS:
        raise BadOption(f"{loaded.name} is about scenarios in a folder", "name it with --tasks")
    found = tasks_of(source)
    if sha256_of(found) != said.get("sha256"):
        raise BadRun(
            _other_tasks(
                f"{loaded.name} is about other tasks than these",
                "score a run with the tasks and the version of safecheck that it was made with",
            )
        )
    return found


_FOLDERS = ("folder", "despite")
"""What a run says of tasks that lie in a folder."""


def _source(said: Mapping[str, Any], wanted: Wanted) -> Wanted:
    """Where the tasks of a run are from; a folder is never taken from the file. Values of wrong types name nothing."""
    limit, seed, each, split = (said.get(name) for name in ("limit", "seed", "each", "split"))
    return Wanted(
        wanted.folder if said.get("source") in _FOLDERS else None,
        split if isinstance(split, str) else "all",
        each if isinstance(each, int) and 0 <= each <= 100 and said.get("source") == "drawn" else 0,
        limit if isinstance(limit, int) and limit > 0 else None,
        seed if isinstance(seed, int) else 0,
        said.get("source") == "despite",
    )


def _other_tasks(message: str, help: str) -> Diagnostic:
    return Diagnostic(SC.BAD_RUN, message, help=help)


# -- reports ----------------------------------------------------------------------------------------------------------


def reported(
    rows: Sequence[ModelScores],
    tasks: Sequence[BenchTask],
    loaded: Loaded,
    seed: int,
    markdown_file: str | None = None,
    page_file: str | None = None,
) -> None:
    """Print the tables of what a file is about, and write the whole report. Raises ``NotWritten``."""
    about = _about(loaded)
    match _suite(loaded, tasks, *[row.scores for row in rows]):
        case Suite.SAFEL:
            report = safel_report(rows, Statistics(tasks), about, seed)
        case Suite.SAFEPLAN:
            report = safeplan_report(rows, Statistics(tasks), about, seed)
        case Suite.DESPITE:
            report = despite_report(rows, tasks, about, seed)
        case other:
            assert_never(other)
    _write(report, markdown_file, page_file)


def _about(loaded: Loaded) -> tuple[tuple[str, str], ...]:
    """What a report says of where its figures are from: the header of the run, flattened."""
    found = [("file", loaded.name)]
    for name, value in (loaded.header or {}).items():
        if isinstance(value, dict):
            found += [(f"{name}: {key}", _short(inner)) for key, inner in value.items()]
        elif name not in ("kind", "version"):
            found.append((name, _short(value)))
    return tuple(found)


def _short(value: object) -> str:
    match value:
        case dict():
            text = ", ".join([f"{key} {inner}" for key, inner in value.items()])
        case list():
            text = ", ".join([str(one) for one in value])
        case None:
            text = "none"
        case bool():
            text = "yes" if value else "no"
        case _:
            text = str(value)
    return text if len(text) <= 300 else f"{text[:300]}.."


def _places(output: str | None, inputs: Sequence[str]) -> tuple[str | None, str | None]:
    """Where a report is written, if it is: better known before the work. Raises ``NotWritten``."""
    if output is None:
        return None, None
    stem = output.removesuffix(".md").removesuffix(".html")
    places = f"{stem}.md", f"{stem}.html"
    for one in places:
        wrong = problem(one, Guard(inputs))
        if wrong is not None:
            raise NotWritten(wrong)
    return places


def _write(report: Report, markdown_file: str | None, page_file: str | None) -> None:
    print_text(escaped(brief(report)))
    if markdown_file is not None and page_file is not None:
        save(markdown_file, markdown(report))
        save(page_file, page(report))
        print_text(f"\nwritten to {markdown_file} and {page_file}\n")
