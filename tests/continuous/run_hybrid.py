"""Compare hybrid traces on random tasks: the kernel with direct evaluation at many moments, and with the engine.

usage: python tests/continuous/run_hybrid.py [--count 1000] [--seed 1] [--samples 1000] [--linear 0.5] [--open]

Prints every difference, with the smallest case that has it. Exit code 1 if something differs, else 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "property")]


def main() -> int:
    from hybrid_compare import compare_case, shrink
    from hybrid_random import generate_case
    from open_number_compare import compare_ranges, open_number

    parser = argparse.ArgumentParser(description="Compare hybrid traces on random tasks.")
    parser.add_argument("--count", type=int, default=1000, help="tasks (default 1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (default 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first task (default 0)")
    parser.add_argument("--samples", type=int, default=1000, help="samples of an interval (default 1000)")
    parser.add_argument("--linear", type=float, default=0, help="share of tasks with linear rates (default 0)")
    parser.add_argument("--open", action="store_true", help="open one number: compare the ranges of its values")
    options = parser.parse_args()
    started = time.process_time()
    outcomes: Counter[str] = Counter()
    differing = intervals = undecided = 0
    for number in range(options.first, options.first + options.count):
        case = generate_case(options.seed, number, linear=options.linear)
        random = Random(f"{options.seed}/{number}/open")
        if options.open:
            case = open_number(case, random)
        try:
            comparison = compare_ranges(case, random) if options.open else compare_case(case, options.samples, number)
        except Exception as problem:  # a crash is also a difference
            differing += 1
            print(f"task {number}: {type(problem).__name__}: {problem}", case.texts(), sep="\n", flush=True)
            continue
        outcomes[comparison.outcome] += 1
        intervals += comparison.intervals
        undecided += not comparison.decided
        if comparison.differences:
            differing += 1
            if options.open:
                print(f"task {number}", *comparison.differences[:5], case.texts(), sep="\n", flush=True)
                continue
            small = shrink(case, options.samples, number)
            print(f"task {number}", *comparison.differences[:5], small.texts(), sep="\n", flush=True)
            print(*compare_case(small, options.samples, number).differences, sep="\n", flush=True)
    seconds = time.process_time() - started
    print(f"{options.count} traces, {intervals} intervals, {undecided} undecided by the engine, {differing} differ")
    print(f"{dict(outcomes.most_common())}; {seconds:.0f} CPU s")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
