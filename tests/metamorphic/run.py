"""Rewrite random and shipped tasks so that they keep their meaning, and compare verdicts, findings and repair costs.

usage: python tests/metamorphic/run.py [--count 20000] [--seed 1] [--repairs 0.05] [--shipped] [--only NAME ..]

A *case* is a task and a rewriting that changes its text. Prints every sort of difference with the smallest task that
shows it, and how often each rewriting was applied. Exit code 0 if nothing differs, else 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

import conftest  # noqa: F401 - it makes the generators importable

# isort: split
from inputs import random_task, repairable_task, shipped_plans, shipped_task
from metamorphic_task import Task
from rewriting_cases import examine, reproduction, signature
from rewritings import REWRITINGS
from verdicts import Judge

MOST_SHOWN = 20


def tasks(options: argparse.Namespace) -> Iterator[tuple[Task, int]]:
    """Tasks with the highest cost of repairs to look for; 0: none. A share of the random ones are of tests/repair."""
    if options.shipped:
        yield from ((shipped_task(path), 0) for path in shipped_plans()[options.first :])
        return
    number, repairs = options.first, 0
    while True:
        if repairs < options.repairs * (number - options.first):
            yield repairable_task(options.seed, options.first + repairs)
            repairs += 1
        yield random_task(options.seed, number), 0
        number += 1


def main() -> int:
    """Run the comparison and print it."""
    options = parse_arguments()
    chosen = [rewriting for rewriting in REWRITINGS if rewriting.name in options.only or not options.only]
    applied: Counter[str] = Counter({rewriting.name: 0 for rewriting in chosen})
    sorts: Counter[tuple[str, str]] = Counter()
    differ = with_costs = task_count = 0
    started = time.monotonic()
    for task, most_cost in tasks(options):
        judge = Judge(task)
        task_count += 1
        for rewriting in chosen:
            outcome = examine(task, rewriting, options.seed, most_cost, judge)
            applied[rewriting.name] += outcome.applied
            with_costs += outcome.applied and most_cost > 0
            differ += bool(outcome.problems)
            for problem in outcome.problems:
                sort = rewriting.name, signature(problem)
                sorts[sort] += 1
                if sorts[sort] == 1 and len(sorts) <= options.show:
                    print(reproduction(task, rewriting, options.seed, problem, most_cost), flush=True)
        if sum(applied.values()) >= options.count:
            break
    for name, count in applied.items():
        wrong = sum(n for (rewriting, _), n in sorts.items() if rewriting == name)
        print(f"{name:32} {count:7}" + (f"   {wrong} differences" if wrong else ""))
    cases = sum(applied.values())
    print(f"{task_count} tasks, {cases} cases, {with_costs} of them with costs of repairs; {differ} differ")
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if differ else 0


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Compare tasks with rewritings that keep their meaning.")
    parser.add_argument("--count", type=int, default=20_000, help="number of cases (default 20000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (default 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first task (default 0)")
    parser.add_argument("--repairs", type=float, default=0.05, help="share of tasks whose repairs are compared")
    parser.add_argument("--shipped", action="store_true", help="rewrite the shipped examples instead of random tasks")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="use only these rewritings")
    parser.add_argument("--show", type=int, default=MOST_SHOWN, help="sorts of differences to reduce and print")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
