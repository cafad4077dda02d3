"""Orders of a plan executed by the explicit engine: a given order, a greedy one, or all of them.

Every verdict rests on such an execution. :func:`enumerate_orders` is for plans that the encoding does not cover. Orders
that have taken the same steps and reached the same state with the same rule monitors have the same futures, so each
such point is expanded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.replay import HALT, Outcome, Replay
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, bit_numbers
from plansafe.verifier.symbolic.orders.template import TooHard

MAX_TRIES = 50_000
"""Attempts to take a step."""


class OrderVerdict(NamedTuple):
    """Whether a plan in one world is executable, reaches the goal and is safe; ``None``: undecided there."""

    executable: bool | None
    goal: bool | None
    safe: bool | None


def replay_order(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: Sequence[int],
    criteria: VerdictCriteria = EVERY_VIOLATION,
    deadline: float | None = None,
) -> OrderVerdict:
    """The judgement on the steps taken in an order (numbers from 1), up to the first that fails.

    ``criteria`` says which violations count. Raises ``LimitReached``.
    """
    found = execute_order(engine, steps, order, deadline)
    safe: bool | None = True
    if any([engine.decides(violation, criteria) for violation in found.violations]):
        safe = False
    elif engine.leaves_undecided(found.undecided, criteria) or found.limit is not None:
        safe = None
    if found.limit is not None and not found.failures:
        return OrderVerdict(None, None, safe)
    return OrderVerdict(not found.failures, found.goal is True, safe)


def execute_order(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: Sequence[int], deadline: float | None = None
) -> Outcome:
    """What becomes of the steps taken in an order, up to the first that fails. Raises ``LimitReached``."""
    run = Replay(engine, HALT, deadline=deadline)
    run.run_steps([steps[number - 1] for number in order])
    return run.outcome(len(steps))


def find_greedy_order(
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
        for number in bit_numbers(order.all_steps & ~taken):
            step = steps[number - 1]
            if order.before[number] & ~taken or isinstance(step, IllFormed):
                continue
            tries += 1
            if tries > MAX_TRIES:
                break
            if deadline is not None and tries % 256 == 0 and monotonic() > deadline:
                raise LimitReached(LimitKind.TIME)
            try:
                done = simulation.take(step)
            except NumberTooLarge:
                done = False
            if done:
                path.append(number)
                taken |= 1 << number
                stuck = False
                break
    extended = order.linear_extension([1 << number for number in path])
    assert extended is not None
    return extended


MAX_POINTS = 30_000
"""Points of executions that are looked at."""
UNDECIDED = OrderVerdict(None, None, None)


def enumerate_orders(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: PartialOrder,
    criteria: VerdictCriteria,
    deadline: float | None,
    note: Callable[[OrderVerdict, tuple[int, ...]], bool],
) -> None:
    """Call ``note`` with a judgement and an order for every way in which a trace may end, until it returns ``True``.

    An order lists the steps up to the trace's end, the failing one included. Raises ``LimitReached`` and, past the
    limit, :class:`TooHard`.
    """
    stack: list[tuple[int, tuple[int, ...], Execution]] = [(0, (), Execution.initial(engine, True, criteria))]
    seen: set[tuple[int, object]] = set()
    while stack:
        taken, path, execution = stack.pop()
        if taken == order.all_steps:
            if note(_judged(execution, True), path):
                return
            continue
        failing = 0
        for step in bit_numbers(order.all_steps & ~taken):
            if order.before[step] & ~taken:
                continue
            if deadline is not None and monotonic() > deadline:
                raise LimitReached(LimitKind.TIME)
            try:
                resolved = steps[step - 1]
                after = None if isinstance(resolved, IllFormed) else execution.after(resolved)
            except (NumberTooLarge, TooManyInstances):
                if note(UNDECIDED, (*path, step)):
                    return
                continue
            if after is None:
                failing = failing or step
                continue
            key = (taken | 1 << step, after.key())
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MAX_POINTS:
                raise TooHard(f"the orders come to more than {MAX_POINTS} different points")
            stack.append((taken | 1 << step, (*path, step), after))
        if failing and note(_judged(execution, False), (*path, failing)):
            return


def _judged(execution: Execution, executable: bool) -> OrderVerdict:
    """The judgement where the trace ends."""
    engine = execution.engine
    goal = engine.goal(execution.state) is True
    safe: bool | None = None if engine.limit is not None else True
    try:
        end = execution.finished_runtime()
        if end is not None and any([engine.decides(violation, execution.criteria) for violation in end.violations()]):
            safe = False
        elif end is not None and (end.undecided() or end.too_large):
            safe = None
    except TooManyInstances:
        safe = None
    return OrderVerdict(executable, goal, safe) if engine.limit is None or not executable else UNDECIDED
