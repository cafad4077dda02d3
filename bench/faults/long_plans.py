"""Measure repairs of long plans: their time, their cost, and whether they are safe.

usage: python -m bench.faults.long_plans [--plans N] [--steps N] [--time-limit S] [--kernel S] [--output FILE]

Seeds 1, 2 or 3 faults into good plans of exactly N steps (household and depot with rules, survey without rules), at
uniformly drawn positions. Measures one call of ``repair``, including its replay of the result, without the compilation
of the task, in wall-clock and in CPU seconds. Then the replay kernel, which shares no code with the engine, checks the
first repair, for at most ``--kernel`` seconds. Exit code 0 if every target is met, else 1.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from bench.faults.corpus import Case, Seeder, seed_case
from bench.faults.depot import depot_task
from bench.faults.household import household_task
from bench.faults.survey import survey_task
from bench.faults.task import SeedTask, plan_source
from bench.measure import spread

from plansafe.grammar.sexpr import format_node
from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects
from plansafe.verifier.repair.model import RepairOptions, RepairResult

RESULTS = Path(__file__).resolve().parents[1] / "results" / "repair.json"
MAKERS: dict[str, Callable[[str, int], SeedTask]] = {
    "household": household_task,
    "depot": depot_task,
    "survey": survey_task,
}
TARGET_SECONDS = 5.0
"""Target: seconds per repair .."""
TARGET_SHARE = 95.0
""".. in this share of the cases (percent)."""

PRINTED_FIELDS = ("status", "cost", "bound", "ties", "seconds", "cpu", "kernel")


class Row(NamedTuple):
    """One repair. ``kernel`` is the kernel's headline for the first repair; empty if it did not run or gave up."""

    case: Case
    result: RepairResult | None
    seconds: float
    cpu: float
    headline: str
    kernel: str
    error: str = ""


def long_cases(count: int, steps: int, seed: int = 0) -> Iterator[Case]:
    """Generate faulty plans, alternating sources and numbers of faults."""
    rngs = {name: random.Random(f"long {seed} {name}") for name in MAKERS}
    kind_counts: dict[str, Counter[str]] = {name: Counter() for name in MAKERS}
    for number in range(count):
        name = list(MAKERS)[number % len(MAKERS)]
        faults = 1 + number // len(MAKERS) % 3
        seeder = Seeder(MAKERS[name](f"long-{seed}-{number}", steps))
        case = None
        while case is None:
            positions = rngs[name].sample(range(1, steps + 1), faults)
            hazard = bool(seeder.task.specs) and rngs[name].random() < 0.5
            case = seed_case(seeder, positions, kind_counts[name], rngs[name], hazard)
        kind_counts[name].update([fault.kind for fault in case.faults])
        yield case._replace(name=f"{name}-{steps}-{faults}-{number:03d}")


def measure_repair(case: Case, options: RepairOptions, kernel_s: float) -> Row:
    """Repair one case; measure the time, and check the result with engine and kernel."""
    from plansafe.verifier.repair.api import repair

    checker = case.task.checker()
    start, cpu_start = time.perf_counter(), time.process_time()
    result, error = None, ""
    try:
        result = repair(checker, case.plan, options)
    except Exception:
        error = traceback.format_exc()
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    if result is None or not result.repairs:
        return Row(case, result, seconds, cpu, "", "", error)
    headline = result.repairs[0].report.headline
    kernel = kernel_headline(case.task, result.repairs[0].steps, kernel_s) if kernel_s > 0 else ""
    return Row(case, result, seconds, cpu, headline.value if headline else "", kernel)


class _KernelTimeout(Exception):
    """The kernel took too long."""


def kernel_headline(task: SeedTask, steps: tuple[str, ...], seconds: float) -> str:
    """The kernel's headline for a plan; empty if the kernel does not support the task or takes too long."""
    checker = task.checker()
    names = {rule.name for rule in checker.rules if rule.applicable}
    rules = [format_node(rule.node) for rule in checker.compiled.expanded.rules if rule.node[1] in names]
    specifications = [f"(define (safety rules) {' '.join(rules)})"] if rules else []

    def raise_timeout(_number: int, _frame: FrameType | None) -> None:
        raise _KernelTimeout

    previous_handler = signal.signal(signal.SIGALRM, raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        kernel = Kernel(task.domain.text, task.problem.text, specifications, lenient=task.options.lenient_types)
        return kernel.audit(plan_source(steps).text).headline
    except (_KernelTimeout, KernelLimit, KernelRejects):
        return ""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)


