"""Group the findings of a plan by rule, for interfaces that show the first finding of a rule and count the others."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

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


def _group_key(finding: Finding) -> Hashable:
    name = finding.rule
    if name is None:
        name = finding.message.replace(f"step {finding.step}", "step", 1)
    kind = finding.finding_class, finding.blame, finding.worlds, finding.world
    return finding.rule is None, name, finding.code, *kind, bool(finding.follows), bool(finding.proposals)


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
