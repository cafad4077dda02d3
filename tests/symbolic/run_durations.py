"""Compare verdicts over durations with the explicit engine, world by world, on random plans; print every difference.

usage: python tests/symbolic/run_durations.py [--count 1000] [--seed 1] [--worlds 120] [--kernel 2]

Exit code 1 if something differs, else 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]


def main() -> int:
    from case import plan_text
    from durations_random import compare_plans, generate_open_case

    parser = argparse.ArgumentParser(description="Compare verdicts over durations with the explicit engine.")
    parser.add_argument("--count", type=int, default=1000, help="plans (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (default 1)")
    parser.add_argument("--worlds", type=int, default=120, help="maximum number of worlds of each plan (default 120)")
    parser.add_argument(
        "--kernel", type=int, default=2, help="worlds of each plan that the kernel checks also (default 2)"
    )
    options = parser.parse_args()
    started = time.monotonic()
    plans = worlds = runs = differing_plans = number = 0
    value_counts: Counter[str] = Counter()
    while plans < options.count:
        case = generate_open_case(options.seed, number)
        for plan, comparison in zip(case.plans, compare_plans(case, options.worlds, options.kernel), strict=True):
            plans, worlds, runs = plans + 1, worlds + comparison.worlds, runs + comparison.runs
            value_counts.update(f"{value.value}" for value in comparison.values)
            if comparison.differences:
                differing_plans += 1
                texts = (case.case.domain_text(), case.case.problem_text(), case.case.safety_text())
                print(
                    f"task {number}",
                    *texts,
                    plan_text(plan.steps),
                    plan.intervals,
                    *comparison.differences[:5],
                    sep="\n",
                )
        number += 1
    seconds = time.monotonic() - started
    print(
        f"{plans} plans, {worlds} worlds, {runs} runs, {differing_plans} differ; {dict(value_counts)}; {seconds:.0f} s"
    )
    return 1 if differing_plans else 0


if __name__ == "__main__":
    sys.exit(main())
