"""Estimates of the distance to the goal by the delete relaxation: a relaxed plan, or a lower bound by landmark cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation

_NO_OPERATOR = -1
_NO_CONDITION = -1


class RelaxationEstimate(NamedTuple):
    """The estimate of a state; its steps are indexes into the steps of the relaxation.

    ``distance`` is ``None`` if the goal is unreachable; ``preferred_steps`` are the applicable steps of a relaxed plan,
    ``applicable_steps`` all steps that may be applicable (numbers are ignored).
    """

    distance: int | None
    preferred_steps: list[int]
    applicable_steps: list[int]


class _Levels(NamedTuple):
    """The cost level of each proposition (-1: unreachable), and an operator that gives it at this cost.

    ``costliest_conditions``: the costliest condition of each operator; ``None`` for unreachable operators.
    ``applicable_steps``: the steps whose conditions are true at level 0.
    """

    levels: list[int]
    supporters: list[int]
    costliest_conditions: list[int | None]
    applicable_steps: list[int]


def _compute_levels(
    relaxation: DeleteRelaxation, true_propositions: Sequence[int], costs: Sequence[int], is_additive: bool
) -> _Levels:
    """Compute levels by Dijkstra's algorithm; the cost of an operator's conditions is their sum, or their maximum."""
    network = relaxation.network
    levels = [-1] * network.size
    supporters = [_NO_OPERATOR] * network.size
    unmet_counts = network.condition_sizes.copy()
    totals = [0] * len(unmet_counts)
    costliest_conditions: list[int | None] = [None] * len(unmet_counts)
    applicable_steps: list[int] = []
    labels, effects, readers = network.labels, network.effects, network.readers
    step_of_operator = relaxation.step_of_operator
    buckets: list[list[tuple[int, int]]] = [[(proposition, _NO_OPERATOR) for proposition in true_propositions]]
    for operator in network.unconditional_operators:
        if operator in step_of_operator:
            applicable_steps.append(step_of_operator[operator])
        costliest_conditions[operator] = _NO_CONDITION
        label = labels[operator]
        cost = costs[label] if label >= 0 else 0
        while cost >= len(buckets):
            buckets.append([])
        buckets[cost] += [(effect, operator) for effect in effects[operator]]
    level = 0
    while level < len(buckets):
        for proposition, supporter in buckets[level]:  # operators without cost add to the bucket that is being read
            if levels[proposition] >= 0:
                continue
            levels[proposition] = level
            supporters[proposition] = supporter
            for operator in readers[proposition]:
                unmet_count = unmet_counts[operator] = unmet_counts[operator] - 1
                if is_additive:
                    totals[operator] += level
                if unmet_count:
                    continue
                costliest_conditions[operator] = proposition
                label = labels[operator]
                cost = totals[operator] if is_additive else level
                if level == 0 and operator in step_of_operator:
                    applicable_steps.append(step_of_operator[operator])
                if label >= 0:
                    cost += costs[label]
                while cost >= len(buckets):
                    buckets.append([])
                bucket = buckets[cost]
                for effect in effects[operator]:
                    if levels[effect] < 0:
                        bucket.append((effect, operator))
        level += 1
    return _Levels(levels, supporters, costliest_conditions, applicable_steps)


def estimate_by_relaxed_plan(
    relaxation: DeleteRelaxation, true_propositions: Sequence[int], goal: Sequence[int] | None
) -> RelaxationEstimate:
    """Estimate by a relaxed plan with additive costs (Keyder and Geffner 2008). Linear in the ground task."""
    network = relaxation.network
    cost_levels = _compute_levels(relaxation, true_propositions, [1] * len(relaxation.steps), True)
    if goal is None or any([cost_levels.levels[proposition] < 0 for proposition in goal]):
        return RelaxationEstimate(None, [], cost_levels.applicable_steps)
    used_labels: set[int] = set()
    stack, needed_propositions = list(goal), set(goal)
    while stack:
        operator = cost_levels.supporters[stack.pop()]
        if operator < 0:
            continue
        if network.labels[operator] >= 0:
            used_labels.add(network.labels[operator])
        for proposition in network.conditions[operator]:
            if proposition not in needed_propositions:
                needed_propositions.add(proposition)
                stack.append(proposition)
    return RelaxationEstimate(
        len(used_labels),
        [label for label in cost_levels.applicable_steps if label in used_labels],
        cost_levels.applicable_steps,
    )


def estimate_by_landmark_cut(
    relaxation: DeleteRelaxation,
    true_propositions: Sequence[int],
    goal: Sequence[int] | None,
    max_bound: int | None = None,
) -> RelaxationEstimate:
    """Estimate by a lower bound: the number of disjoint sets of steps that each plan needs (Helmert and Domshlak 2009).

    The operators of one step share its cost, so that it is never counted twice. For each cut, linear in the number of
    propositions whose cost it lowers. ``max_bound``: stop at this bound.
    """
    network = relaxation.network
    costs = [1] * len(relaxation.steps)
    cost_levels = _compute_levels(relaxation, true_propositions, costs, False)
    levels, costliest_conditions = cost_levels.levels, cost_levels.costliest_conditions
    if goal is None or any([levels[proposition] < 0 for proposition in goal]):
        return RelaxationEstimate(None, [], cost_levels.applicable_steps)
    producers: list[list[int]] = [[] for _ in range(network.size)]
    operators_of_step: list[list[int]] = [[] for _ in costs]
    for operator, effects in enumerate(network.effects):
        if costliest_conditions[operator] is not None:
            for effect in effects:
                producers[effect].append(operator)
            if network.labels[operator] >= 0:
                operators_of_step[network.labels[operator]].append(operator)
    bound = 0
    while goal and bound != max_bound:
        target = max(goal, key=levels.__getitem__)
        if levels[target] == 0:
            break
        cut = _find_cut(relaxation, true_propositions, target, costliest_conditions, costs, producers)
        bound += 1
        for label in cut:
            costs[label] = 0
        _lower_levels(
            relaxation,
            [operator for label in cut for operator in operators_of_step[label]],
            levels,
            costliest_conditions,
            costs,
        )
    return RelaxationEstimate(bound, [], cost_levels.applicable_steps)


def _lower_levels(
    relaxation: DeleteRelaxation,
    operators: Sequence[int],
    levels: list[int],
    costliest_conditions: list[int | None],
    costs: Sequence[int],
) -> None:
    """Update costs and costliest conditions after the cost of these operators has become zero."""
    network = relaxation.network
    labels, effects, readers, conditions = network.labels, network.effects, network.readers, network.conditions
    buckets: dict[int, list[int]] = {}
    for operator in operators:
        costliest_condition = costliest_conditions[operator]
        assert costliest_condition is not None
        level = 0 if costliest_condition < 0 else levels[costliest_condition]
        for effect in effects[operator]:
            if levels[effect] > level:
                buckets.setdefault(level, []).append(effect)
    while buckets:
        level = min(buckets)
        stack = buckets.pop(level)
        while stack:
            proposition = stack.pop()
            if levels[proposition] <= level:
                continue
            levels[proposition] = level
            for operator in readers[proposition]:
                if costliest_conditions[operator] != proposition:
                    continue
                costliest_condition = max(conditions[operator], key=levels.__getitem__)
                costliest_conditions[operator] = costliest_condition
                label = labels[operator]
                effect_level = levels[costliest_condition] + (costs[label] if label >= 0 else 0)
                for effect in effects[operator]:
                    if levels[effect] > effect_level:
                        if effect_level == level:
                            stack.append(effect)
                        else:
                            buckets.setdefault(effect_level, []).append(effect)


def _find_cut(
    relaxation: DeleteRelaxation,
    true_propositions: Sequence[int],
    target: int,
    costliest_conditions: Sequence[int | None],
    costs: Sequence[int],
    producers: Sequence[Sequence[int]],
) -> set[int]:
    """Find the landmark cut: the steps that reach the propositions from which ``target`` has no further cost."""
    network = relaxation.network
    labels, effects, readers = network.labels, network.effects, network.readers
    zero_cost_propositions = {target}
    stack = [target]
    while stack:
        for operator in producers[stack.pop()]:
            costliest_condition = costliest_conditions[operator]
            if (
                costliest_condition is not None
                and costliest_condition >= 0
                and costliest_condition not in zero_cost_propositions
            ):
                label = labels[operator]
                if label < 0 or costs[label] == 0:
                    zero_cost_propositions.add(costliest_condition)
                    stack.append(costliest_condition)
    cut: set[int] = set()
    reachable = set(true_propositions)
    stack = list(true_propositions)
    operators = network.unconditional_operators
    while True:
        for operator in operators:
            for effect in effects[operator]:
                if effect in zero_cost_propositions:
                    cut.add(labels[operator])
                elif effect not in reachable:
                    reachable.add(effect)
                    stack.append(effect)
        if not stack:
            return cut
        proposition = stack.pop()
        operators = [operator for operator in readers[proposition] if costliest_conditions[operator] == proposition]
