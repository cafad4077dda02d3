"""Execute reference plans in IS-Bench's actions in activities of BEHAVIOR-1K, and plans that leave out a step of care.

usage: python -m bench.hazards.isbench_activities [--rules] [--only ACTIVITY] [--verbose]

`isbench_plans_activities.toml` has the plans; the package `bddl` in PLANSAFE_DATA has the activities. Without
`--rules` the plans are executed and their goals checked. With it, the shipped library audits the plans, and also each
plan without one step of care: closing, switching off, waiting, or putting away.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from bench.data_sets import DATA_SETS
from bench.hazards.isbench import find_alarms
from bench.hazards.library import compile_scene

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.llm.metrics.cautions import moments_of
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Report, Worlds

HERE = Path(__file__).resolve().parent
ACTIVITIES = "bddl-behavior1k/activity_definitions"
_STEP = re.compile(r"\w+(?:\([^()]*\))?")
_CARE = re.compile(r"(CLOSE|TOGGLE_OFF|WAIT|PLACE_INSIDE|PLACE_ON_TOP|WIPE)\(")


class ReferencePlan(NamedTuple):
    """A plan for an activity; ``unreached`` says why its goal is not reached, where that is so."""

    activity: str
    steps: tuple[str, ...]
    unreached: str | None


def reference_plans() -> list[ReferencePlan]:
    """The plans of the file."""
    entries = tomllib.loads((HERE / "isbench_plans_activities.toml").read_text(encoding="utf-8"))
    return [
        ReferencePlan(name, tuple(_STEP.findall(entry["plan"])), entry.get("unreached"))
        for name, entry in entries.items()
    ]


def read_activity_scene(activity: str) -> Scene:
    """The scene of an activity."""
    path = DATA_SETS / ACTIVITIES / activity / "problem0.bddl"
    return WORLD.read_scene(Request({"scene": Source(path.name, path.read_text(encoding="utf-8"))}))


def audit_plan(checker: Checker, scene: Scene, steps: tuple[str, ...]) -> Report:
    """The report on a plan. Raises ``ValueError`` if it cannot be read."""
    plan = WORLD.read_plan(Source("plan.txt", "\n".join(steps)), scene).plan
    if plan is None:
        raise ValueError(f"unreadable plan: {steps}")
    return checker.check(plan)


def execute(plans: list[ReferencePlan]) -> bool:
    """Print how many plans are executable and reach their goals; true if all are as the file says."""
    executable, reached, wrong = 0, 0, []
    for plan in plans:
        scene = read_activity_scene(plan.activity)
        report = audit_plan(Checker(scene.domain, scene.problem), scene, plan.steps)
        is_valid = report.headline is Headline.VALID
        executable += report.executable is Worlds.ALL
        reached += is_valid
        if is_valid != (plan.unreached is None) or report.executable is not Worlds.ALL:
            wrong.append(f"{plan.activity}: {next((finding.message for finding in report.findings), report.headline)}")
    print("\n".join([f"{executable} of {len(plans)} plans executable, {reached} reach their goal", *wrong]))
    return not wrong


def audit_with_library(plans: list[ReferencePlan], verbose: bool) -> None:
    """Print how many plans without a step of care are flagged, and how many reference plans are."""
    care, flagged, alarms = Counter[str](), Counter[str](), Counter[str]()
    for plan in plans:
        scene = read_activity_scene(plan.activity)
        checker = compile_scene(scene, WORLD.name)
        moments = moments_of(checker)
        violated_rules = {alarm.rule for alarm in find_alarms(checker, audit_plan(checker, scene, plan.steps), moments)}
        alarms.update(violated_rules)
        if verbose:
            print(f"{plan.activity}: {', '.join(sorted(violated_rules)) or '-'}")
        for number, step in enumerate(plan.steps):
            kind = _CARE.match(step)
            if kind is None:
                continue
            report = audit_plan(checker, scene, (*plan.steps[:number], *plan.steps[number + 1 :]))
            if report.executable is not Worlds.ALL:
                continue
            added = {alarm.rule for alarm in find_alarms(checker, report, moments)} - violated_rules
            care[kind[1]] += 1
            flagged[kind[1]] += bool(added)
            if verbose:
                print(f"  without {step}: {', '.join(sorted(added)) or '-'}")
    for kind, count in care.items():
        print(f"without {kind}: {flagged[kind]} of {count} flagged")
    print("rules that flag reference plans:", ", ".join([f"{rule} {count}" for rule, count in alarms.most_common()]))


def main() -> int:
    """Execute or audit the plans."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rules", action="store_true", help="audit the plans with the shipped library")
    parser.add_argument("--only", metavar="ACTIVITY", help="use only activities whose names start with ACTIVITY")
    parser.add_argument("--verbose", action="store_true", help="print the rules for each plan")
    options = parser.parse_args()
    plans = [plan for plan in reference_plans() if plan.activity.startswith(options.only or "")]
    if options.rules:
        audit_with_library(plans, options.verbose)
        return 0
    return 0 if execute(plans) else 1


if __name__ == "__main__":
    sys.exit(main())
