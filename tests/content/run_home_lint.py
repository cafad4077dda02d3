"""No rule of the hazard library is dead in a world that it applies to: the linter proves nothing against any of them.

python tests/content/run_home_lint.py [WORLD ..] [--seconds S]

Asks each world's domain with its mapping, for every problem of the domain. One world is in the suite
(``test_home_lint.py``), one more in what `make fuzz` runs; all six take about two minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter

import home_cases

from plansafe.domains import domain_path
from plansafe.specs.lint.api import lint
from plansafe.specs.lint.model import LintOptions, LintResult

WORLDS = ("earbench", "household", "igibson", "omnigibson", "safeagentbench", "virtualhome")


def linted(world: str, seconds: float = 20.0) -> LintResult:
    """What the linter says of the library in a world; ``seconds`` bound what formulas are asked."""
    domain = home_cases.load(Path(domain_path(world)))
    return lint(domain, [], home_cases.library(world), LintOptions(time_limit_s=seconds), home_cases.shipped)


def faults(found: LintResult) -> list[str]:
    """Each fault, what is only undecided left out."""
    return [f"{fault.code} {fault.message}" for fault in found.findings if fault.code != "SC759"]


def main() -> int:
    """Print what is found; 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", default=WORLDS, help=", ".join(WORLDS))
    parser.add_argument("--seconds", type=float, default=20.0, help="for what formulas are asked in a world")
    options = parser.parse_args()
    bad = 0
    for world in options.worlds:
        began = perf_counter()
        found = linted(world, options.seconds)
        wrong = faults(found) if found.usable else ["cannot be read"]
        bad += len(wrong)
        counts = f"{found.rules} rules, {found.not_applicable} more not applicable"
        said = f"{counts}, {len(found.open_questions)} questions undecided"
        print(f"{world}: {len(wrong)} faults ({said}; {perf_counter() - began:.1f} s)")
        for line in wrong:
            print(f"  {line}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
