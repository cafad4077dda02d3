"""One world as an ordinary task and plan, for the explicit engine: its facts given, its outcomes chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Choice,
    Equal,
    Formula,
    Not,
    Or,
    Snap,
    Task,
    variable,
)
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes

Statement = tuple[int, int]
"""A ``oneof`` of a step: the step, from 1, and the number of the statement in the step's action."""


def statements(steps: Sequence[GroundAction | IllFormed]) -> tuple[Statement, ...]:
    """Every ``oneof`` of every step."""
    actions = [(number, step.action) for number, step in enumerate(steps, 1) if isinstance(step, GroundAction)]
    return tuple([(number, choice) for number, action in actions for choice in range(len(action.choices))])


def total_outcomes(
    stated: Iterable[Statement], chosen: Mapping[tuple[int, int, tuple[int, ...]], int]
) -> dict[Statement, OneofOutcomes]:
    """The outcomes of every binding of all ``stated``. ``chosen`` has some, by step, number and objects.

    The other bindings take the most frequent chosen alternative of their statement.
    """
    by_statement: dict[Statement, dict[tuple[int, ...], int]] = {statement: {} for statement in stated}
    for (step, number, objects), alternative in chosen.items():
        by_statement[step, number][objects] = alternative
    out: dict[Statement, OneofOutcomes] = {}
    for statement, bindings in by_statement.items():
        count = Counter(bindings.values())
        usual = min(count, key=lambda alternative: (-count[alternative], alternative), default=0)
        exceptions = {objects: alternative for objects, alternative in bindings.items() if alternative != usual}
        out[statement] = OneofOutcomes(usual, exceptions)
    return out


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
            step = GroundAction(_resolved_action(step.action, number, world), step.objects)
        out.append(step)
    return out


def certain_world(steps: Sequence[GroundAction | IllFormed]) -> Completion:
    """The world of steps and a task that leave nothing open but order and durations."""
    return Completion(frozenset(), {}, total_outcomes(statements(steps), {}))


def chooses(action: Action) -> bool:
    """Whether the action has a ``oneof`` in its effect."""
    return bool(action.choices)


def _resolved_action(action: Action, step: int, world: Completion) -> Action:
    start = _resolved_snap(action.start, step, world)
    return action._replace(start=start, end=action.end and _resolved_snap(action.end, step, world), choices=())


def _resolved_snap(snap: Snap, step: int, world: Completion) -> Snap:
    effects = []
    for effect in snap.effects:
        conditions = [_chosen(choice, world.outcomes_of(step, choice.number)) for choice in effect.choices]
        if not effect.choices:
            effects.append(effect)
        else:  # also what does not happen: the step reads its conditions
            effects.append(effect._replace(condition=And((*conditions, effect.condition)), choices=()))
    return snap._replace(effects=tuple(effects))


def _chosen(choice: Choice, outcomes: OneofOutcomes) -> Formula:
    """Whether the binding of the variables around a ``oneof`` takes an alternative."""
    usual = outcomes.usual == choice.alternative
    unusual = [
        objects for objects, alternative in outcomes.exceptions.items() if (alternative != choice.alternative) == usual
    ]
    if not unusual:
        return TRUE if usual else FALSE
    equal = [
        And(tuple([Equal(variable(v.slot), value) for v, value in zip(choice.variables, objects, strict=True)]))
        for objects in unusual
    ]
    return Not(Or(tuple(equal))) if usual else Or(tuple(equal))
