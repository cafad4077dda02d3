"""Confirm findings with the replay kernel before they are printed.

With ``replay`` ``auto``, the kernel, which is slow by design, replays every plan with findings up to a limit of work;
other findings are marked as not replayed. The kernel counts its work (docs/worlds.md, section 7), so that whether a
finding is replayed depends only on the texts. With ``always``, it also audits plans without findings, and the verdicts
must agree. If kernel and engine disagree, the report has an internal error and no verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.model.nodes import Predicate, Task
from plansafe.verifier.reporting.report import NO_KNOWN_KIND, Finding, FindingClass, Report, make_unchecked_report
from plansafe.verifier.rules.home_profile import change_severity
from plansafe.verifier.rules.kinds import list_objects_by_kind_type
from plansafe.verifier.rules.model import shorten_variable_names

if TYPE_CHECKING:
    from plansafe.verifier.kernel import Kernel, KernelVerdict
    from plansafe.verifier.kernel import World as KernelWorld
    from plansafe.verifier.reporting.worlds import Completion
    from plansafe.verifier.rules.expanded_specs import OpenDeclaration

MAX_WORK = 100_000
"""For one plan, in the kernel's units (formulas evaluated, facts read, steps taken): about a second."""
MAX_TEXT = 500_000
"""Characters of domain and problem; the kernel reads them in about a second."""
MAX_RECURSION = 5_000
"""The recursion limit while the kernel works."""
_UNDECIDED_TIME = (SC.UNDECIDED_COURSE, SC.ENDLESS_CASCADE)
"""The codes of traces that the engine did not follow to the end; the kernel may have done so."""


Bounds = tuple[Fraction | None, Fraction | None]
"""The numbers between which values lie, both excluded unless they are equal; ``None``: no bound."""
Answer = TypeVar("Answer")


