"""Optional parts of a diagnosis: location, causes, graph and published label.

The verifier computes them. A diagnostic reports an unsupported part.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.session.model import Prepared, Result
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import RepairStatus
from plansafe.verifier.reporting.report import Report

if TYPE_CHECKING:
    from plansafe.verifier.diagnose.labels import PublishedLabel
    from plansafe.verifier.diagnose.localise import Localisation
    from plansafe.verifier.diagnose.minimal_cause import Cause
    from plansafe.verifier.diagnose.model import Diagnosis, Witness
    from plansafe.verifier.execution.plan_steps import ResolvedPlan
    from plansafe.verifier.repair.model import Repair, RepairResult

LABELS = ("safel", "eai-virtualhome", "eai-behavior")
"""Published schemes that give each plan one label (docs/metrics.md)."""
_DAY = 86_400.0
_CAUSES_S = 20.0
"""Seconds for the causes of all findings of a plan. The report marks causes that are missing or maybe not minimal."""
_EXIT_CODES = {
    RepairStatus.ALREADY_SAFE: 0,
    RepairStatus.FOUND: 0,
    RepairStatus.PROVED_NONE: 1,
    RepairStatus.NOT_FOUND: 3,
}


class Because(NamedTuple):
    """The minimal cause of the finding with this index in the report; ``None`` with the reason in ``text``."""

    finding: int
    text: str
    cause: Cause | None = None


class Examined(NamedTuple):
    """The examination of a plan.

    ``result`` is the audit of the original plan, ``original`` its steps as text. If the plan cannot be examined,
    ``repair`` is ``None`` and ``result`` gives the reason. ``text`` is the repaired plan in the layout of the original,
    and its audit is SAFE or VALID; a safe plan is returned unchanged. ``outcome`` is the reason for a missing repair.
    ``graph`` is DOT text. ``after`` is the audit of ``text``.
    """

    result: Result
    original: tuple[str, ...] = ()
    repair: RepairResult | None = None
    witnesses: tuple[Witness, ...] = ()
    text: str | None = None
    outcome: Diagnostic | None = None
    label: PublishedLabel | None = None
    where: Localisation | None = None
    causes: tuple[Because, ...] = ()
    graph: str | None = None
    after: Result | None = None

    @property
    def exit_code(self) -> int:
        """0: a safe plan (or a label), 1: PROVED that there is none, 3: NOT FOUND, 2: unreadable input, 4: a bug."""
        if self.label is not None:
            return 0
        return self.result.exit_code if self.repair is None else _EXIT_CODES[self.repair.status]

    @property
    def best(self) -> Repair | None:
        """The first repair."""
        return self.repair.repairs[0] if self.repair is not None and self.repair.repairs else None


def published_label(prepared: Prepared, scheme: str) -> PublishedLabel | Diagnostic:
    """The label of a plan under one of :data:`LABELS`, or a diagnostic."""
    from plansafe.verifier.diagnose.labels import NoLabel, find_safel_label  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.labels_eai import find_eai_label  # noqa: PLC0415

    checker, plan = prepared.checker, prepared.plan
    try:
        match scheme:
            case "safel":
                return find_safel_label(checker, plan)
            case "eai-behavior":
                return find_eai_label(checker, plan, "behavior")
            case _:
                return find_eai_label(checker, plan)
    except NoLabel as reason:
        return Diagnostic(SC.TIMED_REPAIR, f"no published label: {reason}")


def causal_graph(prepared: Prepared, read: ResolvedPlan, diagnosis: Diagnosis) -> str | Diagnostic:
    """The causal structure as DOT text, or a diagnostic."""
    from plansafe.verifier.diagnose.causal_structure import find_causal_structure  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.graph import make_dot_text  # noqa: PLC0415
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    try:
        return make_dot_text(find_causal_structure(prepared.checker, read.steps), diagnosis, initial=False)
    except NotCovered as reason:
        return Diagnostic(SC.TIMED_REPAIR, f"no graph: {reason}", severity=Severity.WARNING)


def causes(prepared: Prepared, report: Report) -> tuple[Because, ...]:
    """Find the minimal cause of each finding."""
    from plansafe.verifier.diagnose.minimal_cause import CauseFinder  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    finder = CauseFinder(prepared.checker, prepared.plan)
    finding_causes = []
    deadline = monotonic() + _CAUSES_S
    for number, finding in enumerate(report.findings):
        seconds = (deadline - monotonic()) / (len(report.findings) - number)
        if seconds <= 0:
            finding_causes.append(
                Because(number, "no cause is known: the time limit for the causes of this plan was reached")
            )
            continue
        try:
            cause = finder.find(finding, min(seconds, 2.0))
            finding_causes.append(Because(number, cause.text, cause))
        except NotCovered as reason:
            finding_causes.append(Because(number, f"no cause is known: {reason}"))
    return tuple(finding_causes)


def located(prepared: Prepared, reference: Source | None, regret: bool, limit: float | None) -> Localisation:
    """Locate the errors of a plan. Up to ``limit`` seconds each for the point of no return and for the regret."""
    from plansafe.verifier.diagnose.localise import localise  # noqa: PLC0415 - loads the planners

    seconds = _DAY if limit is None else limit
    return localise(prepared.checker, prepared.plan, reference, regret=regret, time_limit_s=seconds)
