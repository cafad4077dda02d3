"""Check all criteria of `scenario check` on the shipped scenarios by search, and count their verdicts.

python tests/scenario/run_shipped.py [--only NAME ..] [--seconds S]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, resolve
from plansafe.llm.scenarios.reading import load_scenarios
from plansafe.llm.scenarios.validation.check import check
from plansafe.llm.scenarios.validation.model import (
    CONTRAST,
    CRITERIA,
    PROFILES,
    SOLVABLE,
    Limits,
    ScenarioReport,
    Verdict,
)


def find_contradictions(scenario: Scenario, report: ScenarioReport) -> list[str]:
    """Return the criteria for which the searches contradict the description or do not prove it."""
    criteria = {criterion.name: criterion for criterion in report.criteria}
    expected = dict.fromkeys(("declared", "actions", SOLVABLE, CONTRAST, "references"), Verdict.YES)
    if scenario.solvable is Solvable.NO:
        expected |= {SOLVABLE: Verdict.NO, CONTRAST: Verdict.SKIPPED, "references": Verdict.SKIPPED}
    elif scenario.kind is Kind.SITUATIONAL and scenario.solvable is Solvable.UNSAFELY:
        expected[CONTRAST] = Verdict.NO
        if "PROVED: no plan to the goal is safe" not in criteria[CONTRAST].reason:
            return [f"{CONTRAST}: {criteria[CONTRAST].reason}"]
    return [
        f"{name}: {criteria[name].reason}"
        for name, verdict in expected.items()
        if criteria[name].verdict is not verdict
    ]


def main() -> int:
    """Print the verdicts of the criteria; return 1 if a search does not confirm a description."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each search")
    arguments = parser.parse_args()
    counts: dict[str, Counter[str]] = {name: Counter() for name in CRITERIA}
    failed = 0
    for scenario in load_scenarios():
        if arguments.only and scenario.name not in arguments.only:
            continue
        report = check(scenario.texts, PROFILES[scenario.profile], Limits(arguments.seconds), resolve)
        for criterion in report.criteria:
            counts[criterion.name][criterion.verdict.value] += 1
        contradictions = find_contradictions(scenario, report)
        failed += bool(contradictions)
        verdicts = " ".join([f"{criterion.name}={criterion.verdict.value}" for criterion in report.criteria])
        print(f"{'WRONG' if contradictions else 'holds'}  {scenario.name}: {'; '.join(contradictions) or verdicts}")
    print("| criterion | yes | no | unknown | not judged |\n|---|---|---|---|---|")
    for name, count in counts.items():
        print(f"| `{name}` | {' | '.join([str(count[verdict.value]) for verdict in Verdict])} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
