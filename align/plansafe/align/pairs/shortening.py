"""Plans without needless steps: delete steps while the plan stays SAFE and reaches its goal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from plansafe.align.pairs.plan_judge import PlanJudge, Steps
from plansafe.align.records import plan_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Worlds

T = TypeVar("T")

MAX_STEPS_FOR_PAIRS = 80
"""Length of a plan above which only single steps and blocks are deleted: pairs grow with its square."""


def shortened(checker: Checker, actions: Sequence[str]) -> tuple[str, ...]:
    """Delete steps until no step, block of consecutive steps or pair of steps can be deleted.

    A deletion is kept if the plan stays executable, reaches the goal and is SAFE (VALID for a task without rules);
    UNKNOWN is not SAFE. ``actions`` are texts such as ``(go robot hall)``. At least one step is left. A plan that is
    not SAFE or misses the goal is returned unchanged.
    """
    actions = tuple(actions)
    if not _is_safe(checker, actions):
        return actions
    judge = PlanJudge(checker)
    steps = judge.read(plan_of(actions))
    if steps is None or not judge.is_safe(steps):
        return _shortened_by_checks(checker, actions)
    shorter = judge.texts(shortened_steps(judge, steps))
    return shorter if _is_safe(checker, shorter) else _shortened_by_checks(checker, actions)


def shortened_steps(judge: PlanJudge, steps: Steps) -> Steps:
    """Shorten a safe plan of a task with one world, given as steps."""
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


def _shortened_by_checks(checker: Checker, actions: tuple[str, ...]) -> tuple[str, ...]:
    """Shorten a plan of any task, also with several worlds; each deletion costs a complete check."""
    while True:
        candidates = (_without(actions, deleted) for deleted in deletions(len(actions)))
        shorter = next((plan for plan in candidates if _is_safe(checker, plan)), None)
        if shorter is None:
            return actions
        actions = shorter


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


def _without(steps: tuple[T, ...], deleted: Sequence[int]) -> tuple[T, ...]:
    return tuple([step for place, step in enumerate(steps) if place not in deleted])


def _is_safe(checker: Checker, actions: Sequence[str]) -> bool:
    report = checker.check(Source("plan", plan_of(actions)))
    return report.headline in (Headline.SAFE, Headline.VALID) and report.goal is Worlds.ALL
