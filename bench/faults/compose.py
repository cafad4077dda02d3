"""Compose plans of an exact length from chores."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from plansafe.grammar.source import Source

MAX_ATTEMPTS = 2_000


class Composer:
    """Collects the steps of a plan, with the objects, facts and goals that they require."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.steps: list[str] = []
        self._objects: dict[str, str] = {}
        self._facts: list[str] = []
        self._goals: dict[str, None] = {}

    def add_step(self, step: str) -> None:
        """Add a step."""
        self.steps.append(f"({step})")

    def new_object(self, stem: str, type_name: str) -> str:
        """Declare a new object of a type; returns its name."""
        name = f"{stem}-{len(self._objects) + 1}"
        self._objects[name] = type_name
        return name

    def add_facts(self, *facts: str) -> None:
        """Add facts to the initial state."""
        self._facts += facts

    def add_goals(self, *goals: str) -> None:
        """Add literals to the goal."""
        self._goals.update(dict.fromkeys(goals))

    def drop_goal(self, goal: str) -> None:
        """Remove a literal from the goal."""
        self._goals.pop(goal, None)

    def object_declarations(self) -> str:
        """The declarations of the new objects, as PDDL."""
        return " ".join([f"{name} - {type_name}" for name, type_name in self._objects.items()])

    def fact_text(self) -> str:
        """The added facts, as PDDL."""
        return "\n    ".join(self._facts)

    def goal_text(self) -> str:
        """The literals of the goal, as PDDL."""
        return " ".join(self._goals)

    def possible_chores(self) -> list[Callable[[], None]]:
        """The methods that add a chore which is possible next."""
        raise NotImplementedError


ComposerType = TypeVar("ComposerType", bound=Composer)


def compose_plan(new_composer: Callable[[], ComposerType], steps: int) -> ComposerType:
    """Compose random chores to a plan of exactly ``steps`` steps; attempts that become longer are discarded.

    Raises ValueError if no attempt has this length.
    """
    for _ in range(MAX_ATTEMPTS):
        composer = new_composer()
        while len(composer.steps) < steps:
            composer.rng.choice(composer.possible_chores())()
        if len(composer.steps) == steps:
            return composer
    raise ValueError(f"no plan of {steps} steps in {MAX_ATTEMPTS} attempts")


def read_shipped_file(path: str) -> Source:
    """Read a file of the package as a source named after the file."""
    return Source(Path(path).name, Path(path).read_text(encoding="utf-8"))
