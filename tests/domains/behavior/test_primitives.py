"""The actions of IS-Bench, which name tools but not substances: their effects and failures."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Report, Worlds

CASES = tomllib.loads((Path(__file__).parent / "primitives.toml").read_text())
_NAME = re.compile(r"[\w-]+\.n\.\d\d_\d+")
_STEP = re.compile(r"\w+(?:\([^()]*\))?")


def scene_of(case: dict[str, Any]) -> Scene:
    names = dict.fromkeys(_NAME.findall(case["init"]))
    objects = " ".join([f"{name} - {name.rpartition('_')[0]}" for name in [*names, "agent.n.01_1"]])
    goal = "(and)" if case.get("water") else case["goal"]
    text = f"(define (problem case-0) (:domain omnigibson) (:objects {objects}) (:init {case['init']}) (:goal {goal}))"
    return WORLD.read_scene(Request({"scene": Source("case.bddl", text)}))


def judge(text: str, scene: Scene) -> Report:
    assert scene.ok, scene.notes
    plan = WORLD.read_plan(Source("plan.txt", text), scene)
    assert plan.plan is not None, plan.diagnostics
    return Checker(scene.domain, scene.problem).check(plan.plan)


@pytest.mark.parametrize("name", CASES)
def test_plans(name: str) -> None:
    case = CASES[name]
    steps = _STEP.findall(case["plan"])
    reports = [
        judge("\n".join(steps), scene_of(case)),
        judge(json.dumps([{"action": step, "caution": None} for step in steps]), scene_of(case)),
    ]
    for report in reports:
        messages = [finding.message for finding in report.findings]
        if "fails" in case:
            assert report.executable is not Worlds.ALL and case["fails"] in messages[0], messages
        elif "misses" in case:
            assert report.executable is Worlds.ALL and report.headline is Headline.INVALID, messages
        else:
            assert report.headline is Headline.VALID, messages


def test_a_taken_object_must_be_put_back_before_it_is_placed() -> None:
    scene = scene_of(CASES["wiping-what-is-clean-changes-nothing"])
    start = "(navigate_to rag_n_01_1 agent_n_01_1)\n(take_up rag_n_01_1 agent_n_01_1)\n"
    walk = "(navigate_to table_n_02_1 agent_n_01_1)\n"
    assert judge(f"{start}{walk}(put_back rag_n_01_1 agent_n_01_1)", scene).headline is Headline.VALID
    placed = judge(f"{start}{walk}(place_ontop rag_n_01_1 table_n_02_1 agent_n_01_1)", scene)
    assert "place_ontop" in placed.findings[0].message, "it would be in two places"
    assert judge(f"{start}(release rag_n_01_1 agent_n_01_1)", scene).executable is not Worlds.ALL


def test_tools_that_are_taken_up_are_counted() -> None:
    scene = scene_of(CASES["a-stain-needs-a-wet-tool"])
    plan = WORLD.read_plan(Source("p", "WIPE(table, rag)\nWIPE(floor, rag)"), scene)
    assert [note.message for note in plan.diagnostics][-1] == (
        "the plan does not grasp tools: 2 are taken up for one action and put back"
    )


def test_written_steps_are_read_back() -> None:
    case = CASES["wiping-with-a-soaked-tool-takes-all-off"]
    scene = scene_of(case)
    plan = WORLD.read_plan(Source("p", "\n".join([*_STEP.findall(case["plan"]), "WAIT"])), scene)
    assert plan.plan is not None
    steps = [tuple(line[1:-1].split()) for line in plan.plan.text.splitlines()]
    again = WORLD.read_plan(Source("p", f"[{', '.join([WORLD.write_step(step, scene) for step in steps])}]"), scene)
    assert again.plan is not None
    assert again.plan.text == plan.plan.text
