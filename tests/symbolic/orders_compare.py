"""Compare verdicts on partially ordered plans with the replay of every order."""

from __future__ import annotations

import traceback
from itertools import islice
from typing import NamedTuple

from orders_cases import (
    OrderCase,
    all_orders,
    allows,
    combine_verdicts,
    generate_order_case,
    replay_all_orders,
    resolve_steps,
)

from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.symbolic.orders.explicit_orders import OrderVerdict, replay_order
from plansafe.verifier.symbolic.orders.order_audit import OrderAudit
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict

MAX_ORDERS = 12
"""Maximum number of orders that the kernel audits; it is far slower than the engine."""


class OrderComparison(NamedTuple):
    """The result for one case: the values, why orders were enumerated, and the difference."""

    name: str
    values: tuple[Worlds, ...]
    enumeration_reason: str
    limits: tuple[str, ...]
    problem: str | None


def compare_case(stream: str, seed: int, number: int, kernel: bool = False) -> OrderComparison:
    """Compare one case."""
    case = generate_order_case(stream, seed, number)
    try:
        return _compare_verdicts(case, kernel)
    except Exception:
        return OrderComparison(case.name, (), "", (), f"crash\n{traceback.format_exc()}\n{case.describe_case()}")


def _compare_verdicts(case: OrderCase, kernel: bool) -> OrderComparison:
    checker = case.checker()
    assert checker.ok, checker.diagnostics
    steps = resolve_steps(case, checker)
    order = PartialOrder(len(steps), case.pairs)
    audit = OrderAudit(checker.engine, steps, order)
    verdict = audit.decide_verdict()
    expected = combine_verdicts(replay_all_orders(case, checker))
    audit_values = (verdict.executable, verdict.goal, verdict.safe)
    problem = None
    if audit_values != expected:
        problem = f"verdict {audit_values} instead of {expected}; {verdict.limits}"
    elif verdict.limits:
        problem = f"limits {verdict.limits}"
    elif "confirm" in audit.enumeration_reason:
        problem = audit.enumeration_reason
    problem = problem or _check_witnesses(case, verdict, order)
    if problem is None and kernel:
        problem = _compare_with_kernel(case, order, expected)
    if problem is not None:
        problem = f"{problem}\n{case.describe_case()}"
    return OrderComparison(case.name, audit_values, audit.enumeration_reason, verdict.limits, problem)


def _check_witnesses(case: OrderCase, verdict: WorldsVerdict, order: PartialOrder) -> str | None:
    checker = case.checker()
    steps = resolve_steps(case, checker)
    properties = zip(verdict[:3], verdict[3:6], range(3), strict=True)
    for value, world, property_number in properties:
        assert isinstance(value, Worlds)
        if value in (Worlds.SOME, Worlds.NONE) and world is None:
            return f"no witness for property {property_number}"
        if world is not None:
            if value is Worlds.ALL or not allows(order, world.order):
                return f"a wrong witness for property {property_number}: {world.order}"
            if replay_order(checker.engine, steps, world.order)[property_number] is not False:
                return f"the witness {world.order} does not fail property {property_number}"
    return None


def _compare_with_kernel(case: OrderCase, order: PartialOrder, expected: tuple[Worlds, ...]) -> str | None:
    """Compare with the replay kernel on every order, if the plan has at most ``MAX_ORDERS`` orders."""
    if sum(1 for _ in islice(all_orders(order), MAX_ORDERS + 1)) > MAX_ORDERS:
        return None
    try:
        kernel = Kernel(case.domain, case.problem, [case.safety] if case.safety else [])
        verdicts = set()
        for sequence in all_orders(order):
            report = kernel.audit("\n".join([case.plan[step - 1] for step in sequence]))
            verdicts.add(OrderVerdict(report.executable, report.goal, report.safe))
    except (KernelLimit, KernelRejects):
        return None
    if expected[2] is Worlds.UNKNOWN:  # where a number is undefined, the kernel may know more
        verdicts = {verdict._replace(safe=None) for verdict in verdicts}
    if report.ill_formed:  # the kernel judges the whole plan, whose effects are unknown; the audit of orders does not
        verdicts = {verdict._replace(safe=None) for verdict in verdicts}
        expected = (*expected[:2], Worlds.UNKNOWN)
    if combine_verdicts(verdicts) != expected:
        return f"the kernel says {combine_verdicts(verdicts)}, the engine {expected}"
    return None
