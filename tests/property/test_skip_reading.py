"""The findings under *skip* equal the findings of the plan without the failed steps."""

from __future__ import annotations

import pytest
from case import plan_text, write
from compare import Both
from generate import case

from plansafe.grammar.source import Source
from quick import quick_every

UNDECIDED = "SC504"
TIMED = ("within", "always-within", "hold-during", "hold-after", ":within", "total-time")


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("stream", quick_every(4, ["past", "steps", "ends", "mixed"]))
def test_findings_equal_those_without_the_failed_steps(stream: str, number: int) -> None:
    """Rules about times and undecided rules (reported under *halt* only) are excluded."""
    candidate = case(stream, 21, number, plans=8)
    both = Both(candidate)
    words = {str(rule[1]): write(rule).replace("(", " ").replace(")", " ").split() for rule in candidate.rules}
    untimed = {name for name, text in words.items() if not set(text) & set(TIMED)}
    for plan in candidate.plans:
        report = both.checker.check(Source("p", plan_text(plan)))
        failed = {
            finding.step
            for finding in report.findings
            if "skip" in finding.readings and finding.rule is None and not finding.at_end
        }
        remaining = [number for number in range(1, len(plan) + 1) if number not in failed]
        report_without = both.checker.check(Source("p", plan_text(tuple(plan[number - 1] for number in remaining))))
        places = [0, *remaining]
        expected = {
            (finding.rule, finding.binding, places[finding.step])
            for finding in report_without.findings
            if finding.rule in untimed and finding.code != UNDECIDED
        }
        under_skip = [
            finding
            for finding in report.findings
            if finding.rule in untimed and "skip" in finding.readings and finding.code != UNDECIDED
        ]
        skipped = {(finding.rule, finding.binding, finding.step) for finding in under_skip}
        if failed:
            assert skipped == expected
