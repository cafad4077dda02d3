"""Run or resume a benchmark of a model from the command line, and write its reports."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from plansafe.app.interfaces.cli.bench.predictions import scores_of, write_report
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.progress import Progress, tell
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.bench.mocks import REFERENCE_VALUES, Mocks, mock_predictions
from plansafe.llm.bench.questions import Question, questions
from plansafe.llm.bench.report import ModelScores
from plansafe.llm.bench.result_files import run_results
from plansafe.llm.bench.run_file import Run, RunFile
from plansafe.llm.bench.running import Asking, header, require_capabilities
from plansafe.llm.bench.scoring import score
from plansafe.llm.bench.settings import Settings
from plansafe.llm.bench.sources import TaskSelection, compiled, selected
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.metrics.lines import judged_line
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import opened

_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9.-]+")
_MAX_NAME = 80
_MAX_QUESTIONS = 1_000_000


class ModelChoice(NamedTuple):
    """The model to ask. ``cache`` is the file of the answer cache, which is used if ``keep`` is true."""

    name: str
    base_url: str | None = None
    connections: int | None = None
    threads: int | None = None
    context: int | None = None
    cache: str | None = None
    keep: bool = True

    def settings(self, seed: int) -> ModelSettings:
        """The settings for opening the model."""
        return ModelSettings(self.base_url, self.connections, seed=seed, threads=self.threads, context=self.context)


class RunOutput(NamedTuple):
    """The output of a run. ``file``: the run file; ``deadline``: no question is asked after this monotonic time.

    ``mocks``: the figures of mock models are added to the tables.
    """

    file: str | None
    log_samples: bool = False
    mocks: bool = False
    deadline: float = math.inf


class BenchmarkResult(NamedTuple):
    """The result of a run. ``code``: the exit code, 3 if a question has no answer; ``rows``: of the model and mocks."""

    code: int
    records: int
    rows: tuple[ModelScores, ...]


class _Files(NamedTuple):
    """The files that a run writes."""

    run: str
    samples: str | None
    markdown: str
    page: str
    audited_plans: str


def run_benchmark(
    settings: Settings, selection: TaskSelection, choice: ModelChoice, output: RunOutput
) -> BenchmarkResult:
    """Run or resume a benchmark and write its reports.

    Raises :class:`BadOption`, :class:`NotWritten`, ``BadTasks``, ``BadRun``, ``ModelError``: then no report is written,
    and the run file contains the earlier answers.
    """
    files = _files(settings, choice.name, output)
    selected_tasks = selected(selection)
    mocks = Mocks(settings.seed)
    mock_policies = mocks.policies
    model_settings = replace(choice.settings(settings.seed), policies=mock_policies)
    with opened(choice.name, model_settings, choice.cache, keep=choice.keep) as (model, cache):
        require_capabilities(settings, model)
        tell("reading the tasks ..")
        tasks = compiled(selected_tasks)
        bench_questions = questions(tasks, settings)
        mocks.know(bench_questions)
        tell("")
        _check_question_count(bench_questions)
        run_header = header(settings, choice.name, model, tasks, selection.values())
        records = _run(
            files,
            run_header,
            bench_questions,
            Asking(bench_questions, settings, choice.name, model, cache),
            output.deadline,
        )
    mock_questions = bench_questions if output.mocks else ()
    if not records:
        return BenchmarkResult(3, 0, ())
    rows = _write_reports(settings, files, run_header, records, tasks, mock_questions)
    failed = sum([row.cost.failed for row in rows if row.cost is not None])
    is_complete = not failed and len(records) == len(bench_questions)
    return BenchmarkResult(0 if is_complete else 3, len(records), rows)


def _check_question_count(bench_questions: Sequence[Question]) -> None:
    if not bench_questions:
        raise BadOption(
            "no question to ask: no task has a question of this kind", "choose other tasks, or raise --limit"
        )
    if len(bench_questions) > _MAX_QUESTIONS:
        raise BadOption(
            f"a run has at most {_MAX_QUESTIONS:,} questions, not {len(bench_questions):,}", "lower --repeats"
        )


def _files(settings: Settings, name: str, output: RunOutput) -> _Files:
    """The paths of all files. Checks before the first question that each report can be written."""
    default_name = _UNSAFE_CHARACTERS.sub("-", f"{settings.suite.value}-{name}")[:_MAX_NAME].strip("-.")
    run_file = output.file if output.file is not None else f"{default_name}.jsonl"
    stem = run_file.removesuffix(".jsonl")
    if not os.path.basename(stem):
        raise BadOption("--output takes the name of a file, such as run.jsonl")
    samples = f"{stem}.samples.jsonl" if output.log_samples else None
    files = _Files(run_file, samples, f"{stem}.md", f"{stem}.html", f"{stem}.judged.jsonl")
    if run_file in files[1:]:
        raise BadOption(f"--output {run_file} is the name of a report", "name a file that ends with .jsonl")
    for path in files[2:]:
        message = problem(path, Guard((run_file,)))
        if message is not None:
            raise NotWritten(message)
    return files


def _run(
    files: _Files, run_header: dict[str, Any], bench_questions: Sequence[Question], asking: Asking, deadline: float
) -> list[dict[str, Any]]:
    """Ask the remaining questions and return all records. The sample of a question is written before its record."""
    samples = RunFile(files.samples, run_header) if files.samples is not None else None
    progress = Progress(len(bench_questions))
    try:
        with RunFile(files.run, run_header) as file:

            def work(number: int) -> dict[str, Any]:
                record, sample = asking.record(number)
                if samples is not None and number == len(samples.records):
                    samples.append({"id": bench_questions[number].name, **sample})
                return record

            if samples is not None and len(samples.records) < len(file.records):
                message = f"{files.samples} lacks samples of existing records"
                raise BadOption(message, "leave out --log-samples, or begin a new run with --output")
            records = []
            for _, record in file.complete([question.name for question in bench_questions], work):
                records.append(record)
                progress.step()
                if time.monotonic() > deadline and len(records) >= len(file.records):
                    break
            return records
    finally:
        progress.clear()
        if samples is not None:
            samples.close()


def _write_reports(
    settings: Settings,
    files: _Files,
    run_header: dict[str, Any],
    records: list[dict[str, Any]],
    tasks: Sequence[BenchTask],
    mock_questions: Sequence[Question] = (),
) -> tuple[ModelScores, ...]:
    loaded = run_results(files.run, Run(run_header, records))
    tell("scoring ..")
    rows = scores_of(loaded, tasks)
    mock_rows = [
        ModelScores(
            f"mock/{kind}", score(mock_predictions(kind, mock_questions, settings.seed), tasks, safeplan_taxonomy())
        )
        for kind in (REFERENCE_VALUES if mock_questions else ())
        if f"mock/{kind}" not in [row.model for row in rows]
    ]
    tell("")
    plans = [plan.judged for row in rows for plan in (*row.scores.sequences, *row.scores.plans)]
    save(files.audited_plans, "".join([f"{judged_line(plan)}\n" for plan in plans]))
    write_report([*rows, *mock_rows], tasks, loaded, settings.seed, files.markdown, files.page)
    return (*rows, *mock_rows)
