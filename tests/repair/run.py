"""Compare repairs and classes with an exhaustive enumeration on random tasks; print each kind of difference, shrunk.

usage: python tests/repair/run.py [--count 500] [--seed 1] [--jobs 2] [--show 5] [--judge introduced] [--exempt]

Exit code 0 if nothing differs, else 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import NamedTuple

from repair_classes import find_error_classes
from repair_compare import find_differences, find_optimum_within_limit, find_task_differences, format_reproduction
from repair_random import task
from repair_replacements import compare_replacement_repairs, make_wrong_object_task
from repair_shrink import shrink
from repair_task import Task

from plansafe.verifier.repair import demands
from plansafe.verifier.rules.verdict_criteria import JUDGE_MODES, SEVERITIES


class Work(NamedTuple):
    """The arguments that make a random task."""

    seed: int
    number: int
    judge: str
    min_severity: str
    exempt: bool


class Compared(NamedTuple):
    """The comparison of one task."""

    number: int
    cost: str
    steps: int
    repairs: int
    audit_count: int
    classes: tuple[str, ...]
    problems: tuple[str, ...]
    enumeration_seconds: float
    verifier_seconds: float


def compare_task(work: Work) -> Compared:
    """Compare one task."""
    tested_task = task(*work)
    steps = len(tested_task.plan)
    begun = time.monotonic()
    best = find_optimum_within_limit(tested_task)
    if best is None:
        return Compared(work.number, "left out", steps, 0, 0, (), (), time.monotonic() - begun, 0)
    classes = tuple(sorted(find_error_classes(tested_task, best)))
    enumerated = time.monotonic()
    problems = tuple(find_differences(tested_task, best))
    return Compared(
        number=work.number,
        cost="none" if best.cost is None else str(best.cost),
        steps=steps,
        repairs=len(best.repairs),
        audit_count=best.audit_count,
        classes=classes,
        problems=problems,
        enumeration_seconds=enumerated - begun,
        verifier_seconds=time.monotonic() - enumerated,
    )


def compare_replacements(work: Work) -> tuple[int, list[str]]:
    """Compare the repairs of one task where an object may be replaced by another one of its type."""
    random = Random(f"{work.seed} {work.number}")
    return work.number, compare_replacement_repairs(make_wrong_object_task(task(*work), random))


def find_problem_kind(problem: str) -> str:
    """The kind of a problem, without the details of its task."""
    first, *lines = problem.strip().splitlines()
    if first.startswith("crash"):
        return f"crash: {lines[-1][:80]}"
    kinds = f" {lines[0].split(':')[0].strip()}" if lines and first.startswith(("status", "lacking", "excess")) else ""
    return first[:80] if first.startswith(("classes", "script")) else first.split(":")[0] + kinds


def format_smallest_task(tested_task: Task, problem: str) -> str:
    """The smallest task that shows a problem of this kind."""

    def shows(candidate: Task) -> bool:
        return any(
            find_problem_kind(outcome) == find_problem_kind(problem) for outcome in find_task_differences(candidate)
        )

    return format_reproduction(shrink(tested_task, shows))


def main() -> int:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser(description="Compare repairs and classes with an exhaustive enumeration.")
    parser.add_argument("--count", type=int, default=500, help="Compare this many tasks (default 500).")
    parser.add_argument("--seed", type=int, default=1, help="Use this random seed (default 1).")
    parser.add_argument("--first", type=int, default=0, help="Start with the task of this number (default 0).")
    parser.add_argument("--jobs", type=int, default=2, help="Use this many processes (default 2).")
    parser.add_argument(
        "--show", type=int, default=5, help="Shrink and print this many kinds of differences (default 5)."
    )
    parser.add_argument(
        "--judge", choices=JUDGE_MODES, default="all", help="Set the violations that count (default all)."
    )
    parser.add_argument(
        "--min-severity", choices=SEVERITIES, default="low", help="Set the lowest severity that counts."
    )
    parser.add_argument("--exempt", action="store_true", help="Exempt about half of the rules.")
    parser.add_argument("--lifted", action="store_true", help="Do not expand quantifiers, as with many objects.")
    parser.add_argument("--replace", action="store_true", help="Compare only repairs that may replace an object.")
    options = parser.parse_args()
    if options.lifted:
        demands.MAX_ENUMERATED_INSTANCES, demands.MAX_SELECTED_INSTANCES = 0, 1
    numbers = range(options.first, options.first + options.count)
    works = [Work(options.seed, number, options.judge, options.min_severity, options.exempt) for number in numbers]
    started = time.monotonic()
    if options.replace:
        with ProcessPoolExecutor(options.jobs) as pool:
            compared = pool.map(compare_replacements, works, chunksize=2)
            wrong = [(number, lines) for number, lines in compared if lines]
        for number, lines in wrong[: options.show]:
            print(f"---- task {number} of seed {options.seed}", *lines, sep="\n")
        print(f"{len(works)} tasks, {len(wrong)} differ; {time.monotonic() - started:.0f} s")
        return 1 if wrong else 0
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(compare_task, works, chunksize=2))
    statistics: Counter[str] = Counter()
    for work, result in zip(works, results, strict=True):
        for problem in result.problems:
            statistics[find_problem_kind(problem)] += 1
            if statistics[find_problem_kind(problem)] == 1 and len(statistics) <= options.show:
                print(f"---- task {result.number} of seed {options.seed}: {find_problem_kind(problem)}")
                print(format_smallest_task(task(*work), problem), flush=True)
    for title, counted in (
        ("least cost", Counter(result.cost for result in results)),
        ("steps", Counter(result.steps for result in results)),
        ("classes", Counter(name for result in results for name in result.classes)),
        ("differences", statistics),
    ):
        print(f"{title}: " + ", ".join(f"{name} {count}" for name, count in sorted(counted.items(), key=str)))
    wrong = sum([bool(result.problems) for result in results])
    repairs, audit_count = sum([result.repairs for result in results]), sum([result.audit_count for result in results])
    print(f"{len(results)} tasks, {wrong} differ; {repairs} repairs, {audit_count} plans judged")
    enumeration = sum([result.enumeration_seconds for result in results])
    verifier = [result.verifier_seconds for result in results]
    print(f"enumeration {enumeration:.0f} s, verifier {sum(verifier):.0f} s, at most {max(verifier):.1f} s for a task")
    print(f"{time.monotonic() - started:.0f} s in all")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
