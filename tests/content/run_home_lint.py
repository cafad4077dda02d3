"""Lint the hazard library in each world that has a mapping for it; there must be no findings.

python tests/content/run_home_lint.py [WORLD ..] [--seconds S]

The linter checks each world's domain with its mapping, for every problem of the domain. The test suite lints one world
(``test_home_lint.py``) and `make fuzz` one more; all six take about two minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import home_cases

from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.specs.lint.api import lint
from plansafe.specs.lint.model import LintOptions, LintResult

WORLDS = ("earbench", "household", "igibson", "omnigibson", "safeagentbench", "virtualhome")


def lint_world(world: str, seconds: float = 20.0) -> LintResult:
    """Lint the library in a world; ``seconds`` is the time limit for formulas."""
    domain, options = home_cases.load(Path(domain_path(world))), LintOptions(time_limit_s=seconds)
    problem = Source("empty problem", f"(define (problem empty) (:domain {world}) (:init) (:goal (and)))")
    specifications = add_kinds(domain, problem, home_cases.library_sources(world))
    return lint(domain, [], list(specifications), options, home_cases.resolve_shipped)


def decided_findings(result: LintResult) -> list[str]:
    """Return the findings except undecided questions."""
    return [f"{finding.code} {finding.message}" for finding in result.findings if finding.code != "SC759"]


def main() -> int:
    """Print the findings; return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", default=WORLDS, help=", ".join(WORLDS))
    parser.add_argument("--seconds", type=float, default=20.0, help="time limit for the formulas of a world")
    options = parser.parse_args()
    count = 0
    for world in options.worlds:
        started = perf_counter()
        result = lint_world(world, options.seconds)
        findings = decided_findings(result) if result.usable else ["cannot be read"]
        count += len(findings)
        counts = f"{result.rules} rules, {result.not_applicable} more not applicable"
        counts = f"{counts}, {len(result.open_questions)} questions undecided"
        print(f"{world}: {len(findings)} findings ({counts}; {perf_counter() - started:.1f} s)")
        for line in findings:
            print(f"  {line}")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
