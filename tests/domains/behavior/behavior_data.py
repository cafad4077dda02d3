"""Read the public data of BEHAVIOR: activities, problems, gold plans and action sequences of people."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Finding, Report

ROOT = Path(__file__).resolve().parents[3]
UNCONFIRMED = Options(replay="never")  # the kernel would check the same plans again


def data_folder() -> Path:
    """Return the folder of public data sets: ``$PLANSAFE_DATA``, or ``shared/data`` next to the repository."""
    return Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))


def source(path: Path) -> Source:
    return Source.from_bytes(path.name, path.read_bytes())


def activities(data: Path) -> list[Source]:
    """Return all activity definitions of BEHAVIOR-1K and BEHAVIOR-100."""
    paths = [
        path
        for name in ("bddl-behavior1k", "bddl-behavior100")
        for path in sorted((data / name / "activity_definitions").glob("*/*.bddl"))
    ]
    return [Source.from_bytes(f"{path.parent.name}/{path.name}", path.read_bytes()) for path in paths]


class JudgedPlan(NamedTuple):
    """A plan and its report; without a report, the problem or the plan could not be read."""

    name: str
    report: Report | None
    diagnostics: tuple[Diagnostic, ...]
    written: tuple[str, ...] = ()
    """The user's own text of each step."""

    @property
    def verdict(self) -> str:
        return self.report.headline.value if self.report is not None else "UNREAD"

    def first(self) -> Finding | None:
        """Return the finding that explains the verdict: the failed step, or the goal."""
        return self.report.findings[0] if self.report is not None and self.report.findings else None


def gold(data: Path, published: bool) -> Iterator[JudgedPlan]:
    """Yield the gold plans, checked under the published domain or ours."""
    folder = data / "eai-behavior"
    path = folder / "domain" / "behavior.pddl" if published else Path(domain_path("igibson"))
    domain = source(path)
    plans: dict[str, list[str]] = json.loads((folder / "gold_pddl_plan.json").read_text())
    for name in sorted(plans):
        problem = folder / "problem_pddl" / f"{name}.pddl"
        if not problem.is_file():
            continue
        checker = Checker(domain, source(problem), options=UNCONFIRMED)
        steps = "\n".join(f"({step})" for step in plans[name])
        report = checker.check(Source(f"{name}.plan", steps)) if checker.ok else None
        yield JudgedPlan(name, report, checker.diagnostics, tuple(plans[name]))


def human(data: Path, prompts: Path | None = None) -> Iterator[JudgedPlan]:
    """Yield the action sequences of people, checked; with the prompts of ``eai-eval``, names are exact."""
    folder = data / "eai-behavior"
    listed = source(prompts) if prompts is not None else None
    for path in sorted((folder / "human_annotations").glob("*.json")):
        activity = source(folder / "pddl_behavior_raw" / f"{path.stem}.pddl")
        if listed is None:
            scene = WORLD.read_scene(Request({"scene": activity}))
        else:
            scene = WORLD.read_scene(Request({"scene": listed, "goal": activity}, path.stem))
        yield judge(path.stem, scene, source(path))


def judge(name: str, scene: Scene, text: Source) -> JudgedPlan:
    if not scene.ok:
        return JudgedPlan(name, None, scene.notes)
    plan = WORLD.read_plan(text, scene)
    checker = Checker(scene.domain, scene.problem, options=UNCONFIRMED)
    if plan.plan is None or not checker.ok:
        return JudgedPlan(name, None, (*plan.diagnostics, *checker.diagnostics))
    written = tuple(text.text[place.start : place.end] for place in plan.places)
    return JudgedPlan(name, checker.check(plan.plan), plan.diagnostics, written)
