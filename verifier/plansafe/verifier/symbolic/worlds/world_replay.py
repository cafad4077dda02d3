"""A single world as an ordinary task and plan, and the explicit engine's report on it."""

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
    variable,
)
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.reporting.summary import summarise
from plansafe.verifier.reporting.worlds import Completion, OneofOutcomes

OneofStatement = tuple[int, int]
"""A ``oneof`` of a step: the step, from 1, and the number of the statement in the step's action."""
ChoiceKey = tuple[int, int, tuple[int, ...]]
"""A binding of a ``oneof``: the step, the number of the statement, and the objects of the quantifiers around it."""


def list_oneof_statements(steps: Sequence[GroundAction | IllFormed]) -> tuple[OneofStatement, ...]:
    """Every ``oneof`` of every step."""
    actions = [(step, ground.action) for step, ground in enumerate(steps, 1) if isinstance(ground, GroundAction)]
    return tuple([(step, number) for step, action in actions for number in range(len(action.alternative_counts))])


def complete_outcomes(
    statements: Iterable[OneofStatement], alternatives: Mapping[ChoiceKey, int]
) -> dict[OneofStatement, OneofOutcomes]:
    """The outcomes of all bindings of all statements, given the alternatives of some bindings.

    Every other binding takes the most frequent alternative of its statement.
    """
    alternatives_by_statement: dict[OneofStatement, dict[tuple[int, ...], int]] = {
        statement: {} for statement in statements
    }
    for (step, number, objects), alternative in alternatives.items():
        alternatives_by_statement[step, number][objects] = alternative
    outcomes: dict[OneofStatement, OneofOutcomes] = {}
    for statement, bindings in alternatives_by_statement.items():
        count = Counter(bindings.values())
        usual_alternative = min(count, key=lambda alternative: (-count[alternative], alternative), default=0)
        exceptions = {
            objects: alternative for objects, alternative in bindings.items() if alternative != usual_alternative
        }
        outcomes[statement] = OneofOutcomes(usual_alternative, exceptions)
    return outcomes


def make_certain_world(steps: Sequence[GroundAction | IllFormed]) -> Completion:
    """The only world of a task and steps that leave open at most their order and durations."""
    return Completion(frozenset(), {}, complete_outcomes(list_oneof_statements(steps), {}))


def resolve_outcomes(steps: Sequence[GroundAction | IllFormed], world: Completion) -> list[GroundAction | IllFormed]:
    """The steps with the outcomes of one world: a step whose action has a ``oneof`` gets an action without one.

    The steps of a partially ordered plan are given in the order of the world.
    """
    step_numbers = world.order or range(1, len(steps) + 1)
    return [
        GroundAction(_resolve_action(ground.action, step, world), ground.objects)
        if isinstance(ground, GroundAction) and ground.action.alternative_counts
        else ground
        for step, ground in zip(step_numbers, steps, strict=True)
    ]


def _resolve_action(action: Action, step: int, world: Completion) -> Action:
    start = _resolve_snap(action.start, step, world)
    return action._replace(
        start=start, end=action.end and _resolve_snap(action.end, step, world), alternative_counts=()
    )


def _resolve_snap(snap: Snap, step: int, world: Completion) -> Snap:
    effects = []
    for effect in snap.effects:
        if effect.choices:
            # An effect that does not happen stays: the step reads its condition.
            chosen = [
                _make_choice_condition(choice, world.get_outcomes(step, choice.number)) for choice in effect.choices
            ]
            effect = effect._replace(condition=And((*chosen, effect.condition)), choices=())
        effects.append(effect)
    return snap._replace(effects=tuple(effects))


def _make_choice_condition(choice: Choice, outcomes: OneofOutcomes) -> Formula:
    """A condition on the variables around a ``oneof``: their binding takes the alternative of this choice."""
    is_usual = outcomes.usual == choice.alternative
    exceptions = [
        objects
        for objects, alternative in outcomes.exceptions.items()
        if (alternative != choice.alternative) == is_usual
    ]
    if not exceptions:
        return TRUE if is_usual else FALSE
    equalities = [
        And(tuple([Equal(variable(v.slot), value) for v, value in zip(choice.variables, objects, strict=True)]))
        for objects in exceptions
    ]
    return Not(Or(tuple(equalities))) if is_usual else Or(tuple(equalities))


# -- reports ----------------------------------------------------------------------------------------------------------


def report_in_world(
    compiled: CompiledTask, plan: Source, resolved: ResolvedPlan, world: Completion, *, halt_only: bool = False
) -> Report:
    """The report on a plan in one world; it numbers steps in the world's order."""
    world_task, world_plan = close_task_and_plan(compiled, resolved, world)
    outcomes = [replay_reading(world_task, world_plan, HALT)] if halt_only else replay_readings(world_task, world_plan)
    return summarise(world_task, plan, world_plan, outcomes)


def close_task_and_plan(
    compiled: CompiledTask, resolved: ResolvedPlan, world: Completion
) -> tuple[CompiledTask, ResolvedPlan]:
    """The task of one world, and the plan with its order, outcomes and durations."""
    plan = reorder_steps(resolved, world.order)
    plan = plan._replace(steps=tuple(resolve_outcomes(plan.steps, world)))
    if plan.timed is not None:
        plan = plan._replace(timed=_resolve_durations(plan.timed, plan.steps, world))
    return close_task(compiled, world), plan


def close_task(compiled: CompiledTask, world: Completion) -> CompiledTask:
    """The task with the open facts and numbers of one world. It shares all compiled code."""
    task = compiled.task
    facts = [set(codes) for codes in task.initial_facts]
    for predicate, code in world.facts:
        facts[predicate].add(code)
    fluents = [dict(values) for values in task.initial_fluents]
    for (function, code), value in world.values.items():
        fluents[function][code] = value
    task = task._replace(initial_facts=facts, initial_fluents=fluents, unknowns=None)
    return compiled._replace(engine=compiled.engine.with_initial_state(task), open_feature=None)


def reorder_steps(resolved: ResolvedPlan, order: tuple[int, ...]) -> ResolvedPlan:
    """List the steps in this order, if it is not empty. The outcomes of a step keep its number in the plan."""
    if not order:
        return resolved
    indexes = [step - 1 for step in order]
    text = resolved.text._replace(steps=tuple([resolved.text.steps[index] for index in indexes]), ordering=None)
    return resolved._replace(
        text=text,
        steps=tuple([resolved.steps[index] for index in indexes]),
        spans=tuple([resolved.spans[index] for index in indexes]),
        ordering=None,
    )


def _resolve_durations(
    timed: Sequence[TimedStep], steps: Sequence[GroundAction | IllFormed], world: Completion
) -> list[TimedStep]:
    durations = dict(world.durations)
    return [
        step._replace(resolved=ground, duration=durations.get(step.number, step.duration), tolerance=None)
        for step, ground in zip(timed, steps, strict=True)
    ]
