"""Compare the symbolic engine with the replay of every world by the kernel, on random tasks.

usage: python tests/symbolic/run_worlds.py --count N --seed S [--engines auto,smt]
           [--judge introduced] [--exempt] [--mode facts|intervals|orders|one-order|timed]

Prints what differs; exit code 1 if anything does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import conftest
from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES, VerdictCriteria


def main() -> int:
    """Compare many cases, and print the differences and counts."""
    from compare import EXEMPT  # after conftest has extended sys.path
    from worlds_brute import enumerate_verdict
    from worlds_compare import ENGINES, find_encoding_differences, find_report_differences
    from worlds_generate import MODES, generate_worlds_case

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mode", choices=MODES, default="facts")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--reports", type=int, default=10, help="compare the whole report of every n-th case")
    parser.add_argument("--judge", choices=JUDGE_MODES, default="all", help="findings that decide")
    parser.add_argument("--min-severity", choices=SEVERITIES, default="low", help="minimum severity that decides")
    parser.add_argument("--exempt", action="store_true", help="with exemptions (`EXEMPT` of tests/property/compare.py)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--show", type=int, default=3)
    arguments = parser.parse_args()
    criteria = VerdictCriteria(arguments.judge, arguments.min_severity, EXEMPT if arguments.exempt else ())
    counts: Counter[str] = Counter()
    shown_cases = 0
    started = time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.count):
        case = generate_worlds_case(arguments.mode, arguments.seed, number)._replace(criteria=criteria)
        try:
            full = number % arguments.reports == 0
            problems = (
                find_report_differences(case, tuple(arguments.engines.split(",")))
                if full
                else find_encoding_differences(case)
            )
            counts["reports"] += full
        except (KernelRejects, KernelLimit) as rejection:
            counts[f"left out: {type(rejection).__name__}"] += 1
            continue
        except Exception as error:
            problems = [f"crash: {type(error).__name__}: {error}"]
        verdict = enumerate_verdict(case)
        counts.update([f"executable {verdict.executable}", f"goal {verdict.goal}", f"safe {verdict.safe}"])
        counts["judged"] += 1
        counts["worlds"] += verdict.worlds
        if problems:
            counts["differ"] += 1
            if shown_cases < arguments.show:
                shown_cases += 1
                print(case.show())
                print("\n".join(problems), flush=True)
    seconds = time.monotonic() - started
    print(f"{counts['judged']} judged, {counts['differ']} differ, {counts['worlds']} worlds, {seconds:.0f} s")
    print(", ".join([f"{outcome} {count}" for outcome, count in sorted(counts.items())]))
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    assert conftest.HERE
    sys.exit(main())
