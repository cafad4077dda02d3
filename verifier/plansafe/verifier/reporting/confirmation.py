"""The independent check: findings go through the replay kernel before they are printed.

Under ``auto`` the kernel, which is slow by design, replays every plan with findings that takes it no more than so much
work. What it did not replay is marked as such. The kernel counts its work (docs/worlds.md, section 7): whether a
finding was replayed depends on the texts alone, neither on the machine nor on the other plans of a batch. Under
``always`` it judges every plan, also those without findings, and the headlines must agree. Kernel and engine
disagreeing is an internal error, never a verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Predicate
from plansafe.verifier.reporting.report import NO_KNOWN_KIND, Finding, FindingClass, Report, unjudged
from plansafe.verifier.rules.home_profile import with_changed_severity
from plansafe.verifier.rules.kinds import opened_kind_members
from plansafe.verifier.rules.model import shown_names

if TYPE_CHECKING:
    from plansafe.verifier.kernel import Kernel, KernelVerdict
    from plansafe.verifier.kernel import World as KernelWorld
    from plansafe.verifier.reporting.worlds import Completion
    from plansafe.verifier.rules.expanded_specs import OpenDeclaration

MAX_WORK = 100_000
"""Of one plan, in the kernel's units (formulas evaluated, facts looked at, steps taken): about a second."""
MAX_TEXT = 500_000
"""Characters of domain and problem: the kernel reads so many in about a second."""
RECURSION = 5_000


class Confirmer:
    """Holds the kernel of one task; ``None`` inside if the kernel does not cover the task."""

    def __init__(self, compiled: CompiledTask) -> None:
        self.compiled = compiled
        self._kernel: Kernel | None = None
        self._tried = False

    def confirm(self, plan: Source, report: Report) -> Report:
        """The report with ``replayed`` filled in; with SC901 and no headline if the kernel disagrees."""
        mode = self.compiled.options.replay
        found = report.findings or report.verdict_basis.exempted
        if mode == "never" or report.headline is None or not (found or mode == "always"):
            return report
        if not self._readable(report.steps):
            return report
        kernel = self._load()
        if kernel is None:
            return report
        from plansafe.verifier.kernel import KernelLimit, KernelRejects  # noqa: PLC0415 - loads the kernel

        try:
            with _shallow():
                judgement = kernel.audit(plan.text, limit=self._limit())
        except (KernelRejects, KernelLimit):
            return report
        findings = tuple([f._replace(replayed=_agrees(f, judgement)) for f in report.findings])
        exempted = tuple(
            [
                e._replace(findings=tuple([f._replace(replayed=_agrees(f, judgement)) for f in e.findings]))
                for e in report.verdict_basis.exempted
            ]
        )
        wrong = [f for f in (*findings, *[f for e in exempted for f in e.findings]) if f.replayed is False]
        if wrong:
            return self._disagreement(plan, report, wrong[0].message, wrong[0].span)
        capped = NO_KNOWN_KIND in report.limits and judgement.headline in ("SAFE", "VALID")
        if mode == "always" and not (capped or judgement.agrees(report.headline.value)):
            message = f"the engine reports {report.headline.value}, the kernel reports {judgement.headline}"
            return self._disagreement(plan, report, message, None)
        return report._replace(findings=findings, verdict_basis=report.verdict_basis._replace(exempted=exempted))

    def confirm_world(self, plan: Source, report: Report, world: Completion) -> tuple[Report, str]:
        """A report on one of many worlds with ``replayed`` filled in, and what the kernel says against it."""
        mode = self.compiled.options.replay
        if mode == "never" or report.headline is None or not self._readable(report.steps):
            return report, ""
        kernel = self._load()
        if kernel is None:
            return report, ""
        from plansafe.verifier.kernel import KernelLimit, KernelRejects  # noqa: PLC0415 - loads the kernel

        try:
            with _shallow():
                others = ("skip", "force") if report.readings else ()
                judgement = kernel.audit(plan.text, kernel_world(self.compiled, world), others, self._limit())
        except KernelLimit:
            return report, ""
        except KernelRejects as rejection:
            return report, f"the kernel rejects the world: {rejection}"
        order = world.order
        findings = []
        for finding in report.findings:
            placed = finding if not order or not finding.step else finding._replace(step=order[finding.step - 1])
            findings.append(finding._replace(replayed=_agrees(placed, judgement)))
        wrong = [f for f in findings if f.replayed is False]
        if wrong:
            return report, f"the kernel does not confirm in that world: {wrong[0].message}"
        # The engine may be undecided about a temporal rule where the definition is not (docs/language.md, section 4).
        if report.headline.value != "UNKNOWN" and not judgement.agrees(report.headline.value):
            return (
                report,
                f"the engine reports {report.headline.value} in one world, the kernel reports {judgement.headline}",
            )
        return report._replace(findings=tuple(findings)), ""

    def is_safe(self, plan: Source, steps: int) -> bool | None:
        """Whether the kernel finds a plan SAFE or VALID; ``None`` if it is not to be asked, or does not cover it."""
        mode = self.compiled.options.replay
        if mode == "never" or not self._readable(steps):
            return None
        kernel = self._load()
        if kernel is None:
            return None
        from plansafe.verifier.kernel import KernelLimit, KernelRejects  # noqa: PLC0415 - loads the kernel

        try:
            with _shallow():
                judgement = kernel.audit(plan.text, limit=self._limit())
                return judgement.headline in ("SAFE", "VALID") if judgement.blame_known else None
        except (KernelRejects, KernelLimit):
            return None

    def _limit(self) -> int | None:
        """How much work a plan may take."""
        return MAX_WORK if self.compiled.options.replay == "auto" else None

    def _readable(self, steps: int) -> bool:
        """Whether the texts are short enough to be read at all."""
        texts = len(self.compiled.domain.text) + len(self.compiled.problem.text)
        return self.compiled.options.replay != "auto" or (texts <= MAX_TEXT and steps <= MAX_WORK)

    def _load(self) -> Kernel | None:
        if not self._tried:
            self._tried = True
            from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects  # noqa: PLC0415 - loads the kernel

            compiled, options = self.compiled, self.compiled.options
            names = {rule.name for rule in compiled.rules if rule.applicable}
            changes = compiled.home.changes if compiled.home is not None else ()
            rules = [
                format_node(with_changed_severity(r, changes)) for r in compiled.expanded.rules if r.node[1] in names
            ]
            rules += [format_node(invariant.node) for invariant in compiled.expanded.invariants]
            rules += [f"(:open {_opened(opening)})" for opening in compiled.expanded.openings]
            safety = [f"(define (safety rules) {' '.join(rules)})"] if rules else []
            texts = (compiled.domain.text, compiled.problem.text, safety)
            try:
                with _shallow():
                    self._kernel = Kernel(
                        *texts,
                        lenient=options.lenient_types,
                        tolerance=options.tolerance,
                        judge=options.judge,
                        min_severity=options.min_severity,
                        exemptions=[(e.rules, e.objects) for e in options.exemptions],
                        kinds=opened_kind_members(compiled.symbols),
                    )
            except (KernelRejects, KernelLimit):
                self._kernel = None
        return self._kernel

    def _disagreement(self, plan: Source, report: Report, what: str, span: Span | None) -> Report:
        message = f"the replay kernel does not confirm: {what}"
        labels = (Label(plan.name, span or Span(0, 0), "found here"),)
        help = "this is a bug in safecheck: please report it with the files; there is no verdict on the plan"
        diagnostic = Diagnostic(SC.KERNEL_DISAGREES, message, labels, help=help)
        return unjudged(plan.name, *report.diagnostics, diagnostic, steps=report.steps)


