"""Group the findings of a plan by rule, for interfaces that show the first finding of a rule and count the others."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.reporting.report import Finding

_RANGES = 6
"""Number of steps and ranges of steps that a text lists."""
_BINDINGS = 3


class FindingGroup(NamedTuple):
    """The findings of one rule, with their indices in the grouped sequence.

    A finding without a rule is in a group with the findings of the same message, apart from the number of the step.
    """

    numbers: tuple[int, ...]
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding that is shown in full."""
        return self.findings[0]

    @property
    def later(self) -> tuple[Finding, ...]:
        """The findings that are only counted."""
        return self.findings[1:]


def group_findings(
    findings: Sequence[Finding], known: Collection[int] = (), show_all: bool = False
) -> tuple[FindingGroup, ...]:
    """Group findings by rule, in the order of the first finding of each rule.

    Findings of one rule are in different groups if they differ in certainty, blame or possible world, or if only some
    of them follow from a failed step or are ``known`` (indices of findings in a baseline). ``show_all`` returns a group
    for each finding.
    """
    groups: dict[Hashable, list[int]] = {}
    for number, finding in enumerate(findings):
        key = number if show_all else (_group_key(finding), number in known)
        groups.setdefault(key, []).append(number)
    return tuple([FindingGroup(tuple(ns), tuple([findings[n] for n in ns])) for ns in groups.values()])


def group_json_findings(findings: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Group the findings of a JSON report as :func:`group_findings` does; return the indices of each group."""
    groups: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        kind = [finding.get(name) for name in ("code", "class", "blame", "worlds", "world")]
        consequences = bool(finding.get("follows")), bool(finding.get("proposals"))
        key = *_group_name(finding.get("rule"), finding["message"], finding.get("step")), *kind, *consequences
        groups.setdefault(repr(key), []).append(number)
    return list(groups.values())


def _group_key(finding: Finding) -> Hashable:
    kind = finding.code, finding.finding_class, finding.blame, finding.worlds, finding.world
    consequences = bool(finding.follows), bool(finding.proposals)
    return *_group_name(finding.rule, finding.message, finding.step), *kind, *consequences


def _group_name(rule: str | None, message: str, step: int | None) -> tuple[bool, str]:
    """Return whether the group has no rule, and its rule or its message without the number of the step."""
    return rule is None, message.replace(f"step {step}", "step", 1) if rule is None else rule


def later_findings_text(group: FindingGroup, complete: bool = True) -> str:
    """Count the later findings of a group: ``99 more, at steps 4, 6-9, .. 200``; ``complete``: none is unlisted."""
    count = f"{'' if complete else 'at least '}{len(group.later):,} more"
    return f"{count}, {steps_text(group.later)}{_bindings_text(group)}"


def steps_text(findings: Iterable[Finding]) -> str:
    """Return the places of findings: ``at steps 4, 6-9, .. 200 and where the plan ends``."""
    findings = tuple(findings)
    steps = sorted({f.step for f in findings if f.step and not f.at_end})
    ranges: list[list[int]] = []
    for step in steps:
        if ranges and ranges[-1][-1] == step - 1:
            ranges[-1] = [ranges[-1][0], step]
        else:
            ranges.append([step])
    texts = ["-".join([f"{step:,}" for step in pair]) for pair in ranges]
    if len(texts) > _RANGES:
        texts = [*texts[: _RANGES - 1], f".. {steps[-1]:,}"]
    places = ["in the initial state"] if any(not f.step and not f.at_end for f in findings) else []
    places += [f"at step{'s' if len(steps) > 1 else ''} {', '.join(texts)}"] if steps else []
    places += ["where the plan ends"] if any(f.at_end for f in findings) else []
    return " and ".join(places)


def _bindings_text(group: FindingGroup) -> str:
    """Return the objects that only later findings of a group name."""
    pairs = dict.fromkeys([pair for finding in group.later for pair in finding.binding])
    texts = [f"{name} = {value}" for name, value in pairs if (name, value) not in group.first.binding]
    if not texts:
        return ""
    more = f", and {len(texts) - _BINDINGS:,} more" if len(texts) > _BINDINGS else ""
    return f" (also {', '.join(texts[:_BINDINGS])}{more})"
