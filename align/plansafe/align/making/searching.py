"""Searches for detours: backwards from what a rule forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from plansafe.align.making.aims import aims_of
from plansafe.align.making.reaching import Reach
from plansafe.align.making.recipes import Recipes
from plansafe.align.making.walks import Steps, sensible
from plansafe.verifier.execution.execution import Execution

MOST_STEPS = 6
"""Of a detour."""
MORE = 8


class Detour(NamedTuple):
    """Steps before step ``at`` of a plan (from 0) that should break a rule, by its number."""

    rule: int
    at: int
    steps: Steps


def searched(
    reach: Reach,
    path: Sequence[Execution],
    world: str,
    recipes: Recipes,
    most: int,
    random: Random,
    rare: Callable[[int], bool],
) -> Iterator[Detour]:
    """Detours from searches for the rules for which least is known; not all find something.

    ``path``: the executions before each step of a plan and behind the last.
    As long as there are rules that are unknown, ``MORE`` times as many as ``most`` are made for these. ``rare``:
    whether a rule, by its number, has a type of which there are few pairs.
    """
    rules = reach.engine.rule_set.rules
    aims = aims_of(reach.engine)
    unknown = len([number for number in aims if recipes.unknown(world, rules[number].name, rare(number))])
    most = max(most, min(MORE * most, unknown))
    order = sorted(aims, key=lambda number: (-recipes.wanted(world, rules[number].name), random.random()))[:most]
    if not order:
        return
    for turn in range(most):
        number = order[turn % len(order)]
        name = rules[number].name
        recipes.asked(world, name)
        known = aims[number]
        at = random.randrange(len(path))
        found = reach.carry_out(random.choice(known), path[at], MOST_STEPS, random)
        if found and all([sensible(step) for step in found]):
            yield Detour(number, at, tuple(found))
