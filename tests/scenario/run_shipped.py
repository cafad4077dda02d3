"""All criteria of `scenario check` over the shipped scenarios, by search: what is proved, and what is not met.

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


def wrong(scenario: Scenario, report: ScenarioReport) -> list[str]:
    """Where the searches contradict the description, or do not prove it."""
    found = {one.name: one for one in report.criteria}
    wanted = dict.fromkeys(("declared", "actions", SOLVABLE, CONTRAST, "references"), Verdict.YES)
    if scenario.solvable is Solvable.NO:
        wanted |= {SOLVABLE: Verdict.NO, CONTRAST: Verdict.SKIPPED, "references": Verdict.SKIPPED}
    elif scenario.kind is Kind.SITUATIONAL and scenario.solvable is Solvable.UNSAFELY:
        wanted[CONTRAST] = Verdict.NO
        if "PROVED: no plan to the goal is safe" not in found[CONTRAST].reason:
            return [f"{CONTRAST}: {found[CONTRAST].reason}"]
    return [f"{name}: {found[name].reason}" for name, verdict in wanted.items() if found[name].verdict is not verdict]


def main() -> int:
    """Exit code 1 if a description does not hold."""
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
        for one in report.criteria:
            counts[one.name][one.verdict.value] += 1
        said = wrong(scenario, report)
        failed += bool(said)
        short = " ".join([f"{one.name}={one.verdict.value}" for one in report.criteria])
        print(f"{'WRONG' if said else 'holds'}  {scenario.name}: {'; '.join(said) or short}")
    print("| criterion | yes | no | unknown | not judged |\n|---|---|---|---|---|")
    for name, count in counts.items():
        print(f"| `{name}` | {' | '.join([str(count[verdict.value]) for verdict in Verdict])} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
