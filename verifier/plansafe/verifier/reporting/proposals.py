"""Add the violations that a plan has if objects have their proposed kinds (docs/worlds.md, section 5).

A mapping may propose unconfirmed kinds. The plan is audited again with them. A violation that only this
audit has is a finding that rests on proposals. Other findings stay, and so does every UNKNOWN about objects without a
known kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.reporting.report import (
    Finding,
    FindingClass,
    Headline,
    ProposedKindOfObject,
    Report,
    RuleCount,
    Worlds,
)
from plansafe.verifier.reporting.unclassified import find_domains
from plansafe.verifier.rules.mapping import ProposedKind, make_kind_type_name
from plansafe.verifier.rules.model import Rule

_VIOLATION_CLASSES = frozenset(
    (FindingClass.PROCESS, FindingClass.TRAJECTORY, FindingClass.TERMINATION, FindingClass.OBLIGATION)
)
_MAX_SHOWN = 3
"""Maximum number of proposals that the message of a finding names."""


def select_additional_findings(
    report: Report, assumed_report: Report, task_with_proposals: CompiledTask
) -> tuple[Finding, ...]:
    """Return the violations of ``assumed_report``, the report with proposed kinds, that ``report`` does not have."""
    reported_keys = {_make_key(finding) for finding in report.findings}
    exempted_keys = {_make_key(finding) for used in report.verdict_basis.exempted for finding in used.findings}
    rules = {rule.name: rule for rule in task_with_proposals.rules}
    return tuple(
        [
            _add_proposals(finding, rules[finding.rule], task_with_proposals)
            for finding in assumed_report.findings
            if finding.finding_class in _VIOLATION_CLASSES
            and finding.rule is not None
            and _make_key(finding) not in reported_keys
            and _make_key(finding) not in exempted_keys
        ]
    )


def add_findings(
    report: Report, assumed_report: Report, additional_findings: Sequence[Finding], max_findings: int
) -> Report:
    """Add findings that rest on proposals to a report; a violation that decides makes the plan UNSAFE."""
    if not additional_findings:
        return report
    criteria = report.verdict_basis.criteria
    halt_findings = [finding for finding in additional_findings if "halt" in finding.readings]
    deciding_findings = [finding for finding in halt_findings if finding.decides(criteria)]
    worlds = report.worlds
    listed_findings = list(additional_findings[: max(max_findings - len(report.findings), 1)])
    if worlds is not None and assumed_report.worlds is not None:
        first_world = len(worlds.witnesses)
        worlds = worlds._replace(witnesses=(*worlds.witnesses, *assumed_report.worlds.witnesses))
        listed_findings = [
            f._replace(world=None if f.world is None else f.world + first_world) for f in listed_findings
        ]
    findings = sorted(
        [*report.findings, *listed_findings], key=lambda f: (bool(f.follows), "halt" not in f.readings, f.at_end)
    )
    headline, safe = report.headline, report.safe
    if deciding_findings:
        headline = headline if headline is Headline.INVALID else Headline.UNSAFE
        unsafe_values = (Worlds.NONE, Worlds.SOME)
        safe = next((value for value in (safe, assumed_report.safe) if value in unsafe_values), Worlds.SOME)
    return report._replace(
        headline=headline,
        safe=safe,
        findings=tuple(findings),
        rules=_count_with_proposed_kinds(
            report.rules, assumed_report.rules, {finding.rule for finding in halt_findings}
        ),
        suppressed=report.suppressed + len(additional_findings) - len(listed_findings),
        verdict_basis=report.verdict_basis._replace(
            minor=report.verdict_basis.minor + len(halt_findings) - len(deciding_findings)
        ),
        worlds=worlds,
        certificate=None if deciding_findings else report.certificate,
    )


def _make_key(finding: Finding) -> tuple[object, ...]:
    """Return the properties by which findings of two reports are compared."""
    return finding.rule, finding.binding, finding.step, finding.at_end


def _count_with_proposed_kinds(
    counts: tuple[RuleCount, ...], assumed_report: tuple[RuleCount, ...], rules: set[str | None]
) -> tuple[RuleCount, ...]:
    """Return counts in which ``rules`` are counted under the proposed kinds."""
    assumed_by_name = {count.name: count for count in assumed_report}
    return tuple(
        [
            assumed_by_name[count.name]._replace(
                violations=max(count.violations, assumed_by_name[count.name].violations)
            )
            if count.name in rules and count.name in assumed_by_name
            else count
            for count in counts
        ]
    )


def _add_proposals(finding: Finding, rule: Rule, task_with_proposals: CompiledTask) -> Finding:
    """Name the proposals that a finding rests on, in its message, a note and ``proposals``."""
    proposals = tuple(
        [
            ProposedKindOfObject(p.object, p.kind, p.evidence)
            for p in _find_proposals(finding, rule, task_with_proposals)
        ]
    )
    conditions = [f"`{proposal.object}` is `{proposal.kind}`" for proposal in proposals[:_MAX_SHOWN]]
    more = ", .." if len(proposals) > _MAX_SHOWN else ""
    notes = [f"nobody has confirmed that `{p.object}` is `{p.kind}`: {p.evidence}" for p in proposals[:_MAX_SHOWN]]
    return finding._replace(
        message=f"{finding.message} (if, as proposed, {' and '.join(conditions)}{more})",
        notes=(*notes, *finding.notes),
        proposals=proposals,
    )


def _find_proposals(finding: Finding, rule: Rule, task_with_proposals: CompiledTask) -> list[ProposedKind]:
    """Return the proposals that a finding may rest on.

    These are the kinds that the rule is about of the objects that the finding names; if it names none, of all objects.
    """
    types = task_with_proposals.symbols.types
    types_of_rule = {number for domain in find_domains(rule) for number in types.domain_types[domain]}
    relevant_proposals = [
        p for p in task_with_proposals.proposed_kinds if types.index.get(make_kind_type_name(p.kind)) in types_of_rule
    ]
    bound_objects = {name for _, name in finding.binding}
    return (
        [p for p in relevant_proposals if p.object in bound_objects]
        or relevant_proposals
        or list(task_with_proposals.proposed_kinds)
    )
