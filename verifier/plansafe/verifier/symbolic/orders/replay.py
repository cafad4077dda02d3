"""One order of a partially ordered plan, replayed by the explicit engine: the judgement that every answer rests on."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.deciding import counts, undecided
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.replay import HALT, Outcome, Run
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.orders.partial import PartialOrder, members

MAX_TRIES = 50_000
"""Attempts to take a step."""


class OrderVerdict(NamedTuple):
    """Whether a plan in one world is executable, reaches the goal and is safe; ``None``: undecided there."""

    executable: bool | None
    goal: bool | None
    safe: bool | None


def replayed(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: Sequence[int],
    criteria: VerdictCriteria = EVERY_VIOLATION,
    deadline: float | None = None,
) -> OrderVerdict:
    """The judgement on the steps taken in an order (numbers from 1), up to the first that fails.

    ``criteria`` says which violations count. Raises ``LimitReached``.
    """
    found = outcome(engine, steps, order, deadline)
    safe: bool | None = True
    if any([counts(engine, violation, criteria) for violation in found.violations]):
        safe = False
    elif undecided(engine, found, criteria) or found.limit is not None:
        safe = None
    if found.limit is not None and not found.failures:
        return OrderVerdict(None, None, safe)
    return OrderVerdict(not found.failures, found.goal is True, safe)


def outcome(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: Sequence[int], deadline: float | None = None
) -> Outcome:
    """What becomes of the steps taken in an order, up to the first that fails. Raises ``LimitReached``."""
    run = Run(engine, HALT, deadline=deadline)
    run.steps([steps[number - 1] for number in order])
    return run.outcome(len(steps))


def greedy(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: PartialOrder, deadline: float | None = None
) -> tuple[int, ...]:
    """An order that always takes the first step it can, and goes on anyhow where it can take none.

    Quadratic in the number of steps; after ``MAX_TRIES`` attempts it goes on anyhow. Raises ``LimitReached``.
    """
    simulation = Execution(engine)
    path: list[int] = []
    taken = tries = 0
    stuck = False
    while not stuck and len(path) < order.size:
        stuck = True
        for number in members(order.all & ~taken):
            step = steps[number - 1]
            if order.before[number] & ~taken or isinstance(step, IllFormed):
                continue
            tries += 1
            if tries > MAX_TRIES:
                break
            if deadline is not None and tries % 256 == 0 and monotonic() > deadline:
                raise LimitReached(Limited.TIME)
            try:
                done = simulation.take(step)
            except NumberTooLarge:
                done = False
            if done:
                path.append(number)
                taken |= 1 << number
                stuck = False
                break
    extended = order.extension([1 << number for number in path])
    assert extended is not None
    return extended
