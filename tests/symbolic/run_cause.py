"""Compare causes and questions of random decisions with their definitions; print every difference.

usage: python tests/symbolic/run_cause.py [--count 1000] [--seed 1] [--engine auto]

Exit code 1 if something differs, else 0.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from statistics import median

from decision_compare import compare_decision


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="auto")
    arguments = parser.parse_args()
    kinds: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    times: list[tuple[float, float]] = []
    difference_count, started = 0, time.monotonic()
    for number in range(arguments.count):
        comparison = compare_decision(arguments.seed, number, arguments.engine)
        kinds.update(comparison.kinds)
        sizes.update(comparison.sizes)
        times.append(comparison.seconds)
        for problem in comparison.problems:
            difference_count += 1
            print(f"case {arguments.seed}/{number}: {problem}")
    print(f"{arguments.count} causes and questions in {time.monotonic() - started:.0f} s, {difference_count} differ")
    print("kinds:", ", ".join([f"{kind} {count}" for kind, count in sorted(kinds.items())]))
    print("sizes:", ", ".join([f"{size} {count}" for size, count in sorted(sizes.items())]))
    for name, column in zip(("cause", "question"), zip(*times, strict=True), strict=True):
        print(f"{name}: median {1000 * median(column):.1f} ms, most {1000 * max(column):.1f} ms")
    return 1 if difference_count else 0


if __name__ == "__main__":
    sys.exit(main())
