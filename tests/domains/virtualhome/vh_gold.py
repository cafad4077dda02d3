"""The gold scripts of the Embodied Agent Interface: our verdicts and the recorded results of its own programs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import GOAL, SCENE, Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline, Worlds


class Case(NamedTuple):
    """A gold script with its scene, its annotation, and the recorded result of the public evaluator."""

    name: str
    activity: str
    script: str
    path: Path
    annotation: dict[str, Any]
    recorded: dict[str, Any]

    @property
    def graph(self) -> str:
        """The text of its scene."""
        return gzip.decompress(self.path.read_bytes()).decode()

    @property
    def edges(self) -> int:
        """How many different relations the goal has."""
        return len({json.dumps(item, sort_keys=True) for item in self.annotation["vh_goal"]["goal"] if "to_id" in item})


class Verdict(NamedTuple):
    """``stopped`` is the first step that cannot be taken; a goal that is ``None`` has no such annotation."""

    stopped: int | None
    steps: int
    goal: bool
    formula: bool | None
    notes: tuple[str, ...]


def cases(folder: Path) -> list[Case]:
    """All gold scripts for which there is a graph, in the order of their names."""
    recorded = json.loads((folder / "eai_oracle_gold_run.json").read_text(encoding="utf-8"))
    goals = json.loads((folder / "goals_and_tl.json").read_text(encoding="utf-8"))
    out = []
    for activity, scripts in goals.items():
        for name, annotation in scripts.items():
            graph = folder / "init_and_final_graphs" / f"file{name}.json.gz"
            if name in recorded and graph.is_file():
                script = (folder / "programs" / f"file{name}.txt").read_text(encoding="utf-8")
                out.append(Case(name, activity, script, graph, annotation, recorded[name]))
    return sorted(out, key=lambda case: case.name)


def judge(case: Case) -> Verdict:
    """Read the case as a user would, and check it: once with the listed goal, once with the formula."""
    stopped, steps, goal, notes = _checked(case, {"vh_goal": case.annotation["vh_goal"]})
    formula = None
    if case.annotation["tl_goal"] is not None:
        formula = _checked(case, {"tl_goal": case.annotation["tl_goal"]})[2]
    return Verdict(stopped, steps, goal, formula, notes)


def _checked(case: Case, annotation: dict[str, Any]) -> tuple[int | None, int, bool, tuple[str, ...]]:
    goals = Source("goals.json", json.dumps({case.activity: {case.name: annotation}}))
    files = {SCENE: Source("graph.json", case.graph), GOAL: goals}
    scene = WORLD.read_scene(Request(files, f"{case.activity}/{case.name}"))
    assert scene.ok, (case.name, scene.notes)
    checker = Checker(scene.domain, scene.problem, (), Options(replay="never"))
    assert checker.ok, (case.name, checker.diagnostics)
    plan = WORLD.read_plan(Source("script.txt", case.script), scene)
    assert plan.plan is not None, (case.name, plan.diagnostics)
    report = checker.check(plan.plan)
    notes = tuple([note.message for note in (*scene.notes, *plan.diagnostics)])
    stopped = None if report.executable is Worlds.ALL else report.readings[0].executed + 1
    return stopped, report.steps, report.goal is Worlds.ALL, notes


def recorded_stop(case: Case) -> int | None:
    """The first step that the public executor could not take, counted from 1."""
    bad = case.recorded["bad"]
    if bad is None:
        return None
    lines = [line.replace("(1.", "(") for line in case.script.splitlines() if line.startswith("[")]
    # The record names the line. Of equal lines it means the last: the others were taken.
    return max(number for number, line in enumerate(lines, 1) if line.strip() == bad)


def pddl_plans(folder: Path) -> Iterator[tuple[str, Checker, str]]:
    """The gold plans in PDDL, each with its compiled task; types as lenient as these problems need."""
    domain = Source("virtualhome.pddl", (folder / "domain" / "virtualhome.pddl").read_text(encoding="utf-8"))
    plans = json.loads((folder / "gold_pddl_plan.json").read_text(encoding="utf-8"))
    problems = {path.stem: path for path in folder.glob("problem_pddl/*/*.pddl")}
    for name in sorted(plans):
        problem = Source(f"{name}.pddl", problems[name].read_text(encoding="utf-8"))
        checker = Checker(domain, problem, (), Options(lenient_types=True, replay="never"))
        yield name, checker, "\n".join([f"({line})" for line in plans[name]])


def pddl_verdict(checker: Checker, plan: str) -> str:
    """``VALID``, or the first error."""
    if not checker.ok:
        return "; ".join([diagnostic.message for diagnostic in checker.diagnostics])
    report = checker.check(Source("gold.plan", plan))
    if report.headline is Headline.VALID:
        return "VALID"
    return "; ".join([finding.message for finding in report.findings])
