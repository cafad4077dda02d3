"""An evaluation: every task answered, every answer judged, in a file that is resumed where it was cut."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.align.evaluating.judging import Evaluated, record_of
from plansafe.align.evaluating.tasks import EvalTask, Opened, Opener, opener, sha256_of
from plansafe.align.evaluating.writers import Writer, Written
from plansafe.llm.bench.run_file import RunFile, run_header

SUITE = "align"
VERSION = 1
BATCH = 32


class Method(NamedTuple):
    """What tables call a run: the method of training, with its lambda and its seed where it has these."""

    name: str
    factor: float | None = None
    seed: int | None = None


class Evaluation(NamedTuple):
    """A run: its header, and a record for each task."""

    header: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]

    @property
    def method(self) -> Method:
        """What was evaluated."""
        said = self.header["method"]
        return Method(str(said["name"]), said["factor"], said["seed"])

    @property
    def evaluated(self) -> list[Evaluated]:
        """The records as the figures read them."""
        return [Evaluated(record) for record in self.records]


def header(
    writer: Writer, tasks: Sequence[EvalTask], method: Method | None, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """What a run's file begins with: all that decides its records."""
    return run_header(
        SUITE,
        VERSION,
        writer.label,
        writer.identity,
        method=(method or Method(writer.label))._asdict(),
        settings={"decode": "free", "rounds": 1, "slack": [3, 2], **settings},
        tasks={"count": len(tasks), "sha256": sha256_of(tasks)},
    )


def evaluate(
    writer: Writer,
    tasks: Sequence[EvalTask],
    *,
    output: str | None = None,
    method: Method | None = None,
    settings: Mapping[str, Any] | None = None,
    batch: int = BATCH,
    opens: Opener | None = None,
    step: Callable[[], object] | None = None,
) -> Evaluation:
    """Let ``writer`` answer all tasks, ``batch`` at a time, and judge what it says.

    ``output`` is the run's file: what is in it is not asked again. ``settings`` are more of what decides the records;
    ``opens`` makes tasks from origins (default: without public data sets); ``step`` is called behind each record.
    Raises ``ValueError`` for two tasks of the same id, :class:`~plansafe.llm.bench.run_file.BadRun`,
    :class:`~plansafe.llm.models.port.ModelError`, and what ``opens`` raises; the file then holds what was done before.
    """
    names = [task.id for task in tasks]
    if len(set(names)) != len(names):
        raise ValueError("two tasks have the same id")
    first = header(writer, tasks, method, settings or {})
    work = _Work(writer, tasks, max(1, batch), opens or opener())
    watch = step or _nothing
    if output is None:
        records = []
        for number, name in enumerate(names):
            records.append({"id": name, **work.record(number)})
            watch()
        return Evaluation(first, records)
    with RunFile(output, first) as file:
        for _ in file.complete(names, work.record):
            watch()
        return Evaluation(first, file.records[: len(names)])


def _nothing() -> None:
    """Nobody watches."""


class _Work:
    """Answers for a batch at a time, handed out one by one. A batch begins where the file ends."""

    def __init__(self, writer: Writer, tasks: Sequence[EvalTask], batch: int, opens: Opener) -> None:
        self._writer = writer
        self._tasks = tasks
        self._batch = batch
        self._opens = opens
        self._ready: dict[int, tuple[Opened, Written, float]] = {}

    def record(self, number: int) -> dict[str, Any]:
        """The record of a task. Tasks are asked about in order, each once."""
        if number not in self._ready:
            opened = [self._opens(task) for task in self._tasks[number : number + self._batch]]
            begun = time.process_time()
            answers = self._writer.write(opened)
            each = (time.process_time() - begun) / len(opened)
            found = zip(opened, answers, strict=True)
            self._ready = {number + at: (one, written, each) for at, (one, written) in enumerate(found)}
        one, written, spent = self._ready.pop(number)
        return {**record_of(one, written, self._writer.label), "cpu_s": round(spent, 3)}
