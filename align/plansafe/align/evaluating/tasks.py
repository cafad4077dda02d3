"""The tasks of an evaluation: origin, prompt, reference plan, and what is new compared with training."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from plansafe.align.prompts import plan_prompt
from plansafe.align.records import SftLine
from plansafe.align.tasks import AlignTask, task_of
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.models.request import canonical

Shift = Literal["in", "family", "rule", "world"]
SHIFTS: tuple[Shift, ...] = get_args(Shift)
"""What is new in a task: nothing (its family and rules occur in training), its family, its rule, or its world."""


class EvalTask(NamedTuple):
    """One task to plan for.

    ``id`` is unique in a set; :func:`~plansafe.align.tasks.task_of` makes the task from ``origin``. ``prompt`` and
    ``reference`` (a plan, one action per line) may be empty; the prompt and reference of the task are then used.
    """

    id: str
    origin: str
    family: str
    world: str
    split: str = "test"
    shift: Shift = "in"
    prompt: str = ""
    reference: str = ""


class Opened(NamedTuple):
    """A task to plan for, compiled. ``sample`` numbers the answers to it."""

    task: EvalTask
    bench: BenchTask
    prompt: str
    sample: int = 0

    @property
    def reference(self) -> str:
        """The plan to compare with; empty if the task has none."""
        return self.bench.reference


Opener = Callable[[EvalTask], Opened]


def opener(data: str | None = None) -> Opener:
    """Opens tasks by their origins; ``data`` is the folder of public data sets.

    Opening a task raises :class:`~plansafe.align.tasks.BadOrigin`, and ``OSError`` for a file that cannot be read.
    """
    return lambda task: opened(task, task_of(task.origin, data))


def opened(task: EvalTask, compiled: AlignTask) -> Opened:
    """Combine a task with the compiled task of its origin. The task's own prompt and reference take precedence."""
    bench = BenchTask(task.id, task.family, compiled.words, compiled.checker, "", task.reference or compiled.reference)
    return Opened(task, bench, task.prompt or plan_prompt(compiled))


def of_sft(lines: Iterable[SftLine], shift: Shift = "in") -> Iterator[EvalTask]:
    """The tasks of lines for SFT, each task once; without the lines that ask about the world."""
    origins: set[str] = set()
    for line in lines:
        if line.kind == "plan" and line.origin not in origins:
            origins.add(line.origin)
            yield EvalTask(
                line.task, line.origin, line.family, line.world, line.split, shift, line.prompt, line.completion
            )


def sha256_of(tasks: Sequence[EvalTask]) -> str:
    """The address of a set of tasks, in their order."""
    return hashlib.sha256(canonical([list(task) for task in tasks]).encode("ascii")).hexdigest()
