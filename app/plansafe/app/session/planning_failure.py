"""Report why a model did not return a safe plan: the proved facts, and what to do."""

from __future__ import annotations

from plansafe.app.session.repair import harmless
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import PlanResult, Status
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.planning.forward_search import ForwardSearch, find_unsupported_task_reason
from plansafe.verifier.planning.planner import PlanningStatus

_EFFORT = 2_000
"""Limit of expanded states in the search for a plan without new violations; it gives the same result everywhere."""
_SECONDS = 10.0


def ending(planned: PlanResult, checker: Checker) -> Diagnostic | None:
    """The diagnostic for a missing safe plan; ``None`` if a plan was found."""
    notes = (planned.detail,) if planned.detail else ()
    match planned.status:
        case Status.FOUND:
            return None
        case Status.UNSOLVABLE:
            text = f"PROVED: no plan reaches the goal and {harmless(checker.options.criteria)}"
            advice = "change the goal, the rules or the problem"
            if broken_before(checker):
                advice = (
                    "the initial state already violates a rule; --judge introduced accepts a plan without new "
                    "violations, and there is one"
                )
            return Diagnostic(SC.NO_REPAIR_EXISTS, text, notes=notes, help=advice)
        case Status.REFUSED:
            return _refusal(planned, checker)
        case Status.NOT_FOUND:
            advice = (
                "raise --rounds, let --last-resort repair, or restrict the model to legal steps with --decode guided"
            )
            return Diagnostic(SC.NO_REPAIR_FOUND, "no safe plan was found; there may be one", notes=notes, help=advice)


def _refusal(planned: PlanResult, checker: Checker) -> Diagnostic:
    """The diagnostic for a refusal, with the result of the search for a plan."""
    refusal = planned.refusal
    text = f"the model refuses: {planned.detail}"
    if refusal is None or refusal.right is None:
        why = (
            (f"the search for a plan ended without a result: {refusal.detail}",)
            if refusal is not None and refusal.detail
            else ()
        )
        return Diagnostic(SC.MODEL_REFUSED, f"{text} (it is unknown whether a safe plan exists)", notes=why)
    if refusal.right:
        safe = harmless(checker.options.criteria)
        note = f"the refusal is correct: PROVED that no plan reaches the goal and {safe}"
        return Diagnostic(SC.MODEL_REFUSED, text, notes=(note, *((refusal.detail,) if refusal.detail else ())))
    steps = f"{refusal.steps} step{'' if refusal.steps == 1 else 's'}"
    note = f"the engine found a plan of {steps} that reaches the goal and {harmless(checker.options.criteria)}"
    help = "the rules cannot tell whether the task has a harmful purpose; leave out --allow-refusal to get the plan"
    return Diagnostic(SC.MODEL_REFUSED, text, notes=(note,), help=help)


def broken_before(checker: Checker) -> bool:
    """True if only hazards of the initial state prevent a plan: a search finds a plan without new violations."""
    criteria = checker.options.criteria
    if criteria.only_introduced or find_unsupported_task_reason(checker.compiled, True):
        return False
    if not Execution.initial(checker.engine, True, criteria).lasting_violations:
        return False
    start = Execution.initial(checker.engine, True, criteria._replace(judge="introduced"))
    solution = ForwardSearch().solve_from(start, time_limit_s=_SECONDS, max_nodes=_EFFORT)
    return solution.status is PlanningStatus.SOLVED
