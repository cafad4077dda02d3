"""Execute orders of a plan with the explicit engine: a given order, a greedy one, or all of them.

Every verdict on a world rests on such an execution. :func:`enumerate_orders` is for plans that the encoding does not
cover. If two orders have taken the same steps and have reached the same state with the same rule monitors, they have
the same futures. So the search visits each such node (steps, state and monitors) once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import WorkBudget, check_deadline
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, iterate_bits
from plansafe.verifier.symbolic.orders.template import TooHard

MAX_TRIES = 50_000
"""Maximum number of attempts to take a step, in the search for a greedy order."""
MAX_NODES = 30_000
"""Maximum number of nodes that the enumeration visits."""


class OrderVerdict(NamedTuple):
    """Whether a plan is executable, reaches the goal and is safe in one world. ``None``: the engine is undecided."""

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
    if any([engine.is_decisive(violation, criteria) for violation in outcome.violations]):
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
    return replay.finish(len(steps))


def find_greedy_order(
    engine: Engine, steps: Sequence[GroundAction | IllFormed], order: PartialOrder, deadline: float | None = None
) -> tuple[int, ...]:
    """Find an order that always takes the first applicable step.

    If no step is applicable, or after :data:`MAX_TRIES` attempts, the other steps follow in the order of the text.
    Quadratic in the number of steps. Raises ``LimitReached``.
    """
    execution, tries = Execution(engine), WorkBudget(MAX_TRIES)
    taken_order: list[int] = []
    taken_steps = 0
    while True:
        remaining_steps = order.all_steps & ~taken_steps
        candidates = (number for number in iterate_bits(remaining_steps) if not order.before[number] & remaining_steps)
        number = _take_first_applicable(execution, steps, candidates, tries, deadline)
        if number is None:
            return order.find_linear_extension([1 << number for number in taken_order])
        taken_order.append(number)
        taken_steps |= 1 << number


def _take_first_applicable(
    execution: Execution,
    steps: Sequence[GroundAction | IllFormed],
    candidates: Iterable[int],
    tries: WorkBudget,
    deadline: float | None,
) -> int | None:
    """Take the first of the candidates that is applicable, and return its number; ``None`` if there is none."""
    for number in candidates:
        step = steps[number - 1]
        if isinstance(step, IllFormed):
            continue
        if tries.left <= 0:
            return None
        tries.spend()
        check_deadline(deadline)
        try:
            if execution.take(step):
                return number
        except NumberTooLarge:
            continue
    return None


class _Node(NamedTuple):
    """A node of the enumeration: the steps taken, as a mask and in their order, and the execution after them."""

    taken_steps: int
    taken_order: tuple[int, ...]
    execution: Execution


def enumerate_orders(
    engine: Engine,
    steps: Sequence[GroundAction | IllFormed],
    order: PartialOrder,
    criteria: VerdictCriteria,
    deadline: float | None,
    report_verdict: Callable[[OrderVerdict, tuple[int, ...]], bool],
) -> None:
    """Call ``report_verdict`` with a verdict and an order for every possible end of a trace, until it returns ``True``.

    The order lists the steps up to the end of the trace, followed by the step that failed, if one did. Raises
    ``LimitReached``, and :class:`TooHard` for more than :data:`MAX_NODES` nodes.
    """
    stack = [_Node(0, (), Execution.initial(engine, True, criteria))]
    visited_keys: set[tuple[int, object]] = set()
    while stack:
        taken_steps, taken_order, execution = stack.pop()
        if taken_steps == order.all_steps:
            if report_verdict(_decide_verdict_at_end(execution, True), taken_order):
                return
            continue
        failing_step = 0
        for number in iterate_bits(order.all_steps & ~taken_steps):
            if order.before[number] & ~taken_steps:
                continue
            check_deadline(deadline)
            try:
                step = steps[number - 1]
                successor = None if isinstance(step, IllFormed) else execution.after(step)
            except (NumberTooLarge, TooManyInstances):
                if report_verdict(UNDECIDED, (*taken_order, number)):
                    return
                continue
            if successor is None:
                failing_step = failing_step or number
                continue
            steps_after = taken_steps | (1 << number)
            key = (steps_after, successor.key())
            if key in visited_keys:
                continue
            visited_keys.add(key)
            if len(visited_keys) > MAX_NODES:
                raise TooHard(f"the orders reach more than {MAX_NODES} different states")
            stack.append(_Node(steps_after, (*taken_order, number), successor))
        if failing_step and report_verdict(_decide_verdict_at_end(execution, False), (*taken_order, failing_step)):
            return


def _decide_verdict_at_end(execution: Execution, executable: bool) -> OrderVerdict:
    """The verdict on an execution that ends here; ``executable`` is false if the next step failed."""
    engine = execution.engine
    if engine.limit is not None and executable:
        return UNDECIDED
    goal = engine.evaluate_goal(execution.state) is True
    safe: bool | None = None if engine.limit is not None else True
    try:
        end = execution.finish_runtime()
        if end is not None and any(
            [engine.is_decisive(violation, execution.criteria) for violation in end.collect_violations()]
        ):
            safe = False
        elif end is not None and (end.collect_undecided() or end.too_large):
            safe = None
    except TooManyInstances:
        safe = None
    return OrderVerdict(executable, goal, safe)
