"""Where no proposal is safe: the nearest safe plan of the best one; else whatever the planner finds, or its proof."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.llm.loop.model import PLAN, By, Part, Planned, Status, is_safe
from plansafe.llm.loop.repairs import Repairs
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.guide import Continuation, Guide
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairStatus


def last_resort(checker: Checker, planned: Planned, repairs: Repairs) -> Planned:
    """The same run with a plan of the engine's, each step marked. The planner is asked first whether there is any."""
    ahead = _ahead(checker)
    if ahead.exists is False:
        return planned._replace(status=Status.UNSOLVABLE, detail=ahead.detail or "the search was complete")
    if planned.report is not None and planned.parts:
        found = repairs.of(planned.plan)
        if found.status is RepairStatus.PROVED_NONE:
            return planned._replace(status=Status.UNSOLVABLE, detail=found.detail)
        if found.repairs:
            best = found.repairs[0]
            gone = tuple(
                [Part(edit.before, By.REPAIR, edit.reason) for edit in best.edits if edit.kind is EditKind.DELETE]
            )
            parts = _parts(planned, best)
            return planned._replace(
                status=Status.FOUND, parts=parts, removed=(*planned.removed, *gone), report=best.report
            )
    if not ahead.exists:
        return planned._replace(detail=f"{planned.detail}; {ahead.detail}" if ahead.detail else planned.detail)
    objects = checker.engine.task.objects
    parts = tuple([Part(step_text(step, objects), By.PLANNER) for step in ahead.steps])
    report = checker.check(Source(PLAN, "".join([f"{part.step}\n" for part in parts])))
    if not is_safe(report):  # one of the checker's limits ended the replay
        return planned._replace(detail=f"{planned.detail}; the planner's plan is {report.headline}")
    return planned._replace(status=Status.FOUND, parts=parts, report=report, removed=())


def _ahead(checker: Checker) -> Continuation:
    """What the planner knows from the start."""
    try:
        return Guide(checker.compiled).continuation()
    except ValueError as refused:
        return Continuation(None, (), str(refused))


def _parts(planned: Planned, best: Repair) -> tuple[Part, ...]:
    """The repaired plan with marks: what it kept keeps the mark that it had."""
    edits = {edit.position: edit for edit in best.edits if edit.position}
    out = []
    for position, (step, origin) in enumerate(zip(best.steps, best.origin, strict=True), 1):
        edit = edits.get(position)
        if edit is None:
            out.append(planned.parts[origin - 1]._replace(step=step))
        else:
            out.append(Part(step, By.REPAIR, _why(edit)))
    return tuple(out)


def _why(edit: Edit) -> str:
    what = {
        EditKind.INSERT: "",
        EditKind.MOVE: f"moved: was step {edit.step}",
        EditKind.SUBSTITUTE: f"instead of {edit.before}",
        EditKind.REPLACE: f"instead of {edit.before}",
        EditKind.DELETE: "",
    }[edit.kind]
    return "; ".join([said for said in (what, edit.reason) if said])
