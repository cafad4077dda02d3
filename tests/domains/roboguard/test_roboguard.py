"""RoboGuard: graphs, plans of calls, and rules as its paper writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plansafe.domains.roboguard import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.ltl import make_ltl_specification
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report

GRAPH: dict[str, Any] = {
    "regions": [{"name": name} for name in ("yard_1", "hall_1", "site_1", "island_1")],
    "objects": [{"name": "person_1"}, {"name": "Knife_1"}, {"name": "box_1"}],
    "region_connections": [["yard_1", "hall_1"], ["hall_1", "site_1"]],
    "object_connections": [["person_1", "site_1"], ["knife_1", "island_1"]],
    "current_location": "yard_1",
    "extra_unsafe_objects": [],
}


def scene(**changed: Any) -> Scene:
    return WORLD.read_scene(Request({"scene": Source("graph.json", json.dumps(GRAPH | changed))}))


def check(plan: str, *formulas: str) -> Report:
    task_scene = scene()
    read = WORLD.read_plan(Source("calls.txt", plan), task_scene)
    assert read.plan is not None, read.diagnostics
    specs = (make_ltl_specification(formulas, task_scene.domain),) if formulas else ()
    checker = Checker(task_scene.domain, task_scene.problem, specs, Options(replay="always"))
    assert checker.ok, checker.diagnostics
    return checker.check(read.plan)


@pytest.mark.parametrize(
    ("plan", "formula", "step"),
    [
        ("goto(hall_1)\ngoto(site_1)", "G(!goto(site_1))", 1),
        ("goto(hall_1)\ngoto(yard_1)", "G(!goto(site_1))", None),
        ("goto(hall_1)\ninspect(person_1)", "G(inspect(person_1) -> O goto(site_1))", 1),
        ("goto(site_1)\ninspect(person_1)", "G(inspect(person_1) -> O goto(site_1))", None),
        ("goto(hall_1)\nanswer(hi)", "F(map_region(hall_1))", 2),
        ("goto(hall_1)\nmap_region(hall_1)", "F(map_region(hall_1)) & G(!explore_region(site_1))", None),
        ("inspect(person_1)", "G(!inspect(person_1))", 0),
    ],
)
def test_rules_of_the_papers_kind(plan: str, formula: str, step: int | None) -> None:
    """A call belongs to the letter before it is taken: the finding is at the step that led there."""
    violations = [finding for finding in check(plan, formula).findings if finding.rule is not None]
    assert [finding.step for finding in violations] == ([] if step is None else [step])


@pytest.mark.parametrize(
    ("plan", "stops"),
    [
        ("goto(site_1)", None),
        ("goto(island_1)", 1),  # not connected
        ("inspect(knife_1)", 1),
        ("inspect(box_1)", 1),  # its region is unknown
        ("goto(nowhere_1)", 1),
        ("goto(person_1)", 1),
        ('inspect(person_1, "is he (still) hurt?")\nreplan()\nextend_map(3, 4)\nclarify("who?")', None),
    ],
)
def test_plans_stop_at_the_step_that_cannot_be_executed(plan: str, stops: int | None) -> None:
    assert next((finding.step for finding in check(plan).findings), None) == stops


@pytest.mark.parametrize(
    "text",
    [
        "goto(hall_1)\ninspect(person_1)\n",
        '["goto(hall_1)", "inspect(person_1)"]',
        '[("goto", "hall_1"), ("inspect", "person_1")]',
        "1. goto(region_node='hall_1')\n2. inspect(\"person_1\", 'who?')\n",
    ],
)
def test_plans_are_read_in_all_notations(text: str) -> None:
    read = WORLD.read_plan(Source("calls.txt", text), scene())
    assert read.plan is not None, read.diagnostics
    assert read.plan.text == "(goto hall_1)\n(inspect person_1)\n"
    assert len(read.places) == 2


@pytest.mark.parametrize("text", ["goto hall_1", "walk(hall_1)", "goto()", "goto(hall_1) then stop"])
def test_a_text_that_is_not_a_call_is_reported(text: str) -> None:
    read = WORLD.read_plan(Source("calls.txt", text), scene())
    assert read.plan is None
    assert {note.code for note in read.diagnostics} == {"SC011"}


@pytest.mark.parametrize(
    "changed",
    [
        {"regions": []},
        {"regions": [{"name": "a b"}]},
        {"regions": 3},
        {"objects": [{"name": "hall_1"}]},
        {"objects": [{"name": "box_1"}, {"name": "Box_1"}]},
        {"region_connections": [["yard_1"]]},
        {"object_connections": [["person_1", "nowhere"]]},
        {"current_location": "nowhere"},
    ],
)
def test_broken_graphs(changed: dict[str, Any]) -> None:
    task_scene = scene(**changed)
    assert not task_scene.ok
    assert task_scene.notes[0].code == "SC010"


def test_steps_are_written_as_they_are_read() -> None:
    for step in (("goto", "hall_1"), ("inspect", "person_1"), ("answer",)):
        read = WORLD.read_plan(Source("calls.txt", WORLD.write_step(step, scene())), scene())
        assert read.plan is not None
        assert read.plan.text == f"({' '.join(step)})\n"
