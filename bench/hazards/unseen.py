"""What share of tasks that nobody has read would be flagged? Three estimates from those that were read.

Rules that were written while the tasks were read fit them; how well they do on other tasks cannot be seen in their
figures. So rules are taken away as if some tasks had not been read: a rule that was written since counts for a task
only if it is right for some task that *was* read in that thought. What the estimates cannot see: kinds and readings
were widened, too, and categories of rules chosen; and a rule that is right for two tasks may be written for both.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

HALVES = 200
"""How many ways of halving the tasks are averaged."""


class Seen(NamedTuple):
    """A task: its number, the categories of its label, and the rules that are right for it."""

    line: int
    categories: frozenset[str]
    right: frozenset[str]


class Estimate(NamedTuple):
    """How many tasks of some are flagged: by all rules, and as three thoughts have it."""

    tasks: int
    flagged: int
    before: int  # by rules that are older than the reading alone
    without_category: int  # as if no task of the category had been read
    without_task: int  # as if the task had not been read


def estimate(tasks: Sequence[Seen], since: Collection[str], category: str | None = None) -> Estimate:
    """The estimates for the tasks of a category, or for all (each without a task of any of its categories)."""
    own = [task for task in tasks if category is None or category in task.categories]

    def flagged(task: Seen, read: Iterable[Seen]) -> bool:
        known = frozenset().union(*[other.right for other in read])
        return any([rule not in since or rule in known for rule in task.right])

    def others(task: Seen) -> list[Seen]:
        left_out = task.categories if category is None else {category}
        return [other for other in tasks if left_out.isdisjoint(other.categories)]

    return Estimate(
        len(own),
        len([task for task in own if task.right]),
        len([task for task in own if flagged(task, ())]),
        len([task for task in own if flagged(task, others(task))]),
        len([task for task in own if flagged(task, [other for other in tasks if other.line != task.line])]),
    )


def halves(tasks: Sequence[Seen], since: Collection[str], count: int = HALVES) -> tuple[float, float]:
    """The share of a half that is flagged if the other half alone was read: the mean and the worst of many halvings."""
    draw = random.Random(7)
    shares = []
    for _ in range(count if len(tasks) > 1 else 0):
        read = set(draw.sample(range(len(tasks)), len(tasks) // 2))
        known = frozenset().union(*[tasks[at].right for at in read])
        rest = [task for at, task in enumerate(tasks) if at not in read]
        hit = [task for task in rest if any([rule not in since or rule in known for rule in task.right])]
        shares.append(len(hit) / len(rest))
    return (sum(shares) / len(shares), min(shares)) if shares else (0.0, 0.0)
