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

_VIOLATIONS = frozenset(
    (FindingClass.PROCESS, FindingClass.TRAJECTORY, FindingClass.TERMINATION, FindingClass.OBLIGATION)
)
_MAX_SHOWN = 3


def select_additional_findings(report: Report, assumed: Report, with_proposed: CompiledTask) -> tuple[Finding, ...]:
    """Return the violations of ``assumed``, the report with proposed kinds, that ``report`` does not have."""
    reported = {_key(finding) for finding in report.findings}
    exempted = {_key(finding) for used in report.verdict_basis.exempted for finding in used.findings}
    rules = {rule.name: rule for rule in with_proposed.rules}
    return tuple(
        [
            _mark(finding, rules[finding.rule], with_proposed)
            for finding in assumed.findings
            if finding.finding_class in _VIOLATIONS
            and finding.rule is not None
            and _key(finding) not in reported
            and _key(finding) not in exempted
        ]
    )


def add_findings(report: Report, assumed: Report, additional: Sequence[Finding], max_findings: int) -> Report:
    """Add findings that rest on proposals to a report; a violation that decides makes the plan UNSAFE."""
    if not additional:
        return report
    criteria = report.verdict_basis.criteria
    halt_findings = [finding for finding in additional if "halt" in finding.readings]
    deciding_findings = [finding for finding in halt_findings if finding.decides(criteria)]
    worlds = report.worlds
    listed_findings = list(additional[: max(max_findings - len(report.findings), 1)])
    if worlds is not None and assumed.worlds is not None:
        first = len(worlds.witnesses)
        worlds = worlds._replace(witnesses=(*worlds.witnesses, *assumed.worlds.witnesses))
        listed_findings = [f._replace(world=None if f.world is None else f.world + first) for f in listed_findings]
    findings = sorted(
        [*report.findings, *listed_findings], key=lambda f: (bool(f.follows), "halt" not in f.readings, f.at_end)
    )
    headline, safe = report.headline, report.safe
    if deciding_findings:
        headline = headline if headline is Headline.INVALID else Headline.UNSAFE
        unsafe = (Worlds.NONE, Worlds.SOME)
        safe = safe if safe in unsafe else assumed.safe if assumed.safe in unsafe else Worlds.SOME
    return report._replace(
        headline=headline,
        safe=safe,
        findings=tuple(findings),
        rules=_count_with_proposed_kinds(report.rules, assumed.rules, {finding.rule for finding in halt_findings}),
        suppressed=report.suppressed + len(additional) - len(listed_findings),
        verdict_basis=report.verdict_basis._replace(
            minor=report.verdict_basis.minor + len(halt_findings) - len(deciding_findings)
        ),
        worlds=worlds,
        certificate=None if deciding_findings else report.certificate,
    )


def _key(finding: Finding) -> tuple[object, ...]:
    return finding.rule, finding.binding, finding.step, finding.at_end


def _count_with_proposed_kinds(
    counts: tuple[RuleCount, ...], assumed: tuple[RuleCount, ...], rules: set[str | None]
) -> tuple[RuleCount, ...]:
    """Return counts in which ``rules`` are counted under the proposed kinds."""
    assumed_by_name = {count.name: count for count in assumed}
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


def _mark(finding: Finding, rule: Rule, with_proposed: CompiledTask) -> Finding:
    """Name the proposals that a finding rests on, in its message, a note and ``proposals``."""
    proposals = tuple(
        [ProposedKindOfObject(p.object, p.kind, p.evidence) for p in _find_proposals(finding, rule, with_proposed)]
    )
    conditions = [f"`{proposal.object}` is `{proposal.kind}`" for proposal in proposals[:_MAX_SHOWN]]
    more = ", .." if len(proposals) > _MAX_SHOWN else ""
    notes = [f"nobody has confirmed that `{p.object}` is `{p.kind}`: {p.evidence}" for p in proposals[:_MAX_SHOWN]]
    return finding._replace(
        message=f"{finding.message} (if, as proposed, {' and '.join(conditions)}{more})",
        notes=(*notes, *finding.notes),
        proposals=proposals,
    )


def _find_proposals(finding: Finding, rule: Rule, with_proposed: CompiledTask) -> list[ProposedKind]:
    """Return the proposals that a finding may rest on.

    These are the kinds that the rule is about of the objects that the finding names; if it names none, of all objects.
    """
    types = with_proposed.symbols.types
    types_of_rule = {number for domain in find_domains(rule) for number in types.domain_types[domain]}
    relevant = [
        p for p in with_proposed.proposed_kinds if types.index.get(make_kind_type_name(p.kind)) in types_of_rule
    ]
    bound_objects = {name for _, name in finding.binding}
    return [p for p in relevant if p.object in bound_objects] or relevant or list(with_proposed.proposed_kinds)
