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
    """The cheapest repair from planners, or ``None``; then maybe a ``proof``, in words, that no safe plan exists."""

    alignment: Alignment | None
    proof: str = ""


def find_planner_repair(
    checker: Checker,
    original: Sequence[GroundAction | IllFormed],
    options: RepairOptions,
    is_safe: Callable[[Steps], bool],
    time_limit_s: float,
) -> PlannerRepair:
    """Ask planners for a plan from the initial state, and for one after the steps that break nothing.

    ``time_limit_s``: for each of the two queries. Returns the cheaper repair.
    """
    planners = _make_planners(options)
    best = PlannerRepair(None)
    least_cost: Number | None = options.max_cost
    for length in dict.fromkeys([0, _count_correct_steps(checker, original)]):
        prefix = [step for step in original[:length] if isinstance(step, GroundAction)]
        result = planners.solve(PlanningQuery(checker, prefix, time_limit_s=time_limit_s))
        if result.status is PlanningStatus.UNSOLVABLE and not length:
            return PlannerRepair(None, f"no safe plan reaches the goal ({result.planner} searched all of them)")
        if result.status is not PlanningStatus.SOLVED:
            continue
        steps = remove_needless_steps((*prefix, *result.steps), original, is_safe)
        alignment = align_plan(original, steps, options.protected)
        if alignment is None or not is_safe(alignment.steps):
            continue
        cost = options.weights.compute_cost(alignment.kinds)
        if least_cost is None or cost < least_cost or (cost == least_cost and best.alignment is None):
            best, least_cost = PlannerRepair(alignment), cost
    return best


def reaches_goal_without_rules(checker: Checker, options: RepairOptions, time_limit_s: float) -> bool:
    """Whether planners find a plan that reaches the goal, safe or not."""
    query = PlanningQuery(checker, rules=False, time_limit_s=time_limit_s)
    return _make_planners(options).solve(query).status is PlanningStatus.SOLVED


def _make_planners(options: RepairOptions) -> PlannerChain:
    return make_default_planners() if options.max_work is None else make_default_planners(_MAX_PLANNER_STATES)


def _count_correct_steps(checker: Checker, steps: Sequence[GroundAction | IllFormed]) -> int:
    """Count the steps of a plan before the first step that is not applicable or breaks a rule."""
    run = Replay(checker.engine, HALT)
    run.run_steps(steps)
    outcome = run.finish(len(steps))
    wrong_steps = [failure.step for failure in outcome.failures]
    deciding_violations = [v for v in outcome.violations if checker.engine.is_decisive(v, checker.options.criteria)]
    wrong_steps += [violation.step for violation in deciding_violations if not violation.at_end]
    return max(0, min(wrong_steps, default=len(steps) + 1) - 1)


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
    kept_weights = _weigh_kept_steps(original, steps, protected)
    origin = [0] * len(steps)
    substituted: set[int] = set()
    deleted: list[int] = []
    old_place = new_place = 0
    removed_numbers: list[int] = []
    added_places: list[int] = []

    def pair_changes() -> None:
        """Pair removed and added steps between the same kept steps: each pair is a substitution."""
        for number, place in zip(removed_numbers, added_places, strict=False):
            origin[place] = number
            substituted.add(place)
        deleted.extend(removed_numbers[len(added_places) :])
        removed_numbers.clear()
        added_places.clear()

    while old_place < len(original) or new_place < len(steps):
        has_both = old_place < len(original) and new_place < len(steps)
        if has_both and _is_same(original[old_place], steps[new_place]):
            pair_changes()
            origin[new_place] = old_place + 1
            old_place, new_place = old_place + 1, new_place + 1
        elif new_place == len(steps) or (
            has_both and kept_weights[old_place + 1][new_place] >= kept_weights[old_place][new_place + 1]
        ):
            removed_numbers.append(old_place + 1)
            old_place += 1
        else:
            added_places.append(new_place)
            new_place += 1
    pair_changes()
    if protected & ({*deleted} | {origin[place] for place in substituted}):
        return None
    return Alignment(steps, tuple(origin), frozenset(), frozenset(substituted), tuple(deleted))


def _weigh_kept_steps(
    original: Sequence[GroundAction | IllFormed], steps: Steps, protected: frozenset[int]
) -> list[list[int]]:
    """Return a table: the greatest weight of kept steps, from each place of the original and each place of the plan on.

    A kept step weighs 1; a protected step weighs more than all other steps together.
    """
    weights = [[0] * (len(steps) + 1) for _ in range(len(original) + 1)]
    for old_place in reversed(range(len(original))):
        step_weight = 1 + (len(original) if old_place + 1 in protected else 0)
        for new_place in reversed(range(len(steps))):
            if _is_same(original[old_place], steps[new_place]):
                weights[old_place][new_place] = weights[old_place + 1][new_place + 1] + step_weight
            else:
                weights[old_place][new_place] = max(
                    weights[old_place + 1][new_place], weights[old_place][new_place + 1]
                )
    return weights


def _is_same(original: GroundAction | IllFormed, step: GroundAction) -> bool:
    return isinstance(original, GroundAction) and original.key == step.key
