"""Replacements of an object by another one of the same use, in a step and in all later steps (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.repair.model import SameUse


class Replacement(NamedTuple):
    """The object ``new`` instead of ``old`` in the original step ``first`` (from 1) and in all later steps."""

    old: int
    new: int
    first: int
    use: str

    def changes_step(self, number: int, step: GroundAction | IllFormed) -> bool:
        """Whether the original step of this number (from 1) changes."""
        return number >= self.first and isinstance(step, GroundAction) and self.old in step.objects

    def apply_to(self, steps: Sequence[GroundAction | IllFormed]) -> list[GroundAction | IllFormed]:
        """The plan with the new object."""
        return [
            self._replace_in_step(step) if self.changes_step(number, step) else step
            for number, step in enumerate(steps, 1)
        ]

    def _replace_in_step(self, step: GroundAction | IllFormed) -> GroundAction:
        assert isinstance(step, GroundAction)
        return GroundAction(step.action, tuple([self.new if o == self.old else o for o in step.objects]))


def enumerate_replacements(
    task: Task,
    steps: Sequence[GroundAction | IllFormed],
    same_use: Sequence[SameUse],
    fixed_steps: frozenset[int],
    purpose: frozenset[int],
) -> Iterator[Replacement]:
    """List the replacements that a plan allows.

    The new object occurs in no step and has the types that the changed steps need. ``fixed_steps``: steps that must not
    change. ``purpose``: steps that the plan is for; the one object that such a step is about is not replaced.
    """
    numbers: dict[int, list[int]] = {}
    for number, step in enumerate(steps, 1):
        if isinstance(step, GroundAction):
            for object_ in dict.fromkeys(step.objects):
                numbers.setdefault(object_, []).append(number)
    agents = {object_ for object_, mentioned in numbers.items() if len(mentioned) == len(steps) > 1}
    codes = {name: code for code, name in enumerate(task.objects)}
    fixed: set[int] = set()
    for number in purpose:
        step = steps[number - 1]
        if isinstance(step, GroundAction):
            objects = set(step.objects) - agents
            fixed |= objects if len(objects) == 1 else set()
    listed_pairs: set[tuple[int, int]] = set()
    for use, names in same_use:
        members = sorted([codes[name] for name in names if name in codes])
        for old in members:
            if old in fixed or old in agents or old not in numbers:
                continue
            for new in members:
                if new in numbers or (old, new) in listed_pairs:
                    continue
                listed_pairs.add((old, new))
                for first in numbers[old]:
                    replacement = Replacement(old, new, first, use)
                    if _is_possible(task, steps, replacement, fixed_steps):
                        yield replacement


def _is_possible(
    task: Task, steps: Sequence[GroundAction | IllFormed], replacement: Replacement, fixed_steps: frozenset[int]
) -> bool:
    for number, step in enumerate(steps, 1):
        if not replacement.changes_step(number, step):
            continue
        assert isinstance(step, GroundAction)
        if number in fixed_steps:
            return False
        for variable, object_ in zip(step.action.parameters, step.objects, strict=True):
            if object_ == replacement.old and replacement.new not in task.domains[variable.domain]:
                return False
    return True
