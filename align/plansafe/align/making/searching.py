"""Searches for detours: backwards from what a rule forbids, in as much of the scene as that needs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from plansafe.align.making.aims import Aim, aims_of
from plansafe.align.making.cropping import cropped, kept
from plansafe.align.making.reaching import Reach
from plansafe.align.making.recipes import Recipes
from plansafe.align.making.walks import Steps, Walks
from plansafe.grammar.source import Source
from plansafe.llm.prompts.crop import named_in
from plansafe.llm.scenarios.model import resolve
from plansafe.specs import default_specs, spec_path

LARGE = 150
"""Objects from which on a scene is cropped before anything is searched for in it."""
MOST_STEPS = 5
"""Of a detour."""


class Detour(NamedTuple):
    """Steps before step ``at`` of a plan (from 0) that should break a rule, by its number."""

    rule: int
    at: int
    steps: Steps


def searched(walks: Walks, plan: Steps, world: str, recipes: Recipes, most: int, random: Random) -> Iterator[Detour]:
    """Detours from so many searches, for the rules for which least is known; not all find something."""
    rules = walks.engine.plan.rules
    aims = aims_of(walks.engine)
    order = sorted(aims, key=lambda number: (-recipes.wanted(world, rules[number].name), random.random()))[:most]
    if not order:
        return
    small = _small(walks, plan, world, [aim for number in order for aim in aims[number]], random)
    if small is not walks:
        aims = aims_of(small.engine)
    numbers = {rule.name: number for number, rule in enumerate(small.engine.plan.rules)}
    path = small.path(small.read("\n".join(walks.texts(plan))) or ())
    reach = Reach(small.engine)
    for turn in range(most):
        number = order[turn % len(order)]
        name = rules[number].name
        recipes.asked(world, name)
        known = aims.get(numbers[name])
        if not known:
            continue
        at = random.randrange(len(path))
        found = reach.carry_out(random.choice(known), path[at], MOST_STEPS, random)
        if found:
            steps = walks.read("\n".join(small.texts(found)))
            if steps is not None:
                yield Detour(number, at, steps)


def _small(walks: Walks, plan: Steps, world: str, aims: list[Aim], random: Random) -> Walks:
    """The task with what its plan needs and what the aims are about, where it is large."""
    task = walks.engine.task
    specs = default_specs(world)
    if len(task.objects) < LARGE or not specs or walks.checker.compiled.task.name != world:
        return walks
    needed = [*named_in(task.goal), *[number for step in plan for number in step.objects]]
    keep = kept(task, needed, aims, random)
    sources = [Source.from_path(spec_path(name)) for name in specs]
    return Walks(cropped(walks.checker, keep, sources, resolve))
