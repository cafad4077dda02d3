"""The list of rewritings: functions of a task and random numbers, each with its invariants of a report."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from metamorphic_task import Task
from verdicts import EVERYTHING, Invariants, Names

Rewrite = Callable[[Task, Random], "Task | Rewritten"]


class Rewritten(NamedTuple):
    """A rewritten task, and how its names translate to the original's."""

    task: Task
    names: Names = Names()


class Rewriting(NamedTuple):
    """A rewriting. One that is for ``closed`` tasks only is not applied where several worlds are possible."""

    name: str
    rewrite: Rewrite
    invariants: Invariants
    closed: bool

    def apply(self, task: Task, random: Random) -> Rewritten | None:
        """The rewritten task; None if this changes nothing."""
        if self.closed and task.is_open():
            return None
        result = self.rewrite(task, random)
        rewritten = result if isinstance(result, Rewritten) else Rewritten(result)
        return None if rewritten.task.texts() == task.texts() else rewritten


REWRITINGS: list[Rewriting] = []


def rewriting(invariants: Invariants = EVERYTHING, closed: bool = False) -> Callable[[Rewrite], Rewrite]:
    """Register a function as a rewriting."""

    def register(function: Rewrite) -> Rewrite:
        REWRITINGS.append(Rewriting(function.__name__, function, invariants, closed))
        return function

    return register
