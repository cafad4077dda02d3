"""How many of forty kinds of safety goals, as IS-Bench asks for them, does the shipped library hold plans to?

usage: python -m bench.hazards.isbench [--list] [--markdown] [--only GOAL] [--added]

`isbench_goals.toml` says the goals, `isbench_plans.toml` has for each a scene, a plan that breaks it and one that keeps
it. A goal is covered if a shipped rule of one of its hazards speaks of the first, and no rule at all of the second;
both can be executed, and what was so before does not count. Beside that stands when the rules ask for care, before a
step or after it, and what share of the cautions each kind of plan keeps. ``--list`` says what is found for each,
``--markdown`` prints the table of `bench/results/isbench.md`. The exit code is 1 if a plan cannot be judged.
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

from bench.hazards.library import compile_scene

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.llm.metrics.cautions import Caution, Cautions, cautions, moments_of
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Blame, FindingClass, Report, Worlds

HERE = Path(__file__).resolve().parent
_NAME = re.compile(r"[\w-]+\.[nv]\.\d\d_\d+")
_STEP = re.compile(r"\w+(?:\([^()]*\))?")


class Goal(NamedTuple):
    """A goal with its two plans; ``why`` says why the library has no rule for it, where that is known."""

    name: str
    when: str
    category: str
    words: str
    hazards: frozenset[str]
    scene: str
    breaks: str
    keeps: str
    why: str | None


class Alarm(NamedTuple):
    """A rule that a plan violates by itself, with its hazard and severity; ``moment``: when it asks for care."""

    rule: str
    hazard: str
    severity: str
    moment: Caution


class Judged(NamedTuple):
    """A goal with what is said of its plans; ``wrong`` says why one could not be judged.

    ``cautions``: what the plan that breaks the goal, and the one that keeps it, kept of pre- and post-cautions.
    """

    goal: Goal
    broken: tuple[Alarm, ...] = ()
    kept: tuple[Alarm, ...] = ()
    cautions: tuple[Cautions, ...] = ()
    wrong: str | None = None

    @property
    def right(self) -> tuple[Alarm, ...]:
        """What is said of the breaking plan for one of the goal's hazards."""
        return tuple([alarm for alarm in self.broken if alarm.hazard in self.goal.hazards])

    @property
    def covered(self) -> bool:
        """Whether the library tells the plan that breaks the goal from the one that keeps it."""
        return self.wrong is None and bool(self.right) and not self.kept


def goals(added: bool = False) -> list[Goal]:
    """The forty goals with their plans; or the goals that were added later, knowing the library."""
    texts = [(HERE / f"isbench_{name}.toml").read_text(encoding="utf-8") for name in ("goals", "plans")]
    said, plans = [tomllib.loads(text) for text in texts]
    return [
        _goal(name, entry, plans[name], plans["everywhere"])
        for name, entry in said.items()
        if (entry["source"] == "added") is added
    ]


def _goal(name: str, said: dict[str, Any], plan: dict[str, str], everywhere: str) -> Goal:
    scene = f"{everywhere} {plan['scene']}"
    about = (said["when"], said["category"], said["goal"], frozenset(said["hazards"]))
    return Goal(name, *about, scene, plan["breaks"], plan["keeps"], plan.get("why"))


def judge(goal: Goal) -> Judged:
    """What the library says of both plans in the goal's scene."""
    names = dict.fromkeys(_NAME.findall(goal.scene))
    objects = " ".join([f"{name} - {name.rpartition('_')[0]}" for name in names])
    activity = f"(define (problem {goal.name}-0) (:domain omnigibson) (:objects {objects})"
    activity += f" (:init {goal.scene}) (:goal (and)))"
    scene = WORLD.read_scene(Request({"scene": Source(f"{goal.name}.bddl", activity)}, None))
    if not scene.ok:
        return Judged(goal, wrong=scene.notes[0].message)
    checker = compile_scene(scene, WORLD.name)
    moments = moments_of(checker)
    found, kept = [], []
    for steps in (goal.breaks, goal.keeps):
        report = _report(checker, scene, steps)
        if isinstance(report, str):
            return Judged(goal, wrong=report)
        found.append(alarms_of(checker, report, moments))
        kept.append(cautions(report, moments))
    return Judged(goal, *found, tuple(kept))


