"""How far the goal is, by the delete relaxation: a relaxed plan to follow, and a lower bound by landmark cuts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation

_NOWHERE = -1


class RelaxationEstimate(NamedTuple):
    """What the relaxation says about a state.

    ``value`` is ``None`` where the goal is out of reach; ``preferred`` are the steps of a relaxed plan that can be
    taken now, ``applicable`` all steps that may be (numbers are not looked at).
    """

    distance: int | None
    preferred: list[int]
    applicable: list[int]


class _Levels(NamedTuple):
    """How costly each proposition is (-1: out of reach), how it is reached, and the dearest condition of an operator.

    ``dearest`` is ``None`` for operators that cannot be taken, -1 for those without condition.
    """

    levels: list[int]
    supporters: list[int]
    dearest: list[int | None]
    applicable: list[int]


def _levels(relaxed: DeleteRelaxation, true: Sequence[int], costs: Sequence[int], additive: bool) -> _Levels:
    """Costs by Dijkstra's algorithm: the sum of an operator's conditions, or the dearest of them."""
    network = relaxed.network
    levels = [-1] * network.size
    supporters = [_NOWHERE] * network.size
    needs = network.needs.copy()
    totals = [0] * len(needs)
    dearest: list[int | None] = [None] * len(needs)
    applicable: list[int] = []
    labels, effects, readers, own = network.labels, network.effects, network.readers, relaxed.own
    buckets: list[list[tuple[int, int]]] = [[(proposition, _NOWHERE) for proposition in true]]
    for operator in network.free:
        if operator in own:
            applicable.append(own[operator])
        dearest[operator] = _NOWHERE
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
                left = needs[operator] = needs[operator] - 1
                if additive:
                    totals[operator] += level
                if left:
                    continue
                dearest[operator] = proposition
                label = labels[operator]
                cost = totals[operator] if additive else level
                if level == 0 and operator in own:
                    applicable.append(own[operator])
                if label >= 0:
                    cost += costs[label]
                while cost >= len(buckets):
                    buckets.append([])
                bucket = buckets[cost]
                for effect in effects[operator]:
                    if levels[effect] < 0:
                        bucket.append((effect, operator))
        level += 1
    return _Levels(levels, supporters, dearest, applicable)


def estimate_by_relaxed_plan(
    relaxed: DeleteRelaxation, true: Sequence[int], goal: Sequence[int] | None
) -> RelaxationEstimate:
    """The number of steps of a relaxed plan, by additive costs (Keyder and Geffner 2008). Linear in the ground task."""
    network = relaxed.network
    found = _levels(relaxed, true, [1] * len(relaxed.steps), True)
    if goal is None or any([found.levels[p] < 0 for p in goal]):
        return RelaxationEstimate(None, [], found.applicable)
    used: set[int] = set()
    stack, seen = list(goal), set(goal)
    while stack:
        operator = found.supporters[stack.pop()]
        if operator < 0:
            continue
        if network.labels[operator] >= 0:
            used.add(network.labels[operator])
        for proposition in network.conditions[operator]:
            if proposition not in seen:
                seen.add(proposition)
                stack.append(proposition)
    return RelaxationEstimate(len(used), [label for label in found.applicable if label in used], found.applicable)


def estimate_by_landmark_cut(
    relaxed: DeleteRelaxation, true: Sequence[int], goal: Sequence[int] | None, enough: int | None = None
) -> RelaxationEstimate:
    """A lower bound on the number of steps (Helmert and Domshlak 2009): disjoint sets of which each plan needs a step.

    The operators of one step share its cost, so that it is never counted twice. For each unit of the bound, linear in
    what gets cheaper by it; ``enough``: no more units than that are looked for.
    """
    network = relaxed.network
    costs = [1] * len(relaxed.steps)
    found = _levels(relaxed, true, costs, False)
    levels, dearest = found.levels, found.dearest
    if goal is None or any([levels[p] < 0 for p in goal]):
        return RelaxationEstimate(None, [], found.applicable)
    producers: list[list[int]] = [[] for _ in range(network.size)]
    of_step: list[list[int]] = [[] for _ in costs]
    for operator, effects in enumerate(network.effects):
        if dearest[operator] is not None:
            for effect in effects:
                producers[effect].append(operator)
            if network.labels[operator] >= 0:
                of_step[network.labels[operator]].append(operator)
    value = 0
    while goal and value != enough:
        top = max(goal, key=levels.__getitem__)
        if levels[top] == 0:
            break
        cut = _cut(relaxed, true, top, dearest, costs, producers)
        value += 1
        for label in cut:
            costs[label] = 0
        _cheaper(relaxed, [operator for label in cut for operator in of_step[label]], levels, dearest, costs)
    return RelaxationEstimate(value, [], found.applicable)


def _cheaper(
    relaxed: DeleteRelaxation,
    operators: Sequence[int],
    levels: list[int],
    dearest: list[int | None],
    costs: Sequence[int],
) -> None:
    """Bring levels and dearest conditions to what they are now that these operators cost nothing."""
    network = relaxed.network
    labels, effects, readers, conditions = network.labels, network.effects, network.readers, network.conditions
    buckets: dict[int, list[int]] = {}
    for operator in operators:
        last = dearest[operator]
        assert last is not None
        level = 0 if last < 0 else levels[last]
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
                if dearest[operator] != proposition:
                    continue
                last = max(conditions[operator], key=levels.__getitem__)
                dearest[operator] = last
                label = labels[operator]
                reached = levels[last] + (costs[label] if label >= 0 else 0)
                for effect in effects[operator]:
                    if levels[effect] > reached:
                        (stack if reached == level else buckets.setdefault(reached, [])).append(effect)


def _cut(
    relaxed: DeleteRelaxation,
    true: Sequence[int],
    top: int,
    dearest: Sequence[int | None],
    costs: Sequence[int],
    producers: Sequence[Sequence[int]],
) -> set[int]:
    """The steps that lead from what is reached without ``top`` into what leads to it for nothing."""
    network = relaxed.network
    labels, effects, readers = network.labels, network.effects, network.readers
    near = {top}
    stack = [top]
    while stack:
        for operator in producers[stack.pop()]:
            last = dearest[operator]
            if last is not None and last >= 0 and last not in near:
                label = labels[operator]
                if label < 0 or costs[label] == 0:
                    near.add(last)
                    stack.append(last)
    cut: set[int] = set()
    seen = set(true)
    stack = list(true)
    for operator in network.free:
        for effect in effects[operator]:
            if effect in near:
                cut.add(labels[operator])
            elif effect not in seen:
                seen.add(effect)
                stack.append(effect)
    while stack:
        proposition = stack.pop()
        for operator in readers[proposition]:
            if dearest[operator] == proposition:
                for effect in effects[operator]:
                    if effect in near:
                        cut.add(labels[operator])
                    elif effect not in seen:
                        seen.add(effect)
                        stack.append(effect)
    return cut
