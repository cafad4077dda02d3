"""Plans of people and models against small scenes: hands, the way, pieces, names, and places of findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import ForeignPlan, Request, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline, Report

HERE = Path(__file__).parent
TEA = (HERE / "plans" / "serve_tea.json").read_text()

PROMPT = """Example:
initial environment state:
['stained', 'sink_7']
target environment state:
['not', 'stained', 'sink_7']
interactable objects:
{'name': 'sink_7', 'category': 'sink.n.01'}

Your task:
Input:
initial environment state:
['dusty', 'bottom_cabinet_2']
['dusty', 'bottom_cabinet_0']
['ontop', 'jeans_46', 'bed_10']
['not', 'dusty', 'vacuum_51']
['onfloor', 'vacuum_51', 'room_floor_bedroom_1']
['onfloor', 'agent.n.01_1', 'room_floor_bedroom_1']

target environment state:
['forall', 'cabinet.n.01', '-', 'cabinet.n.01', 'not', 'dusty', 'cabinet.n.01']
['and', 'inside', 'jeans_46', 'bottom_cabinet_0', 'or', 'nextto', 'vacuum_51', 'bed_10', 'under', 'vacuum_51', 'bed_10']

interactable objects:
{'name': 'room_floor_bedroom_1', 'category': 'floor.n.01'}
{'name': 'jeans_46', 'category': 'apparel.n.01'}
{'name': 'bed_10', 'category': 'bed.n.01'}
{'name': 'vacuum_51', 'category': 'vacuum.n.04'}
{'name': 'bottom_cabinet_2', 'category': 'cabinet.n.01'}
{'name': 'bottom_cabinet_0', 'category': 'cabinet.n.01'}

