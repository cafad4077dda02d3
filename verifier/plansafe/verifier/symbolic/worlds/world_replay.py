"""One world as an ordinary task and plan, for the explicit engine: its facts given, its outcomes chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.readings import replay_reading, replay_readings
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep
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
from plansafe.verifier.reporting.report import Report, Worlds
from plansafe.verifier.reporting.summary import summarise
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes

OneofStatement = tuple[int, int]
"""A ``oneof`` of a step: the step, from 1, and the number of the statement in the step's action."""


def list_oneof_statements(steps: Sequence[GroundAction | IllFormed]) -> tuple[OneofStatement, ...]:
    """Every ``oneof`` of every step."""
    actions = [(number, step.action) for number, step in enumerate(steps, 1) if isinstance(step, GroundAction)]
    return tuple([(number, choice) for number, action in actions for choice in range(len(action.choices))])


def complete_outcomes(
    stated: Iterable[OneofStatement], chosen: Mapping[tuple[int, int, tuple[int, ...]], int]
) -> dict[OneofStatement, OneofOutcomes]:
    """The outcomes of every binding of all ``stated``. ``chosen`` has some, by step, number and objects.

    The other bindings take the most frequent chosen alternative of their statement.
    """
    by_statement: dict[OneofStatement, dict[tuple[int, ...], int]] = {statement: {} for statement in stated}
    for (step, number, objects), alternative in chosen.items():
        by_statement[step, number][objects] = alternative
    out: dict[OneofStatement, OneofOutcomes] = {}
    for statement, bindings in by_statement.items():
        count = Counter(bindings.values())
        usual = min(count, key=lambda alternative: (-count[alternative], alternative), default=0)
        exceptions = {objects: alternative for objects, alternative in bindings.items() if alternative != usual}
        out[statement] = OneofOutcomes(usual, exceptions)
    return out


def close_task(task: Task, world: Completion) -> Task:
    """The task with the open facts and numbers of one world."""
    facts = [set(codes) for codes in task.initial_facts]
    for predicate, code in world.facts:
        facts[predicate].add(code)
    fluents = [dict(values) for values in task.initial_fluents]
    for (function, code), value in world.values.items():
        fluents[function][code] = value
    return task._replace(initial_facts=facts, initial_fluents=fluents, unknowns=None)


def resolve_outcomes(steps: Sequence[GroundAction | IllFormed], world: Completion) -> list[GroundAction | IllFormed]:
    """The steps with the outcomes of one world: a step whose action chooses gets an action of its own.

    In a partially ordered plan, ``steps`` are in the order of the world, and its outcomes know them by their numbers.
    """
    numbers = world.order or range(1, len(steps) + 1)
    out: list[GroundAction | IllFormed] = []
    for number, step in zip(numbers, steps, strict=True):
        if isinstance(step, GroundAction) and has_oneof(step.action):
            step = GroundAction(_resolved_action(step.action, number, world), step.objects)
        out.append(step)
    return out


def make_certain_world(steps: Sequence[GroundAction | IllFormed]) -> Completion:
    """The world of steps and a task that leave nothing open but order and durations."""
    return Completion(frozenset(), {}, complete_outcomes(list_oneof_statements(steps), {}))


def has_oneof(action: Action) -> bool:
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


SingleWorldValues = tuple[bool, bool, "bool | None"]
"""Executable, goal, and safe (``None``: undecided)."""


def report_in_world(
    compiled: CompiledTask, plan: Source, read: ResolvedPlan, world: Completion, *, halt_only: bool = False
) -> Report:
    """The report on a plan in one world. In a partially ordered plan, steps are numbered as the world takes them."""
    one, own = close_task_and_plan(compiled, read, world)
    outcomes = [replay_reading(one, own, HALT)] if halt_only else replay_readings(one, own)
    return summarise(one, plan, own, outcomes)


def close_task_and_plan(
    compiled: CompiledTask, read: ResolvedPlan, world: Completion
) -> tuple[CompiledTask, ResolvedPlan]:
    """The task of one world, and the plan as it is carried out there."""
    own = order_steps(read, world)
    own = own._replace(steps=tuple(resolve_outcomes(own.steps, world)))
    if own.timed is not None:
        own = own._replace(timed=_timed(own, world))
    return close_compiled_task(compiled, world), own


def close_compiled_task(compiled: CompiledTask, world: Completion) -> CompiledTask:
    """The task of one world. Rules and their places are shared."""
    return compiled.variant(close_task(compiled.task, world))


def order_steps(read: ResolvedPlan, world: Completion) -> ResolvedPlan:
    """The steps in the order of the world; the outcomes of a step are those of its number in the plan."""
    if not world.order:
        return read
    places = [number - 1 for number in world.order]
    text = read.text._replace(steps=tuple([read.text.steps[i] for i in places]), ordering=None)
    return read._replace(
        text=text,
        steps=tuple([read.steps[i] for i in places]),
        spans=tuple([read.spans[i] for i in places]),
        ordering=None,
    )


def _timed(read: ResolvedPlan, world: Completion) -> list[TimedStep]:
    durations = dict(world.durations)
    assert read.timed is not None
    return [
        step._replace(resolved=taken, duration=durations.get(step.number, step.duration), tolerance=None)
        for step, taken in zip(read.timed, read.steps, strict=True)
    ]


def single_world_values(report: Report) -> SingleWorldValues:
    """The three values in one world."""
    safe = {Worlds.ALL: True, Worlds.NONE: False}.get(report.safe)
    return report.executable is Worlds.ALL, report.goal is Worlds.ALL, safe
