"""One world as an ordinary task and plan, for the explicit engine: its facts given, its outcomes chosen."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import FALSE, Action, And, Equal, Formula, Or, Snap, Task, Variable, variable
from plansafe.verifier.reporting.worlds import Completion

Outcomes = dict[tuple[int, int, tuple[int, ...]], int]


def closed_task(task: Task, world: Completion) -> Task:
    """The task with the open facts and numbers of one world."""
    facts = [set(codes) for codes in task.initial_facts]
    for predicate, code in world.facts:
        facts[predicate].add(code)
    fluents = [dict(values) for values in task.initial_fluents]
    for (function, code), value in world.values.items():
        fluents[function][code] = value
    return task._replace(initial_facts=facts, initial_fluents=fluents, unknowns=None)


def resolved(steps: Sequence[GroundAction | IllFormed], world: Completion) -> list[GroundAction | IllFormed]:
    """The steps with the outcomes of one world: a step whose action chooses gets an action of its own.

    In a partially ordered plan, ``steps`` are in the order of the world, and its outcomes know them by their numbers.
    """
    numbers = world.order or range(1, len(steps) + 1)
    out: list[GroundAction | IllFormed] = []
    for number, step in zip(numbers, steps, strict=True):
        if isinstance(step, GroundAction) and chooses(step.action):
            step = GroundAction(_resolved_action(step.action, number, world.outcomes), step.objects)
        out.append(step)
    return out


def chooses(action: Action) -> bool:
    """Whether the action has a ``oneof`` in its effect."""
    snaps = (action.start,) if action.end is None else (action.start, action.end)
    return any([effect.choices for snap in snaps for effect in snap.effects])


def _resolved_action(action: Action, step: int, outcomes: Outcomes) -> Action:
    start = _resolved_snap(action.start, step, outcomes)
    return action._replace(start=start, end=action.end and _resolved_snap(action.end, step, outcomes))


def _resolved_snap(snap: Snap, step: int, outcomes: Outcomes) -> Snap:
    effects = []
    for effect in snap.effects:
        conditions = []
        for choice in effect.choices:
            agreeing = [
                objects
                for (s, number, objects), alternative in outcomes.items()
                if s == step and number == choice.number and alternative == choice.alternative
            ]
            conditions.append(_is_one_of(choice.variables, agreeing))
        if not effect.choices:
            effects.append(effect)
        else:  # also what does not happen: the step reads its conditions
            effects.append(effect._replace(condition=And((*conditions, effect.condition)), choices=()))
    return snap._replace(effects=tuple(effects))


def _is_one_of(variables: tuple[Variable, ...], tuples: list[tuple[int, ...]]) -> Formula:
    options = [
        And(tuple([Equal(variable(v.slot), value) for v, value in zip(variables, objects, strict=True)]))
        for objects in tuples
    ]
    return Or(tuple(options)) if options else FALSE
