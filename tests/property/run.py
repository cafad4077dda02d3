"""Compare the engine with the kernel on random cases, and print every difference with the smallest task that shows it.

usage: python tests/property/run.py [--count 100000] [--seed 1] [--jobs 1] [--stream NAME ..] [--command 1000]

A *case* is one rule on one trace; a task has 24 rules and 4 plans, which are compared at once. Exit code 0 if nothing
differs, else 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path

from compare import EXEMPT
from examine import Examined, Work, examine, signature, smallest
from generate import PLANS, RULES, STREAMS, case

from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES, VerdictCriteria


class Tally:
    """The numbers of compared tasks, and the kinds of differences."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.rows: dict[str, Counter[str]] = {}
        self.sorts: Counter[str] = Counter()

    def add(self, examined: Examined) -> list[str]:
        """Count a task; returns its problems of new kinds."""
        row = self.rows.setdefault(examined.stream, Counter())
        row += Counter(
            {"tasks": 1, "traces": examined.traces, "cases": examined.cases, "differ": len(examined.problems)}
        )
        new = []
        for problem in examined.problems:
            self.sorts[signature(problem)] += 1
            if self.sorts[signature(problem)] == 1:
                new.append(problem)
        return new

    def table(self, title: str) -> str:
        """One line for each stream, and their sum."""
        total: Counter[str] = sum(self.rows.values(), Counter())
        lines = [f"{title:12} {'tasks':>7} {'traces':>7} {'cases':>8} {'differ':>7}"]
        for name, row in [*self.rows.items(), ("all", total)]:
            lines.append(f"{name:12} {row['tasks']:7} {row['traces']:7} {row['cases']:8} {row['differ']:7}")
        lines.append(f"{time.monotonic() - self.started:.0f} s")
        return "\n".join(lines)


def list_work(count: int, seed: int, streams: list[str], command: bool, criteria: VerdictCriteria) -> Iterator[Work]:
    """Tasks of all streams in turn, with at least ``count`` cases."""
    tasks = -(-count // (RULES * PLANS))
    for i in range(-(-tasks // len(streams))):
        for stream in streams:
            yield Work(stream, seed, i, command, criteria)


def results(work: Iterable[Work], jobs: int) -> Iterator[Examined]:
    """Examine the tasks, in this process or in others."""
    if jobs == 1:
        yield from map(examine, work)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(examine, work, chunksize=4)


def main() -> int:
    """Run the comparison and print it."""
    options = parse_arguments()
    criteria = VerdictCriteria(options.judge, options.min_severity, EXEMPT if options.exempt else ())
    wrong = 0
    for title, count, command in (("engine", options.count, False), ("command", options.command, True)):
        if not count:
            continue
        tally = Tally()
        printed_count = 0
        for examined in results(list_work(count, options.seed, options.stream, command, criteria), options.jobs):
            for problem in islice(tally.add(examined), max(options.show - printed_count, 0)):
                printed_count += 1
                text = f"{examined.stream} {examined.number}: {problem}\n"
                if not command:
                    text = smallest(case(examined.stream, options.seed, examined.number), problem, criteria)
                print(text, flush=True)
                if options.report:
                    with options.report.open("a") as file:
                        file.write(text)
        print(tally.table(title), flush=True)
        wrong += sum(row["differ"] for row in tally.rows.values())
    return 1 if wrong else 0


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Compare the engine with the kernel on random cases.")
    parser.add_argument("--count", type=int, default=100_000, help="cases, a rule on a trace each (default 100000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default 1)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--stream", nargs="+", choices=STREAMS, default=list(STREAMS), help="default all")
    parser.add_argument("--command", type=int, default=0, metavar="N", help="also N cases through the command line")
    parser.add_argument("--judge", choices=JUDGE_MODES, default="all", help="what decides (default all)")
    parser.add_argument("--min-severity", choices=SEVERITIES, default="low", help="what decides (default low)")
    parser.add_argument("--exempt", action="store_true", help="with exemptions (`EXEMPT` of compare.py)")
    parser.add_argument("--report", type=Path, help="append shrunk differences to this file")
    parser.add_argument("--show", type=int, default=20, help="sorts of differences to shrink and print (default 20)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
