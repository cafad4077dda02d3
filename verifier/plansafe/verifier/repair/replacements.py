"""Replacements of an object by another one of the same use, in a step and in all later steps (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.repair.model import SameUse


class Replacement(NamedTuple):
    """The object ``new`` instead of ``old``, for the same ``use``, from the original step ``first`` (from 1) on."""

    old: int
    new: int
    first: int
    use: str

    def changes_step(self, number: int, step: GroundAction | IllFormed) -> bool:
        """Whether the original step of this number (from 1) changes."""
        return number >= self.first and isinstance(step, GroundAction) and self.old in step.objects

    def apply_to(self, steps: Sequence[GroundAction | IllFormed]) -> list[GroundAction | IllFormed]:
        """Return the plan with the new object."""
        changed_steps = list(steps)
        for number, step in enumerate(steps, 1):
            if isinstance(step, GroundAction) and self.changes_step(number, step):
                objects = tuple([self.new if object_ == self.old else object_ for object_ in step.objects])
                changed_steps[number - 1] = GroundAction(step.action, objects)
        return changed_steps


def enumerate_replacements(
    task: Task,
    steps: Sequence[GroundAction | IllFormed],
    same_use: Sequence[SameUse],
    fixed_steps: frozenset[int],
    purpose: frozenset[int],
) -> Iterator[Replacement]:
    """Yield the replacements that a plan allows.

    The new object occurs in no step and has the types that the changed steps need. ``fixed_steps``: steps that must not
    change. ``purpose``: steps that the plan is for; if such a step is about one object, this object is not replaced.
    """
    steps_by_object: dict[int, list[int]] = {}
    for number, step in enumerate(steps, 1):
        if isinstance(step, GroundAction):
            for object_ in dict.fromkeys(step.objects):
                steps_by_object.setdefault(object_, []).append(number)
    agents = {object_ for object_, numbers in steps_by_object.items() if len(numbers) == len(steps) > 1}
    fixed_objects = set(agents)
    for number in purpose:
        step = steps[number - 1]
        if isinstance(step, GroundAction):
            objects = set(step.objects) - agents
            if len(objects) == 1:
                fixed_objects |= objects
    numbers_by_name = {name: number for number, name in enumerate(task.objects)}
    listed_pairs: set[tuple[int, int]] = set()
    for use, names in same_use:
        members = sorted([numbers_by_name[name] for name in names if name in numbers_by_name])
        for old in members:
            if old in fixed_objects or old not in steps_by_object:
                continue
            for new in members:
                if new in steps_by_object or (old, new) in listed_pairs:
                    continue
                listed_pairs.add((old, new))
                for first in steps_by_object[old]:
                    replacement = Replacement(old, new, first, use)
                    if _is_possible(task, steps, replacement, fixed_steps):
                        yield replacement


def _is_possible(
    task: Task, steps: Sequence[GroundAction | IllFormed], replacement: Replacement, fixed_steps: frozenset[int]
) -> bool:
    """Whether a replacement changes no fixed step, and the new object has the types that the changed steps need."""
    for number, step in enumerate(steps, 1):
        if not isinstance(step, GroundAction) or not replacement.changes_step(number, step):
            continue
        if number in fixed_steps:
            return False
        for variable, object_ in zip(step.action.parameters, step.objects, strict=True):
            if object_ == replacement.old and replacement.new not in task.domains[variable.domain]:
                return False
    return True
