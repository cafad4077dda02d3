"""Measure verdicts on large partially ordered plans, and a naive encoding in Z3 on small ones.

usage: python tests/symbolic/run_orders_large.py [--sizes 50 100 200 400] [--naive 8 12 16 20] [--limit 60]

The naive encoding gives every step a position, and every fact a value at every position.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "property")]

from orders_large import FAMILIES, LargePlan  # noqa: E402
from orders_naive import audit_with_positions  # noqa: E402

from plansafe.verifier.symbolic.orders.order_audit import OrderAudit  # noqa: E402
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder  # noqa: E402


def format_measurement(large: LargePlan, limit: float) -> str:
    """The line with the verdict, the seconds it took, and the expected verdict if it differs."""
    checker, steps = large.compiled()
    started = time.monotonic()
    verdict = OrderAudit(checker.engine, steps, PartialOrder(len(steps), large.pairs), started + limit).decide_verdict()
    seconds = time.monotonic() - started
    properties = (verdict.executable.value, verdict.safe.value)
    difference = "" if properties == large.expected else f"  expected {large.expected}"
    return f"executable {properties[0]:7} safe {properties[1]:7} {seconds:7.2f} s{difference}"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[50, 100, 200, 400])
    parser.add_argument("--naive", type=int, nargs="*", default=[8, 12, 16, 20])
    parser.add_argument("--limit", type=float, default=60)
    options = parser.parse_args()
    for family_name, family in FAMILIES.items():
        for size in options.sizes:
            for without_flaw in (True, False):
                large = family(size, size // 10 if family_name in ("kitchen", "crossing") else size // 20, without_flaw)
                measurement = format_measurement(large, options.limit)
                print(f"{family_name:9} {size:4} steps {large.writers:3} writers  {measurement}", flush=True)
    for size in options.naive:
        for without_flaw in (True, False):
            large = FAMILIES["kitchen"](size, size // 4, without_flaw)
            answer, seconds = audit_with_positions(large, options.limit)
            measurement = f"{format_measurement(large, options.limit)}   naively: safe {answer} {seconds:.2f} s"
            print(f"kitchen   {size:4} steps {large.writers:3} writers  {measurement}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
