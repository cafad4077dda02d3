"""``Checker``: a domain, a problem and specifications compiled once, and the verdict on any number of plans.

All interfaces use it. A mistake of the user is a diagnostic, never an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source, expect_sources
from plansafe.verifier.execution.compilation import compile_task, compile_with_proposed_kinds
from plansafe.verifier.execution.compiled import CompiledTask, Options, Rejected, ResolveSpecification
from plansafe.verifier.execution.engine import Engine, Limit
from plansafe.verifier.execution.one_world import make_continuous_refusal
from plansafe.verifier.execution.plan_steps import ResolvedPlan, resolve_plan
from plansafe.verifier.execution.readings import ReadingOutcomes, replay_plan
from plansafe.verifier.model.limits import LimitKind, LimitReached, Undecided
from plansafe.verifier.reporting.report import Coverage, Report, make_unchecked_report
from plansafe.verifier.reporting.summary import add_time_notes, mark_ill_formed_unknown, report_timeout, summarise
from plansafe.verifier.reporting.unclassified import UnclassifiedCheck, describe_coverage_of_task
from plansafe.verifier.rules.model import Rule

if TYPE_CHECKING:
    from plansafe.verifier.execution.replay import LetterRecorder
    from plansafe.verifier.reporting.confirmation import Confirmer

__all__ = ["Checker", "Options"]


class _LastCheck(NamedTuple):
    """The last plan that was checked, with its report."""

    plan: Source
    confirm: bool
    report: Report


class Checker:
    """A compiled task with its rules.

    ``resolve`` finds a specification that another one extends, by its name and the extending source. It returns
    ``None`` if there is no such specification. Without ``resolve``, specifications cannot extend others.

    ``diagnostics`` are about the domain, problem and specifications. Unless ``ok``, no plan can be checked, and members
    that need the compiled task raise ``ValueError``. ``sources`` are all texts that labels may refer to, by name.
    """

    def __init__(
        self,
        domain: Source,
        problem: Source,
        specs: Sequence[Source] = (),
        options: Options | None = None,
        resolve: ResolveSpecification | None = None,
    ) -> None:
        self._set_compilation(compile_task(domain, problem, specs, options, resolve))

    @classmethod
    def from_compiled(cls, compiled: CompiledTask) -> Checker:
        """Return a checker for a compiled task."""
        checker = cls.__new__(cls)
        checker._set_compilation(compiled)  # noqa: SLF001 - of its own class
        return checker

    def _set_compilation(self, compilation: CompiledTask | Rejected) -> None:
        """Set all attributes of a new checker."""
        self._checker_without_proposals: Checker | None = None
        """The checker without proposed kinds, if this one is :attr:`assuming_proposals`."""
        self._last_check: _LastCheck | None = None
        self._compilation = compilation
        self.ok = isinstance(compilation, CompiledTask)
        self.diagnostics = compilation.diagnostics
        self.sources = compilation.sources

    @property
    def compiled(self) -> CompiledTask:
        """The compiled task."""
        if not isinstance(self._compilation, CompiledTask):
            first_error = next((d for d in self.diagnostics if d.severity is Severity.ERROR), self.diagnostics[0])
            raise ValueError(f"the domain, problem or specification has errors: {first_error.message}")
        return self._compilation

    @property
    def options(self) -> Options:
        """The options of the check."""
        return self.compiled.options

    @property
    def engine(self) -> Engine:
        """The engine that executes plans."""
        return self.compiled.engine

    @property
    def rules(self) -> list[Rule]:
        """The rules, by number."""
        return self.compiled.rules

    @property
    def is_open(self) -> bool:
        """True if the task has unknown facts, nondeterministic effects or intervals (docs/worlds.md)."""
        return self.compiled.is_open

    @property
    def is_stepwise(self) -> bool:
        """True if plans can be executed step by step: one possible world, and numbers that only steps change."""
        return self.engine.refusal is None

    @cached_property
    def confirmer(self) -> Confirmer:
        """The confirmation of findings by the replay kernel."""
        from plansafe.verifier.reporting.confirmation import Confirmer  # noqa: PLC0415 - for findings alone

        return Confirmer(self.compiled)

    @cached_property
    def coverage(self) -> Coverage | None:
        """The applicable rules and unclassified objects of the task."""
        return describe_coverage_of_task(self.compiled)

    @cached_property
    def unclassified_check(self) -> UnclassifiedCheck:
        """Checks a plan again with possible kinds for unclassified objects."""
        return UnclassifiedCheck(self.compiled, _audit_over_worlds)

    @cached_property
    def assuming_proposals(self) -> Checker:
        """The checker whose engine gives objects their proposed kinds; this checker if there are none.

        Searches use it, so that they avoid violations that rest on proposals. Its ``check`` is that of this checker.
        """
        if not self.ok or not self.compiled.proposed_kinds:
            return self
        checker = Checker.from_compiled(compile_with_proposed_kinds(self.compiled))
        checker._checker_without_proposals = self  # noqa: SLF001 - of its own class
        return checker

    def read(self, plan: Source) -> ResolvedPlan:
        """Read a plan with source positions, and resolve its steps."""
        return resolve_plan(self.engine, plan)

    def check(self, plan: Source, *, confirm: bool = True, recorder: LetterRecorder | None = None) -> Report:
        """Return the verdict on one plan. Without ``confirm``, the kernel does not confirm the findings.

        ``recorder`` records the letters, if the plan is replayed directly from its text (:func:`replay_plan`). The last
        report is remembered, because searches ask again for the verdict on the plan that was audited.
        """
        expect_sources(plan=plan)
        if self._checker_without_proposals is not None:
            return self._checker_without_proposals.check(plan, confirm=confirm)
        last_check = self._last_check if recorder is None else None  # a recorder needs another replay
        if last_check is None or last_check.plan is not plan or last_check.confirm is not confirm:
            last_check = self._last_check = _LastCheck(plan, confirm, self._check(plan, confirm, recorder))
        return last_check.report

    def _check(self, plan: Source, confirm: bool, recorder: LetterRecorder | None) -> Report:
        """Return the verdict on one plan; errors and a reached time limit are diagnostics."""
        if not self.ok:
            return make_unchecked_report(plan.name, *self.diagnostics)
        compiled, limit = self.compiled, self.options.time_limit_s
        deadline = None if limit is None else monotonic() + limit
        try:
            report = self._audit(plan, deadline, recorder)
            if self.coverage is not None and report.headline is not None:
                report = self.unclassified_check.add_coverage(report, self.coverage, plan, deadline)
            report = self._confirm(plan, report, confirm)
            if report.headline is None or not compiled.proposed_kinds:
                return report
            return self._add_proposed_findings(plan, report, deadline, confirm)
        except LimitReached as reached:
            if reached.kind is not LimitKind.TIME:
                raise
            return report_timeout(compiled, plan)
        except ModuleNotFoundError as error:
            from plansafe.verifier.symbolic.audit import explain_missing_solver  # noqa: PLC0415 - hardly ever needed

            solver_diagnostic = explain_missing_solver(error)
            if solver_diagnostic is None:
                raise
            return make_unchecked_report(plan.name, *self.diagnostics, solver_diagnostic)

    def _confirm(self, plan: Source, report: Report, confirm: bool) -> Report:
        """Return a report of one world whose findings the kernel confirmed; with several worlds, the audit did it."""
        has_findings = report.findings or report.verdict_basis.exempted
        mode = self.options.replay
        if not confirm or mode == "never" or self.compiled.is_open or not (has_findings or mode == "always"):
            return report
        return self.confirmer.confirm(plan, report)

    def _add_proposed_findings(self, plan: Source, report: Report, deadline: float | None, confirm: bool) -> Report:
        """Audit the plan again with proposed kinds, and add the violations that the report does not have."""
        from plansafe.verifier.reporting.proposals import (  # noqa: PLC0415 - for objects with proposed kinds alone
            add_findings,
            select_additional_findings,
        )

        checker = self.assuming_proposals
        assumed_report = checker._audit(plan, deadline)  # noqa: SLF001 - of its own class
        if assumed_report.headline is None:
            return report
        additional_findings = select_additional_findings(report, assumed_report, checker.compiled)
        assumed_report_to_confirm = assumed_report._replace(findings=additional_findings)
        confirmed_report = checker._confirm(plan, assumed_report_to_confirm, confirm)  # noqa: SLF001 - of its own class
        if confirmed_report.headline is None:
            return confirmed_report
        return add_findings(report, assumed_report, confirmed_report.findings, self.options.max_findings)

    def _find_refusal(self, plan: Source) -> Diagnostic | None:
        """Return why a plan in continuous time is not checked; ``None`` if it can be checked."""
        resolved = self.read(plan)
        if not (self.compiled.is_open or resolved.is_open):
            is_explicit = self.options.engine not in ("sat", "smt")
            return None if is_explicit else make_continuous_refusal(f"engine `{self.options.engine}`")
        from plansafe.verifier.symbolic.worlds.continuous_report import find_refusal  # noqa: PLC0415 - for open tasks

        return find_refusal(self.compiled, resolved)

    def _audit(self, plan: Source, deadline: float | None, recorder: LetterRecorder | None = None) -> Report:
        """Return the verdict on one plan, without coverage and confirmation."""
        compiled = self.compiled
        if compiled.engine.is_continuous and (refusal := self._find_refusal(plan)) is not None:
            return make_unchecked_report(plan.name, *self.diagnostics, refusal._replace(severity=Severity.ERROR))
        symbolic = compiled.is_open or self.options.engine in ("sat", "smt")
        if symbolic:
            resolved, outcomes = ReadingOutcomes(self.read(plan), [])
        else:
            resolved, outcomes = replay_plan(compiled, plan, deadline, recorder)
        if resolved is not None and resolved.text.diagnostics:
            return make_unchecked_report(plan.name, *self.diagnostics, *resolved.text.diagnostics)
        if resolved is None or outcomes:
            try:
                report = summarise(compiled, plan, resolved, outcomes)
            except Undecided as reason:  # numbers that only an explanation compares
                limit = Limit(SC.UNDECIDED_COURSE, f"the findings cannot be explained: {reason}")
                undecided_outcomes = [o._replace(failures=(), violations=(), goal=None, limit=limit) for o in outcomes]
                report = summarise(compiled, plan, resolved, undecided_outcomes)
        else:  # the plan has open parts, or the task has several possible worlds
            from plansafe.verifier.symbolic.audit import audit  # noqa: PLC0415 - for several possible worlds alone
            from plansafe.verifier.symbolic.worlds.reporter import AuditCase  # noqa: PLC0415

            report = audit(AuditCase(compiled, plan, resolved, self.confirmer, deadline))
        if resolved is not None and resolved.text.decimals is not None:
            rounded_steps = outcomes[0].rounded_steps if outcomes else frozenset[int]()
            report = add_time_notes(compiled, plan, resolved, report, rounded_steps)
        if resolved is not None and resolved.text.warnings:
            report = report._replace(diagnostics=(*report.diagnostics, *resolved.text.warnings))
        return mark_ill_formed_unknown(report)._replace(home=compiled.home_effects)


def _audit_over_worlds(compiled: CompiledTask, plan: Source, deadline: float | None) -> Report:
    """Audit a plan of a task with several possible worlds, without coverage and confirmation."""
    return Checker.from_compiled(compiled)._audit(plan, deadline)  # noqa: SLF001 - of its own module
