"""Plans without needless steps: delete steps while the plan stays SAFE and reaches its goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.align.pairs.plan_judge import PlanJudge, Steps

MAX_STEPS_FOR_PAIRS = 80
"""Length of a plan above which only single steps and blocks are deleted: pairs grow with its square."""


def shortened_steps(judge: PlanJudge, steps: Steps) -> Steps:
    """Delete steps of a safe plan until no step, block of consecutive steps or pair of steps can be deleted.

    A deletion is kept if the plan stays executable, reaches the goal and is SAFE. At least one step is left.
    """
    while (shorter := _one_deletion(judge, steps)) is not None:
        steps = shorter
    return steps


def _one_deletion(judge: PlanJudge, steps: Steps) -> Steps | None:
    executions = judge.executions(steps)
    for deleted in deletions(len(steps)):
        shorter = _without(steps, deleted)
        if judge.is_safe(shorter, executions[deleted[0]], deleted[0]):
            return shorter
    return None


def deletions(length: int) -> Iterator[tuple[int, ...]]:
    """The places (from 0, sorted) to delete, in this order: blocks of steps, the shortest first; then pairs of steps.

    Blocks find loops of any length (``go a b``, ``go b c``, ``go c a``). Pairs find an action and its reversal later.
    """
    for size in range(1, length):
        for first in range(length - size + 1):
            yield tuple(range(first, first + size))
    if length <= MAX_STEPS_FOR_PAIRS:
        for first in range(length):
            for second in range(first + 2, length):
                yield first, second


def _without(steps: Steps, deleted: Sequence[int]) -> Steps:
    return tuple([step for place, step in enumerate(steps) if place not in deleted])
