"""All orders of a small plan, by the explicit engine: for what the encoding does not cover.

Orders that have taken the same steps and stand in the same state with the same memory of their rules have the same
futures, so each such point is looked at once: orders that differ by steps that commute come together again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from plansafe.verifier.execution.deciding import counts
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria
from plansafe.verifier.symbolic.orders.partial import PartialOrder, members
from plansafe.verifier.symbolic.orders.replay import OrderVerdict
from plansafe.verifier.symbolic.orders.template import TooHard

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
        if taken == order.all:
            if note(_judged(execution, True), path):
                return
            continue
        failing = 0
        for step in members(order.all & ~taken):
            if order.before[step] & ~taken:
                continue
            if deadline is not None and monotonic() > deadline:
                raise LimitReached(Limited.TIME)
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
        end = execution.ended()
        if end is not None and any([counts(engine, violation, execution.criteria) for violation in end.violations()]):
            safe = False
        elif end is not None and (end.undecided() or end.too_large):
            safe = None
    except TooManyInstances:
        safe = None
    return OrderVerdict(executable, goal, safe) if engine.limit is None or not executable else UNDECIDED
