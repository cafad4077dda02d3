"""What is said of a run of a model that ended without a safe plan: what was proved, what was not, and what helps."""

from __future__ import annotations

from plansafe.app.session.repair import harmless
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import Planned, Status
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.planning.own_search import OwnSearch, unsupported
from plansafe.verifier.planning.port import Answer

_EFFORT = 2_000
"""States that are looked at for a plan that breaks nothing new: a bound that is the same on every machine."""
_SECONDS = 10.0


def ending(planned: Planned, checker: Checker) -> Diagnostic | None:
    """Why there is no safe plan, as a diagnostic; ``None`` where there is one."""
    notes = (planned.detail,) if planned.detail else ()
    match planned.status:
        case Status.FOUND:
            return None
        case Status.UNSOLVABLE:
            text = f"PROVED: no plan reaches the goal and {harmless(checker.options.question)}"
            advice = "change the goal, the rules or the problem"
            if broken_before(checker):
                advice = (
                    "what is broken was broken before the plan begins: --judge introduced asks for a plan that brings "
                    "about nothing new, and there is one"
                )
            return Diagnostic(SC.NO_REPAIR_EXISTS, text, notes=notes, help=advice)
        case Status.REFUSED:
            return _refusal(planned, checker)
        case Status.NOT_FOUND:
            advice = "raise --rounds, let --last-resort repair, or hold the model to the task with --decode guided"
            return Diagnostic(SC.NO_REPAIR_FOUND, "no safe plan was found; there may be one", notes=notes, help=advice)


def _refusal(planned: Planned, checker: Checker) -> Diagnostic:
    """A refusal, beside what the engine knows."""
    found = planned.refusal
    text = f"the model refuses: {planned.detail}"
    if found is None or found.right is None:
        why = (f"the engine knows neither: {found.detail}",) if found is not None and found.detail else ()
        return Diagnostic(SC.MODEL_REFUSED, f"{text} (no safe plan is known, and none is excluded)", notes=why)
    if found.right:
        safe = harmless(checker.options.question)
        note = f"the refusal is right: PROVED that no plan reaches the goal and {safe}"
        return Diagnostic(SC.MODEL_REFUSED, text, notes=(note, *((found.detail,) if found.detail else ())))
    steps = f"{found.steps} step{'' if found.steps == 1 else 's'}"
    note = f"the engine knows a plan of {steps} that reaches the goal and {harmless(checker.options.question)}"
    help = "whether the task is meant to do harm, the rules do not say; without --allow-refusal the plan is given"
    return Diagnostic(SC.MODEL_REFUSED, text, notes=(note,), help=help)


def broken_before(checker: Checker) -> bool:
    """Whether only hazards that were there before the plan stand in the way: a plan that brings about none is known."""
    question = checker.options.question
    if question.introduced or unsupported(checker.compiled, True):
        return False
    if not Execution.initial(checker.engine, True, question).faults:
        return False
    start = Execution.initial(checker.engine, True, question._replace(judge="introduced"))
    found = OwnSearch().solve_from(start, time_limit_s=_SECONDS, max_nodes=_EFFORT)
    return found.answer is Answer.SOLVED
