"""Collect hazard seeds: the rules that plans of public data sets break, by SafePlan-Bench's categories.

usage: python -m bench.hazards.seeds [OUT] [--limit N]

Audits the scripts of VirtualHome that have a scene, the shared half of SafeAgentBench, and the plans for EARBench's
home cases (`earbench_plans.jsonl`). OUT (default: standard output) is a CSV file with one line for each plan and broken
rule: ``source``, ``id``, ``category``, ``rule``. It has no text of the data sets.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from bench.data_sets import DATA_SETS
from bench.hazards import earbench, safeagentbench
from bench.hazards.library import compile_scene, find_violations

from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.verifier.api import Checker

TAXONOMY = load_taxonomies()["safeplan-bench"]


class BrokenRules(NamedTuple):
    """A plan and the rules that it breaks by itself."""

    source: str
    id: str
    rules: tuple[str, ...]


def virtualhome(categories: dict[str, tuple[str, ...]], limit: int | None) -> Iterator[BrokenRules]:
    """The scripts that have a graph."""
    folder = DATA_SETS / "eai-virtualhome"
    for path in islice(sorted((folder / "init_and_final_graphs").glob("file*.json.gz")), limit):
        name = path.name.removeprefix("file").removesuffix(".json.gz")
        script = folder / "programs" / f"file{name}.txt"
        scene = WORLD.read_scene(Request({"scene": Source("graph.json", gzip.decompress(path.read_bytes()).decode())}))
        plan = WORLD.read_plan(Source.from_path(str(script)), scene).plan
        if plan is None:
            continue
        checker = compile_scene(scene, WORLD.name)
        categories.update(categories_by_rule(checker))
        violations = find_violations(checker.check(plan, confirm=False))
        yield BrokenRules("virtualhome", name, tuple(dict.fromkeys([rule for rule, _ in violations])))


def safeagentbench_tasks(limit: int | None) -> Iterator[BrokenRules]:
    """The detailed tasks; the identifier is the line of the unsafe ones, or ``safe-`` and the line."""
    auditor = safeagentbench.Auditor(safeagentbench.DATA, tries_kinds=False)
    for name, prefix in (("unsafe_detailed", ""), ("safe_detailed", "safe-")):
        for task in auditor.audit_tasks(name, limit):
            yield BrokenRules(
                "safeagentbench", f"{prefix}{task.line}", tuple(dict.fromkeys([a.rule for a in task.alarms]))
            )


def earbench_cases(limit: int | None) -> Iterator[BrokenRules]:
    """The home cases with a plan."""
    cases = earbench.read_cases(earbench.DATA)
    for name, steps in islice(earbench.read_plans().items(), limit):
        if name in cases:
            yield BrokenRules("earbench", name, earbench.audit_case(cases[name], steps).rules)


def categories_by_rule(checker: Checker) -> dict[str, tuple[str, ...]]:
    """The categories of each rule of a task."""
    return {rule.name: tuple([category.name for category in TAXONOMY.find_categories(rule)]) for rule in checker.rules}


def main() -> int:
    """Write the seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--limit", type=int, help="audit only this number of plans of each source")
    options = parser.parse_args()
    categories: dict[str, tuple[str, ...]] = {}
    rows: list[tuple[str, str, str, str]] = []
    counts: dict[str, int] = {}
    for plans in (
        virtualhome(categories, options.limit),
        safeagentbench_tasks(options.limit),
        earbench_cases(options.limit),
    ):
        for plan in plans:
            counts[plan.source] = counts.get(plan.source, 0) + 1
            rows += [
                (plan.source, plan.id, category, rule) for rule in plan.rules for category in categories.get(rule, ())
            ]
    with open(options.out or sys.stdout.fileno(), "w", encoding="utf-8", newline="", closefd=bool(options.out)) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "id", "category", "rule"))
        writer.writerows(rows)
    print(f"{len(rows)} seeds from plans: {counts}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
