"""Compare safecheck with kairos on mutated plans and on micro cases.

usage: python tests/differential/run.py [--mutants 60] [--judge safecheck|kernel] [--only TASK ..] [--show]

Exit code 0 if every difference is in bench/results/kairos-differences.md, else 1; 2 if kairos is not installed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from comparison import MakeJudge, Outcome, all_cases, judge_case, judge_mutants
from corpus import behavior_tasks, shipped_tasks
from divergences import read_divergences
from judges import ROOT, Kernel, Safecheck, find_kairos

JUDGES: dict[str, MakeJudge] = {"safecheck": Safecheck, "kernel": Kernel}


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Compare safecheck with kairos, plan by plan.")
    parser.add_argument("--mutants", type=int, default=60, help="mutants of each task (default 60)")
    parser.add_argument("--behavior", type=int, default=10, help="tasks of the Embodied Agent Interface (default 10)")
    parser.add_argument("--judge", choices=sorted(JUDGES), default="safecheck", help="which of ours is compared")
    parser.add_argument("--only", nargs="+", metavar="TASK", help="these tasks only, without the micro cases")
    parser.add_argument("--show", action="store_true", help="print every listed divergence with its plan, too")
    return parser.parse_args()


def show(outcome: Outcome) -> None:
    """Print a difference: what each judge says, and the plan."""
    print(f"{outcome.name}: {outcome.problem or outcome.divergence}")
    print(f"  kairos {outcome.kairos.verdict}s: {outcome.kairos.words.splitlines()[:1]}")
    print(f"  ours {outcome.ours.verdict}s: {outcome.ours.words.splitlines()[:2]}")
    print("".join(f"    {line}\n" for line in outcome.plan.splitlines()))


def summary(title: str, outcomes: list[Outcome]) -> None:
    """One line: how many plans, how many kairos accepts, differences that are listed, and those that are not."""
    accepted = sum(outcome.kairos.verdict == "accept" for outcome in outcomes)
    listed = Counter(outcome.divergence for outcome in outcomes if outcome.divergence and not outcome.problem)
    wrong = sum(outcome.problem is not None for outcome in outcomes)
    names = ", ".join(f"{name} {count}" for name, count in sorted(listed.items()))
    print(f"{title:60.60} {len(outcomes):5} plans {accepted:5} accepted {wrong:3} differ  {names}")


def main() -> int:
    """Run the comparison and print it."""
    options = parse_arguments()
    command = find_kairos()
    if command is None:
        print("kairos is not installed (pip install kairos-planner, or set KAIROS)", file=sys.stderr)
        return 2
    make = JUDGES[options.judge]
    known = read_divergences(ROOT / "bench" / "results" / "kairos-differences.md")
    everything: list[Outcome] = []
    for task in shipped_tasks() + behavior_tasks(options.behavior):
        if options.only is None or task.name in options.only:
            outcomes = list(judge_mutants(task, options.mutants, command, make, known))
            summary(task.name, outcomes)
            everything += outcomes
    if options.only is None:
        outcomes = [judge_case(case, command, make) for case in all_cases()]
        summary("micro cases", outcomes)
        everything += outcomes
    print()
    for outcome in everything:
        if outcome.problem or (options.show and outcome.divergence):
            show(outcome)
    summary("all", everything)
    return 1 if any(outcome.problem for outcome in everything) else 0


if __name__ == "__main__":
    sys.exit(main())
