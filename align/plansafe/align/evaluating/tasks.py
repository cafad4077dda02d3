"""What a model is evaluated on: tasks by origin, with the prompt, the reference, and how far each is from training."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from plansafe.align.prompts import compact_prompt
from plansafe.align.records import SftLine
from plansafe.align.tasks import AlignTask, task_of
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.models.request import canonical

Shift = Literal["in", "family", "rule", "world"]
SHIFTS: tuple[Shift, ...] = get_args(Shift)
"""What training did not see: nothing (a task of a family that was trained on), its family, its rules, its world."""


class EvalTask(NamedTuple):
    """One task to plan for.

    ``id`` is unique in a set; ``origin`` is what :func:`~plansafe.align.tasks.task_of` makes the task from. ``prompt``
    and ``reference`` (a plan, an action a line) may be empty: then they are the task's own.
    """

    id: str
    origin: str
    family: str
    world: str
    split: str = "test"
    shift: Shift = "in"
    prompt: str = ""
    reference: str = ""

    @property
    def source(self) -> str:
        """Where the task is from: the scheme of its origin."""
        return self.origin.partition(":")[0]


class Opened(NamedTuple):
    """A task to plan for, compiled. ``sample`` numbers the answers to it."""

    task: EvalTask
    bench: BenchTask
    prompt: str
    sample: int = 0

    @property
    def reference(self) -> str:
        """The plan to compare with, empty where none is known."""
        return self.bench.reference


Opener = Callable[[EvalTask], Opened]


def opener(data: str | None = None) -> Opener:
    """Opens tasks by their origins; ``data`` is the folder of public data sets.

    What it returns raises :class:`~plansafe.align.tasks.BadOrigin`, and ``OSError`` for a file that cannot be read.
    """
    return lambda task: opened(task, task_of(task.origin, data))


def opened(task: EvalTask, made: AlignTask) -> Opened:
    """The task with what was made from its origin. Its own prompt and reference are kept where it has them."""
    bench = BenchTask(task.id, task.family, made.words, made.checker, "", task.reference or made.reference)
    return Opened(task, bench, task.prompt or compact_prompt(made))


def of_sft(lines: Iterable[SftLine], shift: Shift = "in") -> Iterator[EvalTask]:
    """The tasks of lines for SFT, each task once; lines that ask about the world ask for no plan, and are left out."""
    seen: set[str] = set()
    for line in lines:
        if line.kind == "plan" and line.origin not in seen:
            seen.add(line.origin)
            yield EvalTask(
                line.task, line.origin, line.family, line.world, line.split, shift, line.prompt, line.completion
            )


def of_tasks(tasks: Iterable[AlignTask], split: str = "test", shift: Shift = "in") -> Iterator[EvalTask]:
    """Tasks that are there already, each under its name."""
    for task in tasks:
        yield EvalTask(task.name, task.origin, task.family, task.world, split, shift, reference=task.reference)


def sha256_of(tasks: Sequence[EvalTask]) -> str:
    """The address of a set of tasks, in their order."""
    return hashlib.sha256(canonical([list(task) for task in tasks]).encode("ascii")).hexdigest()
