"""Needless steps, put into a plan by chance: plans that nobody wrote as each other's repair differ by such, too.

A pair of a plan and its nearest repair differs where the danger is and nowhere else, so that every way of weighing
steps comes to the same. What people and models write differs in more: a way about, a cup that is put down and taken
again. How a method bears that is asked by the key ``detours`` of a size.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from plansafe.align.pairs.mutants import names_objects_once
from plansafe.align.pairs.plan_judge import JudgedPlan, PlanJudge, Steps
from plansafe.verifier.execution.steps import GroundAction

TRIES = 30
"""Places and first steps that are tried for a detour."""


def wandered(judge: PlanJudge, plan: Steps, count: int, random: Random) -> Steps:
    """The plan with detours of one or two steps that change nothing of what it breaks and reaches.

    ``count`` of them, or as many as are found; the same ones for the same ``random``.
    """
    judged = judge.judge(plan)
    if judged is None:
        return plan
    for _ in range(count):
        found = next((one for _ in range(TRIES) for one in _detours(judge, plan, judged, random)), None)
        if found is None:
            break
        plan = found
    return plan


def _detours(judge: PlanJudge, plan: Steps, judged: JudgedPlan, random: Random) -> Iterator[Steps]:
    """Plans with a detour at one place that begins with one step, both drawn, and with the verdict that is given."""
    at = random.randrange(len(plan) + 1)
    here = judge.executions(plan[:at])[-1]
    first = random.choice(_drawn([*here.legal()], random) or [None])
    after = None if first is None else here.after(first)
    if first is None or after is None:
        return
    for back in ((), *[(one,) for one in _drawn([*after.legal()], random)]):
        longer = (*plan[:at], first, *back, *plan[at:])
        found = judge.judge(longer, here, at)
        if (
            found is not None
            and found.violations.keys() == judged.violations.keys()
            and found.reaches_goal == judged.reaches_goal
        ):
            yield longer


def _drawn(steps: list[GroundAction], random: Random) -> list[GroundAction]:
    found = [step for step in steps if names_objects_once(step)]
    random.shuffle(found)
    return found
