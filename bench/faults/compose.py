"""Plans put together from chores, up to an exact length."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from plansafe.grammar.source import Source

ATTEMPTS = 2_000


class Composer:
    """Collects the steps of a plan, and the objects, facts and goals that they need."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.steps: list[str] = []
        self._objects: dict[str, str] = {}
        self._facts: list[str] = []
        self._goals: dict[str, None] = {}

    def do(self, step: str) -> None:
        """One more step."""
        self.steps.append(f"({step})")

    def new(self, stem: str, kind: str) -> str:
        """A new object of a type."""
        name = f"{stem}-{len(self._objects) + 1}"
        self._objects[name] = kind
        return name

    def fact(self, *facts: str) -> None:
        """True at first."""
        self._facts += facts

    def goal(self, *goals: str) -> None:
        """True at the end."""
        self._goals.update(dict.fromkeys(goals))

    def drop_goal(self, goal: str) -> None:
        """No longer wanted."""
        self._goals.pop(goal, None)

    def objects(self) -> str:
        """The declarations of the new objects."""
        return " ".join([f"{name} - {kind}" for name, kind in self._objects.items()])

    def facts(self) -> str:
        """The new facts."""
        return "\n    ".join(self._facts)

    def goals(self) -> str:
        """The parts of the goal."""
        return " ".join(self._goals)

    def chores(self) -> list[Callable[[], None]]:
        """What can be done next."""
        raise NotImplementedError


World = TypeVar("World", bound=Composer)


def compose(world: Callable[[], World], steps: int) -> World:
    """A world with a plan of exactly so many steps, from random chores; what grows too long is thrown away.

    Raises ValueError if no attempt meets the length.
    """
    for _ in range(ATTEMPTS):
        made = world()
        while len(made.steps) < steps:
            made.rng.choice(made.chores())()
        if len(made.steps) == steps:
            return made
    raise ValueError(f"no plan of {steps} steps in {ATTEMPTS} attempts")


def read_domain(path: str) -> Source:
    """A text of the package, named by its file."""
    return Source(Path(path).name, Path(path).read_text(encoding="utf-8"))
