"""Orders of a plan executed by the explicit engine: a given order, a greedy one, or all of them.

Every verdict rests on such an execution. :func:`enumerate_orders` is for plans that the encoding does not cover. Orders
that have taken the same steps and reached the same state with the same rule monitors have the same futures, so each
such point is expanded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.replay import HALT, Outcome, Replay
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, bit_numbers
from plansafe.verifier.symbolic.orders.template import TooHard

MAX_TRIES = 50_000
"""Attempts to take a step, in the search for a greedy order."""
MAX_POINTS = 30_000
"""Points of executions that are expanded."""


class OrderVerdict(NamedTuple):
    """Whether a plan in one world is executable, reaches the goal and is safe; ``None``: undecided there."""

    executable: bool | None
    goal: bool | None
    safe: bool | None


UNDECIDED = OrderVerdict(None, None, None)


def replay_order(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: Sequence[int],
    criteria: VerdictCriteria = EVERY_VIOLATION,
    deadline: float | None = None,
) -> OrderVerdict:
    """The verdict on the steps taken in an order (numbers from 1), up to the first that fails.

    ``criteria`` says which violations count. Raises ``LimitReached``.
    """
    outcome = execute_order(engine, steps, order, deadline)
    safe: bool | None = True
    if any([engine.decides(violation, criteria) for violation in outcome.violations]):
        safe = False
    elif engine.leaves_undecided(outcome.undecided, criteria) or outcome.limit is not None:
        safe = None
    if outcome.limit is not None and not outcome.failures:
        return OrderVerdict(None, None, safe)
    return OrderVerdict(not outcome.failures, outcome.goal is True, safe)


def execute_order(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: Sequence[int], deadline: float | None = None
) -> Outcome:
    """The outcome of the steps taken in an order, up to the first that fails. Raises ``LimitReached``."""
    replay = Replay(engine, HALT, deadline=deadline)
    replay.run_steps([steps[number - 1] for number in order])
    return replay.outcome(len(steps))


def find_greedy_order(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: PartialOrder, deadline: float | None = None
) -> tuple[int, ...]:
    """An order that always takes the first applicable step. If there is none, the other steps follow.

    Quadratic in the number of steps; after ``MAX_TRIES`` attempts, the other steps follow. Raises ``LimitReached``.
    """
    execution = Execution(engine)
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
            if tries % 256 == 0:
                check_deadline(deadline)
            try:
                is_taken = execution.take(step)
            except NumberTooLarge:
                is_taken = False
            if is_taken:
                path.append(number)
                taken |= 1 << number
                stuck = False
                break
    return order.linear_extension([1 << number for number in path])


def enumerate_orders(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: PartialOrder,
    criteria: VerdictCriteria,
    deadline: float | None,
    note: Callable[[OrderVerdict, tuple[int, ...]], bool],
) -> None:
    """Call ``note`` with a verdict and an order for every possible end of a trace, until it returns ``True``.

    An order lists the steps up to the trace's end, with the failing one. Raises ``LimitReached``, and :class:`TooHard`
    if there are too many points.
    """
    stack: list[tuple[int, tuple[int, ...], Execution]] = [(0, (), Execution.initial(engine, True, criteria))]
    visited: set[tuple[int, object]] = set()
    while stack:
        taken, path, execution = stack.pop()
        if taken == order.all_steps:
            if note(_end_verdict(execution, True), path):
                return
            continue
        failing = 0
        for number in bit_numbers(order.all_steps & ~taken):
            if order.before[number] & ~taken:
                continue
            check_deadline(deadline)
            try:
                step = steps[number - 1]
                after = None if isinstance(step, IllFormed) else execution.after(step)
            except (NumberTooLarge, TooManyInstances):
                if note(UNDECIDED, (*path, number)):
                    return
                continue
            if after is None:
                failing = failing or number
                continue
            point = (taken | 1 << number, after.key())
            if point in visited:
                continue
            visited.add(point)
            if len(visited) > MAX_POINTS:
                raise TooHard(f"the orders come to more than {MAX_POINTS} different points")
            stack.append((taken | 1 << number, (*path, number), after))
        if failing and note(_end_verdict(execution, False), (*path, failing)):
            return


def _end_verdict(execution: Execution, executable: bool) -> OrderVerdict:
    """The verdict at the end of a trace."""
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
