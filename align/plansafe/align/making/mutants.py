"""Systematic changes of a plan: an action left out, put in, moved, exchanged or done with something else.

All mutants that are alike up to a step share the execution up to it. Only those that can be executed come out.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from plansafe.align.making.walks import Judged, Steps, Walks, sensible
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.model.limits import LimitReached

EACH = 4
"""Legal steps that are tried at a place."""


class Mutant(NamedTuple):
    """A changed plan, and how it was changed."""

    plan: Judged
    way: str


class _Change(NamedTuple):
    steps: Steps
    same: int
    """So many steps are those of the plan."""
    way: str


def mutants(
    walks: Walks, plan: Steps, random: Random, most: int, each: int = EACH, twice: bool = True
) -> Iterator[Mutant]:
    """Mutants of a plan by one change, and (``twice``) by two, of at most ``most`` changes tried.

    ``each``: legal steps that are tried at a place, for putting in and replacing; drawn where there are more; 0: none.
    Changes are drawn where there are too many of them.
    """
    path = walks.path(plan)
    if len(path) <= len(plan):
        return
    one = [*_rearranged(plan), *_with_others(plan, path, random, each)]
    two = list(_left_out_twice(plan)) if twice else []
    changes = one if len(one) <= most else random.sample(one, most)
    if len(two) > most - len(changes):
        two = random.sample(two, max(0, most - len(changes)))
    seen: set[tuple[tuple[str, tuple[int, ...]], ...]] = set()
    for change in [*changes, *two]:
        key = tuple([(step.action.name, step.objects) for step in change.steps])
        if key in seen or change.steps == plan:
            continue
        seen.add(key)
        judged = walks.judge(change.steps, path[change.same], change.same)
        if judged is not None:
            yield Mutant(judged, change.way)


def _rearranged(plan: Steps) -> Iterator[_Change]:
    size = len(plan)
    for at in range(size):
        yield _Change(plan[:at] + plan[at + 1 :], at, "left out")
        for to in range(size):
            if to not in (at, at + 1, at - 1):
                rest = plan[:at] + plan[at + 1 :]
                yield _Change((*rest[:to], plan[at], *rest[to:]), min(at, to), "moved")
        for other in range(at + 1, size):
            swapped = (*plan[:at], plan[other], *plan[at + 1 : other], plan[at], *plan[other + 1 :])
            yield _Change(swapped, at, "exchanged")


def _left_out_twice(plan: Steps) -> Iterator[_Change]:
    for at in range(len(plan)):
        for other in range(at + 1, len(plan)):
            yield _Change(plan[:at] + plan[at + 1 : other] + plan[other + 1 :], at, "two left out")


def _with_others(plan: Steps, path: list[Execution], random: Random, each: int) -> Iterator[_Change]:
    """Legal steps put in before each step, behind the last, or in place of one of the same action."""
    if not each:
        return  # to know all legal steps of a state, searches for each action are compiled
    for at, here in enumerate(path):
        try:
            legal = [one for one in here.legal() if sensible(one)]
        except (NumberTooLarge, TooManyInstances, LimitReached):
            continue
        own = [one for one in legal if at < len(plan) and one.action is plan[at].action and one != plan[at]]
        for one in own if len(own) <= each else random.sample(own, each):
            yield _Change((*plan[:at], one, *plan[at + 1 :]), at, "done with something else")
        for one in legal if len(legal) <= each else random.sample(legal, each):
            yield _Change((*plan[:at], one, *plan[at:]), at, "put in")