class Confirmer:
    """Audits the plans of one task with the kernel."""

    def __init__(self, compiled: CompiledTask) -> None:
        self.compiled = compiled
        self.mode = compiled.options.replay

    @cached_property
    def kernel(self) -> Kernel | None:
        """The kernel of the task; ``None`` if it does not support the task."""
        from plansafe.verifier.kernel import Kernel, KernelRejects  # noqa: PLC0415 - loads the kernel

        compiled, options = self.compiled, self.compiled.options
        names = {rule.name for rule in compiled.rules if rule.applicable}
        changes = compiled.home_effects.changes if compiled.home_effects is not None else ()
        rules = [change_severity(rule, changes) for rule in compiled.expanded.rules if rule.node[1] in names]
        texts = [format_node(node) for node in (*rules, *[rule.node for rule in compiled.expanded.invariants])]
        texts += [f"(:open {_format_opening(opening)})" for opening in compiled.expanded.openings]
        try:
            with _recursion_limit():
                return Kernel(
                    compiled.domain.text,
                    compiled.problem.text,
                    [f"(define (safety rules) {' '.join(texts)})"] if texts else [],
                    lenient=options.lenient_types,
                    tolerance=options.tolerance,
                    judge=options.judge,
                    min_severity=options.min_severity,
                    exemptions=[(exemption.rules, exemption.objects) for exemption in options.exemptions],
                    kinds=list_objects_by_kind_type(compiled.symbols),
                )
        except KernelRejects:
            return None

    def confirm(self, plan: Source, report: Report) -> Report:
        """Set ``replayed`` of the findings; with SC901 and no headline if the kernel disagrees."""
        if report.headline is None or not self._needs_kernel(report):
            return report
        verdict = self._audit(plan, report.steps)
        if verdict is None or isinstance(verdict, str):
            return report
        findings = _set_replayed(report.findings, verdict)
        used_exemptions = tuple(
            [e._replace(findings=_set_replayed(e.findings, verdict)) for e in report.verdict_basis.exempted]
        )
        for finding in (*findings, *[finding for exemption in used_exemptions for finding in exemption.findings]):
            if finding.replayed is False:
                return self._report_disagreement(plan, report, finding.message, finding.span)
        has_no_kind = NO_KNOWN_KIND in report.limits and verdict.headline in ("SAFE", "VALID")
        is_capped = has_no_kind or any([d.code in _UNDECIDED_TIME for d in report.diagnostics])
        if self.mode == "always" and not (is_capped or verdict.agrees(report.headline.value)):
            message = f"the engine reports {report.headline.value}, the kernel reports {verdict.headline}"
            return self._report_disagreement(plan, report, message, None)
        return report._replace(findings=findings, verdict_basis=report.verdict_basis._replace(exempted=used_exemptions))

    def confirm_world(self, plan: Source, report: Report, world: Completion) -> tuple[Report, str]:
        """Set ``replayed`` of the findings in one possible world; also return the kernel's disagreement, or ""."""
        if report.headline is None or not self._needs_kernel(report):
            return report, ""
        verdict = self._audit(plan, report.steps, world, ("skip", "force") if report.readings else ())
        if verdict is None:
            return report, ""
        if isinstance(verdict, str):
            return report, f"the kernel rejects the world: {verdict}"
        findings = _set_replayed(report.findings, verdict, world.order)
        for finding in findings:
            if finding.replayed is False:
                return report, f"the kernel does not confirm in that world: {finding.message}"
        # The engine may be undecided about a temporal rule where the definition is not (docs/language.md, section 4).
        headline = report.headline.value
        if headline != "UNKNOWN" and not verdict.agrees(headline):
            return report, f"the engine reports {headline} in one world, the kernel reports {verdict.headline}"
        return report._replace(findings=findings), ""

    def _needs_kernel(self, report: Report) -> bool:
        """Whether the kernel has something to confirm."""
        return bool(report.findings or report.verdict_basis.exempted or self.mode == "always")

    def find_headlines(
        self, plan: Source, steps: int, world: Completion, number: tuple[int, int] | int, bounds: Bounds
    ) -> frozenset[str] | None:
        """Return the kernel's headlines for all values of a number within bounds; ``None`` if it gives none.

        ``number`` is a fluent (function, code), or the duration of a step (its number); ``world`` has the values of
        everything else that is open.
        """

        def ask(kernel: Kernel, limit: int | None) -> frozenset[str]:
            task, kernel_world = self.compiled.task, make_kernel_world(self.compiled, world)
            name: int | tuple[str, ...]
            if isinstance(number, int):
                name = number
            else:
                function, code = number
                name = _get_ground_names(task, task.functions[function], code)
            return kernel.find_headlines(plan.text, kernel_world, name, bounds, limit)

        headlines = self._ask_kernel(steps, ask)
        return None if isinstance(headlines, str) else headlines

    def is_safe(self, plan: Source, steps: int) -> bool | None:
        """Whether the verdict of the kernel is SAFE or VALID; ``None`` without a verdict of the kernel."""
        verdict = self._audit(plan, steps)
        if verdict is None or isinstance(verdict, str) or not verdict.blame_known:
            return None
        return verdict.headline in ("SAFE", "VALID")

    def _audit(
        self, plan: Source, steps: int, world: Completion | None = None, readings: Sequence[str] = ("skip", "force")
    ) -> KernelVerdict | str | None:
        """Audit a plan (:meth:`_ask_kernel`)."""

        def ask(kernel: Kernel, limit: int | None) -> KernelVerdict:
            kernel_world = None if world is None else make_kernel_world(self.compiled, world)
            return kernel.audit(plan.text, kernel_world, readings, limit)

        return self._ask_kernel(steps, ask)

    def _ask_kernel(self, steps: int, ask: Callable[[Kernel, int | None], Answer]) -> Answer | str | None:
        """Return the kernel's answer, or the message with which it rejects the plan.

        ``None`` if the kernel is not asked, does not support the task, or reaches a limit.
        """
        size = len(self.compiled.domain.text) + len(self.compiled.problem.text)
        is_limited = self.mode == "auto"
        if self.mode == "never" or (is_limited and (size > MAX_TEXT or steps > MAX_WORK)) or self.kernel is None:
            return None
        from plansafe.verifier.kernel import KernelLimit, KernelRejects  # noqa: PLC0415 - loads the kernel

        try:
            with _recursion_limit():
                return ask(self.kernel, MAX_WORK if is_limited else None)
        except KernelLimit:
            return None
        except KernelRejects as rejection:
            return str(rejection)

    def _report_disagreement(self, plan: Source, report: Report, claim: str, span: Span | None) -> Report:
        """Return a report without a verdict, because the kernel does not confirm a claim."""
        message = f"the replay kernel does not confirm: {claim}"
        labels = (Label(plan.name, span or Span(0, 0), "found here"),)
        help = "this is a bug in safecheck: please report it with the files; there is no verdict on the plan"
        diagnostic = Diagnostic(SC.KERNEL_DISAGREES, message, labels, help=help)
        return make_unchecked_report(plan.name, *report.diagnostics, diagnostic, steps=report.steps)


