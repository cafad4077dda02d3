"""Audit a plan over all possible worlds: choose the reporter that fits the plan."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.reporting.report import Headline, Report, make_unchecked_report
from plansafe.verifier.symbolic.invariants.groups import Restrictions, find_restrictions
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder
from plansafe.verifier.symbolic.worlds.reporter import AuditCase, WorldsReporter
from plansafe.verifier.symbolic.worlds.world_replay import reorder_steps

_SOLVER_PACKAGES = {"pysat": "python-sat", "z3": "z3-solver"}
"""Package of each solver module."""


def audit(case: AuditCase) -> Report:
    """Report on one plan over all worlds. Raises :class:`LimitReached`, ``SolverMissing``."""
    compiled, plan, resolved, _, deadline = case
    options = compiled.options
    if options.engine == "explicit":
        refusal = compiled.explain_several_worlds("the explicit engine", resolved)
        assert refusal is not None
        help_text = "remove --engine, or use --engine sat or --engine smt"
        diagnostic = Diagnostic(SC.NOT_EXPLICIT, refusal.message, refusal.labels, help=help_text)
        return make_unchecked_report(plan.name, *compiled.diagnostics, diagnostic)
    unsupported = _find_unsupported_reason(compiled, resolved)
    if unsupported:
        return WorldsReporter(case).report_unsupported(*unsupported)
    try:
        restrictions = find_restrictions(
            compiled.task,
            compiled.openings,
            compiled.invariants,
            options.infer_invariants,
            deadline,
            options.lenient_types,
        )
        step_order: tuple[int, ...] = ()
        if resolved.ordering is not None:
            step_order = _find_only_order(PartialOrder(len(resolved.steps), resolved.ordering))
            case = case._replace(resolved=reorder_steps(resolved, step_order))
        return _report_over_worlds(case, restrictions, step_order)
    except LimitReached as limit:
        if limit.kind is not LimitKind.OPEN_FACTS:
            raise
        help_text = "give narrower types to the open predicates"
        diagnostic = Diagnostic(SC.TOO_MANY_INSTANCES, str(limit), severity=Severity.WARNING, help=help_text)
        return WorldsReporter(case).report_without_verdict(diagnostic, Headline.UNKNOWN)


def _report_over_worlds(case: AuditCase, restrictions: Restrictions, step_order: tuple[int, ...]) -> Report:
    """Report on a plan by the reporter of its kind: partially ordered, continuous, timed, or any other plan.

    Each reporter is imported only for such plans.
    """
    if case.resolved.ordering is not None:
        from plansafe.verifier.symbolic.worlds.order_report import OrderReporter  # noqa: PLC0415 - for such plans alone

        return OrderReporter(case, restrictions).report()
    if case.compiled.task.is_continuous:
        from plansafe.verifier.symbolic.worlds.continuous_report import (  # noqa: PLC0415 - for such plans alone
            ContinuousReporter,
        )

        return ContinuousReporter(case, restrictions).report()
    if case.resolved.timed is not None and any([step.tolerance for step in case.resolved.timed]):
        from plansafe.verifier.symbolic.worlds.timed_report import TimedReporter  # noqa: PLC0415 - for such plans alone

        return TimedReporter(case, restrictions).report()
    from plansafe.verifier.symbolic.worlds.circuit_report import CircuitReporter  # noqa: PLC0415 - for such plans alone

    with paused_garbage_collection():
        return CircuitReporter(case, restrictions, step_order).report()


def _find_unsupported_reason(compiled: CompiledTask, resolved: ResolvedPlan) -> tuple[str, str] | None:
    """Return the reason why no reporter supports the plan, and the help; ``None`` if one does."""
    options = compiled.options
    if resolved.timed is not None and not (compiled.is_open or resolved.is_open):
        reason = f"the engine `{options.engine}` does not check plans with times if nothing is unknown"
        return reason, "remove --engine, or use --engine explicit"
    if resolved.ordering is not None and any([literal.time > 0 for literal in compiled.task.timed_literals]):
        reason = "timed literals need times, and the steps of a partially ordered plan have none"
        return reason, "give the steps times, or remove the timed literals"
    return None


def _find_only_order(order: PartialOrder) -> tuple[int, ...]:
    """Return the only linear extension of a partial order; empty if it has several."""
    return () if order.count_unordered_pairs() else order.find_linear_extension() or ()


def explain_missing_solver(error: ModuleNotFoundError) -> Diagnostic | None:
    """Return the diagnostic SC608 if the missing module belongs to a solver; ``None`` for any other module."""
    package = _SOLVER_PACKAGES.get((error.name or "").partition(".")[0])
    if package is None:
        return None
    return Diagnostic(
        SC.NO_SOLVER,
        f"this task needs a solver, and the package {package} is not installed",
        notes=("a task with a single possible world needs no solver",),
        help=how_to_install("solve"),
    )
