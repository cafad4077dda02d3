"""Notes on the times of a plan: durations that mean nothing, and last decimals that were forgiven."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.execution.steps import GroundAction, Tolerance

if TYPE_CHECKING:
    from plansafe.verifier.execution.plan_steps import ResolvedPlan


def notes(plan: Source, read: ResolvedPlan, tolerance: Tolerance, forgiven: Collection[int]) -> list[Diagnostic]:
    """One note of each kind, at the first step that it is about."""
    timed = read.timed or []
    idle = [
        step.number
        for step in timed
        if isinstance(step.resolved, GroundAction)
        and step.resolved.action.end is None
        and step.duration is not None
        and not -tolerance.exact <= step.duration <= tolerance.exact
    ]
    found = []
    if idle:
        said = "the duration of an instantaneous action is ignored"
        found.append(_note(plan, read, SC.IDLE_DURATION, said, idle, "remove the duration"))
    if forgiven:
        unit = float(tolerance.exact - tolerance.separation)
        said = f"the times are rounded: {unit:.{min(read.text.decimals or 0, 20)}f}is accepted"
        found.append(_note(plan, read, SC.ROUNDED_TIMES, said, sorted(forgiven), "print more decimals"))
    return found


def _note(plan: Source, read: ResolvedPlan, code: str, message: str, steps: list[int], help: str) -> Diagnostic:
    more = f", and {len(steps) - 1} more steps" if len(steps) > 2 else ", and one more step" if len(steps) == 2 else ""
    label = Label(plan.name, read.spans[steps[0] - 1], f"this step{more}")
    return Diagnostic(code, message, (label,), help=help, severity=Severity.NOTE)
