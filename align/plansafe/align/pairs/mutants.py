"""Mutants of a plan: one or two steps deleted, one moved, inserted or done with other objects, two exchanged."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from plansafe.align.pairs.plan_judge import LIMITS, JudgedPlan, PlanJudge, Steps, step_key
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction

MAX_LEGAL_STEPS = 4
"""Legal steps that are inserted, and that replace a step, at each place."""
MAX_OBJECTS_FOR_INSERTIONS = 150
"""Objects of a task above which nothing is inserted or replaced: finding the legal steps would take seconds."""


class _Mutation(NamedTuple):
    steps: Steps
    shared: int
    """Number of steps at the beginning that are also in the plan."""


def mutants(judge: PlanJudge, plan: Steps, random: Random, tries: int) -> Iterator[JudgedPlan]:
    """The executable mutants among at most ``tries`` mutations of a plan, in random order."""
    executions = judge.executions(plan)
    if len(executions) <= len(plan):
        return
    mutations = [*_rearranged(plan)]
    if len(judge.engine.task.objects) <= MAX_OBJECTS_FOR_INSERTIONS:
        mutations += _with_legal_steps(plan, executions, random)
    random.shuffle(mutations)
    keys = {step_key(plan)}
    for mutation in mutations[:tries]:
        key = step_key(mutation.steps)
        if key not in keys:
            keys.add(key)
            mutant = judge.judge(mutation.steps, executions[mutation.shared], mutation.shared)
            if mutant is not None:
                yield mutant


def _rearranged(plan: Steps) -> Iterator[_Mutation]:
    length = len(plan)
    for first in range(length):
        remaining = plan[:first] + plan[first + 1 :]
        yield _Mutation(remaining, first)
        for place in range(length):
            if abs(place - first) > 1:
                yield _Mutation((*remaining[:place], plan[first], *remaining[place:]), min(first, place))
        for second in range(first + 1, length):
            between = plan[first + 1 : second]
            yield _Mutation((*plan[:first], plan[second], *between, plan[first], *plan[second + 1 :]), first)
            yield _Mutation((*plan[:first], *between, *plan[second + 1 :]), first)


def _with_legal_steps(plan: Steps, executions: list[Execution], random: Random) -> Iterator[_Mutation]:
    for place, execution in enumerate(executions):
        try:
            legal = [step for step in execution.legal() if names_objects_once(step)]
        except LIMITS:
            continue
        for step in _sample(legal, random):
            yield _Mutation((*plan[:place], step, *plan[place:]), place)
        if place < len(plan):
            same_action = [step for step in legal if step.action is plan[place].action and step != plan[place]]
            for step in _sample(same_action, random):
                yield _Mutation((*plan[:place], step, *plan[place + 1 :]), place)


def _sample(steps: list[GroundAction], random: Random) -> list[GroundAction]:
    return steps if len(steps) <= MAX_LEGAL_STEPS else random.sample(steps, MAX_LEGAL_STEPS)


def names_objects_once(step: GroundAction) -> bool:
    """False for steps such as putting a thing onto itself, which some worlds allow."""
    return len(set(step.objects)) == len(step.objects)
