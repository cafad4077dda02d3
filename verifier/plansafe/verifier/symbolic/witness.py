"""One world as an ordinary task and plan, for the explicit engine: its facts given, its outcomes chosen."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.engine.steps import IllFormed, Taken
from plansafe.verifier.model import FALSE, Action, And, Effect, Equal, Formula, Or, Task, Variable, variable
from plansafe.verifier.symbolic.model import World

Outcomes = dict[tuple[int, int, tuple[int, ...]], int]


def closed_task(task: Task, world: World) -> Task:
    """The task with the open facts and numbers of one world."""
    facts = [set(codes) for codes in task.initial_facts]
    for predicate, code in world.facts:
        facts[predicate].add(code)
    fluents = [dict(values) for values in task.initial_fluents]
    for (function, code), value in world.values.items():
        fluents[function][code] = value
    return task._replace(initial_facts=facts, initial_fluents=fluents, unknowns=None)


def resolved(steps: Sequence[Taken | IllFormed], world: World) -> list[Taken | IllFormed]:
    """The steps with the outcomes of one world: a step whose action chooses gets an action of its own."""
    out: list[Taken | IllFormed] = []
    for number, step in enumerate(steps, 1):
        if isinstance(step, Taken) and any([effect.choices for effect in step.action.start.effects]):
            step = Taken(_resolved_action(step.action, number, world.outcomes), step.objects)
        out.append(step)
    return out


def _resolved_action(action: Action, step: int, outcomes: Outcomes) -> Action:
    effects = []
    for effect in action.start.effects:
        condition = effect.condition
        for choice in effect.choices:
            slots = choice.variables
            agreeing = [
                objects
                for (s, number, objects), alternative in outcomes.items()
                if s == step and number == choice.number and alternative == choice.alternative
            ]
            condition = And((_is_one_of(slots, agreeing), condition))
        effects.append(effect._replace(condition=condition, choices=()) if effect.choices else effect)
    happening = [effect for effect in effects if not _never(effect)]
    # The name tells the code of one step from that of another; rules know steps by their mirror predicates.
    return action._replace(start=action.start._replace(effects=tuple(happening)))


def _is_one_of(variables: tuple[Variable, ...], tuples: list[tuple[int, ...]]) -> Formula:
    options = [
        And(tuple([Equal(variable(v.slot), value) for v, value in zip(variables, objects, strict=True)]))
        for objects in tuples
    ]
    return Or(tuple(options)) if options else FALSE


def _never(effect: Effect) -> bool:
    return isinstance(effect.condition, And) and effect.condition.parts[0] is FALSE