# -- the table --------------------------------------------------------------------------------------------------------


def figures(rows: Sequence[Row]) -> dict[str, Any]:
    """Shares in percent, and seconds, for these cases."""
    repaired = [row for row in rows if row.result is not None and row.result.repairs]
    costs = [float(row.result.repairs[0].cost) for row in repaired if row.result is not None]
    is_cheap = [cost <= len(row.case.faults) for cost, row in zip(costs, repaired, strict=True)]
    is_optimal = [row.result.optimal for row in repaired if row.result is not None]
    return {
        "cases": len(rows),
        "repaired": percent(len(repaired), len(rows)),
        "within 5 s": percent(sum([row.seconds <= TARGET_SECONDS for row in repaired]), len(rows)),
        "within 5 CPU s": percent(sum([row.cpu <= TARGET_SECONDS for row in repaired]), len(rows)),
        "cost at most the faults": percent(sum(is_cheap), len(rows)),
        "proved least": percent(sum(is_optimal), len(rows)),
        "not safe by the engine": sum([row.headline not in ("SAFE", "VALID") for row in repaired]),
        "judged by the kernel": sum([bool(row.kernel) for row in repaired]),
        "not safe by the kernel": sum([row.kernel not in ("", "SAFE", "VALID") for row in repaired]),
        "raised": sum([bool(row.error) for row in rows]),
        "seconds": spread([row.seconds for row in rows]),
        "CPU seconds": spread([row.cpu for row in rows]),
    }


def percent(part: int, total: int) -> float:
    """A share in percent."""
    return round(100 * part / total, 1) if total else 0.0


def figure_table(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of all cases, by source, and by number of faults."""
    parts = {"all": list(rows)}
    for source in MAKERS:
        parts[f"source: {source}"] = [row for row in rows if row.case.task.source == source]
    for number in (1, 2, 3):
        parts[f"faults: {number}"] = [row for row in rows if len(row.case.faults) == number]
    return {name: figures(part_rows) for name, part_rows in parts.items() if part_rows}


def as_json(row: Row) -> dict[str, Any]:
    """One case, shortly."""
    result = row.result
    return {
        "case": row.case.name,
        "faults": [[fault.kind, fault.position, fault.description] for fault in row.case.faults],
        "status": result.status.value if result else "raised",
        "cost": float(result.repairs[0].cost) if result and result.repairs else None,
        "bound": float(result.bound) if result else None,
        "ties": len(result.repairs) if result else 0,
        "expanded": result.expanded if result else 0,
        "detail": result.detail if result else row.error,
        "seconds": round(row.seconds, 3),
        "cpu": round(row.cpu, 3),
        "kernel": row.kernel,
    }


def main() -> int:
    """Generate the plans, repair them, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=108)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10.0, help="Time limit for one repair, in seconds.")
    parser.add_argument(
        "--kernel", type=float, default=20.0, help="Time limit for the kernel per repair, in seconds; 0: do not run it."
    )
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    options = RepairOptions(max_cost=8, time_limit_s=arguments.time_limit)
    rows = []
    for case in long_cases(arguments.plans, arguments.steps, arguments.seed):
        row = measure_repair(case, options, arguments.kernel)
        rows.append(row)
        fields = as_json(row)
        print(
            *[f"{fields[key]!s:>12}" for key in PRINTED_FIELDS],
            case.name,
        )
        sys.stdout.flush()
    result = figure_table(rows)
    print(json.dumps(result, indent=1))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "steps": arguments.steps,
        "seed": arguments.seed,
        "time limit": arguments.time_limit,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "table": result,
        "cases": [as_json(row) for row in rows],
    }
    arguments.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    all_figures = result["all"]
    failures = all_figures["not safe by the engine"] + all_figures["not safe by the kernel"] + all_figures["raised"]
    return 0 if not failures and all_figures["within 5 s"] >= TARGET_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
