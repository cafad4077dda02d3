"""Compare verdicts on partially ordered plans with the replay of every order, and print the differences.

usage: python tests/symbolic/run_orders.py [--count 2000] [--seed 1] [--stream NAME ..] [--kernel] [--show 3]

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

from orders_cases import STREAMS  # noqa: E402
from orders_compare import compare_case  # noqa: E402


def main() -> int:
    """Run the comparison and print its results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--kernel", action="store_true", help="also audit every order with the replay kernel")
    parser.add_argument("--stream", nargs="+", choices=STREAMS, default=list(STREAMS))
    options = parser.parse_args()
    started, shown_count, differing_cases = time.monotonic(), 0, 0
    reasons: Counter[str] = Counter()
    rows: dict[str, Counter[str]] = {stream: Counter() for stream in options.stream}
    for i in range(options.count):
        stream = options.stream[i % len(options.stream)]
        comparison = compare_case(stream, options.seed, i // len(options.stream), options.kernel)
        row = rows[stream]
        row["cases"] += 1
        row["enumerated"] += bool(comparison.enumeration_reason)
        reasons[comparison.enumeration_reason] += 1
        row["differ"] += comparison.problem is not None
        for name, value in zip(("exec", "goal", "safe"), comparison.values, strict=False):
            row[f"{name} {value.value}"] += 1
        if comparison.problem is not None:
            differing_cases += 1
            if shown_count < options.show:
                shown_count += 1
                print(comparison.problem, file=sys.stderr)
    for stream, row in rows.items():
        print(f"{stream:9}", " ".join(f"{name}={count}" for name, count in sorted(row.items())))
    print("\n".join([f"{count:6} enumerated: {reason}" for reason, count in reasons.most_common() if reason]))
    print(f"{options.count} cases, {differing_cases} differ, {time.monotonic() - started:.0f} s")
    return 1 if differing_cases else 0


if __name__ == "__main__":
    sys.exit(main())
