"""On how many careless plans for EARBench's home cases does a hazard rule speak, and does it speak of the case's tip?

usage: python -m bench.hazards.earbench [DATA] [--list] [--markdown] [--limit N]

DATA holds `dataset.jsonl.gz` (default: in ``PLANSAFE_DATA``). The plans are `earbench_plans.jsonl`. Each is judged in
its scene with the whole shipped library, in one process. That a plan cannot be executed does not count, nor does what
was so in the scene before. ``--list`` prints for each case its tip and what is said, so that a reader can judge whether
a rule fires for the reason of the tip; what a reader found is in `earbench.toml`. ``--markdown`` prints the tables of
`bench/results/earbench.md`. All home cases are read, whether they have a plan or not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bench.hazards.safeagentbench import counts, share, table

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.session.model import Settings, compiled
from plansafe.domains.earbench import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Worlds

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("PLANSAFE_DATA", HERE.parents[2] / "shared" / "data")) / "earbench"
PLANS = HERE / "earbench_plans.jsonl"
REASONS = HERE / "earbench.toml"


class Judged(NamedTuple):
    """A case with what came of its plan: the rules that fire with their messages, and why it stops or is not read."""

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

    def __init__(self) -> None:
        self.settings = Settings(world=WORLD.name, max_findings=10_000, replay="never")
        self.discovery = Discovery(Choice(None, None, (), True, False, None), False)

    def judge(self, case: dict[str, Any], steps: list[str]) -> Judged:
        """A case with what came of its plan."""
        judged = Judged(case["ID"], case["Safety Tip"], tuple(steps))
        scene = WORLD.read_scene(Request({"scene": Source("case.json", json.dumps(case))}))
        if not scene.ok:
            return judged._replace(wrong=scene.notes[0].message)
        read = WORLD.read_plan(Source("plan.json", json.dumps(steps)), scene)
        if read.plan is None:
            return judged._replace(wrong=read.diagnostics[0].message)
        specs, failures = self.discovery.specifications(
            ".", Input("domain", scene.domain.name, "of the world", scene.domain)
        )
        checker, _ = compiled(self.discovery, scene.domain, scene.problem, [s.source for s in specs], self.settings)
        if not checker.ok or failures or not checker.rules:
            raise RuntimeError("; ".join([found.message for found in (*failures, *checker.diagnostics)]))
        report = checker.check(read.plan)
        if report.headline is None:
            return judged._replace(wrong=report.diagnostics[0].message)
        stops = [found.message for found in report.findings if found.rule is None]
        alarms = tuple([(f.rule, f.message) for f in report.findings if f.rule is not None and counts(f)])
        stopped = None if report.executable is Worlds.ALL or not stops else stops[0]
        return judged._replace(alarms=alarms, stopped=stopped)


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
    """What readers found: why rules fire for another reason than the tip's, and why none does."""
    with open(REASONS, "rb") as file:
        found: dict[str, dict[str, str]] = tomllib.load(file)
    return found


def summary(judged: list[Judged], loaded: int, homes: int, beside: dict[str, str]) -> list[str]:
    """The figures, and the rules by how many plans they speak of."""
    fired = [one for one in judged if one.alarms]
    right = [one for one in fired if one.id not in beside]
    rows = [
        ("home cases that load", share(loaded, homes)),
        ("plans read", share(len([one for one in judged if one.wrong is None]), len(judged))),
        (
            "plans whose every step can be taken",
            share(len([j for j in judged if not j.stopped and not j.wrong]), len(judged)),
        ),
        ("plans on which a rule fires", share(len(fired), len(judged))),
        ("plans on which a rule fires for the reason of the tip", share(len(right), len(judged))),
    ]
    counted = Counter([rule for one in judged for rule in one.rules])
    return table(("", "of them"), rows) + table(
        ("rule", "plans"), [(f"`{rule}`", n) for rule, n in counted.most_common()]
    )


def listed(judged: list[Judged]) -> list[str]:
    """Each case with its tip, its plan and what is said of it."""
    lines = []
    for one in judged:
        lines += [f"{one.id}: {one.tip}", f"    {'; '.join(one.steps)}"]
        lines += [f"    {rule}: {message}" for rule, message in one.alarms] or ["    no rule fires"]
        lines += [f"    stops: {one.stopped}"] if one.stopped else []
        lines += [f"    not read: {one.wrong}"] if one.wrong else []
    return lines


def main() -> int:
    """Judge the plans, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    parser.add_argument("--list", action="store_true", help="print each case with its tip and what is said")
    parser.add_argument("--markdown", action="store_true", help="print the tables of bench/results/earbench.md")
    parser.add_argument("--limit", type=int, help="so many plans")
    options = parser.parse_args()
    homes, judge, found = cases(options.data), Judge(), readings()
    loaded = [WORLD.read_scene(Request({"scene": Source("case.json", json.dumps(case))})).ok for case in homes.values()]
    judged = [judge.judge(homes[name], steps) for name, steps in list(plans().items())[: options.limit]]
    lines = summary(judged, sum(loaded), len(loaded), found["beside"])
    if options.markdown:
        silent = [(one.id, one.tip, found["silent"].get(one.id, "-")) for one in judged if not one.alarms]
        lines += table(("no rule fires", "tip", "why"), silent)
        other = [(j.id, j.tip, ", ".join(j.rules), found["beside"][j.id]) for j in judged if j.id in found["beside"]]
        lines += table(("fires for another reason", "tip", "rules", "what they say"), other)
    print("\n".join([*lines, *(listed(judged) if options.list else [])]).rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
