"""What broke a rule once, by kinds of things: tried again in other tasks of the world before anything is searched for.

A recipe is learnt when a search found steps that break a rule: the same actions, with the things in them known by their
kinds alone; what the rule itself speaks of (?x is `heavy`) may be anything that it speaks of. It proves nothing; each
use is judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from plansafe.align.making.usable import Usable
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Task

MOST_OF_A_RULE = 12
ENOUGH_RECIPES = 3
MOST_ASKED = 12
"""Searches for one rule in all tasks of a world, while it has fewer recipes than that."""
MOST_OF_RARE = 40
"""The same for a rule of a rare type."""


class Role(NamedTuple):
    """What stands for an object: the name of its type, and the rule's parameter that it was; empty if it was none."""

    kind: str
    parameter: str


class Recipe(NamedTuple):
    """Steps with roles for objects: each step an action and the numbers of its roles."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]
    roles: tuple[Role, ...]


class Recipes:
    """What was learnt so far, by world and rule. The shortest are kept."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], list[Recipe]] = {}
        self._asked: Counter[tuple[str, str]] = Counter()

    def asked(self, world: str, rule: str) -> None:
        """A search for steps that break a rule begins."""
        self._asked[world, rule] += 1

    def unknown(self, world: str, rule: str, rare: bool = False) -> bool:
        """Whether a search for a rule may still be worth its time: few recipes are known, and few searches were made.

        The first tasks of a world are thus searched at length, and later ones hardly at all. ``rare``: its pairs are.
        """
        most = MOST_OF_RARE if rare else MOST_ASKED
        return len(self.of(world, rule)) < ENOUGH_RECIPES and self._asked[world, rule] < most

    def wanted(self, world: str, rule: str) -> float:
        """How much another search for a rule is worth; each one before, and each recipe, makes it less."""
        return 1 / (1 + self._asked[world, rule] + 2 * len(self.of(world, rule)))

    def learn(
        self, world: str, rule: str, task: Task, steps: Sequence[GroundAction], parameters: Mapping[int, str]
    ) -> None:
        """Remember steps that broke a rule. ``parameters``: for some objects, which parameter of the rule they were."""
        roles: dict[int, int] = {}
        made = tuple(
            [
                (step.action.name, tuple([roles.setdefault(number, len(roles)) for number in step.objects]))
                for step in steps
            ]
        )
        recipe = Recipe(made, tuple([Role(kind_of(task, number), parameters.get(number, "")) for number in roles]))
        known = self._known.setdefault((world, rule), [])
        if recipe in known:
            return
        known.append(recipe)
        known.sort(key=lambda one: len(one.steps))
        del known[MOST_OF_A_RULE:]

    def of(self, world: str, rule: str) -> Sequence[Recipe]:
        """The recipes for a rule, the shortest first."""
        return self._known.get((world, rule), ())

    def count(self) -> int:
        """How many rules there are recipes for."""
        return len(self._known)


def kind_of(task: Task, number: int) -> str:
    """The most special type of an object."""
    types = task.object_types[number]
    return task.type_names[types[0]] if types else ""


def by_kind(task: Task) -> dict[str, list[int]]:
    """The objects by their most special type."""
    out: dict[str, list[int]] = {}
    for number in range(len(task.objects)):
        out.setdefault(kind_of(task, number), []).append(number)
    return out


def served(
    task: Task,
    recipe: Recipe,
    things: Mapping[str, Sequence[int]],
    fitting: Mapping[str, Sequence[int]],
    preferred: frozenset[int],
    random: Random,
    usable: Usable,
) -> list[GroundAction] | None:
    """The steps of a recipe with things of this task; ``None`` where an action or a kind is missing.

    ``things``: by kind; ``fitting``: by parameter of the rule, where not nearly everything fits it. Of these, such are
    drawn as each step can be taken with.
    """
    if any([name not in task.actions for name, _ in recipe.steps]):
        return None
    steps = [(task.actions[name], roles) for name, roles in recipe.steps]
    choices: list[Sequence[int]] = [fitting.get(role.parameter) or things.get(role.kind, ()) for role in recipe.roles]
    for action, roles in steps:
        for place, role in enumerate(roles):
            able = usable.at(action, place)
            choices[role] = [one for one in choices[role] if one in able]
    if not all(choices):
        return None
    chosen: list[int] = []
    for options in choices:
        near = [one for one in options if one in preferred and one not in chosen]
        chosen.append(random.choice(near) if near and random.random() < 0.7 else random.choice(options))
    return [GroundAction(action, tuple([chosen[role] for role in roles])) for action, roles in steps]
