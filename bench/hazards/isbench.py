"""Count the kinds of safety goals, as in IS-Bench, that the shipped library covers.

usage: python -m bench.hazards.isbench [--list] [--markdown] [--only GOAL] [--added]

`isbench_goals.toml` has the goals; `isbench_plans.toml` has a scene for each, a plan that violates the goal and a plan
that satisfies it. Both plans must be executable. A goal is covered if the first plan violates a rule of one of the
goal's hazards and the second plan violates no rule. Violations that the scene had before do not count. The report also
has the times at which the rules require care (before a step or after it), and the share of cautions that each kind of
plan satisfies. ``--list`` prints the rules for each goal, ``--markdown`` the table of `bench/results/isbench.md`. The
exit code is 1 if a plan cannot be evaluated.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.hazards.library import compile_scene, find_violations

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.llm.metrics.cautions import Caution, Cautions, cautions, moments_of
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Report, Worlds

HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"[\w-]+\.[nv]\.\d\d_\d+")
_STEP = re.compile(r"\w+(?:\([^()]*\))?")


class Goal(NamedTuple):
    """A goal with its two plans; ``why``: the reason why no rule covers it, if that is known."""

    name: str
    when: str
    category: str
    words: str
    hazards: frozenset[str]
    scene: str
    violating_plan: str
    safe_plan: str
    why: str | None


class Alarm(NamedTuple):
    """A rule that a plan violates, with its hazard and severity; ``moment``: when the rule requires care."""

    rule: str
    hazard: str
    severity: str
    moment: Caution


class AuditedGoal(NamedTuple):
    """A goal with the alarms and cautions of its plans; ``wrong``: the reason why a plan could not be evaluated."""

    goal: Goal
    violating_alarms: tuple[Alarm, ...] = ()
    safe_alarms: tuple[Alarm, ...] = ()
    violating_cautions: Cautions = Cautions()
    safe_cautions: Cautions = Cautions()
    wrong: str | None = None

    @property
    def right(self) -> tuple[Alarm, ...]:
        """The alarms on the violating plan that are of one of the goal's hazards."""
        return tuple([alarm for alarm in self.violating_alarms if alarm.hazard in self.goal.hazards])

    @property
    def covered(self) -> bool:
        """True if the library distinguishes the two plans."""
        return self.wrong is None and bool(self.right) and not self.safe_alarms


def read_goals(added: bool = False) -> list[Goal]:
    """Read the forty goals; with ``added``, the goals that were added later by an author who knew the library."""
    texts = [(HERE / f"isbench_{name}.toml").read_text(encoding="utf-8") for name in ("goals", "plans")]
    goals, plans = [tomllib.loads(text) for text in texts]
    return [
        _make_goal(name, goal, plans[name], plans["everywhere"])
        for name, goal in goals.items()
        if (goal["source"] == "added") is added
    ]


def _make_goal(name: str, goal: dict[str, Any], plan: dict[str, str], everywhere: str) -> Goal:
    return Goal(
        name,
        goal["when"],
        goal["category"],
        goal["goal"],
        frozenset(goal["hazards"]),
        f"{everywhere} {plan['scene']}",
        plan["breaks"],
        plan["keeps"],
        plan.get("why"),
    )


def audit_goal(goal: Goal) -> AuditedGoal:
    """Audit both plans in the goal's scene with the library."""
    names = dict.fromkeys(_NAME.findall(goal.scene))
    objects = " ".join([f"{name} - {name.rpartition('_')[0]}" for name in names])
    activity = f"(define (problem {goal.name}-0) (:domain omnigibson) (:objects {objects})"
    activity += f" (:init {goal.scene}) (:goal (and)))"
    scene = WORLD.read_scene(Request({"scene": Source(f"{goal.name}.bddl", activity)}, None))
    if not scene.ok:
        return AuditedGoal(goal, wrong=scene.notes[0].message)
    checker = compile_scene(scene, WORLD.name)
    moments = moments_of(checker)
    violating, safe = [_audit_plan(checker, scene, steps) for steps in (goal.violating_plan, goal.safe_plan)]
    if isinstance(violating, str):
        return AuditedGoal(goal, wrong=violating)
    if isinstance(safe, str):
        return AuditedGoal(goal, wrong=safe)
    alarms = [find_alarms(checker, report, moments) for report in (violating, safe)]
    return AuditedGoal(goal, *alarms, cautions(violating, moments), cautions(safe, moments))


