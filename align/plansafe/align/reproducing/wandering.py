"""Needless steps, put into a plan by chance: plans that nobody wrote as each other's repair differ by such, too.

A pair of a plan and its nearest repair differs where the danger is and nowhere else, so that every way of weighing
steps comes to the same. What people and models write differs in more: a way about, a cup that is put down and taken
again. How a method bears that is asked by the key ``detours`` of a size.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from plansafe.align.making.walks import Judged, Steps, Walks, sensible
from plansafe.verifier.execution.steps import GroundAction

TRIES = 30
"""Places and first steps that are tried for a detour."""


def wandered(walks: Walks, plan: Steps, count: int, random: Random) -> Steps:
    """The plan with detours of one or two steps that change nothing of what it breaks and reaches.

    ``count`` of them, or as many as are found; the same ones for the same ``random``.
    """
    judged = walks.judge(plan)
    for _ in range(0 if judged is None else count):
        found = next((one for _ in range(TRIES) for one in _detours(walks, plan, judged, random)), None)
        if found is None:
            break
        plan = found
    return plan


def _detours(walks: Walks, plan: Steps, judged: Judged | None, random: Random) -> Iterator[Steps]:
    """Plans with a detour at one place that begins with one step, both drawn."""
    at = random.randrange(len(plan) + 1)
    path = walks.path(plan[:at])
    if len(path) <= at:
        return
    here = path[at]
    first = random.choice(_drawn([*here.legal()], random) or [None])
    after = None if first is None else here.after(first)
    if first is None or after is None:
        return
    for back in ((), *[(one,) for one in _drawn([*after.legal()], random)]):
        longer = (*plan[:at], first, *back, *plan[at:])
        if walks.possible(longer) and _alike(walks.judge(longer), judged):
            yield longer


def _drawn(steps: list[GroundAction], random: Random) -> list[GroundAction]:
    found = [step for step in steps if sensible(step)]
    random.shuffle(found)
    return found


def _alike(one: Judged | None, other: Judged | None) -> bool:
    """Whether two plans break the same rules and both reach the goal or not."""
    return one is not None and other is not None and one.broken.keys() == other.broken.keys() and one.goal == other.goal
