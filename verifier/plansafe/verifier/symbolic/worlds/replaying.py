"""What the explicit engine says of a plan in one world, and what the kernel says of that."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from plansafe.grammar.source import Source
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, Engine
from plansafe.verifier.execution.steps import TimedStep
from plansafe.verifier.reporting.report import Report, Worlds
from plansafe.verifier.reporting.summary import summarise
from plansafe.verifier.symbolic.worlds.model import Completion
from plansafe.verifier.symbolic.worlds.witness import closed_task, resolved

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.reading import ReadSteps

ThreeValues = tuple[bool, bool, "bool | None"]
"""Executable, goal, and safe (``None``: undecided)."""


def in_world(checker: Checker, plan: Source, read: ReadSteps, world: Completion, *, halt_only: bool = False) -> Report:
    """The report on a plan in one world. In a partially ordered plan, steps are numbered as the world takes them."""
    closed = closed_checker(checker, world)
    own = in_order(read, world)
    own = own._replace(steps=tuple(resolved(own.steps, world)))
    if own.timed is not None:
        own = own._replace(timed=_timed(own, world))
    outcomes = [closed.replay(own, HALT)]
    if outcomes[0].failures and not halt_only:
        outcomes += [closed.replay(own, reading) for reading in (SKIP, FORCE)]
    return summarise(closed, plan, own, outcomes)


def closed_checker(checker: Checker, world: Completion) -> Checker:
    """A checker for the task of one world. Rules and their places are shared."""
    assert checker.engine is not None
    assert checker.elaborated is not None
    closed = copy.copy(checker)
    closed.engine = Engine(
        closed_task(checker.engine.task, world),
        checker.rules,
        checker.elaborated.symbols.action_predicates,
        lenient_types=checker.options.lenient_types,
        max_instances=checker.options.max_instances,
    )
    return closed


def in_order(read: ReadSteps, world: Completion) -> ReadSteps:
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


def _timed(read: ReadSteps, world: Completion) -> list[TimedStep]:
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
