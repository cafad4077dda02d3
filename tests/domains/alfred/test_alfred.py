"""Trajectories of ALFRED as plans: scene, goal, composite steps, and lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.domains import domain_path
from plansafe.domains.alfred import ADDITIONS, read_domain
from plansafe.domains.world import Request, Scene
from plansafe.domains.worlds import world
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Report, Worlds

WORLD = world("alfred")
APPLE, FRIDGE, MICROWAVE = "Apple|-01.00|+00.90|+01.00", "Fridge|-02.00|+00.00|+01.00", "Microwave|+00.00|+01.50|+02.00"
COUNTER, SINK = "CounterTop|+01.00|+00.90|+00.00", "Sink|+00.50|+00.90|+00.00|SinkBasin"


def make_step(action: str, *args: str, target: str = "", place: str = "") -> dict[str, Any]:
    planner: dict[str, Any] = {"action": action}
    if target:
        planner.update(coordinateObjectId=[target.split("|")[0], target], objectId=target)
    if place:
        planner["coordinateReceptacleObjectId"] = [place.split("|")[0], place]
    return {"discrete_action": {"action": action, "args": list(args)}, "high_idx": 0, "planner_action": planner}


def trajectory(
    task_type: str, steps: list[dict[str, Any]], scene: dict[str, Any] | None = None, **params: Any
) -> Source:
    end = {"discrete_action": {"action": "NoOp", "args": []}, "planner_action": {"action": "End", "value": 1}}
    annotation = {"task_desc": "Put a hot apple on the counter.", "high_descs": ["Take the apple.", "Heat it."]}
    value = {
        "task_type": task_type,
        "pddl_params": {"object_target": "", "parent_target": "", "mrecep_target": "", "toggle_target": "",
                        "object_sliced": False, **params},
        "scene": {"floor_plan": "FloorPlan1", "scene_num": 1, "object_poses": [{"objectName": "Apple_4d189e7d"}],
                  "object_toggles": [], "dirty_and_empty": False, **(scene or {})},
        "plan": {"high_pddl": [*steps, end], "low_actions": []},
        "turk_annotations": {"anns": [annotation]},
    }  # fmt: skip
    return Source("traj_data.json", json.dumps(value, indent=1))


HEAT = trajectory(
    "pick_heat_then_place_in_recep",
    [
        make_step("GotoLocation", "fridge"),
        make_step("PickupObject", "apple", target=APPLE, place=FRIDGE),
        make_step("GotoLocation", "microwave"),
        make_step("HeatObject", "apple", target=APPLE, place=MICROWAVE),
        make_step("GotoLocation", "countertop"),
        make_step("PutObject", "apple", "countertop", target=APPLE, place=COUNTER),
    ],
    object_target="Apple",
    parent_target="CounterTop",
)


def steps_of(plan: Source, scene: Scene) -> list[str]:
    read = WORLD.read_plan(plan, scene)
    assert read.plan is not None, read.diagnostics
    assert len(read.places) == len(read.plan.text.splitlines())
    return [line.strip("()") for line in read.plan.text.splitlines()]


def audited(plan: Source, scene_file: Source | None = None, goal: Source | None = None) -> Report:
    files = {"scene": scene_file or plan, **({"goal": goal} if goal is not None else {})}
    scene = WORLD.read_scene(Request(files))
    assert scene.ok, scene.notes
    checker = Checker(scene.domain, scene.problem)
    assert checker.ok, checker.diagnostics
    read = WORLD.read_plan(plan, scene)
    assert read.plan is not None, read.diagnostics
    return checker.check(read.plan)


def test_the_additions_fit_the_domain_of_safeagentbench() -> None:
    with open(domain_path("safeagentbench"), encoding="utf-8") as file:
        text = file.read()
    assert all(text.count(old) == 1 for old, _ in ADDITIONS)
    assert all(new in read_domain().text for _, new in ADDITIONS)


def test_composite_steps_become_the_actions_of_the_controller() -> None:
    scene = WORLD.read_scene(Request({"scene": HEAT}))
    assert steps_of(HEAT, scene) == [
        "find fridge_1",
        "open fridge_1", "find apple_1", "pick apple_1", "close fridge_1",
        "find microwave_1",
        "open microwave_1", "put microwave_1", "close microwave_1", "turn_on microwave_1", "turn_off microwave_1",
        "open microwave_1", "find apple_1", "pick apple_1", "close microwave_1",
        "find countertop_1",
        "put countertop_1",
    ]  # fmt: skip


def test_a_step_has_the_place_of_its_entry() -> None:
    read = WORLD.read_plan(HEAT, WORLD.read_scene(Request({"scene": HEAT})))
    assert all('"HeatObject"' in HEAT.slice(place) for place in read.places[6:15])
    assert (read.title, read.description) == ("Put a hot apple on the counter.", "Take the apple. Heat it.")


def test_a_heated_object_reaches_the_goal() -> None:
    report = audited(HEAT)
    assert (report.headline, report.goal) == (Headline.VALID, Worlds.ALL)


def test_without_heating_the_goal_is_not_reached() -> None:
    text = HEAT.text.replace('"HeatObject"', '"NoOp"')
    assert audited(Source("traj_data.json", text)).goal is Worlds.NONE


def placed(task_type: str, action: str, place: str, **params: Any) -> Source:
    steps = [
        make_step("PickupObject", "apple", target=APPLE, place=COUNTER),
        make_step(action, "apple", target=APPLE, place=place),
        make_step("PutObject", "apple", "countertop", target=APPLE, place=COUNTER),
    ]
    return trajectory(task_type, steps, object_target="Apple", parent_target="CounterTop", **params)


@pytest.mark.parametrize(
    ("task_type", "action", "place"),
    [
        ("pick_clean_then_place_in_recep", "CleanObject", SINK),
        ("pick_cool_then_place_in_recep", "CoolObject", FRIDGE),
        ("pick_heat_then_place_in_recep", "HeatObject", MICROWAVE),
        ("pick_and_place_simple", "NoOp", ""),
    ],
)
def test_each_kind_of_task_has_its_goal(task_type: str, action: str, place: str) -> None:
    assert audited(placed(task_type, action, place)).goal is Worlds.ALL
    if action != "NoOp":
        assert audited(placed(task_type, "NoOp", "")).goal is Worlds.NONE


def test_an_object_in_the_light() -> None:
    lamp = "DeskLamp|+01.00|+00.90|+00.00"
    steps = [make_step("PickupObject", "book", target="Book|1|1|1"), make_step("ToggleObject", "desklamp", target=lamp)]
    task = trajectory("look_at_obj_in_light", steps, object_target="Book", toggle_target="DeskLamp")
    assert audited(task).goal is Worlds.ALL
    lit = {"object_toggles": [{"objectType": "DeskLamp", "isOn": True}]}
    task = trajectory("look_at_obj_in_light", steps, lit, object_target="Book", toggle_target="DeskLamp")
    assert audited(task).goal is Worlds.NONE  # the lamp was on, and is switched off


def test_two_objects_and_a_movable_receptacle() -> None:
    second = "Apple|-05.00|+00.90|+01.00"
    steps = [
        make_step("PickupObject", "apple", target=APPLE),
        make_step("PutObject", "apple", "countertop", target=APPLE, place=COUNTER),
        make_step("PickupObject", "apple", target=second),
        make_step("PutObject", "apple", "countertop", target=second, place=COUNTER),
    ]
    params = {"object_target": "Apple", "parent_target": "CounterTop"}
    assert audited(trajectory("pick_two_obj_and_place", steps, **params)).goal is Worlds.ALL
    assert audited(trajectory("pick_two_obj_and_place", steps[:2], **params)).goal is Worlds.NONE
    steps = [
        make_step("PickupObject", "apple", target=APPLE),
        make_step("PutObject", "apple", "plate", target=APPLE, place="Plate|1|1|1"),
        make_step("PickupObject", "plate", target="Plate|1|1|1"),
        make_step("PutObject", "plate", "countertop", target="Plate|1|1|1", place=COUNTER),
    ]
    task = trajectory("pick_and_place_with_movable_recep", steps, mrecep_target="Plate", **params)
    assert audited(task).goal is Worlds.ALL


def test_slices_are_picked_up() -> None:
    piece = f"{APPLE}|AppleSliced_0"
    steps = [
        make_step("PickupObject", "knife", target="Knife|1|1|1"),
        make_step("SliceObject", "apple", target=APPLE),
        make_step("PutObject", "knife", "countertop", target="Knife|1|1|1", place=COUNTER),
        make_step("PickupObject", "apple", target=piece),
        make_step("PutObject", "apple", "plate", target=piece, place="Plate|1|1|1"),
    ]
    params = {"object_target": "Apple", "parent_target": "Plate", "object_sliced": True}
    assert audited(trajectory("pick_and_place_simple", steps, **params)).goal is Worlds.ALL
    assert audited(trajectory("pick_and_place_simple", steps[3:], **params)).goal is Worlds.NONE


def test_a_dirty_room() -> None:
    scene = WORLD.read_scene(
        Request({"scene": trajectory("", [make_step("GotoLocation", "plate")], {"dirty_and_empty": True})})
    )
    assert "(is_dirty plate_1)" in scene.problem.text


def test_a_layout_with_the_task_as_goal() -> None:
    layout = Source("FloorPlan1.json", json.dumps(["Fridge", "Microwave", "CounterTop", "Apple", "Knife"]))
    scene = WORLD.read_scene(Request({"scene": layout, "goal": HEAT}))
    assert "knife_1" in scene.problem.text
    assert audited(HEAT, layout, HEAT).goal is Worlds.ALL


def test_lines_are_read_and_written() -> None:
    scene = WORLD.read_scene(Request({"scene": HEAT}))
    lines = Source("plan.txt", "GotoLocation Fridge\nOpenObject Fridge\nPickupObject apple_1\nHeatObject Apple\n")
    steps = steps_of(lines, scene)
    assert steps[:4] == ["find fridge_1", "open fridge_1", "pick apple_1", "open microwave_1"]
    written = [
        WORLD.write_step(tuple(step.split()), scene) for step in ("turn_off microwave_1", "find apple_1", "drop")
    ]
    assert written == ["ToggleObjectOff microwave_1", "GotoLocation apple_1", "DropObject"]
    assert steps_of(Source("p", "\n".join(written)), scene) == ["turn_off microwave_1", "find apple_1", "drop"]


@pytest.mark.parametrize(
    "text", ["Fly Apple", '{"plan": {"high_pddl": [{"planner_action": {}}]}}', '{"plan": 3}', '{"plan": ', "[1, 2]"]
)
def test_a_text_that_is_not_a_step_is_reported(text: str) -> None:
    scene = WORLD.read_scene(Request({"scene": HEAT}))
    read = WORLD.read_plan(Source("plan", text), scene)
    assert read.plan is None
    assert read.diagnostics


def test_files_that_are_no_trajectory_are_reported() -> None:
    layout = Source("layout.json", '["Fridge"]')
    assert not WORLD.read_scene(Request({"scene": layout, "goal": Source("g", "[]")})).ok
    assert not WORLD.read_scene(Request({"scene": Source("s", "{")})).ok
    unknown = trajectory("pick_and_place_simple", [], object_target="Frobnicator", parent_target="CounterTop")
    assert not WORLD.read_scene(Request({"scene": unknown})).ok


def test_the_rules_see_the_controllers_actions_and_a_repair_is_written_in_them(tmp_path: Path) -> None:
    knob = "StoveKnob|1|1|1"
    steps = [make_step("PickupObject", "apple", target=APPLE), make_step("ToggleObject", "stoveknob", target=knob)]
    steps.append(make_step("PutObject", "apple", "countertop", target=APPLE, place=COUNTER))
    path = tmp_path / "traj_data.json"
    plan = trajectory("pick_and_place_simple", steps, object_target="Apple", parent_target="CounterTop")
    path.write_text(plan.text, encoding="utf-8")
    settings = Settings(world="alfred", scene=str(path))
    [examined] = examine([str(path)], settings, ExaminationOptions(classes=False))
    assert "heat-off-at-the-end" in {finding.rule for finding in examined.result.report.findings}
    assert examined.text is not None
    assert "ToggleObjectOff stoveknob_1" in examined.text.splitlines()
