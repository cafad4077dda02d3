"""Compare safecheck with kairos on mutated plans and on micro cases.

usage: python tests/differential/run.py [--mutants 60] [--judge safecheck|kernel] [--only TASK ..] [--show]

The exit code is 0 if every difference is in bench/results/kairos-differences.md, else 1; 2 if kairos is not installed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from comparison import Outcome, ValidatorFactory, all_cases, compare_on_case, compare_on_mutants
from corpus import behavior_tasks, shipped_tasks
from divergences import read_divergences
from validators import ROOT, Kernel, Safecheck, find_kairos

VALIDATORS: dict[str, ValidatorFactory] = {"safecheck": Safecheck, "kernel": Kernel}


def parse_arguments() -> argparse.Namespace:
    """Parse the options of the command line."""
    parser = argparse.ArgumentParser(description="Compare safecheck with kairos, plan by plan.")
    parser.add_argument("--mutants", type=int, default=60, help="mutants per task (default 60)")
    parser.add_argument("--behavior", type=int, default=10, help="tasks of the Embodied Agent Interface (default 10)")
    parser.add_argument("--judge", choices=sorted(VALIDATORS), default="safecheck", help="validator to compare")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="compare only these tasks, no micro cases")
    parser.add_argument("--show", action="store_true", help="also print every listed divergence with its plan")
    return parser.parse_args()


def print_outcome(outcome: Outcome) -> None:
    """Print a difference: the verdict and output of each validator, and the plan."""
    print(f"{outcome.name}: {outcome.problem or outcome.divergence}")
    print(f"  kairos {outcome.kairos.verdict}s: {outcome.kairos.output.splitlines()[:1]}")
    print(f"  ours {outcome.ours.verdict}s: {outcome.ours.output.splitlines()[:2]}")
    print("".join(f"    {line}\n" for line in outcome.plan.splitlines()))


def print_summary(title: str, outcomes: list[Outcome]) -> None:
    """Print one line: the number of plans, of plans that kairos accepts, and of unlisted and listed differences."""
    accepted = sum(outcome.kairos.verdict == "accept" for outcome in outcomes)
    listed = Counter(outcome.divergence for outcome in outcomes if outcome.divergence and not outcome.problem)
    unlisted = sum(outcome.problem is not None for outcome in outcomes)
    names = ", ".join(f"{name} {count}" for name, count in sorted(listed.items()))
    print(f"{title:60.60} {len(outcomes):5} plans {accepted:5} accepted {unlisted:3} differ  {names}")


def main() -> int:
    """Run the comparison and print the differences; return the exit code."""
    options = parse_arguments()
    command = find_kairos()
    if command is None:
        print("kairos is not installed (pip install kairos-planner, or set KAIROS)", file=sys.stderr)
        return 2
    make_validator = VALIDATORS[options.judge]
    divergences = read_divergences(ROOT / "bench" / "results" / "kairos-differences.md")
    all_outcomes: list[Outcome] = []
    for task in shipped_tasks() + behavior_tasks(options.behavior):
        if options.only is None or task.name in options.only:
            outcomes = list(compare_on_mutants(task, options.mutants, command, make_validator, divergences))
            print_summary(task.name, outcomes)
            all_outcomes += outcomes
    if options.only is None:
        outcomes = [compare_on_case(case, command, make_validator) for case in all_cases()]
        print_summary("micro cases", outcomes)
        all_outcomes += outcomes
    print()
    for outcome in all_outcomes:
        if outcome.problem or (options.show and outcome.divergence):
            print_outcome(outcome)
    print_summary("all", all_outcomes)
    return 1 if any(outcome.problem for outcome in all_outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
