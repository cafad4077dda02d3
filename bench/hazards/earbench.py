"""Count the careless plans for EARBench's home cases on which a hazard rule fires, and fires for the case's tip.

usage: python -m bench.hazards.earbench [DATA] [--list] [--markdown] [--limit N]

DATA contains `dataset.jsonl.gz` (default: in ``PLANSAFE_DATA``). The plans are `earbench_plans.jsonl`. Each is audited
in its scene with the whole shipped library, in one process. Steps that cannot be executed and pre-existing hazards of
the scene do not count. ``--list`` prints for each case its tip and the messages, for a reader who decides whether a
rule fires for the reason of the tip; these decisions are in `earbench.toml`. ``--markdown`` prints the tables of
`bench/results/earbench.md`. All home cases are read, with or without a plan.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bench.data_sets import DATA_SETS
from bench.hazards.library import compile_scene
from bench.hazards.safeagentbench import counts, share, table

from plansafe.domains.earbench import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Worlds

HERE = Path(__file__).resolve().parent
DATA = DATA_SETS / "earbench"
PLANS = HERE / "earbench_plans.jsonl"
REASONS = HERE / "earbench.toml"


class AuditedCase(NamedTuple):
    """The audit of a case's plan: the rules that fire with their messages, and why it stops or is not read."""

    id: str
    tip: str
    steps: tuple[str, ...]
    alarms: tuple[tuple[str, str], ...] = ()
    stopped: str | None = None
    wrong: str | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that fire, each once."""
        return tuple(dict.fromkeys([rule for rule, _ in self.alarms]))


class Judge:
    """Judges plans in their scenes."""

    def judge(self, case: dict[str, Any], steps: list[str]) -> AuditedCase:
        """Audit the plan of a case."""
        audited = AuditedCase(case["ID"], case["Safety Tip"], tuple(steps))
        scene = WORLD.read_scene(Request({"scene": Source("case.json", json.dumps(case))}))
        if not scene.ok:
            return audited._replace(wrong=scene.notes[0].message)
        read = WORLD.read_plan(Source("plan.json", json.dumps(steps)), scene)
        if read.plan is None:
            return audited._replace(wrong=read.diagnostics[0].message)
        report = compile_scene(scene, WORLD.name).check(read.plan)
        if report.headline is None:
            return audited._replace(wrong=report.diagnostics[0].message)
        stops = [diagnostic.message for diagnostic in report.findings if diagnostic.rule is None]
        alarms = tuple([(f.rule, f.message) for f in report.findings if f.rule is not None and counts(f)])
        stopped = None if report.executable is Worlds.ALL or not stops else stops[0]
        return audited._replace(alarms=alarms, stopped=stopped)


def cases(data: Path) -> dict[str, dict[str, Any]]:
    """The home cases of the data set, by identifier."""
    with gzip.open(data / "dataset.jsonl.gz", "rt", encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    return {entry["ID"]: entry for entry in entries if entry["Environment"] == "home"}


def plans() -> dict[str, list[str]]:
    """The careless plans, by identifier of their case."""
    lines = PLANS.read_text(encoding="utf-8").splitlines()
    return {entry["id"]: entry["steps"] for entry in map(json.loads, lines)}


def readings() -> dict[str, dict[str, str]]:
    """Decisions of readers: why rules fire for another reason than the tip's, and why no rule fires."""
    with open(REASONS, "rb") as file:
        tables: dict[str, dict[str, str]] = tomllib.load(file)
    return tables


def summary(audited: list[AuditedCase], loaded: int, homes: int, other_reasons: dict[str, str]) -> list[str]:
    """The figures, and the rules by how many plans they speak of."""
    fired = [case for case in audited if case.alarms]
    right = [case for case in fired if case.id not in other_reasons]
    rows = [
        ("home cases that load", share(loaded, homes)),
        ("plans read", share(len([case for case in audited if case.wrong is None]), len(audited))),
        (
            "plans whose every step can be taken",
            share(len([j for j in audited if not j.stopped and not j.wrong]), len(audited)),
        ),
        ("plans on which a rule fires", share(len(fired), len(audited))),
        ("plans on which a rule fires for the reason of the tip", share(len(right), len(audited))),
    ]
    counted = Counter([rule for case in audited for rule in case.rules])
    return table(("", "of them"), rows) + table(
        ("rule", "plans"), [(f"`{rule}`", n) for rule, n in counted.most_common()]
    )


def listed(audited: list[AuditedCase]) -> list[str]:
    """Each case with its tip, its plan and the messages about it."""
    lines = []
    for case in audited:
        lines += [f"{case.id}: {case.tip}", f"    {'; '.join(case.steps)}"]
        lines += [f"    {rule}: {message}" for rule, message in case.alarms] or ["    no rule fires"]
        lines += [f"    stops: {case.stopped}"] if case.stopped else []
        lines += [f"    not read: {case.wrong}"] if case.wrong else []
    return lines


def main() -> int:
    """Judge the plans, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="Print each case with its tip and the messages.")
    parser.add_argument("--markdown", action="store_true", help="print the tables of bench/results/earbench.md")
    parser.add_argument("--limit", type=int, help="Audit only the first N plans.")
    options = parser.parse_args()
    homes, judge, decisions = cases(options.data), Judge(), readings()
    loaded = [WORLD.read_scene(Request({"scene": Source("case.json", json.dumps(case))})).ok for case in homes.values()]
    audited = [judge.judge(homes[name], steps) for name, steps in list(plans().items())[: options.limit]]
    lines = summary(audited, sum(loaded), len(loaded), decisions["beside"])
    if options.markdown:
        silent = [
            (entry.id, entry.tip, decisions["silent"].get(entry.id, "-")) for entry in audited if not entry.alarms
        ]
        lines += table(("no rule fires", "tip", "why"), silent)
        other_rows = [
            (j.id, j.tip, ", ".join(j.rules), decisions["beside"][j.id]) for j in audited if j.id in decisions["beside"]
        ]
        lines += table(("fires for another reason", "tip", "rules", "their messages"), other_rows)
    print("\n".join([*lines, *(listed(audited) if options.list else [])]).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
