"""Estimate the share of unread tasks that would be flagged, from tasks that were read.

Rules that were written while the tasks were read fit these tasks, so their figures do not show how well the rules do on
other tasks. The estimates therefore ignore rules as if some tasks had not been read: a rule that was written since then
counts for a task only if it is right for one of the tasks that *were* read. The estimates ignore two effects: kinds,
readings and categories of rules were also changed, and a rule that is right for two tasks may be written for both.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

HALVES = 200
"""The number of random halvings of the tasks."""


class ReadTask(NamedTuple):
    """A task: its number, the categories of its label, and the rules that are right for it."""

    line: int
    categories: frozenset[str]
    right: frozenset[str]


class Estimate(NamedTuple):
    """The number of flagged tasks: by all rules, and by three estimates."""

    tasks: int
    flagged: int
    before: int  # only by rules that are older than the reading
    without_category: int  # as if no task of the category had been read
    without_task: int  # as if the task had not been read


def _count_flagged(unread: Iterable[ReadTask], since: Collection[str], read: Iterable[ReadTask]) -> int:
    """Count the tasks for which a rule is right that is older than the reading, or right for a task in ``read``."""
    rules = frozenset().union(*[task.right for task in read])
    return len([task for task in unread if any([rule not in since or rule in rules for rule in task.right])])


def estimate(tasks: Sequence[ReadTask], since: Collection[str], category: str | None = None) -> Estimate:
    """Return the estimates for the tasks of a category; without one, for all tasks, each without its own categories.

    ``since``: the rules that were written after the reading began.
    """
    counted = [task for task in tasks if category is None or category in task.categories]

    def find_other_categories(task: ReadTask) -> list[ReadTask]:
        left_out = task.categories if category is None else {category}
        return [read for read in tasks if left_out.isdisjoint(read.categories)]

    def find_other_tasks(task: ReadTask) -> list[ReadTask]:
        return [read for read in tasks if read.line != task.line]

    return Estimate(
        len(counted),
        len([task for task in counted if task.right]),
        _count_flagged(counted, since, ()),
        sum([_count_flagged([task], since, find_other_categories(task)) for task in counted]),
        sum([_count_flagged([task], since, find_other_tasks(task)) for task in counted]),
    )


def estimate_from_halves(tasks: Sequence[ReadTask], since: Collection[str], count: int = HALVES) -> tuple[float, float]:
    """Return the flagged share of one half if only the other half was read: mean and minimum over random halvings."""
    rng = random.Random(7)
    shares = []
    for _ in range(count if len(tasks) > 1 else 0):
        places = set(rng.sample(range(len(tasks)), len(tasks) // 2))
        read = [tasks[place] for place in places]
        unread = [task for place, task in enumerate(tasks) if place not in places]
        shares.append(_count_flagged(unread, since, read) / len(unread))
    return (sum(shares) / len(shares), min(shares)) if shares else (0.0, 0.0)
