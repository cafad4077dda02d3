"""One JSON object on a line for each examined plan. The schema is ``schema/repair-1.json``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plansafe.app.render.json import JsonRenderer, diagnostic_object, dumps, safe_line
from plansafe.app.session.diagnosis import Because, Examined
from plansafe.app.session.model import Settings
from plansafe.verifier.diagnose.model import Witness
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import Edit, Repair

if TYPE_CHECKING:
    from plansafe.verifier.diagnose.labels import PublishedLabel
    from plansafe.verifier.diagnose.localise import Localisation

SCHEMA = 1


class RepairJsonRenderer:
    """Makes JSON lines; the report on the original plan is an object of ``schema/report-1.json``."""

    def __init__(self, settings: Settings, version: str) -> None:
        self._reports = JsonRenderer(settings, version)

    def plan(self, examined: Examined, written: str | None = None) -> str:
        """Render one plan; ``written`` is the file that the repaired plan was written to."""
        result, outcome = examined.repair, examined.outcome
        head: dict[str, Any] = {
            "schema": SCHEMA,
            "plan": examined.result.plan,
            "exit_code": examined.exit_code,
            "status": result.status.value if result is not None else None,
            "optimal": result.optimal if result is not None else False,
            "complete": result.complete if result is not None else False,
            "bound": _number(result.bound) if result is not None else 0,
            "detail": result.detail if result is not None else "",
            "expanded": result.expanded if result is not None else 0,
            "classes": [witness_object(witness) for witness in examined.witnesses],
            "where": where_object(examined.where) if examined.where is not None else None,
            "causes": [because_object(because) for because in examined.causes],
            "repairs": [_repair(repair) for repair in result.repairs] if result is not None else [],
            "label": _label(examined.label) if examined.label is not None else None,
            "text": examined.text,
            "written": written,
            "outcome": diagnostic_object(outcome, examined.result.sources) if outcome is not None else None,
        }
        if result is not None and result.purpose.steps:
            purpose = result.purpose
            head["purpose"] = {"steps": sorted(purpose.steps), "source": purpose.source, "kept": purpose.is_kept}
        return safe_line(f'{dumps(head)[:-1]},"report":{self._reports.object(examined.result)}}}')

    def end(self) -> str:
        """Return nothing: each plan is complete by itself."""
        return ""


def witness_object(witness: Witness) -> dict[str, Any]:
    """A class of error as JSON."""
    return {
        "class": witness.error.value,
        "steps": witness.steps,
        "text": witness.text,
        "rule": witness.rule,
        "vector": dict(witness.vector),
    }


def _label(label: PublishedLabel) -> dict[str, Any]:
    return {**label._asdict(), "additional": list(label.additional)}


def where_object(where: Localisation) -> dict[str, Any]:
    """Where a plan went wrong, as JSON."""
    return {
        "violated": where.violated,
        "inexecutable": where.inexecutable,
        "divergence": where.divergence,
        "point_of_no_return": where.point_of_no_return,
        "fatal": where.fatal,
        "regret": where.regret,
        "planners": where.planners,
        "detail": where.detail,
    }


def because_object(because: Because) -> dict[str, Any]:
    """Why a finding is there, as JSON."""
    cause = because.cause
    return {
        "finding": because.finding,
        "text": because.text,
        "steps": cause.steps if cause is not None else None,
        "facts": cause.facts if cause is not None else None,
        "minimum": cause is not None and cause.minimum,
    }


def _repair(repair: Repair) -> dict[str, Any]:
    report = repair.report
    left = {"before": report.verdict_basis.before, "minor": report.verdict_basis.minor}
    exempt = sum([used.times for used in report.verdict_basis.exempted])
    return {
        "cost": _number(repair.cost),
        "steps": repair.steps,
        "origin": repair.origin,
        "edits": [_edit(edit) for edit in repair.edits],
        "headline": report.headline.value if report.headline else None,
        "left": {**left, "exempt": exempt} if exempt else left,
    }


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "kind": edit.kind.value,
        "step": edit.step,
        "position": edit.position,
        "before": edit.before,
        "after": edit.after,
        "reason": edit.reason,
        "earliest": edit.earliest or edit.position,
        "latest": edit.latest or edit.position,
    }


def _number(number: Number) -> int | str:
    """Exact: a whole number, or a fraction as text."""
    return number if isinstance(number, int) else str(number)
