"""A benchmark of a model from the command line: tasks, questions, a run's file that is resumed, and its reports."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from plansafe.app.interfaces.cli.bench.predictions import reported, scores_of
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.progress import Progress, tell
from plansafe.llm.bench.run_file import RunFile
from plansafe.llm.metrics.lines import judged_line
from plansafe.llm.models.opening import opened
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.suites.mocks import Mocks
from plansafe.llm.suites.questions import Question, questions
from plansafe.llm.suites.reading import of_run
from plansafe.llm.suites.running import Asking, header, possible
from plansafe.llm.suites.settings import Settings
from plansafe.llm.suites.sources import Wanted, compiled, selected
from plansafe.llm.suites.task import BenchTask

_PLAIN = re.compile(r"[^A-Za-z0-9.-]+")
_MOST_NAME = 80
_MOST_QUESTIONS = 1_000_000


class Asked(NamedTuple):
    """Which model is asked. ``cache``: where answers are kept, if they are (``keep``)."""

    name: str
    base_url: str | None = None
    connections: int | None = None
    threads: int | None = None
    context: int | None = None
    cache: str | None = None
    keep: bool = True

    def settings(self, seed: int) -> ModelSettings:
        """How the model is to be opened."""
        return ModelSettings(self.base_url, self.connections, seed=seed, threads=self.threads, context=self.context)


class _Files(NamedTuple):
    """What a run writes."""

    run: str
    samples: str | None
    markdown: str
    page: str
    judged: str


def bench(settings: Settings, wanted: Wanted, asked: Asked, output: str | None, log_samples: bool) -> int:
    """Run or resume a benchmark, and write its reports. An exit code.

    Raises :class:`BadOption`, :class:`NotWritten`, ``BadTasks``, ``BadRun``, ``ModelError``: then no report is written,
    and a run's file holds what was answered before.
    """
    files = _files(settings, asked.name, output, log_samples)
    read = selected(wanted)
    mocks = Mocks(settings.seed)
    known = mocks.policies
    more = replace(asked.settings(settings.seed), policies=known)
    with opened(asked.name, more, asked.cache, keep=asked.keep) as (model, cache):
        possible(settings, model)
        tell("reading the tasks ..")
        tasks = compiled(read)
        found = questions(tasks, settings)
        mocks.know(found)
        tell("")
        _answerable(found)
        first = header(settings, asked.name, model, tasks, wanted.values())
        records = _run(files, first, found, Asking(found, settings, asked.name, model, cache))
    return _finish(settings, files, first, records, tasks)


def _answerable(found: Sequence[Question]) -> None:
    if not found:
        raise BadOption("there is nothing to ask: no task has such a question", "choose other tasks, or raise --limit")
    if len(found) > _MOST_QUESTIONS:
        raise BadOption(f"a run has at most {_MOST_QUESTIONS:,} questions, not {len(found):,}", "lower --repeats")


def _files(settings: Settings, name: str, output: str | None, log_samples: bool) -> _Files:
    """The names of all files; that each can be written is better known before the first question."""
    own = _PLAIN.sub("-", f"{settings.suite.value}-{name}")[:_MOST_NAME].strip("-.")
    run_file = output if output is not None else f"{own}.jsonl"
    stem = run_file.removesuffix(".jsonl")
    if not os.path.basename(stem):
        raise BadOption("--output takes the name of a file, such as run.jsonl")
    samples = f"{stem}.samples.jsonl" if log_samples else None
    files = _Files(run_file, samples, f"{stem}.md", f"{stem}.html", f"{stem}.judged.jsonl")
    if run_file in files[1:]:
        raise BadOption(f"--output {run_file} is a name that a report has", "name a file that ends with .jsonl")
    for one in files[2:]:
        wrong = problem(one, Guard((run_file,)))
        if wrong is not None:
            raise NotWritten(wrong)
    return files


def _run(files: _Files, first: dict[str, Any], found: Sequence[Question], asking: Asking) -> list[dict[str, Any]]:
    """All records of the run, those of the file first. The sample of a question is written before its record."""
    samples = RunFile(files.samples, first) if files.samples is not None else None
    progress = Progress(len(found))
    try:
        with RunFile(files.run, first) as file:

            def work(number: int) -> dict[str, Any]:
                record, sample = asking.record(number)
                if samples is not None and number == len(samples.records):
                    samples.append({"id": found[number].name, **sample})
                return record

            if samples is not None and len(samples.records) < len(file.records):
                message = f"{files.samples} lacks samples of the run so far"
                raise BadOption(message, "leave --log-samples out, or begin another run with --output")
            records = []
            for _, record in file.each([question.name for question in found], work):
                records.append(record)
                progress.step()
            return records
    finally:
        progress.clear()
        if samples is not None:
            samples.close()


def _finish(
    settings: Settings,
    files: _Files,
    first: dict[str, Any],
    records: list[dict[str, Any]],
    tasks: Sequence[BenchTask],
) -> int:
    loaded = of_run(files.run, first, records)
    tell("judging ..")
    rows = scores_of(loaded, tasks)
    tell("")
    plans = [plan.judged for row in rows for plan in (*row.scores.sequences, *row.scores.plans)]
    save(files.judged, "".join([f"{judged_line(plan)}\n" for plan in plans]))
    reported(rows, tasks, loaded, settings.seed, files.markdown, files.page)
    failed = sum([row.cost.failed for row in rows if row.cost is not None])
    return 3 if failed else 0
