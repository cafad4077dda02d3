"""An evaluation: answer every task, judge every answer, and keep the records in a file that can be resumed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.align.evaluating.judging import Evaluated, record_of
from plansafe.align.evaluating.processes import ALONE, Share, merge
from plansafe.align.evaluating.tasks import EvalTask, Opened, Opener, opener, sha256_of
from plansafe.align.evaluating.writers import Writer
from plansafe.llm.bench.run_file import RunFile, read_run, run_header
from plansafe.llm.models.answer import Answer

SUITE = "align"
VERSION = 2
BATCH = 32


class Method(NamedTuple):
    """The name of a run in tables: the method of training, with its lambda and seed if it has them."""

    name: str
    factor: float | None = None
    seed: int | None = None


class Evaluation(NamedTuple):
    """A run: its header, and a record for each answer."""

    header: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]

    @property
    def method(self) -> Method:
        """The method that was evaluated."""
        fields = self.header["method"]
        return Method(str(fields["name"]), fields["factor"], fields["seed"])

    @property
    def evaluated(self) -> list[Evaluated]:
        """The records as the figures read them."""
        return [Evaluated(record, record["sample"]) for record in self.records]

    @property
    def is_complete(self) -> bool:
        """Whether every answer has its record."""
        return len(self.records) == int(self.header["tasks"]["count"]) * int(self.header["settings"]["samples"])


def evaluate(
    writer: Writer,
    tasks: Sequence[EvalTask],
    *,
    output: str | None = None,
    method: Method | None = None,
    settings: Mapping[str, Any] | None = None,
    samples: int = 1,
    batch: int = BATCH,
    opens: Opener | None = None,
    step: Callable[[], object] = lambda: None,
    share: Share = ALONE,
) -> Evaluation:
    """Let ``writer`` answer all tasks, ``batch`` answers at a time, and judge its answers.

    ``output`` is the run's file; its records are not asked for again. ``settings`` are further values that determine
    the records; ``samples`` is the number of answers to each task; ``opens`` makes tasks from origins (default:
    without public data sets); ``step`` is called after each record. ``share``: the part of this process, if several
    processes write one file. The process that finishes last returns the complete run, the others their part of it.
    Raises ``ValueError`` for two tasks of the same id, :class:`~plansafe.llm.bench.run_file.BadRun`,
    :class:`~plansafe.llm.models.port.ModelError`, and what ``opens`` raises; the file keeps the finished records.
    """
    first = run_header(
        SUITE,
        VERSION,
        writer.label,
        writer.identity,
        method=(method or Method(writer.label))._asdict(),
        settings={"samples": samples, **(settings or {})},
        tasks={"count": len(tasks), "sha256": sha256_of(tasks)},
    )
    if len({task.id for task in tasks}) != len(tasks):
        raise ValueError("two tasks have the same id")
    answers = _Answers(writer, share.of(tasks), samples, batch, opens)
    if output is None:
        records = []
        for number, name in enumerate(answers.names):
            records.append({"id": name, **answers.record(number)})
            step()
        return Evaluation(first, records)
    part: Sequence[Mapping[str, Any]] = ()
    if share == ALONE or not os.path.exists(output):
        with RunFile(share.path(output), share.header(first)) as file:
            for _ in file.complete(answers.names, answers.record):
                step()
            part = file.records
    if share != ALONE and merge(output, first, [task.id for task in tasks], samples, share.processes):
        part = read_run(output).records
    return Evaluation(first, part)


class _Answers:
    """Asks for a batch of answers at a time and gives their records one by one. A batch begins where the file ends."""

    def __init__(
        self, writer: Writer, tasks: Sequence[EvalTask], samples: int, batch: int, opens: Opener | None
    ) -> None:
        self._writer = writer
        self._questions = [(task, sample) for task in tasks for sample in range(samples)]
        self._batch = max(1, batch)
        self._opens = opens or opener()
        self._last: tuple[EvalTask, Opened] | None = None
        self._ready: dict[int, tuple[Opened, Answer, float]] = {}

    @property
    def names(self) -> list[str]:
        """The ids of all records, in order."""
        return [task.id for task, _ in self._questions]

    def record(self, number: int) -> dict[str, Any]:
        """The record of an answer. Answers are asked for in order, each once."""
        if number not in self._ready:
            opened = [self._open(task, sample) for task, sample in self._questions[number : number + self._batch]]
            start = time.process_time()
            written = self._writer.write(opened)
            cpu_s = (time.process_time() - start) / len(opened)
            pairs = zip(opened, written, strict=True)
            self._ready = {number + offset: (task, answer, cpu_s) for offset, (task, answer) in enumerate(pairs)}
        task, answer, cpu_s = self._ready.pop(number)
        return {**record_of(task, answer, self._writer.label), "cpu_s": round(cpu_s, 3)}

    def _open(self, task: EvalTask, sample: int) -> Opened:
        """The task, compiled once for all its samples."""
        if self._last is None or self._last[0] is not task:
            self._last = task, self._opens(task)
        return self._last[1]._replace(sample=sample)
