"""Repairs from planners, where the search for the nearest ends without one: some safe plan, aligned with the original.

A planner's plan is compared with the original step by step (longest common subsequence), and new steps that can be left
out are. The cost is an upper bound, not the least.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.effects import step_key

Steps = tuple[GroundAction, ...]


def remove_needless_steps(
    steps: Steps, original: Sequence[GroundAction | IllFormed], safe: Callable[[Steps], bool]
) -> Steps:
    """The steps without those that the author did not write and that can be left out one by one."""
    wanted = {step_key(step) for step in original if isinstance(step, GroundAction)}
    place = len(steps) - 1
    while place >= 0:
        shorter = (*steps[:place], *steps[place + 1 :])
        if step_key(steps[place]) not in wanted and safe(shorter):
            steps = shorter
        place -= 1
    return steps


def align_plan(
    original: Sequence[GroundAction | IllFormed], steps: Steps, protected: frozenset[int]
) -> Alignment | None:
    """An alignment of a plan with the original that keeps many steps; ``None`` if a protected one is lost."""
    width, height = len(original), len(steps)
    longest = [[0] * (height + 1) for _ in range(width + 1)]
    for i in range(width - 1, -1, -1):
        for j in range(height - 1, -1, -1):
            if _same(original[i], steps[j]):
                longest[i][j] = longest[i + 1][j + 1] + 1 + (i + 1 in protected) * width
            else:
                longest[i][j] = max(longest[i + 1][j], longest[i][j + 1])
    origin = [0] * height
    substituted: set[int] = set()
    deleted: list[int] = []
    i = j = 0
    gone: list[int] = []
    fresh: list[int] = []

    def close() -> None:
        """A step left out and a step put in between the same kept steps are a substitution."""
        for step, place in zip(gone, fresh, strict=False):
            origin[place] = step
            substituted.add(place)
        deleted.extend(gone[len(fresh) :])
        gone.clear()
        fresh.clear()

    while i < width or j < height:
        if i < width and j < height and _same(original[i], steps[j]):
            close()
            origin[j] = i + 1
            i, j = i + 1, j + 1
        elif j == height or (i < width and longest[i + 1][j] >= longest[i][j + 1]):
            gone.append(i + 1)
            i += 1
        else:
            fresh.append(j)
            j += 1
    close()
    if protected & ({*deleted} | {origin[p] for p in substituted}):
        return None
    return Alignment(steps, tuple(origin), frozenset(), frozenset(substituted), tuple(deleted))


def _same(step: GroundAction | IllFormed, other: GroundAction) -> bool:
    return isinstance(step, GroundAction) and step_key(step) == step_key(other)
