"""Repairs from planners, for when the search for the nearest repair finds none: a safe plan aligned with the original.

A planner's plan is compared with the original step by step (longest common subsequence), after its needless new steps
are removed. Its cost is an upper bound, not the least cost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.planning.planner_chain import PlannerChain, make_default_planners
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.model import RepairOptions

Steps = tuple[GroundAction, ...]
_MAX_PLANNER_STATES = 20_000
"""States that a planner may visit if the work is limited."""


class PlannerRepair(NamedTuple):
    """The cheapest repair from planners, if any; or a ``proof``, in words, that no safe plan exists."""

    alignment: Alignment | None
    proof: str = ""


def find_planner_repair(
    checker: Checker,
    original: Sequence[GroundAction | IllFormed],
    options: RepairOptions,
    is_safe: Callable[[Steps], bool],
    time_limit_s: float,
) -> PlannerRepair:
    """Ask planners for a plan, from the start and after the steps that break nothing, each within the time limit."""
    planners, best = _make_planners(options), PlannerRepair(None)
    least_cost: Number | None = options.max_cost
    for length in dict.fromkeys([0, _count_good_steps(checker, original)]):
        prefix = [step for step in original[:length] if isinstance(step, GroundAction)]
        plan = planners.solve(PlanningQuery(checker, prefix, True, False, time_limit_s))
        if plan.status is PlanningStatus.UNSOLVABLE and not length:
            return PlannerRepair(None, f"no safe plan reaches the goal ({plan.planner} searched all of them)")
        if plan.status is not PlanningStatus.SOLVED:
            continue
        steps = remove_needless_steps((*prefix, *plan.steps), original, is_safe)
        alignment = align_plan(original, steps, options.protected)
        if alignment is None or not is_safe(alignment.steps):
            continue
        cost = options.weights.compute_cost(alignment.kinds)
        if least_cost is None or cost < least_cost or (cost == least_cost and best.alignment is None):
            best, least_cost = PlannerRepair(alignment), cost
    return best


def reaches_goal_without_rules(checker: Checker, options: RepairOptions, time_limit_s: float) -> bool:
    """Whether planners find a plan that reaches the goal, safe or not."""
    query = PlanningQuery(checker, (), False, False, time_limit_s)
    return _make_planners(options).solve(query).status is PlanningStatus.SOLVED


def _make_planners(options: RepairOptions) -> PlannerChain:
    return make_default_planners() if options.max_work is None else make_default_planners(_MAX_PLANNER_STATES)


def _count_good_steps(checker: Checker, steps: Sequence[GroundAction | IllFormed]) -> int:
    """The number of steps of a plan before the first that is not applicable or breaks a rule."""
    run = Replay(checker.engine, HALT)
    run.run_steps(steps)
    outcome = run.finish(len(steps))
    bad_steps = [failure.step for failure in outcome.failures]
    deciding_violations = [v for v in outcome.violations if checker.engine.is_decisive(v, checker.options.criteria)]
    bad_steps += [violation.step for violation in deciding_violations if not violation.at_end]
    return max(0, min(bad_steps, default=len(steps) + 1) - 1)


def remove_needless_steps(
    steps: Steps, original: Sequence[GroundAction | IllFormed], is_safe: Callable[[Steps], bool]
) -> Steps:
    """Remove, one by one, the steps that are not in the original and that the plan does not need to be safe."""
    original_keys = {step.key for step in original if isinstance(step, GroundAction)}
    for place in range(len(steps) - 1, -1, -1):
        shorter = (*steps[:place], *steps[place + 1 :])
        if steps[place].key not in original_keys and is_safe(shorter):
            steps = shorter
    return steps


def align_plan(
    original: Sequence[GroundAction | IllFormed], steps: Steps, protected: frozenset[int]
) -> Alignment | None:
    """Align a plan with the original so that many steps are kept; ``None`` if a protected step is lost."""
    width, height = len(original), len(steps)
    longest_common = [[0] * (height + 1) for _ in range(width + 1)]
    for row in range(width - 1, -1, -1):
        for column in range(height - 1, -1, -1):
            if _is_same(original[row], steps[column]):
                longest_common[row][column] = longest_common[row + 1][column + 1] + 1 + (row + 1 in protected) * width
            else:
                longest_common[row][column] = max(longest_common[row + 1][column], longest_common[row][column + 1])
    origin = [0] * height
    substituted: set[int] = set()
    deleted: list[int] = []
    row = column = 0
    removed_numbers: list[int] = []
    new_places: list[int] = []

    def pair_changes() -> None:
        """Pair removed and new steps between the same kept steps: each pair is a substitution."""
        for number, place in zip(removed_numbers, new_places, strict=False):
            origin[place] = number
            substituted.add(place)
        deleted.extend(removed_numbers[len(new_places) :])
        removed_numbers.clear()
        new_places.clear()

    while row < width or column < height:
        if row < width and column < height and _is_same(original[row], steps[column]):
            pair_changes()
            origin[column] = row + 1
            row, column = row + 1, column + 1
        elif column == height or (row < width and longest_common[row + 1][column] >= longest_common[row][column + 1]):
            removed_numbers.append(row + 1)
            row += 1
        else:
            new_places.append(column)
            column += 1
    pair_changes()
    if protected & ({*deleted} | {origin[position] for position in substituted}):
        return None
    return Alignment(steps, tuple(origin), frozenset(), frozenset(substituted), tuple(deleted))


def _is_same(original: GroundAction | IllFormed, step: GroundAction) -> bool:
    return isinstance(original, GroundAction) and original.key == step.key
