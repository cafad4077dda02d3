"""Repairs with a replaced object, by their definition: the enumeration of each plan with another object of its type."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from random import Random

from repair_compare import collect_repairs, find_optimum_within_limit, format_repairs, make_checker, make_options
from repair_task import Cost, Task, normal

from plansafe.grammar.source import Source
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairStatus, SameUse, Weights

WEIGHT: Cost = 1
Repairs = frozenset[tuple[tuple[str, ...], tuple[str, ...]]]


def list_same_uses(task: Task) -> tuple[SameUse, ...]:
    """The objects of each type have the same use."""
    kinds = sorted({kind for _, kind in task.objects})
    return tuple(
        [SameUse(kind, frozenset(name for name, declared in task.objects if declared == kind)) for kind in kinds]
    )


def replace_objects(task: Task) -> Iterator[tuple[Task, frozenset[int]]]:
    """Each plan with another object from some step on, and the steps (from 1) that change."""
    actions = {action[1]: action for action in task.actions}
    words = [normal(step)[1:-1].split() for step in task.plan]
    well_formed = set(task.ground_steps())
    valid = [normal(step) in well_formed for step in task.plan]
    mentioned = [set(step[1:]) if ok and step[0] in actions else set() for step, ok in zip(words, valid, strict=True)]
    agents = {name for name, _ in task.objects if len(task.plan) > 1 and all(name in step for step in mentioned)}
    for _, members in list_same_uses(task):
        for old in sorted(members - agents):
            for new in sorted(members - {old}):
                if any(new in step for step in mentioned):
                    continue
                for first in [n for n, step in enumerate(mentioned, 1) if old in step]:
                    changed = frozenset(n for n, step in enumerate(mentioned, 1) if n >= first and old in step)
                    if changed & task.protected:
                        continue
                    plan = tuple(
                        "(" + " ".join([step[0], *[new if word == old else word for word in step[1:]]]) + ")"
                        if n in changed
                        else text
                        for n, (step, text) in enumerate(zip(words, task.plan, strict=True), 1)
                    )
                    if all(normal(plan[n - 1]) in well_formed for n in changed):
                        yield task._replace(plan=plan), changed


def enumerate_repairs(task: Task) -> tuple[Cost | None, Repairs] | None:
    """The least cost and its repairs, with at most one replacement; ``None`` if the enumeration takes too long."""
    plain = find_optimum_within_limit(task)
    if plain is None or plain.cost == 0:
        return None
    best, repairs = plain.cost, set(plain.repairs)
    for variant, changed in replace_objects(task):
        bound = task.bound - WEIGHT if best is None else best - WEIGHT
        if bound < 0:
            continue
        optimum = find_optimum_within_limit(variant._replace(bound=bound))
        if optimum is None:
            return None
        if optimum.cost is None:
            continue
        cost = optimum.cost + WEIGHT
        for script in optimum.scripts:
            if changed <= {step for _, step in script.lost}:
                continue
            if best is None or cost < best:
                best, repairs = cost, set()
            if cost == best:
                repairs.add((script.steps, tuple(sorted((*script.kinds, "replace")))))
    return best, frozenset(repairs)


def compare_replacement_repairs(task: Task) -> list[str]:
    """One line for each disagreement of the verifier with the definition."""
    expected = enumerate_repairs(task)
    if expected is None:
        return []
    best, repairs = expected
    options = make_options(task)._replace(same_use=list_same_uses(task), weights=Weights(*task.weights, WEIGHT))
    try:
        result = repair(make_checker(task), Source("tiny.plan", task.plan_text()), options)
    except Exception:
        return ["crash: " + traceback.format_exc()]
    if best is None:
        return [f"status: {result.status} but no repair found"] if result.repairs else []
    if result.status is not RepairStatus.FOUND:
        return [f"status: {result.status} where cost {best} is possible\n{format_repairs(repairs)}"]
    if {listed.cost for listed in result.repairs} != {best} or result.bound > best:
        return [f"cost: {result.repairs[0].cost}, bound {result.bound}; enumeration {best}\n{format_repairs(repairs)}"]
    disagreements = [] if result.optimal and result.complete else [f"unproved: {result.optimal}, {result.complete}"]
    reported = collect_repairs(result)
    if reported != repairs:
        missing, excess = repairs - reported, reported - repairs
        disagreements.append(f"lacking:\n{format_repairs(missing)}\nexcess:\n{format_repairs(excess)}")
    return disagreements


def make_wrong_object_task(task: Task, random: Random) -> Task:
    """A task whose plan is a safe plan with a wrong object from some step on, and sometimes without one step."""
    best = find_optimum_within_limit(task)
    if best is None or not best.scripts:
        return task
    steps = min(best.scripts, key=lambda script: script.steps).steps
    plans = [variant for variant, _ in replace_objects(task._replace(plan=steps, protected=frozenset()))]
    if not plans:
        return task
    plan = list(random.choice(plans).plan)
    if len(plan) > 1 and random.random() < 0.4:
        plan.pop(random.randrange(len(plan)))
    return task._replace(plan=tuple(plan), protected=frozenset())
