"""Optional parts of a diagnosis: location, causes, graph and published label.

The verifier computes them. A diagnostic reports an unsupported part.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.session.model import Prepared
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Report

if TYPE_CHECKING:
    from plansafe.verifier.diagnose.cause import Cause
    from plansafe.verifier.diagnose.labels import PublishedLabel
    from plansafe.verifier.diagnose.localise import Localisation
    from plansafe.verifier.diagnose.model import Diagnosis
    from plansafe.verifier.execution.plan_steps import ResolvedPlan

LABELS = ("safel", "eai-virtualhome", "eai-behavior")
"""Published schemes that give each plan one label (docs/metrics.md)."""
_DAY = 86_400.0
_CAUSES_S = 20.0
"""Seconds for the causes of all findings of a plan. The report marks causes that are missing or maybe not minimal."""


class Because(NamedTuple):
    """The minimal cause of the finding with this index in the report; ``None`` with the reason in ``text``."""

    finding: int
    text: str
    cause: Cause | None = None


def published_label(prepared: Prepared, scheme: str) -> PublishedLabel | Diagnostic:
    """The label of a plan under one of :data:`LABELS`, or a diagnostic."""
    from plansafe.verifier.diagnose.labels import NoLabel, safel_label  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.labels_eai import eai_label  # noqa: PLC0415

    checker, plan = prepared.checker, prepared.plan
    try:
        match scheme:
            case "safel":
                return safel_label(checker, plan)
            case "eai-behavior":
                return eai_label(checker, plan, "behavior")
            case _:
                return eai_label(checker, plan)
    except NoLabel as reason:
        return Diagnostic(SC.TIMED_REPAIR, f"no published label: {reason}")


def causal_graph(prepared: Prepared, read: ResolvedPlan, diagnosis: Diagnosis) -> str | Diagnostic:
    """The causal structure as DOT text, or a diagnostic."""
    from plansafe.verifier.diagnose.causal import causal_structure  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.diagnose.graph import dot  # noqa: PLC0415
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

    try:
        return dot(causal_structure(prepared.checker, read.steps), diagnosis, initial=False)
    except NotCovered as reason:
        return Diagnostic(SC.TIMED_REPAIR, f"no graph: {reason}", severity=Severity.WARNING)


def causes(prepared: Prepared, report: Report) -> tuple[Because, ...]:
    """Find the minimal cause of each finding."""
    from plansafe.verifier.diagnose.cause import minimal_cause  # noqa: PLC0415 - for this wish alone
    from plansafe.verifier.execution.purpose import NotCovered  # noqa: PLC0415

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
            cause = minimal_cause(prepared.checker, prepared.plan, finding, time_limit_s=min(seconds, 2.0))
            finding_causes.append(Because(number, cause.text, cause))
        except NotCovered as reason:
            finding_causes.append(Because(number, f"no cause is known: {reason}"))
    return tuple(finding_causes)


def located(prepared: Prepared, reference: Source | None, regret: bool, limit: float | None) -> Localisation:
    """Locate the errors of a plan. Up to ``limit`` seconds each for the point of no return and for the regret."""
    from plansafe.verifier.diagnose.localise import localise  # noqa: PLC0415 - loads the planners

    seconds = _DAY if limit is None else limit
    return localise(prepared.checker, prepared.plan, reference, regret=regret, time_limit_s=seconds)