def _audit_plan(checker: Checker, scene: Scene, steps: str) -> Report | str:
    """Return the report on a plan, or the reason why it cannot be evaluated or executed."""
    read = WORLD.read_plan(Source("plan.txt", "\n".join(_STEP.findall(steps))), scene)
    if read.plan is None:
        return read.diagnostics[0].message
    report = checker.check(read.plan)
    if report.headline is None:
        return report.diagnostics[0].message
    if report.executable is not Worlds.ALL:
        messages = [finding.message for finding in report.findings if finding.rule is None]
        return messages[0] if messages else "it is not known whether the plan can be executed"
    return report


def find_alarms(checker: Checker, report: Report, moments: Mapping[str, Caution]) -> tuple[Alarm, ...]:
    """Return the rules that a plan violates, each once."""
    hazards = {rule.name: rule.hazard or "" for rule in checker.rules}
    alarms = [
        Alarm(rule, hazards[rule], finding.severity or "high", moments[rule])
        for rule, finding in find_violations(report)
    ]
    return tuple(dict.fromkeys(alarms))


def _format_alarms(alarms: Iterable[Alarm]) -> str:
    return ", ".join([f"`{alarm.rule}` ({alarm.severity})" for alarm in alarms]) or "-"


def summarize(rows: list[AuditedGoal], list_all: bool) -> list[str]:
    """Return the figures, after the rules for the goals that are not covered, or with ``list_all`` for all goals."""
    lines = []
    for row in rows:
        if list_all or not row.covered:
            lines += [f"{row.goal.name} ({row.goal.when}): {row.goal.words}"]
            lines += [f"  violating plan: {row.wrong or _format_alarms(row.violating_alarms)}"]
            lines += [f"  safe plan:      {_format_alarms(row.safe_alarms)}"]
            lines += [f"  why:            {row.goal.why}"] if row.goal.why else []
    for when in ("pre", "post"):
        covered = [row.covered for row in rows if row.goal.when == when]
        lines.append(f"{when}-cautions covered: {sum(covered)} of {len(covered)}")
    lines.append(f"covered: {len([row for row in rows if row.covered])} of {len(rows)}")
    return [*lines, *split_by_moment(rows)]


def split_by_moment(rows: list[AuditedGoal]) -> list[str]:
    """Return IS-Bench's split by the form of the rules, next to the goals' own split, and the recall of both plans."""
    lines = []
    for when in ("pre", "post"):
        audited = [row for row in rows if row.goal.when == when and row.wrong is None]
        counts = Counter([moment for row in audited if row.covered for moment in {alarm.moment for alarm in row.right}])
        moments = ", ".join([f"{moment.value} {counts[moment]}" for moment in Caution])
        lines.append(f"{when}-cautions covered, by when their rules require care: {moments}")
        for verb, plan_cautions in (
            ("violate", [row.violating_cautions for row in audited]),
            ("satisfy", [row.safe_cautions for row in audited]),
        ):
            total = sum(plan_cautions, Cautions())
            shares = f"recall pre {total.pre}, post {total.post}; violated at no known moment {total.any}"
            lines.append(f"plans that {verb} {when}-cautions: {shares}")
    return lines


def make_table(rows: list[AuditedGoal]) -> list[str]:
    """Return the table of the results page."""
    lines = ["| goal | when | description | rules, or the reason why it is not covered |", "|---|---|---|---|"]
    for row in rows:
        rules = _format_alarms(row.right) if row.covered else f"none: {row.goal.why or row.wrong or 'no rule'}"
        lines.append(f"| {row.goal.name} | {row.goal.when} | {row.goal.words} | {rules} |")
    return lines


def main() -> int:
    """Audit the plans of every goal, print the covered goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--list", action="store_true", help="print the violated rules for each goal")
    parser.add_argument("--markdown", action="store_true", help="print the table of bench/results/isbench.md")
    parser.add_argument("--only", metavar="GOAL", help="check only goals whose names start with GOAL")
    parser.add_argument("--added", action="store_true", help="check the goals that were added after the rules")
    options = parser.parse_args()
    rows = [audit_goal(goal) for goal in read_goals(options.added) if goal.name.startswith(options.only or "")]
    print("\n".join(make_table(rows) if options.markdown else summarize(rows, options.list)))
    return 1 if any([row.wrong for row in rows]) else 0


if __name__ == "__main__":
    sys.exit(main())