def kernel_world(compiled: CompiledTask, world: Completion) -> KernelWorld:
    """A world as the kernel is told of it: by names."""
    from fractions import Fraction  # noqa: PLC0415 - loaded by now

    from plansafe.verifier.kernel import World as KernelWorld  # noqa: PLC0415 - loads the kernel

    task = compiled.task

    def named(declared: Predicate, code: int) -> tuple[str, ...]:
        return (declared.name, *task.names(task.decode(code, len(declared.types))))

    def choose(step: int, number: int, objects: tuple[str, ...], _alternatives: int) -> int:
        return world.alternative(step, number, tuple([task.object_index[name] for name in objects]))

    facts = [named(task.predicates[predicate], code) for predicate, code in world.facts]
    numbers = {named(task.functions[f], code): Fraction(value) for (f, code), value in world.values.items()}
    durations = {number: Fraction(duration) for number, duration in world.durations}
    return KernelWorld(facts, numbers, choose, world.order, durations)


def _opened(opening: OpenDeclaration) -> str:
    """An open predicate as the kernel reads it, mapped to the domain's own."""
    types: dict[str, str] = {}
    waiting: list[str] = []
    items = list(opening.typed[1:])
    while items:
        item = items.pop(0)
        if item == "-":
            kind = format_node(items.pop(0))
            types.update(dict.fromkeys(waiting, kind))
            waiting = []
        else:
            waiting.append(str(item))
    words = [f"{term} - {types[str(term)]}" if str(term) in types else str(term) for term in opening.atom[1:]]
    return f"({' '.join([str(opening.atom[0]), *words])})"


@contextmanager
def _shallow() -> Iterator[None]:
    """The kernel recurses over nested tuples, partly in C: safe within this limit; beyond it the kernel gives up."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(RECURSION)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _agrees(finding: Finding, judgement: KernelVerdict) -> bool | None:
    """Whether the kernel has the finding; ``None`` for what it does not judge."""
    if "halt" not in finding.readings:
        return None
    match finding.finding_class:
        case FindingClass.ILL_FORMED:
            return finding.step in judgement.ill_formed
        case FindingClass.INEXECUTABLE:
            return finding.step in judgement.failed_steps["halt"] if finding.step else None
        case FindingClass.UNMET_GOAL:
            return not judgement.goal
        case FindingClass.UNDECIDED:
            return None
        case _:
            binding = dict(finding.binding)
            same = [f for f in judgement.findings if f.rule == finding.rule and _shown(f.binding) == binding]
            return any([f.step == finding.step or not f.exact_step for f in same if "halt" in f.readings])


def _shown(binding: tuple[tuple[str, str], ...]) -> dict[str, str]:
    names = shown_names([name for name, _ in binding])
    return dict(zip(names, [value for _, value in binding], strict=True))
