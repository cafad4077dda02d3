"""What every report over worlds is made of: worlds in which something fails, replayed before they are shown.

The explicit engine replays each of them, with findings, places, tables and readings; the kernel replays it again. That
one of them contradicts the verdict is an internal error, never a verdict.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.reporting.confirmation import Confirmer
from plansafe.verifier.reporting.report import Finding, Headline, Report, VerdictBasis, Worlds, unjudged
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.worlds.world_replay import report_in_world


class EngineContradiction(Exception):
    """A replay contradicts the verdict; ``what`` says how."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class FailingWorld(NamedTuple):
    """A world in which something fails, with the report on it. ``about`` as in :class:`~.model.Witness`."""

    about: str
    world: Completion
    report: Report


class AuditCase(NamedTuple):
    """A plan that is judged over all worlds, with what that takes. ``deadline`` is a ``time.monotonic`` value."""

    compiled: CompiledTask
    plan: Source
    read: ResolvedPlan
    confirmer: Confirmer
    deadline: float | None = None


class WorldsReporter:
    """The worlds of one report."""

    def __init__(self, case: AuditCase, order: tuple[int, ...] = ()) -> None:
        """``order``: the one order that a partially ordered plan allows, in which ``read`` has its steps."""
        self.compiled, self.plan, self.read, self.confirmer, self.deadline = case
        self.order = order
        self.task = self.compiled.task
        self.shown: list[FailingWorld] = []

    def replay(self, world: Completion) -> Report:
        """The report on one world, confirmed by the kernel. Raises :class:`EngineContradiction`."""
        report = report_in_world(self.compiled, self.plan, self.read, world)
        report, against = self.confirmer.confirm_world(self.plan, report, self.as_written(world))
        if against:
            raise EngineContradiction(against)
        return report

    def as_written(self, world: Completion) -> Completion:
        """The world with the steps numbered as the plan's text has them, for who reads that."""
        if not self.order:
            return world
        outcomes = {(self.order[step - 1], number): outcomes for (step, number), outcomes in world.outcomes.items()}
        return world._replace(order=self.order, outcomes=outcomes)

    def show(self, about: str, world: Completion) -> None:
        """Replay a world in which something fails. Raises :class:`EngineContradiction` if it does not."""
        report = next((shown.report for shown in self.shown if shown.world == world), None)
        if report is None:
            report = self.replay(world)
        fails = {
            "executable": report.executable is not Worlds.ALL,
            "goal": report.goal is not Worlds.ALL,
            # The explicit engine may be undecided about a temporal rule where the definition, and the circuit, is not.
            "safe": report.safe is not Worlds.ALL,
        }
        broken = [c.name == about and c.status in ("violated", "undecided") for c in report.rules]
        if not fails.get(about, any(broken)):
            raise EngineContradiction(f"in a world where `{about}` should fail it does not")
        self.shown.append(FailingWorld(about, world, report))

    def findings(self) -> dict[tuple[object, ...], tuple[int, Finding]]:
        """The findings of all worlds shown, each once, with the number of the first world."""
        seen: dict[tuple[object, ...], tuple[int, Finding]] = {}
        for number, shown in enumerate(self.shown):
            for finding in shown.report.findings:
                key = (finding.code, finding.rule, finding.binding, finding.step, finding.at_end)
                if key not in seen and len(seen) < self.compiled.options.max_findings:
                    seen[key] = number, finding
        return seen

    def decided(self, *others: Report) -> VerdictBasis:
        """What decided; of what did not, the most that was found in a world that was replayed."""
        found = [shown.report.verdict_basis for shown in self.shown] + [report.verdict_basis for report in others]
        before, minor = max([one.before for one in found], default=0), max([one.minor for one in found], default=0)
        used = sorted([one for report in found for one in report.exempted], key=lambda one: one.times)
        most = {one.exemption: one for one in used}
        criteria = self.compiled.options.criteria
        return VerdictBasis(criteria, before, minor, tuple([most[e] for e in criteria.exemptions if e in most]))

    # -- what is no verdict -------------------------------------------------------------------------------------------

    def no_world(self) -> Report:
        """The description contradicts itself."""
        unknowns = self.task.unknowns
        label = Label(self.compiled.problem.name, Span(0, 1), "this problem")
        if unknowns is not None and isinstance(unknowns.node, list):
            from plansafe.verifier.elaborate.context import Place  # noqa: PLC0415 - for a mistake alone

            label = self.compiled.context.label(Place(unknowns.node), "open")
        message = "the statements about unknown facts contradict each other: no possible world satisfies them all"
        help = "an `or` or `oneof` without a possible alternative, an empty interval, or an invariant that S0 breaks"
        return self.nothing(Diagnostic(SC.NO_WORLD, message, (label,), help=help))

    def unsupported(self, why: str, help: str) -> Report:
        """The engine that was asked for, or any, cannot judge this: UNKNOWN."""
        return self.nothing(Diagnostic(SC.NEEDS_ONE_WORLD, why, severity=Severity.WARNING, help=help), Headline.UNKNOWN)

    def disagreement(self, what: str) -> Report:
        """Two engines disagree: an internal error."""
        help = "this is a bug in safecheck: please report it with the files; there is no verdict on the plan"
        message = f"one engine does not confirm another: {what}"
        return self.nothing(Diagnostic(SC.KERNEL_DISAGREES, message, (Label(self.plan.name, Span(0, 0)),), help=help))

    def nothing(self, diagnostic: Diagnostic, headline: Headline | None = None) -> Report:
        """A report that claims nothing."""
        found = (*self.compiled.diagnostics, diagnostic)
        return unjudged(self.plan.name, *found, headline=headline, steps=len(self.read.steps))
