"""An evaluation: answer every task, judge every answer, and keep the records in a file that can be resumed.

Several processes of one evaluation, as ``torchrun`` and ``accelerate launch`` start them.

Process r of n answers every n-th task and writes its own file. The process that finishes last merges the files; the
merged file is the one that a single process writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from plansafe.align.evaluating.judging import Evaluated, record_of
from plansafe.align.evaluating.tasks import EvalTask, Opened, Opener, opener, sha256_of
from plansafe.align.evaluating.writers import Writer
from plansafe.llm.bench.run_file import RunFile, bad_run, read_run, run_header
from plansafe.llm.models.answer import Answer

_Task = TypeVar("_Task")


class Share(NamedTuple):
    """The part of the tasks that this process answers: every ``processes``-th from ``rank`` on."""

    rank: int = 0
    processes: int = 1

    def of(self, tasks: Sequence[_Task]) -> Sequence[_Task]:
        """The tasks of this process."""
        return tasks[self.rank :: self.processes]

    def header(self, first: Mapping[str, Any]) -> Mapping[str, Any]:
        """The header of this process's file."""
        return first if self == ALONE else {**first, "share": [self.rank, self.processes]}

    def path(self, output: str) -> str:
        """This process's file."""
        return output if self == ALONE else f"{output}.part-{self.rank}-of-{self.processes}"


ALONE = Share()


def share_of(environment: Mapping[str, str]) -> Share:
    """The share that the launcher gave to this process, or everything. Raises ``ValueError`` for wrong numbers."""
    share = Share(int(environment.get("RANK", "0")), int(environment.get("WORLD_SIZE", "1")))
    if not 0 <= share.rank < share.processes:
        raise ValueError(f"RANK is {share.rank} of WORLD_SIZE {share.processes}")
    return share


def use_own_gpu(environment: Mapping[str, str]) -> None:
    """Make ``cuda`` mean the GPU of this process, where several processes share a machine with GPUs."""
    if "LOCAL_RANK" not in environment:
        return
    import torch  # noqa: PLC0415 - a second to load, and only for several processes

    if torch.cuda.is_available():
        torch.cuda.set_device(int(environment["LOCAL_RANK"]))


def merge(output: str, first: Mapping[str, Any], tasks: Sequence[str], samples: int, count: int) -> bool:
    """Merge the files of ``count`` processes into ``output`` if all are complete; false if one is still at work."""
    shares = [Share(rank, count) for rank in range(count)]
    names = [name for name in tasks for _ in range(samples)]

    def record(number: int) -> dict[str, Any]:
        task, sample = divmod(number, samples)
        return parts[task % count][(task // count) * samples + sample]

    with _locked(f"{output}.lock"):
        parts = [read_run(share.path(output)).records for share in shares if os.path.exists(share.path(output))]
        if len(parts) == count and sum(map(len, parts)) == len(names):
            with RunFile(output, first) as file:
                for _ in file.complete(names, record):
                    pass
            for share in shares:
                os.remove(share.path(output))
        elif not os.path.exists(output):
            return False
        with RunFile(output, first) as file:  # another process has merged the files: of this run, and all of it?
            if len(file.records) < len(names):
                raise bad_run(output, "one process began it", "continue with one process, or name another file")
    return True


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Hold a lock on a file; wait for another process that holds it. Without locks (Windows) hold none."""
    with open(path, "ab") as file:
        try:
            import fcntl  # noqa: PLC0415 - Windows has none
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


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