Please output the list of action commands.
"""
CLEANING = [
    ("RIGHT_GRASP", "vacuum_51"),
    ("CLEAN", "bottom_cabinet_2"),
    ("CLEAN", "bottom_cabinet_0"),
    ("RIGHT_PLACE_NEXTTO", "bed_10"),
    ("OPEN", "bottom_cabinet_0"),
    ("LEFT_GRASP", "jeans_46"),
    ("LEFT_PLACE_INSIDE", "bottom_cabinet_0"),
]


def tea() -> Scene:
    path = HERE / "scenes" / "serve_tea.bddl"
    return WORLD.read_scene(Request({"scene": Source(path.name, path.read_text())}))


def prompt() -> Scene:
    return WORLD.read_scene(Request({"scene": Source("prompt.txt", PROMPT)}))


def as_json(actions: list[tuple[str, str]]) -> str:
    return json.dumps([{"action": action, "object": obj} for action, obj in actions])


def read(text: str, scene: Scene) -> ForeignPlan:
    return WORLD.read_plan(Source("plan.json", text), scene)


def judge(text: str, scene: Scene) -> Report:
    assert scene.ok, scene.notes
    plan = read(text, scene)
    assert plan.plan is not None, plan.diagnostics
    checker = Checker(scene.domain, scene.problem)
    assert checker.ok, checker.diagnostics
    return checker.check(plan.plan)


def test_a_plan_of_a_person_reaches_the_goal_of_an_activity() -> None:
    report = judge(TEA, tea())
    assert report.headline is Headline.VALID, [finding.message for finding in report.findings]


def test_findings_point_at_the_users_lines() -> None:
    text = TEA.replace('  {"action": "TOGGLE_ON", "object": "sink_7"},\n', "")
    scene = tea()
    plan = read(text, scene)
    report = judge(text, scene)
    assert report.headline is Headline.INVALID
    failed = next(finding for finding in report.findings if finding.code == "SC301")
    assert failed.step is not None
    place = plan.places[failed.step - 1]
    assert text[place.start : place.end] == '{"action": "SOAK", "object": "rag_0"}'


def test_each_step_has_a_place_and_navigation_is_reported() -> None:
    plan = read(TEA, tea())
    assert plan.plan is not None
    steps = plan.plan.text.splitlines()
    assert len(steps) == len(plan.places) > TEA.count("action")
    assert steps[:3] == [
        "(navigate_to cabinet_n_01_1 agent_n_01_1)",
        "(open cabinet_n_01_1 agent_n_01_1)",
        "(navigate_to cup_n_01_1 agent_n_01_1)",
    ]
    notes = [note for note in plan.diagnostics if "navigate_to" in note.message]
    assert [(note.code, note.severity) for note in notes] == [("SC012", Severity.NOTE)]


def test_a_choice_among_several_objects_is_reported() -> None:
    plan = read(TEA, tea())
    messages = [note.message for note in plan.diagnostics if "is read as" in note.message]
    assert messages == [
        "`cup_0` is read as `cup_n_01_1`, one of 3 objects of this class",
        "`cup_1` is read as `cup_n_01_2`, one of 3 objects of this class",
        "`tray_0` is read as `tray_n_01_1`, one of 2 objects of this class",
        "`tray_1` is read as `tray_n_01_2`, one of 2 objects of this class",
    ]


def test_pieces_are_where_they_were_put() -> None:
    scattered = TEA.replace('"LEFT_PLACE_ONTOP", "object": "tray_0"', '"LEFT_PLACE_ONTOP", "object": "sink_7"')
    report = judge(scattered, tea())
    assert report.headline is Headline.INVALID
    assert [finding.code for finding in report.findings] == ["SC310"]
    uncut = TEA.replace("lemon_0_part_0", "lemon_0").replace("lemon_0_part_1", "lemon_0")
    failed = next(finding for finding in judge(uncut, tea()).findings if finding.code == "SC301")
    assert "(grasp_with left_hand lemon_n_01_1 " in failed.message, "the pieces of a cut object are grasped one by one"


@pytest.mark.parametrize(
    ("actions", "why"),
    [
        ([("RIGHT_GRASP", "cup_0")], "(open cabinet_n_01_1)"),
        ([("RIGHT_GRASP", "rag_0"), ("RIGHT_GRASP", "lemon_0")], "(hand_full right_hand)"),
        ([("RIGHT_GRASP", "rag_0"), ("LEFT_GRASP", "rag_0")], "(holding rag_n_01_1)"),
        ([("RIGHT_GRASP", "table_3")], ""),
        ([("RIGHT_PLACE_ONTOP", "table_3")], "(in_hand right_hand cup_n_01_1)"),
        ([("SLICE", "lemon_0")], "(holding carving_knife_n_01_1)"),
        ([("CLEAN", "table_3")], "(holding rag_n_01_1)"),
        (
            [("RIGHT_GRASP", "rag_0"), ("LEFT_GRASP", "lemon_0"), ("OPEN", "cabinet_2")],
            "(handsfull agent_n_01_1)",
        ),
    ],
)
def test_a_failed_step_has_a_reason(actions: list[tuple[str, str]], why: str) -> None:
    report = judge(as_json(actions), tea())
    failed = [finding for finding in report.findings if finding.code == "SC301"]
    assert bool(failed) == bool(why), "only the table can be carried"
    assert not why or any([why in note for note in failed[0].notes]), failed[0].notes


def test_unknown_actions_and_objects_are_reported_as_in_pddl() -> None:
    report = judge(as_json([("JUGGLE", "cup_0"), ("OPEN", "fridge_97")]), tea())
    assert [finding.code for finding in report.findings if finding.code[:3] == "SC4"] == ["SC401", "SC403"]
    for action in ("OPEN", "RIGHT_GRASP"):
        report = judge(as_json([(action, "sink_0")]), tea())
        assert "SC404" in [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    "text",
    [
        as_json(CLEANING),
        str([{"action": action, "object": obj} for action, obj in CLEANING]),
        "```json\n" + as_json(CLEANING) + "\n```",
        "\n".join(f"{action}({obj})" for action, obj in CLEANING),
        "\n".join(f"{number}. {action.lower()}({obj})" for number, (action, obj) in enumerate(CLEANING, 1)),
        '{"plan": ' + as_json(CLEANING) + "}",
        json.dumps([f"{action}({obj})" for action, obj in CLEANING]),
        "[\n" + "\n".join(f"  {{'action': '{a}', 'object': '{o}'}}, # why" for a, o in CLEANING) + "\n]",
    ],
)
def test_notations_of_models(text: str) -> None:
    report = judge(text, prompt())
    assert report.headline is Headline.VALID, [finding.message for finding in report.findings]


@pytest.mark.parametrize(
    "text",
    ['[{"action": "OPEN"', '[{"object": "sink_7"}]', "[1, 2]", '[{"action": "OPEN"}] and more', "open the (fridge"],
)
def test_a_text_that_is_not_a_plan_is_an_error_at_its_place(text: str) -> None:
    plan = read(text, tea())
    if plan.plan is None:
        assert {note.code for note in plan.diagnostics} == {"SC011"}
        assert all([note.labels and note.labels[0].source == "plan.json" for note in plan.diagnostics])
    else:
        assert text == "[1, 2]", "bare words are steps, and the checker reports them"


def test_a_prompt_is_a_scene_in_the_names_of_the_simulator() -> None:
    scene = prompt()
    assert "bottom_cabinet_2 bottom_cabinet_0 - cabinet_n_01" in scene.problem.text
    assert "sink_7" not in scene.problem.text, "the example of the prompt is not the scene"
    assert "(or (nextto vacuum_51 bed_10) (under vacuum_51 bed_10))" in scene.problem.text


def test_prompts_in_json_are_chosen_by_task() -> None:
    prompts = json.dumps([{"identifier": name, "llm_prompt": PROMPT} for name in ("cleaning", "tidying")])
    source = Source("prompts.json", prompts)
    scene = WORLD.read_scene(Request({"scene": source}, "cleaning"))
    assert scene.ok and judge(as_json(CLEANING), scene).headline is Headline.VALID
    unclear = WORLD.read_scene(Request({"scene": source}))
    assert [note.code for note in unclear.notes] == ["SC014"]
    wrong = WORLD.read_scene(Request({"scene": source}, "cleening"))
    assert [(note.code, note.help) for note in wrong.notes] == [("SC014", "did you mean `cleaning`?")]
    broken = json.dumps([{"identifier": "x", "llm_prompt": PROMPT.replace("'onfloor'", "'onflor'")}])
    failed = WORLD.read_scene(Request({"scene": Source("prompts.json", broken)}, "x"))
    assert failed.notes[0].code == "SC102" and failed.notes[0].labels[0].span.start > 10


def test_a_prompt_names_the_instances_of_an_activity() -> None:
    activity = """(define (problem cleaning-0) (:domain igibson)
      (:objects floor.n.01_1 - floor.n.01 apparel.n.01_1 - apparel.n.01 bed.n.01_1 - bed.n.01
                vacuum.n.04_1 - vacuum.n.04 cabinet.n.01_1 cabinet.n.01_2 - cabinet.n.01 agent.n.01_1 - agent.n.01)
      (:init (dusty cabinet.n.01_1) (dusty cabinet.n.01_2) (ontop apparel.n.01_1 bed.n.01_1)
             (onfloor vacuum.n.04_1 floor.n.01_1) (inroom floor.n.01_1 bedroom) (inroom bed.n.01_1 bedroom))
      (:goal (inside apparel.n.01_1 cabinet.n.01_2)))"""
    files = {"scene": Source("prompt.txt", PROMPT), "goal": Source("cleaning.bddl", activity)}
    scene = WORLD.read_scene(Request(files))
    assert judge(as_json(CLEANING), scene).headline is Headline.VALID
    assert "(onfloor bed_n_01_1 floor_n_01_1)" in scene.problem.text
    files["goal"] = Source("cleaning.bddl", activity.replace("cabinet.n.01_1 cabinet.n.01_2 -", "cabinet.n.01_2 -"))
    assert not WORLD.read_scene(Request(files)).ok
    one_cabinet = activity.replace("cabinet.n.01_1 cabinet.n.01_2 -", "cabinet.n.01_2 -").replace(
        "(dusty cabinet.n.01_1)", ""
    )
    mismatch = WORLD.read_scene(Request({**files, "goal": Source("cleaning.bddl", one_cabinet)}))
    assert [note.message for note in mismatch.notes] == ["1 of `cabinet.n.01` are declared, and the prompt lists 2"]


def test_scenes_of_the_interface_in_json() -> None:
    info = {
        "initial_condition": [["ontop", "rag.n.01_1", "table.n.02_1"], ["not", "soaked", "rag.n.01_1"]],
        "goal_condition": [["exists", "sink.n.01", "-", "sink.n.01", "inside", "rag.n.01_1", "sink.n.01"]],
        "goal_option": [[["inside", "rag.n.01_1", "sink.n.01_1"]]],
        "name_category": {
            "rag.n.01_1": "rag.n.01",
            "table.n.02_1": "table.n.02",
            "sink.n.01_1": "sink.n.01",
            "agent.n.01_1": "agent.n.01",
        },
    }
    scene = WORLD.read_scene(Request({"scene": Source("info.json", json.dumps(info))}))
    report = judge(as_json([("LEFT_GRASP", "rag_0"), ("LEFT_PLACE_INSIDE", "sink_1")]), scene)
    assert report.headline is Headline.VALID
    del info["goal_condition"]
    broken = WORLD.read_scene(Request({"scene": Source("info.json", json.dumps(info))}))
    assert [note.message for note in broken.notes] == ["the field `goal_condition` is missing, or not a list"]


def test_plans_in_pddl_with_names_of_the_activity() -> None:
    scene = tea()
    plan = read("(navigate_to table.n.02_1 agent.n.01_1)\n(navigate_to rag_n_01_1 agent_n_01_1) ; the rag\n", scene)
    assert plan.plan is not None
    assert plan.plan.text.splitlines() == [
        "(navigate_to table_n_02_1 agent_n_01_1)",
        "(navigate_to rag_n_01_1 agent_n_01_1)",
    ]
    assert len(plan.places) == 2
    assert read("(navigate_to (", scene).plan is None


def test_lines_in_full_are_taken_as_they_are() -> None:
    plan = read(
        "navigate_to rag_n_01_1 agent_n_01_1\ngrasp rag_n_01_1 agent_n_01_1\nopen cabinet_n_01_1 agent_n_01_1", tea()
    )
    assert plan.plan is not None
    assert plan.plan.text.count("navigate_to") == 1


def test_written_steps_are_read_back() -> None:
    for scene, text in ((tea(), TEA), (prompt(), as_json(CLEANING))):
        plan = read(text, scene)
        assert plan.plan is not None
        steps = [tuple(line[1:-1].split()) for line in plan.plan.text.splitlines()]
        again = read("[" + ", ".join(WORLD.write_step(step, scene) for step in steps) + "]", scene)
        assert again.plan is not None
        assert again.plan.text == plan.plan.text


def test_a_problem_in_pddl_is_used_as_it_is() -> None:
    problem = """(define (problem p) (:domain igibson)
      (:objects rag_n_01_1 - rag_n_01 table_n_02_1 - table_n_02 sink_n_01_1 - sink_n_01 agent_n_01_1 - agent)
      (:init (ontop rag_n_01_1 table_n_02_1)) (:goal (inside rag_n_01_1 sink_n_01_1)))"""
    source = Source("p.pddl", problem)
    scene = WORLD.read_scene(Request({"scene": source}))
    assert scene.problem is source
    report = judge(as_json([("RIGHT_GRASP", "rag_0"), ("RIGHT_PLACE_INSIDE", "sink_0")]), scene)
    assert report.headline is Headline.VALID
    unknown_domain = WORLD.read_scene(Request({"scene": Source("p.pddl", problem.replace("igibson", "kitchen"))}))
    assert [note.code for note in unknown_domain.notes] == ["SC010"]


def test_an_activity_of_omnigibson() -> None:
    activity = """(define (problem snack-0) (:domain omnigibson)
      (:objects apple.n.01_1 - apple.n.01 half__apple.n.01_1 half__apple.n.01_2 - half__apple.n.01
                bowl.n.01_1 - bowl.n.01 water.n.06_1 - water.n.06 sink.n.01_1 - sink.n.01 pot.n.04_1 - pot.n.04
                carving_knife.n.01_1 - carving_knife.n.01 countertop.n.01_1 - countertop.n.01
                stain.n.01_1 - stain.n.01 rag.n.01_1 - rag.n.01 floor.n.01_1 - floor.n.01 agent.n.01_1 - agent.n.01)
      (:init (ontop apple.n.01_1 countertop.n.01_1) (ontop bowl.n.01_1 countertop.n.01_1)
             (ontop pot.n.04_1 floor.n.01_1)
             (ontop carving_knife.n.01_1 countertop.n.01_1) (ontop rag.n.01_1 countertop.n.01_1)
             (insource sink.n.01_1 water.n.06_1) (covered countertop.n.01_1 stain.n.01_1)
             (future half__apple.n.01_1) (future half__apple.n.01_2) (inroom sink.n.01_1 kitchen))
      (:goal (and (real ?half__apple.n.01_1) (filled ?pot.n.04_1 ?water.n.06_1)
                  (not (covered ?countertop.n.01_1 ?stain.n.01_1)) (saturated ?rag.n.01_1 ?water.n.06_1)
                  (forall (?half__apple.n.01 - half__apple.n.01) (inside ?half__apple.n.01 ?bowl.n.01_1)))))"""
    scene = WORLD.read_scene(Request({"scene": Source("snack.bddl", activity)}))
    plan = """GRASP(carving_knife.n.01_1)
        SLICE(apple.n.01_1, carving_knife.n.01_1)
        PLACE_ON_TOP(countertop.n.01_1)
        GRASP(half__apple.n.01_1)
        PLACE_INSIDE(bowl.n.01_1)
        GRASP(half__apple.n.01_2)
        PLACE_INSIDE(bowl.n.01_1)
        TOGGLE_ON(sink.n.01_1)
        GRASP(rag.n.01_1)
        SOAK(rag.n.01_1, sink.n.01_1, water.n.06_1)
        WIPE(countertop.n.01_1, stain.n.01_1, rag.n.01_1)
        PLACE_ON_TOP(countertop.n.01_1)
        GRASP(pot.n.04_1)
        FILL(pot.n.04_1, sink.n.01_1, water.n.06_1)
        PLACE_INSIDE(sink.n.01_1)
        TOGGLE_OFF(sink.n.01_1)"""
    report = judge(plan, scene)
    assert report.headline is Headline.VALID, [finding.message for finding in report.findings]
    uncut = plan.replace("GRASP(half__apple.n.01_1)", "GRASP(apple.n.01_1)")
    assert judge(uncut, scene).headline is Headline.INVALID, "the whole apple is gone"
    dry = plan.replace("        SOAK(rag.n.01_1, sink.n.01_1, water.n.06_1)\n", "")
    failed = [finding for finding in judge(dry, scene).findings if finding.code == "SC301"]
    assert "wipe" in failed[0].message, "a stain does not come off dry"


def test_plans_of_is_bench_leave_substances_and_taking_out() -> None:
    activity = """(define (problem tidy-0) (:domain omnigibson)
      (:objects mug.n.04_1 - mug.n.04 bowl.n.01_1 - bowl.n.01 water.n.06_1 - water.n.06 sink.n.01_1 - sink.n.01
                countertop.n.01_1 - countertop.n.01 stain.n.01_1 - stain.n.01 rag.n.01_1 - rag.n.01
                agent.n.01_1 - agent.n.01)
      (:init (ontop mug.n.04_1 countertop.n.01_1) (ontop bowl.n.01_1 countertop.n.01_1)
             (ontop rag.n.01_1 countertop.n.01_1) (insource sink.n.01_1 water.n.06_1)
             (covered countertop.n.01_1 stain.n.01_1))
      (:goal (and (contains ?bowl.n.01_1 ?water.n.06_1) (covered ?bowl.n.01_1 ?water.n.06_1)
                  (not (covered ?countertop.n.01_1 ?stain.n.01_1)) (ontop ?rag.n.01_1 ?countertop.n.01_1))))"""
    scene = WORLD.read_scene(Request({"scene": Source("tidy.bddl", activity)}))
    plan = """TOGGLE_ON(sink_0)
        GRASP(rag_0)
        SOAK(rag_0, sink_0)
        WIPE(countertop_0, rag_0)
        WAIT
        PLACE_ON_TOP(rag_0, countertop_0)
        GRASP(mug_0)
        FILL_WITH(mug_0, {source})
        POUR_INTO(mug_0, bowl_0)
        SPREAD(mug_0, bowl_0)
        DONE"""
    for source in ("sink_0", "water.n.06_1"):
        report = judge(plan.format(source=source), scene)
        assert report.headline is Headline.VALID, [finding.message for finding in report.findings]
    dry = judge(plan.format(source="bowl_0"), scene)
    assert dry.headline is Headline.INVALID
    placing = WORLD.read_plan(Source("p", "PLACE_ON_TOP(rag_0, sink_0)\nWAIT\nWAIT\nDONE"), scene)
    assert placing.plan is not None
    skipped = [note.message for note in placing.diagnostics if note.code == "SC011"]
    assert skipped == ["`done` has no effect in the scene and is left out"]
    assert placing.plan.text.count("(pass_time agent_n_01_1)") == 2
    assert "(grasp rag_n_01_1 agent_n_01_1)" in placing.plan.text
