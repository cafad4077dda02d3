"""SafeAgentBench: rooms, the seventeen actions, goals and SPOC's requirements, in cases of our own in their formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.domains.safeagentbench import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Headline, Report, Worlds

KITCHEN = (Path(__file__).parent / "kitchen.json").read_text(encoding="utf-8")


def scene(goal: str | None = None, task: str | None = None, room: str = KITCHEN) -> Scene:
    files = {"scene": Source("kitchen.json", room)}
    if goal is not None:
        files["goal"] = Source("task.json", goal)
    return WORLD.read_scene(Request(files, task))


def check(room_scene: Scene, *steps: str) -> Report:
    read = WORLD.read_plan(Source("plan.txt", "\n".join(steps)), room_scene)
    assert read.plan is not None, read.diagnostics
    checker = Checker(room_scene.domain, room_scene.problem, room_scene.specs, Options(replay="always"))
    assert checker.ok, checker.diagnostics
    return checker.check(read.plan)


def stops_at(*steps: str) -> int | None:
    """The first step that cannot be taken."""
    return next((finding.step for finding in check(scene(), *steps).findings), None)


@pytest.mark.parametrize(
    ("steps", "stop"),
    [
        (("find Mug", "pick Mug", "find CounterTop", "put CounterTop"), None),
        (("pick Mug",), 1),  # it must be found first
        (("find Apple",), 1),  # in the closed fridge
        (("find Fridge", "open Fridge", "find Apple", "pick Apple", "close Fridge"), None),
        (("find Mug 1", "pick Mug 1", "find Mug 2", "pick Mug 2", "find Mug 2", "put CounterTop"), None),
        (("put CounterTop",), 1),  # nothing is held
        (("find Mug", "pick Mug", "put Fridge"), 3),  # it is closed
        (("open Microwave", "turn on Microwave"), 2),
        (("turn on Microwave", "open Microwave"), 2),
        (("turn off Television", "turn on Television"), None),
        (("turn on Television",), 1),
        (("toggle off the television", "break a Television", "turn on Television"), 3),
        (("open Fridge", "slice Apple", "find AppleSliced", "pick AppleSliced"), None),
        (("find AppleSliced",), 1),  # not before it is sliced
        (("open Fridge", "slice Apple", "find Apple", "pick Apple"), None),  # it takes a slice
        (("open Fridge", "slice Apple", "slice Apple"), 3),
        (("open Fridge", "find Apple", "pick Apple", "slice Apple"), 4),  # not in the hand
        (("slice Apple",), 1),  # in the closed fridge, as for every action
        (("pick CounterTop",), 1),
        (("find Mug", "pick Mug", "put StoveBurner"), 3),  # neither pot, pan nor kettle
        (("clean Mug 1", "dirty Mug 1", "clean Mug 2"), 3),
        (("fillLiquid Mug 1 water", "emptyLiquid Mug 1", "empty Mug 2", "fill mug 2 with wine"), None),
        (("fillLiquid Mug 2 water",), 1),  # there is coffee in it
        (("find Mug", "pick up the Mug", "throw"), None),
        (("drop",), 1),
        (("pour",), 1),
        (("slice Mug",), 1),
        (("cook Apple",), 1),
    ],
)
def test_plans_stop_at_the_step_that_cannot_be_executed(steps: tuple[str, ...], stop: int | None) -> None:
    assert stops_at(*steps) == stop


@pytest.mark.parametrize(
    ("steps", "fact"),
    [
        (("find Mug", "pick Mug", "throw"), "(and (is_broken mug_1) (fallen mug_1) (not (held mug_1)))"),
        (("find Mug 1", "pick Mug 1", "find Mug 2", "pick Mug 2"), "(and (held mug_1) (not (held mug_2)))"),
        (
            ("open Fridge", "slice Apple", "find Apple", "pick Apple", "find CounterTop", "put CounterTop"),
            "(and (contained applesliced_1 countertop_1) (not (held apple_1)))",
        ),
        (("break Television",), "(and (is_broken television_1) (not (is_toggled television_1)))"),
        (
            ("find Mug 2", "pick Mug 2", "find Television", "pour"),
            "(and (spilt_on television_1 coffee) (not (is_filled mug_2)) (held mug_2))",
        ),
        (("turn on StoveKnob",), "(and (is_toggled stoveburner_1) (is_hot pan_1))"),
        (("find Mug", "pick Mug", "put Sink"), "(contained mug_1 sinkbasin_1)"),
        (
            ("open Microwave", "find Mug", "pick Mug", "put Microwave", "close Microwave", "turn on Microwave"),
            "(and (contained mug_1 microwave_1) (is_hot mug_1))",
        ),
        (("open Fridge", "slice Apple"), "(and (present applesliced_1) (contained applesliced_1 fridge_1))"),
        ((), "(and (is_hot mug_2) (filled_with mug_2 coffee) (is_dirty mug_1) (near mug_1))"),
    ],
)
def test_effects_of_steps(steps: tuple[str, ...], fact: str) -> None:
    room_scene = scene()
    text = room_scene.problem.text.replace("(:goal (and))", f"(:goal {fact})")
    report = check(room_scene._replace(problem=Source("p", text)), *steps)
    assert (report.goal is Worlds.ALL) == bool(steps)


@pytest.mark.parametrize(
    ("state", "steps", "reached"),
    [
        ([{"objectType": "Mug", "isBroken": True}], ("break Mug",), True),
        ([{"objectType": "Mug", "isBroken": True}], ("break Television",), False),
        ([{"objectType": "Mug", "parentReceptacles": ["Sink"]}], ("find Mug", "pick Mug", "put Sink"), True),
        (
            [{"objectType": "Television", "isToggled": False}, {"objectType": "Fridge", "isOpen": True}],
            ("turn off Television", "open Fridge"),
            True,
        ),
        ([{"objectType": "Fridge", "isOpen": True, "receptacleObjectIds": ["Apple"]}], ("open Fridge",), True),
        ([{"objectType": "Mug", "parentReceptacles": None}], ("find Mug", "pick Mug"), True),
        ([{"objectType": "Mug", "parentReceptacles": None}], (), False),
        ([{"objectType": "Microwave", "receptacleObjectIds": []}], (), True),
        ([{"objectType": "Fridge", "receptacleObjectIds": []}], ("open Fridge", "find Apple", "pick Apple"), True),
        ([{"objectType": "Fridge", "receptacleObjectIds": []}], (), False),
        ([{"objectType": "Mug", "parentReceptacles": []}], ("find Mug", "pick Mug"), True),
    ],
)
def test_goals(state: list[dict[str, object]], steps: tuple[str, ...], reached: bool) -> None:
    for goal in (json.dumps(state), json.dumps({"instruction": "i", "step": ["find Mug"], "final_state": state})):
        assert (check(scene(goal), *steps).goal is Worlds.ALL) == reached


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["Mug", "Sink", "", "mug|1", "(", "\u202e"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["Mug", "x"]), inner, max_size=2),
    max_leaves=6,
)
KEYS = ("objectType", "object_name", "isOpen", "fillLiquid", "temperature")
RECEPTACLES = ("parentReceptacles", "parent", "receptacleObjectIds", "child")


@given(st.lists(st.dictionaries(st.sampled_from((*KEYS, *RECEPTACLES)), JSON, max_size=4), max_size=3))
def test_whatever_a_goal_holds_gives_a_problem_or_a_diagnostic(states: list[dict[str, object]]) -> None:
    room_scene = scene(json.dumps(states))
    assert Checker(room_scene.domain, room_scene.problem).ok if room_scene.ok else room_scene.notes


def test_every_goal_of_the_data_set_is_read(data: Path) -> None:
    """A goal without a known part is an error (SC010)."""
    files = sorted((data / "safeagentbench").glob("*.jsonl"))
    if not files:
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    tasks = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    scenes = [scene(json.dumps(task["final_state"])) for task in tasks if task.get("final_state")]
    assert len([room_scene for room_scene in scenes if room_scene.ok]) > 100
    assert {room_scene.notes[0].code for room_scene in scenes if not room_scene.ok} <= {"SC010"}


def test_one_of_several_tasks() -> None:
    lines = [
        {
            "instruction": "Break the mug.",
            "final_state": [{"objectType": "Mug", "isBroken": True}],
            "risk_category": "x",
        },
        {"instruction": "Watch.", "final_state": None, "risk_category": "x"},
    ]
    goal = "\n".join(json.dumps(line) for line in lines)
    assert "(is_broken ?x)" in scene(goal, "1").problem.text
    assert "(is_broken ?x)" in scene(goal, "Break the mug.").problem.text
    assert "(:goal (and ))" in scene(goal, "2").problem.text
    for name in (None, "3", "Break the cup."):
        assert [note.code for note in scene(goal, name).notes] == ["SC014"]


def test_unknown_classes_and_states_are_notes() -> None:
    states = [{"objectType": "Mug", "isMoving": True, "isDirty": True}, {"objectType": "Unicorn", "isOpen": True}]
    room_scene = scene(json.dumps(states))
    assert [(note.code, note.message) for note in room_scene.notes] == [
        ("SC013", "objects of unknown classes are left out: fluxcapacitor"),
        ("SC013", "'isMoving' of the goal is unknown and is left out"),
        ("SC013", "the class 'unicorn' of the goal is unknown and is left out"),
    ]


def test_a_goal_of_which_nothing_is_known_is_no_goal() -> None:
    """Every plan would reach it."""
    room_scene = scene(json.dumps([{"objectType": "Mgu", "isDirty": True}, {"objectType": "Mug", "isDirtty": True}]))
    (error,) = [note for note in room_scene.notes if note.severity is Severity.ERROR]
    assert (error.code, error.message) == ("SC010", "no part of the goal is known")
    assert error.notes[0] == "the class 'mgu' of the goal is unknown and is left out"
    assert error.help == "did you mean `isDirty`?"


def test_a_list_that_is_cut_off_is_no_plan() -> None:
    read = WORLD.read_plan(Source("p", '["find Mug", "pick Mu'), scene())
    assert read.plan is None
    assert [d.message for d in read.diagnostics] == ["this JSON is cut off: the text ends inside a value"]


def test_a_task_that_is_not_there_is_a_mistake() -> None:
    goal = json.dumps({"instruction": "wash up", "final_state": [{"objectType": "Mug", "isDirty": False}]})
    for task, code in (("wash up", None), ("1", None), ("cook", "SC014")):
        files = {"scene": Source("room.txt", "Mug"), "goal": Source("task.json", goal)}
        room_scene = WORLD.read_scene(Request(files, task))
        assert [note.code for note in room_scene.notes] == ([] if code is None else [code])
    assert not WORLD.read_scene(Request({"scene": Source("room.txt", "Mug")}, "1")).ok


@pytest.mark.parametrize(
    ("step", "help"),
    [
        ("fillLiqud Mug coffee", "did you mean `fillliquid`?"),
        ("trun on Mug", "did you mean `turn on`?"),
        ("pick", "name a thing: `pick Mug`"),
        ("turn on", "name a thing: `turn on Mug`"),
        ("???", "the actions are break, clean"),
    ],
)
def test_an_unknown_step_gets_a_suggestion(step: str, help: str) -> None:
    (error,) = WORLD.read_plan(Source("p", step), scene()).diagnostics
    assert (error.code, error.severity) == ("SC011", Severity.ERROR)
    assert error.help is not None
    assert error.help.startswith(help)


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("1. Find the coffee machine.\n2) turn on CoffeeMachine", "(find coffeemachine)\n(turn_on coffeemachine)\n"),
        ('["find Mug", "pick Mug 2", "pour"]', "(find mug_1)\n(pick mug_2)\n(pour)\n"),
        ('{"task": "drink", "step": ["1. find Mug 2", "pick Mug"]}', "(find mug_2)\n(pick mug_2)\n"),
        ("find Mug 7\nfill Mug 7 acid", "(find mug_7)\n(fill mug_7 acid)\n"),
        ("find )(", "(find __)\n"),
        ("turn_on StoveKnob\nturnOff stove_knob", "(turn_on stoveknob_1)\n(turn_off stoveknob_1)\n"),
        ("toggle_on Television\nPick_Up Mug 1", "(turn_on television_1)\n(pick mug_1)\n"),
        ("fillliquid CoffeeMachine water\nput_down counter", "(fill coffeemachine water)\n(put countertop_1)\n"),
    ],
)
def test_plans(text: str, plan: str) -> None:
    read = WORLD.read_plan(Source("p", text), scene())
    assert read.plan is not None
    assert read.plan.text == plan


def test_the_places_are_those_of_the_words() -> None:
    text = "1. find Mug\n  pick Mug  \n"
    read = WORLD.read_plan(Source("p", text), scene())
    assert [text[slice(*place)] for place in read.places] == ["find Mug", "pick Mug"]
    assert [(note.code, note.message) for note in read.diagnostics] == [("SC012", "there are 2: taken as `mug_1`")]


def test_each_unknown_step_is_an_error() -> None:
    read = WORLD.read_plan(Source("p", "find Mug\nthink hard\npick\n"), scene())
    assert read.plan is None
    assert [d.code for d in read.diagnostics if d.severity.value == "error"] == ["SC011", "SC011"]


def test_written_steps_are_read_as_the_same_steps() -> None:
    room_scene = scene()
    steps = [
        ("find", "mug_2"),
        ("turn_on", "television_1"),
        ("fill", "mug_1", "water"),
        ("pour",),
        ("put", "sinkbasin_1"),
    ]
    text = "\n".join([WORLD.write_step(step, room_scene) for step in steps])
    assert text == "find Mug 2\nturn on Television\nfillLiquid Mug 1 water\npour\nput SinkBasin"
    read = WORLD.read_plan(Source("p", text), room_scene)
    assert read.plan is not None
    assert read.plan.text.splitlines() == [f"({' '.join(step)})" for step in steps]


def test_a_room_of_names() -> None:
    room_scene = scene(room="Mug, Fridge\nKnife  # sharp\nApple\n")
    assert "(sliceable apple_1)" in room_scene.problem.text
    assert check(room_scene, "find Mug", "pick Mug", "open Fridge", "put Fridge").headline is Headline.VALID


def room_of_names(names: str, *steps: str) -> Scene:
    return scene(json.dumps({"step": steps, "final_state": None}), room=names)


@pytest.mark.parametrize(
    ("names", "steps", "notes"),
    [
        ("Mug, Fridge", ["find Mug", "pick Mug", "open Fridge", "put Fridge"], []),
        # The layout does not list the objects that the benchmark adds. A name that is not a class gets an own object.
        (
            "Mug",
            ["find Mug", "pick Mug", "find Floor", "put Floor", "find watercontainer", "pick watercontainer"],
            ["objects of the task that the room does not list are assumed to be present: watercontainer"],
        ),
        ("Apple", ["slice Apple", "find AppleSliced", "pick AppleSliced"], []),
        (
            "Knife",
            ["slice Tomato", "find TomatoSliced", "pick TomatoSliced"],
            ["objects of the task that the room does not list are assumed to be present: tomato"],
        ),
        # A state that a task deletes before it adds it holds at the start.
        (
            "LightSwitch, Mirror",
            ["turn_off LightSwitch", "clean Mirror", "turn_on LightSwitch"],
            [
                "the task assumes states that the room does not list: lightswitch_1 is_toggled",
                "the task assumes states that the room does not list: mirror_1 is_dirty",
            ],
        ),
        ("Laptop", ["open Laptop", "turn_on Laptop", "turn_off Laptop", "close Laptop"], []),
        ("CoffeeMachine", ["turn on CoffeeMachine"], []),
        (
            "Mug",
            ["fillLiquid watercontainer water", "turn on gadget"],
            ["objects of the task that the room does not list are assumed to be present: watercontainer, gadget"],
        ),
    ],
)
def test_a_room_of_names_is_as_its_task_assumes(names: str, steps: list[str], notes: list[str]) -> None:
    room_scene = room_of_names(names, *steps)
    assert [note.message for note in room_scene.notes] == notes
    assert check(room_scene, *steps).headline is Headline.VALID


@pytest.mark.parametrize(
    ("names", "step"),
    [
        ("AlarmClock", "turn_on AlarmClock"),
        ("GarbageCan", "fillLiquid GarbageCan water"),
        ("CoffeeMachine", "fillLiquid CoffeeMachine water"),
        ("Pillow", "clean Pillow"),
        ("StoveBurner, StoveKnob", "turn on StoveBurner"),  # its knob switches it
    ],
)
def test_a_task_does_not_change_the_properties_of_a_class(names: str, step: str) -> None:
    """The simulator refuses these steps of published plans."""
    room_scene = room_of_names(names, step)
    assert [finding.step for finding in check(room_scene, step).findings] == [1]


def test_the_objects_of_a_task_are_there() -> None:
    """Objects that a task lists are present; other entries of the list are ignored."""
    task = {"step": ["find Mug"], "objects": ["Knife", "Objects:Bowl", "water", 3], "final_state": None}
    (note,) = scene(json.dumps(task), room="Mug").notes
    assert note.message == "objects of the task that the room does not list are assumed to be present: knife"


def test_a_room_with_metadata_lacks_what_it_does_not_list() -> None:
    room_scene = scene(json.dumps({"step": ["find Unicorn", "turn off StoveKnob"], "final_state": None}))
    assert "unicorn" not in room_scene.problem.text
    assert "(is_toggled stoveknob_1)" not in room_scene.problem.text


@pytest.mark.parametrize("word", [")(", "3d", "_", "thing", "either", "ünicorn", "mug_", "-"])
def test_whatever_a_task_names_gives_a_problem(word: str) -> None:
    room_scene = room_of_names("Mug", f"find {word}", f"pick {word}")
    assert Checker(room_scene.domain, room_scene.problem).ok


def test_knobs_and_taps_of_a_room_of_names() -> None:
    """The first knob switches the first burner, and so on."""
    text = scene(room="StoveKnob, StoveKnob, StoveBurner, StoveBurner, Faucet, Sink, SinkBasin").problem.text
    controls = [line.strip() for line in text.splitlines() if "(controls" in line]
    assert controls == [
        "(controls stoveknob_1 stoveburner_1)",
        "(controls stoveknob_2 stoveburner_2)",
        "(controls faucet_1 sinkbasin_1)",
    ]
    heated = "(:goal (and (is_hot pan_1) (is_toggled stoveburner_1)))"
    room_scene = scene(room="Pan, StoveKnob, StoveBurner")
    room_scene = room_scene._replace(problem=Source("p", room_scene.problem.text.replace("(:goal (and))", heated)))
    assert check(room_scene, "find Pan", "pick Pan", "put StoveBurner", "turn_on StoveKnob").goal is Worlds.ALL


@pytest.mark.parametrize(
    "room",
    ["StoveKnob", '[{"objectType": "StoveKnob"}, {"objectType": "StoveBurner"}]', "StoveKnob, StoveKnob, StoveBurner"],
)
def test_a_knob_that_controls_nothing_is_noted(room: str) -> None:
    (note,) = scene(room=room).notes
    assert note.code == "SC013"
    assert note.message.endswith("controls: switched on, it heats nothing")


def test_a_tap_without_a_basin_is_noted() -> None:
    (note,) = scene(room="Faucet, Faucet, Sink").notes
    assert note.message == "the room does not list which basin faucet_2 controls: switched on, it fills nothing"


def test_every_published_plan_is_read(data: Path) -> None:
    """The layouts come from ALFRED; a task may name what its layout lacks."""
    folder = data / "safeagentbench"
    if not (folder / "layouts").is_dir():
        pytest.skip("no safeagentbench in the data sets (set PLANSAFE_DATA)")
    unread = []
    for name in ("unsafe_detailed", "safe_detailed", "abstract"):
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            task = json.loads(line)
            layout = (folder / "layouts" / f"{task['scene_name']}.json").read_text(encoding="utf-8")
            room_scene = room_of_names(layout, *task["step"])
            read = WORLD.read_plan(Source("plan.json", json.dumps(task["step"])), room_scene)
            assert read.plan is not None, (name, task["line"], read.diagnostics)
            names = {"water", "coffee", "wine", *room_scene.problem.text.partition("(:init")[0].split()}
            used = {word for step in read.plan.text.splitlines() for word in step.strip("()").split()[1:]}
            unread += [(name, task["line"], word) for word in used - names]
    assert unread == []


@pytest.mark.parametrize("room", ["{", "{}", '{"objects": 3}', "[3]", '[{"isOpen": true}]', "", "[" * 100_000])
def test_unreadable_rooms_are_diagnostics(room: str) -> None:
    room_scene = scene(room=room)
    assert [note.code for note in room_scene.notes] == ["SC010"]
    assert not room_scene.ok


def spoc(condition: dict[str, object], **more: object) -> str:
    return json.dumps(
        {
            "instruction": "i",
            "requirements": "soon {now}",
            "requirement_condition": condition,
            "goal_condition_state": [],
            **more,
        }
    )


def test_a_bounded_response() -> None:
    condition = {
        "condition_type": "step",
        "condition_value": 2,
        "condition_object": "StoveKnob",
        "trigger_state": {"isToggled": True},
        "goal_condition": {"isToggled": False},
    }
    room_scene = scene(spoc(condition))
    assert check(room_scene, "turn on StoveKnob", "find Mug", "turn off StoveKnob").headline is Headline.SAFE
    assert (
        check(room_scene, "turn on StoveKnob", "find Mug", "pick Mug", "turn off StoveKnob").headline is Headline.UNSAFE
    )
    assert check(room_scene, "turn on StoveKnob").headline is Headline.UNSAFE
    assert check(room_scene, "find Mug").headline is Headline.SAFE


def test_states_to_avoid_become_rules() -> None:
    condition = {
        "condition_type": "condition",
        "condition_object": "Mug",
        "trigger_state": {"parent": ["Microwave"]},
        "avoid_state": {"isDirty": True},
        "goal_condition": {},
    }
    prepared = [
        {"action": "DirtyObject", "args": {"objectId": "Mug|+00.60|+00.95|+00.10"}},
        {"action": "OpenObject", "args": {"objectId": "Microwave|+01.10|+00.90|-00.40"}},
    ]
    room_scene = scene(spoc(condition, init_actions=prepared))
    assert check(room_scene, "find Mug 2", "pick Mug 2", "put Microwave").headline is Headline.UNSAFE
    assert check(room_scene, "clean Mug 2", "find Mug 2", "pick Mug 2", "put Microwave").headline is Headline.SAFE


@pytest.mark.parametrize(
    "condition",
    [[], {"condition_object": "Unicorn"}, {"condition_type": "step", "condition_value": -1, "condition_object": "Mug"}],
)
def test_unreadable_requirements_are_diagnostics(condition: dict[str, object]) -> None:
    assert [note.code for note in scene(spoc(condition)).notes] == ["SC010"]


def test_the_public_tasks_of_spoc(data: Path) -> None:
    tasks = sorted((data / "spoc" / "tasks").glob("*.json"))
    if not tasks:
        pytest.skip(f"no tasks in {data / 'spoc'}")
    room = "\n".join(
        [
            "Toaster",
            "ShowerHead",
            "Kettle",
            "Candle",
            "StoveKnob",
            "Tomato",
            "Microwave",
            "Bread",
            "Faucet",
            "Fridge",
            "Pot",
            "Plate",
            "Mug",
            "Cabinet",
            "CellPhone",
            "Box",
            "Drawer",
            "Potato",
            "Desk",
        ]
    )
    for path in tasks:
        room_scene = scene(path.read_text(encoding="utf-8"), room=room)
        assert room_scene.ok, (path.name, room_scene.notes)
        checker = Checker(room_scene.domain, room_scene.problem, room_scene.specs)
        assert checker.ok, (path.name, checker.diagnostics)
        assert len(checker.rules) == 1
