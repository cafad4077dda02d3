"""``Checker``: a domain, a problem and specifications compiled once, and the verdict on any number of plans.

The service, the command line and other clients all come through here. A user's mistake is a diagnostic, never an
exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source, expect_sources
from plansafe.verifier.execution.compiled import CompiledTask, Options, Rejected, ResolveSpecification, compile_task
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.plan_steps import ResolvedPlan, resolve_plan
from plansafe.verifier.execution.readings import ReadingOutcomes, replay_plan
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.reporting.report import (
    NO_KNOWN_KIND,
    Coverage,
    Headline,
    Report,
    UnclassifiedClass,
    cap_at_unknown,
    unjudged,
)
from plansafe.verifier.reporting.summary import ill_formed_is_unknown, out_of_time, summarise, with_time_notes
from plansafe.verifier.reporting.unclassified import (
    UnclassifiedCheck,
    classification_warnings,
    task_coverage,
    untested_kinds_warning,
    with_used_classes,
)
from plansafe.verifier.rules.model import Rule

if TYPE_CHECKING:
    from plansafe.verifier.reporting.confirmation import Confirmer

__all__ = ["Checker", "Options"]


class Checker:
    """A compiled task with its rules.

    ``diagnostics`` are what was found in the domain, problem and specifications; unless ``ok``, no plan can be checked,
    and what needs the compiled task raises ``ValueError``. ``sources`` are all texts that labels may refer to, by name.
    """

    def __init__(
        self,
        domain: Source,
        problem: Source,
        specs: Sequence[Source] = (),
        options: Options | None = None,
        resolve: ResolveSpecification | None = None,
    ) -> None:
        self._keep(compile_task(domain, problem, specs, options, resolve))

    @classmethod
    def from_compiled(cls, compiled: CompiledTask) -> Checker:
        """A checker for what is compiled already."""
        checker = cls.__new__(cls)
        checker._keep(compiled)  # noqa: SLF001 - of its own class
        return checker

    def _keep(self, made: CompiledTask | Rejected) -> None:
        self._made = made
        self.ok = isinstance(made, CompiledTask)
        self.diagnostics = made.diagnostics
        self.sources = made.sources

    @property
    def compiled(self) -> CompiledTask:
        """What was compiled."""
        if not isinstance(self._made, CompiledTask):
            first = next((d for d in self.diagnostics if d.severity is Severity.ERROR), self.diagnostics[0])
            raise ValueError(f"the domain, problem or specification has errors: {first.message}")
        return self._made

    @property
    def options(self) -> Options:
        """How plans are checked."""
        return self.compiled.options

    @property
    def engine(self) -> Engine:
        """What runs plans."""
        return self.compiled.engine

    @property
    def rules(self) -> list[Rule]:
        """The rules, in their order."""
        return self.compiled.rules

    @property
    def open(self) -> bool:
        """Whether the description leaves anything open: then there are many worlds (docs/worlds.md)."""
        return self.compiled.is_open

    @cached_property
    def confirmer(self) -> Confirmer:
        """What asks the independent kernel."""
        from plansafe.verifier.reporting.confirmation import Confirmer  # noqa: PLC0415 - where something was found

        return Confirmer(self.compiled)

    @cached_property
    def coverage(self) -> Coverage | None:
        """What the rules see of the task, before a plan is known."""
        return task_coverage(self.compiled)

    @cached_property
    def unclassified_check(self) -> UnclassifiedCheck:
        """What judges plans with other kinds for the objects that have none."""
        return UnclassifiedCheck(self.compiled, _over_worlds)

    def read(self, plan: Source) -> ResolvedPlan:
        """Read a plan with places, and resolve its steps."""
        return resolve_plan(self.engine, plan)

    def check(self, plan: Source, *, confirm: bool = True) -> Report:
        """The verdict on one plan. Without ``confirm`` the kernel is not asked: for who asks it later, at leisure."""
        expect_sources(plan=plan)
        if not self.ok:
            return unjudged(plan.name, *self.diagnostics)
        compiled, limit = self.compiled, self.options.time_limit_s
        deadline = None if limit is None else monotonic() + limit
        try:
            report = self._classified(plan, self._check(compiled, plan, deadline), deadline)
        except LimitReached as reached:
            if reached.kind is not LimitKind.TIME:
                raise
            return out_of_time(compiled, plan)
        except ModuleNotFoundError as error:
            from plansafe.verifier.symbolic.audit import missing_solver  # noqa: PLC0415 - hardly ever needed

            missing = missing_solver(error)
            if missing is None:
                raise
            return unjudged(plan.name, *self.diagnostics, missing)
        if (
            not confirm
            or compiled.is_open
            or (not report.findings and not report.verdict_basis.exempted and self.options.replay != "always")
        ):
            return report
        return self.confirmer.confirm(plan, report)

    def _check(self, compiled: CompiledTask, plan: Source, deadline: float | None) -> Report:
        symbolic = compiled.is_open or self.options.engine in ("sat", "smt")
        read, outcomes = ReadingOutcomes(self.read(plan), []) if symbolic else replay_plan(compiled, plan, deadline)
        if read is not None and read.text.diagnostics:
            return unjudged(plan.name, *self.diagnostics, *read.text.diagnostics)
        if read is None or outcomes:
            report = summarise(compiled, plan, read, outcomes)
        else:
            from plansafe.verifier.symbolic.audit import audit  # noqa: PLC0415 - for open descriptions alone
            from plansafe.verifier.symbolic.worlds.reporter import AuditCase  # noqa: PLC0415

            report = audit(AuditCase(compiled, plan, read, self.confirmer, deadline))
        if read is not None and read.text.decimals is not None:
            report = with_time_notes(compiled, plan, read, report, outcomes[0].rounded if outcomes else frozenset())
        if read is not None and read.text.warnings:
            report = report._replace(diagnostics=(*report.diagnostics, *read.text.warnings))
        return ill_formed_is_unknown(report)._replace(home=compiled.home)

    def _classified(self, plan: Source, report: Report, deadline: float | None) -> Report:
        """The report with its coverage; SAFE becomes UNKNOWN if an object without a kind may break a rule."""
        coverage = self.coverage
        if coverage is None or report.headline is None:
            return report
        steps = read_plan(plan).steps if coverage.unclassified else ()
        used = self.unclassified_check.used(steps) if steps else {}
        if not used:
            return report._replace(coverage=coverage)
        names = self.compiled.task.objects
        found = [UnclassifiedClass(name, tuple([names[o] for o in own]), True) for name, own in used.items()]
        capping: tuple[Diagnostic, ...] = ()
        if report.headline in (Headline.SAFE, Headline.VALID):
            tried = self.unclassified_check.suspicions(plan, steps, used, deadline)
            found = found if tried is None else tried
            capping = (untested_kinds_warning(used),) if tried is None else classification_warnings(tried, plan, steps)
        report = report._replace(coverage=with_used_classes(coverage, found))
        if capping:  # whoever searches for safe plans treats this like any other limit of what is known
            report = report._replace(limits=(*report.limits, NO_KNOWN_KIND))
        return cap_at_unknown(report, capping, safety_alone=True)


def _over_worlds(compiled: CompiledTask, plan: Source, deadline: float | None) -> Report:
    """The verdict on a plan where something is left open, as :meth:`Checker.check` gives it before anything else."""
    return Checker.from_compiled(compiled)._check(compiled, plan, deadline)  # noqa: SLF001 - of its own module
