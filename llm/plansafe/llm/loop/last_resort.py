"""Where no proposal is safe: the nearest safe plan of the best one; else whatever the planner finds, or its proof."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.llm.loop.feedback import Repairs
from plansafe.llm.loop.model import PLAN, AttributedStep, PlanResult, Status, StepAuthor, is_safe
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.guide import Continuation, Guide
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairStatus


def last_resort(checker: Checker, planned: PlanResult, repairs: Repairs) -> PlanResult:
    """The same run with a plan of the engine's, each step marked. The planner is asked first whether there is any."""
    continuation = _continuation(checker)
    if continuation.exists is False:
        return planned._replace(status=Status.UNSOLVABLE, detail=continuation.detail or "the search was complete")
    if planned.report is not None and planned.parts:
        repair = repairs.of(planned.plan)
        if repair.status is RepairStatus.PROVED_NONE:
            return planned._replace(status=Status.UNSOLVABLE, detail=repair.detail)
        if repair.repairs:
            best = repair.repairs[0]
            gone = tuple(
                [
                    AttributedStep(edit.before, StepAuthor.REPAIR, edit.reason)
                    for edit in best.edits
                    if edit.kind is EditKind.DELETE
                ]
            )
            parts = _parts(planned, best)
            return planned._replace(
                status=Status.FOUND, parts=parts, removed=(*planned.removed, *gone), report=best.report
            )
    if not continuation.exists:
        return planned._replace(
            detail=f"{planned.detail}; {continuation.detail}" if continuation.detail else planned.detail
        )
    objects = checker.engine.task.objects
    parts = tuple([AttributedStep(step_text(step, objects), StepAuthor.PLANNER) for step in continuation.steps])
    report = checker.check(Source(PLAN, "".join([f"{part.step}\n" for part in parts])))
    if not is_safe(report):  # one of the checker's limits ended the replay
        return planned._replace(detail=f"{planned.detail}; the planner's plan is {report.headline}")
    return planned._replace(status=Status.FOUND, parts=parts, report=report, removed=())


def _continuation(checker: Checker) -> Continuation:
    """What the planner knows from the start."""
    try:
        return Guide(checker.compiled).continuation()
    except ValueError as refused:
        return Continuation(None, (), str(refused))


def _parts(planned: PlanResult, best: Repair) -> tuple[AttributedStep, ...]:
    """The repaired plan with authors: an unchanged step keeps its author."""
    edits = {edit.position: edit for edit in best.edits if edit.position}
    out = []
    for position, (step, origin) in enumerate(zip(best.steps, best.origin, strict=True), 1):
        edit = edits.get(position)
        if edit is None:
            out.append(planned.parts[origin - 1]._replace(step=step))
        else:
            out.append(AttributedStep(step, StepAuthor.REPAIR, _why(edit)))
    return tuple(out)


def _why(edit: Edit) -> str:
    action = {
        EditKind.INSERT: "",
        EditKind.MOVE: f"moved: was step {edit.step}",
        EditKind.SUBSTITUTE: f"instead of {edit.before}",
        EditKind.REPLACE: f"instead of {edit.before}",
        EditKind.DELETE: "",
    }[edit.kind]
    return "; ".join([text for text in (action, edit.reason) if text])
