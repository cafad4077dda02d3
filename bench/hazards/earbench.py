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
from bench.hazards.library import compile_scene, find_violations
from bench.hazards.safeagentbench import format_share, format_table

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


def audit_case(case: dict[str, Any], steps: list[str]) -> AuditedCase:
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
    messages = [finding.message for finding in report.findings if finding.rule is None]
    alarms = tuple([(rule, finding.message) for rule, finding in find_violations(report)])
    stopped = None if report.executable is Worlds.ALL or not messages else messages[0]
    return audited._replace(alarms=alarms, stopped=stopped)


def read_cases(data: Path) -> dict[str, dict[str, Any]]:
    """Read the home cases of the data set, by identifier."""
    with gzip.open(data / "dataset.jsonl.gz", "rt", encoding="utf-8") as file:
        entries = [json.loads(line) for line in file]
    return {entry["ID"]: entry for entry in entries if entry["Environment"] == "home"}


def read_plans() -> dict[str, list[str]]:
    """Read the careless plans, by identifier of their case."""
    lines = PLANS.read_text(encoding="utf-8").splitlines()
    return {entry["id"]: entry["steps"] for entry in map(json.loads, lines)}


def read_decisions() -> dict[str, dict[str, str]]:
    """Read the decisions of readers: why rules fire for another reason than the tip's, and why no rule fires."""
    with open(REASONS, "rb") as file:
        tables: dict[str, dict[str, str]] = tomllib.load(file)
    return tables


def summarize(audited: list[AuditedCase], loaded: int, homes: int, other_reasons: dict[str, str]) -> list[str]:
    """Return the figures, and the rules by the number of plans on which they fire."""
    fired = [case for case in audited if case.alarms]
    right = [case for case in fired if case.id not in other_reasons]
    rows = [
        ("home cases that load", format_share(loaded, homes)),
        ("plans read", format_share(len([case for case in audited if case.wrong is None]), len(audited))),
        (
            "plans whose every step can be executed",
            format_share(len([case for case in audited if not case.stopped and not case.wrong]), len(audited)),
        ),
        ("plans on which a rule fires", format_share(len(fired), len(audited))),
        ("plans on which a rule fires for the reason of the tip", format_share(len(right), len(audited))),
    ]
    counted = Counter([rule for case in audited for rule in case.rules])
    return format_table(("", "number"), rows) + format_table(
        ("rule", "plans"), [(f"`{rule}`", n) for rule, n in counted.most_common()]
    )


def list_cases(audited: list[AuditedCase]) -> list[str]:
    """List each case with its tip, its plan and the messages."""
    lines = []
    for case in audited:
        lines += [f"{case.id}: {case.tip}", f"    {'; '.join(case.steps)}"]
        lines += [f"    {rule}: {message}" for rule, message in case.alarms] or ["    no rule fires"]
        lines += [f"    stops: {case.stopped}"] if case.stopped else []
        lines += [f"    not read: {case.wrong}"] if case.wrong else []
    return lines


def main() -> int:
    """Audit the plans, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="Print each case with its tip and the messages.")
    parser.add_argument("--markdown", action="store_true", help="print the tables of bench/results/earbench.md")
    parser.add_argument("--limit", type=int, help="Audit only the first N plans.")
    options = parser.parse_args()
    homes, decisions = read_cases(options.data), read_decisions()
    loaded = [WORLD.read_scene(Request({"scene": Source("case.json", json.dumps(case))})).ok for case in homes.values()]
    audited = [audit_case(homes[name], steps) for name, steps in list(read_plans().items())[: options.limit]]
    other_reasons = decisions["other-reason"]
    lines = summarize(audited, sum(loaded), len(loaded), other_reasons)
    if options.markdown:
        silent = [
            (entry.id, entry.tip, decisions["silent"].get(entry.id, "-")) for entry in audited if not entry.alarms
        ]
        lines += format_table(("no rule fires", "tip", "reason"), silent)
        other_rows = [
            (case.id, case.tip, ", ".join(case.rules), other_reasons[case.id])
            for case in audited
            if case.id in other_reasons
        ]
        lines += format_table(("fires for another reason", "tip", "rules", "messages"), other_rows)
    print("\n".join([*lines, *(list_cases(audited) if options.list else [])]).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
