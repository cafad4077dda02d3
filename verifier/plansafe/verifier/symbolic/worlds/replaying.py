"""What the explicit engine says of a plan in one world, and what the kernel says of that."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.readings import replay_reading, replay_readings
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.steps import TimedStep
from plansafe.verifier.reporting.report import Report, Worlds
from plansafe.verifier.reporting.summary import summarise
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.worlds.witness import closed_task, resolved

ThreeValues = tuple[bool, bool, "bool | None"]
"""Executable, goal, and safe (``None``: undecided)."""


def in_world(
    compiled: CompiledTask, plan: Source, read: ResolvedPlan, world: Completion, *, halt_only: bool = False
) -> Report:
    """The report on a plan in one world. In a partially ordered plan, steps are numbered as the world takes them."""
    one, own = made_certain(compiled, read, world)
    outcomes = [replay_reading(one, own, HALT)] if halt_only else replay_readings(one, own)
    return summarise(one, plan, own, outcomes)


def made_certain(compiled: CompiledTask, read: ResolvedPlan, world: Completion) -> tuple[CompiledTask, ResolvedPlan]:
    """The task of one world, and the plan as it is carried out there."""
    own = in_order(read, world)
    own = own._replace(steps=tuple(resolved(own.steps, world)))
    if own.timed is not None:
        own = own._replace(timed=_timed(own, world))
    return closed(compiled, world), own


def closed(compiled: CompiledTask, world: Completion) -> CompiledTask:
    """The task of one world. Rules and their places are shared."""
    return compiled.variant(closed_task(compiled.task, world))


def in_order(read: ResolvedPlan, world: Completion) -> ResolvedPlan:
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
        step._replace(taken=taken, duration=durations.get(step.number, step.duration), tolerance=None)
        for step, taken in zip(read.timed, read.steps, strict=True)
    ]


def judged(report: Report) -> ThreeValues:
    """The three values in one world."""
    safe = {Worlds.ALL: True, Worlds.NONE: False}.get(report.safe)
    return report.executable is Worlds.ALL, report.goal is Worlds.ALL, safe
