"""The base of the reports over worlds: replay worlds in which something fails, and report without a verdict.

The explicit engine replays each failing world, and the kernel replays it again. A contradiction between one of them and
the verdict is an internal error, never a verdict.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.reporting.confirmation import Confirmer
from plansafe.verifier.reporting.report import Finding, Headline, Report, VerdictBasis, Worlds, make_unchecked_report
from plansafe.verifier.reporting.worlds import Completion, ShownWorld, Witness
from plansafe.verifier.symbolic.worlds.world_replay import report_in_world

MAX_WITNESSES = 8
"""Maximum number of worlds in a report."""


class EngineContradiction(Exception):
    """Two engines contradict each other; the message says how."""


class FailingWorld(NamedTuple):
    """A world in which something fails, with the report on it.

    ``about`` says what fails: ``executable``, ``goal``, ``safe``, or the name of a rule.
    """

    about: str
    world: Completion
    report: Report


class AuditCase(NamedTuple):
    """A plan to audit over all worlds. ``deadline`` is a ``time.monotonic`` value."""

    compiled: CompiledTask
    plan: Source
    resolved: ResolvedPlan
    confirmer: Confirmer
    deadline: float | None = None


class WorldsReporter:
    """Collects the failing worlds of one report."""

    def __init__(self, case: AuditCase, step_order: tuple[int, ...] = ()) -> None:
        """``step_order``: if the plan allows only one order, the numbers in the text of the steps in ``resolved``."""
        self.compiled, self.plan, self.resolved, self.confirmer, self.deadline = case
        self.step_order = step_order
        self.task = self.compiled.task
        self.failing_worlds: list[FailingWorld] = []

    def replay(self, world: Completion) -> Report:
        """The report on one world, confirmed by the kernel. Raises :class:`EngineContradiction`."""
        report = report_in_world(self.compiled, self.plan, self.resolved, world)
        report, contradiction = self.confirmer.confirm_world(self.plan, report, self.with_steps_as_written(world))
        if contradiction:
            raise EngineContradiction(contradiction)
        return report

    def with_steps_as_written(self, world: Completion) -> Completion:
        """The world with the steps numbered as in the plan's text."""
        if not self.step_order:
            return world
        outcomes = {(self.step_order[step - 1], number): chosen for (step, number), chosen in world.outcomes.items()}
        return world._replace(order=self.step_order, outcomes=outcomes)

    def add_failing_world(self, about: str, world: Completion) -> None:
        """Replay a world in which something fails. Raises :class:`EngineContradiction` if it does not fail."""
        report = next((failing.report for failing in self.failing_worlds if failing.world == world), None)
        if report is None:
            report = self.replay(world)
        fails = {
            "executable": report.executable is not Worlds.ALL,
            "goal": report.goal is not Worlds.ALL,
            # UNKNOWN also counts: the explicit engine may not decide a temporal rule that the circuit decides.
            "safe": report.safe is not Worlds.ALL,
        }
        rule_fails = any([rule.name == about and rule.status in ("violated", "undecided") for rule in report.rules])
        if not fails.get(about, rule_fails):
            message = (
                f"the encoding says that `{about}` fails in this world, but the explicit engine does not confirm it"
            )
            raise EngineContradiction(message)
        self.failing_worlds.append(FailingWorld(about, world, report))

    def is_violated_in_failing_world(self, rule: str) -> bool:
        """Whether a failing world that was replayed violates the rule with this name."""
        counts = [count for failing in self.failing_worlds for count in failing.report.rules]
        return any([count.name == rule and count.violations for count in counts])

    def make_witness(self, failing: FailingWorld, description: ShownWorld) -> Witness:
        """The witness for a failing world; ``replayed`` is ``None`` if the report on it has no finding."""
        findings = failing.report.findings
        replayed = all([finding.replayed for finding in findings]) if findings else None
        return Witness(failing.about, description, replayed, self.with_steps_as_written(failing.world))

    def collect_findings(self) -> list[tuple[int, Finding]]:
        """The distinct findings of all failing worlds, each with the index of the first world that has it."""
        first_findings: dict[tuple[object, ...], tuple[int, Finding]] = {}
        for index, failing in enumerate(self.failing_worlds):
            for finding in failing.report.findings:
                key = (finding.code, finding.rule, finding.binding, finding.step, finding.at_end)
                if key not in first_findings and len(first_findings) < self.compiled.options.max_findings:
                    first_findings[key] = index, finding
        return list(first_findings.values())

    def merge_verdict_bases(self, shown_report: Report) -> VerdictBasis:
        """The criteria of the verdict, with the numbers of violations that did not decide it.

        These numbers are maxima over the replayed worlds.
        """
        bases = [*[failing.report.verdict_basis for failing in self.failing_worlds], shown_report.verdict_basis]
        uses = sorted([use for basis in bases for use in basis.exempted], key=lambda use: use.times)
        most_frequent_use = {use.exemption: use for use in uses}  # the last use of an exemption is kept
        criteria = self.compiled.options.criteria
        return VerdictBasis(
            criteria,
            max([basis.before for basis in bases]),
            max([basis.minor for basis in bases]),
            tuple(
                [most_frequent_use[exemption] for exemption in criteria.exemptions if exemption in most_frequent_use]
            ),
        )

    # -- reports without a verdict ------------------------------------------------------------------------------------

    def report_no_world(self) -> Report:
        """Report that no world exists: the statements about unknown facts contradict each other."""
        unknowns = self.task.unknowns
        label = Label(self.compiled.problem.name, Span(0, 1), "this problem")
        if unknowns is not None and isinstance(unknowns.node, list):
            from plansafe.verifier.elaborate.context import Place  # noqa: PLC0415 - for a mistake alone

            label = self.compiled.context.label(Place(unknowns.node), "open")
        message = "the statements about unknown facts contradict each other: no possible world satisfies them all"
        causes = "an `or` or `oneof` without a possible alternative, an empty interval, or an invariant that S0 breaks"
        help = f"look for {causes}"
        return self.report_without_verdict(Diagnostic(SC.NO_WORLD, message, (label,), help=help))

    def report_unsupported(self, reason: str, help: str) -> Report:
        """Report UNKNOWN: the chosen engine, or every engine, does not support the plan."""
        diagnostic = Diagnostic(SC.NEEDS_ONE_WORLD, reason, severity=Severity.WARNING, help=help)
        return self.report_without_verdict(diagnostic, Headline.UNKNOWN)

    def report_contradiction(self, contradiction: EngineContradiction) -> Report:
        """Report an internal error: two engines contradict each other."""
        help = "this is a bug in safecheck: please report it with the files; there is no verdict on the plan"
        message = f"one engine does not confirm another: {contradiction}"
        label = Label(self.plan.name, Span(0, 0))
        return self.report_without_verdict(Diagnostic(SC.KERNEL_DISAGREES, message, (label,), help=help))

    def report_without_verdict(self, diagnostic: Diagnostic, headline: Headline | None = None) -> Report:
        """A report that has diagnostics and no verdict."""
        diagnostics = (*self.compiled.diagnostics, diagnostic)
        return make_unchecked_report(self.plan.name, *diagnostics, headline=headline, steps=len(self.resolved.steps))
