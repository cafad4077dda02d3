"""The verdict on a plan over all worlds: which way of judging fits."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.reporting.report import Headline, Report, unjudged
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.invariants.groups import find_restrictions
from plansafe.verifier.symbolic.refusals import not_explicit
from plansafe.verifier.symbolic.worlds.reporter import AuditCase, WorldsReporter
from plansafe.verifier.symbolic.worlds.world_replay import order_steps


def audit(case: AuditCase) -> Report:
    """The verdict on one plan over all worlds. Raises :class:`LimitReached`, ``SolverMissing``."""
    compiled, plan, read, _, deadline = case
    options = compiled.options
    if options.engine == "explicit":
        refused = compiled.refusal("the explicit engine", read)
        assert refused is not None
        return unjudged(plan.name, *compiled.diagnostics, not_explicit(refused))
    unsupported = _unsupported(compiled, read)
    if unsupported:
        return WorldsReporter(case).unsupported(*unsupported)
    try:
        restricted = find_restrictions(
            compiled.task,
            compiled.openings,
            compiled.invariants,
            options.infer_invariants,
            deadline,
            options.lenient_types,
        )
        order = None if read.ordering is None else only_order(len(read.steps), read.ordering)
        if order is not None:
            case = case._replace(read=order_steps(read, Completion(frozenset(), {}, {}, order)))
        if case.read.timed is not None or case.read.ordering is not None:
            from plansafe.verifier.symbolic.worlds.order_duration_report import OrderDurationReporter  # noqa: PLC0415 - for such plans alone

            return OrderDurationReporter(case, restricted).report()
        from plansafe.verifier.symbolic.worlds.encoded_report import EncodedReporter  # noqa: PLC0415 - for such plans alone

        with paused_garbage_collection():
            return EncodedReporter(case, restricted, order or ()).report()
    except LimitReached as limit:
        if limit.kind is not LimitKind.OPEN_FACTS:
            raise
        help = "give narrower types to the open predicates"
        diagnostic = Diagnostic(SC.TOO_MANY_INSTANCES, str(limit), severity=Severity.WARNING, help=help)
        return WorldsReporter(case).nothing(diagnostic, Headline.UNKNOWN)


def _unsupported(compiled: CompiledTask, read: ResolvedPlan) -> tuple[str, str] | None:
    """Why no way of judging over worlds fits, and what to do about it."""
    options = compiled.options
    if read.timed is not None and not (compiled.is_open or read.is_open):
        why = f"the engine `{options.engine}` does not check plans with times if nothing is unknown"
        return why, "remove --engine, or use --engine explicit"
    if read.ordering is not None and any([literal.time > 0 for literal in compiled.task.timed_literals]):
        why = "timed literals need times, and the steps of a partially ordered plan have none"
        return why, "give the steps times, or remove the timed literals"
    return None


def only_order(steps: int, pairs: tuple[tuple[int, int], ...]) -> tuple[int, ...] | None:
    """The order of a plan that allows one alone."""
    before: dict[int, set[int]] = {number: set() for number in range(1, steps + 1)}
    for first, second in pairs:
        before[second].add(first)
    out: list[int] = []
    while before:
        ready = [number for number, waiting in before.items() if waiting <= set(out)]
        if len(ready) != 1:
            return None
        out.append(ready[0])
        del before[ready[0]]
    return tuple(out)