def make_kernel_world(compiled: CompiledTask, world: Completion) -> KernelWorld:
    """Return a possible world in the form of the kernel, with names instead of numbers."""
    from plansafe.verifier.kernel import World as KernelWorld  # noqa: PLC0415 - loads the kernel

    task = compiled.task

    def choose(step: int, number: int, objects: tuple[str, ...], _alternatives: int) -> int:
        return world.get_alternative(step, number, tuple([task.object_index[name] for name in objects]))

    facts = [_get_ground_names(task, task.predicates[predicate], code) for predicate, code in world.facts]
    numbers = {_get_ground_names(task, task.functions[f], code): Fraction(v) for (f, code), v in world.values.items()}
    durations = {number: Fraction(duration) for number, duration in world.durations}
    return KernelWorld(facts, numbers, choose, world.order, durations)


def _get_ground_names(task: Task, declared: Predicate, code: int) -> tuple[str, ...]:
    """Return the names of a fact or fluent: its predicate or function, and its objects."""
    return (declared.name, *task.names(task.decode(code, len(declared.types))))


def _format_opening(opening: OpenDeclaration) -> str:
    """Return the declaration of an open predicate with the domain's names, for the kernel."""
    types: dict[str, str] = {}
    untyped: list[str] = []
    tokens = iter(opening.typed[1:])
    for token in tokens:
        if token == "-":
            types.update(dict.fromkeys(untyped, format_node(next(tokens))))
            untyped = []
        else:
            untyped.append(str(token))
    arguments = [f"{term} - {types[str(term)]}" if str(term) in types else str(term) for term in opening.atom[1:]]
    return f"({' '.join([str(opening.atom[0]), *arguments])})"


@contextmanager
def _recursion_limit() -> Iterator[None]:
    """Limit the recursion of the kernel over nested tuples, partly in C; beyond the limit, the kernel gives up."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(MAX_RECURSION)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _set_replayed(
    findings: tuple[Finding, ...], verdict: KernelVerdict, order: Sequence[int] = ()
) -> tuple[Finding, ...]:
    """Return findings with ``replayed``; ``order``: the kernel's numbers of the steps, if they differ."""
    replayed_findings = []
    for finding in findings:
        step = order[finding.step - 1] if order and finding.step else finding.step
        replayed_findings.append(finding._replace(replayed=_agrees(finding, step, verdict)))
    return tuple(replayed_findings)


def _agrees(finding: Finding, step: int, verdict: KernelVerdict) -> bool | None:
    """Whether the kernel has the finding at ``step``; ``None`` for findings that the kernel does not decide."""
    if "halt" not in finding.readings:
        return None
    match finding.finding_class:
        case FindingClass.ILL_FORMED:
            return step in verdict.ill_formed
        case FindingClass.INEXECUTABLE:
            return step in verdict.failed_steps["halt"] if step else None
        case FindingClass.UNMET_GOAL:
            return not verdict.goal
        case FindingClass.UNDECIDED:
            return None
        case _:
            binding = dict(finding.binding)
            matching_findings = [
                kernel_finding
                for kernel_finding in verdict.findings
                if kernel_finding.rule == finding.rule and _select_named_objects(kernel_finding.binding) == binding
            ]
            return any([f.step == step or not f.exact_step for f in matching_findings if "halt" in f.readings])


def _select_named_objects(binding: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return the objects of a kernel's binding by the short names of variables, as in findings."""
    names = shorten_variable_names([name for name, _ in binding])
    return dict(zip(names, [value for _, value in binding], strict=True))