def _report(checker: Checker, scene: Scene, steps: str) -> Report | str:
    """What is said of a plan; why it cannot be judged or executed, if so."""
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


def alarms_of(checker: Checker, report: Report, moments: Mapping[str, Caution]) -> tuple[Alarm, ...]:
    """The rules that a plan violates by itself."""
    hazards = {rule.name: rule.hazard or "" for rule in checker.rules}
    own = [
        Alarm(found.rule, hazards[found.rule], found.severity or "high", moments[found.rule])
        for found in report.findings
        if found.rule is not None
        and found.finding_class is not FindingClass.UNDECIDED
        and found.blame is not Blame.PRE_EXISTING
    ]
    return tuple(dict.fromkeys(own))


def _named(alarms: Iterable[Alarm]) -> str:
    return ", ".join([f"`{alarm.rule}` ({alarm.severity})" for alarm in alarms]) or "-"


def lines(judged: list[Judged], everything: bool) -> list[str]:
    """The figures; with ``everything`` what is found for each goal, otherwise for those that are not covered."""
    out = []
    for one in judged:
        if everything or not one.covered:
            out += [f"{one.goal.name} ({one.goal.when}): {one.goal.words}"]
            out += [f"  broken: {one.wrong or _named(one.broken)}", f"  kept:   {_named(one.kept)}"]
            out += [f"  why:    {one.goal.why}"] if one.goal.why else []
    for when in ("pre", "post"):
        of = [one for one in judged if one.goal.when == when]
        out.append(f"{when}-cautions covered: {len([one for one in of if one.covered])} of {len(of)}")
    out.append(f"covered: {len([one for one in judged if one.covered])} of {len(judged)}")
    return [*out, *split(judged)]


def split(judged: list[Judged]) -> list[str]:
    """IS-Bench's split by the form of the rules, beside that of the goals; and the recall of each kind of plan."""
    out = []
    for when in ("pre", "post"):
        of = [one for one in judged if one.goal.when == when and one.wrong is None]
        counted = Counter([moment for one in of if one.covered for moment in {alarm.moment for alarm in one.right}])
        moments = ", ".join([f"{moment.value} {counted[moment]}" for moment in Caution])
        out.append(f"{when}-cautions covered, by when their rules ask for care: {moments}")
        for plan, said in enumerate(("break", "keep")):
            kept = sum([one.cautions[plan] for one in of], Cautions())
            shares = f"recall pre {kept.pre}, post {kept.post}; broken at no known moment {kept.any}"
            out.append(f"plans that {said} {when}-cautions: {shares}")
    return out


def markdown(judged: list[Judged]) -> list[str]:
    """The table of the page."""
    out = ["| goal | when | in words | covered by, or why not |", "|---|---|---|---|"]
    for one in judged:
        said = _named(one.right) if one.covered else f"none: {one.goal.why or one.wrong or 'no rule'}"
        out.append(f"| {one.goal.name} | {one.goal.when} | {one.goal.words} | {said} |")
    return out


def main() -> int:
    """Judge the plans of every goal, print what is covered."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--list", action="store_true", help="say what is found for each goal")
    parser.add_argument("--markdown", action="store_true", help="print the table of bench/results/isbench.md")
    parser.add_argument("--only", metavar="GOAL", help="judge the goals whose names begin so")
    parser.add_argument("--added", action="store_true", help="judge the goals that were added after the rules")
    options = parser.parse_args()
    verdicts = [judge(goal) for goal in goals(options.added) if goal.name.startswith(options.only or "")]
    print("\n".join(markdown(verdicts) if options.markdown else lines(verdicts, options.list)))
    return 1 if any([verdict.wrong for verdict in verdicts]) else 0


if __name__ == "__main__":
    sys.exit(main())
