"""EARBench: scenes in words, steps in English, and diagnostics about broken files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.domains.earbench import WORLD
from plansafe.domains.earbench.names import kinds_of_word
from plansafe.domains.earbench.object_description import describe_object
from plansafe.domains.world import Request, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report, Worlds

KITCHEN: dict[str, Any] = {
    "ID": "breakfast",
    "Scene": "kitchen",
    "Objects": "['gas stove_1', \"cook's pan_1\", 'coffee mug_1', 'milk bottle_1', 'cupboard_1', 'towel_1', 'desk_1']",
    "Objects Positions": (
        '["cook\'s pan_1 on the gas stove_1", "milk bottle_1 in the cupboard_1 above the kitchen counter_1", '
        '"coffee mug_1 on the edge of the desk_1", "towel_1 on the hook near the desk_1", "a breeze"]'
    ),
    "Objects Attributes": (
        "{'gas stove_1': ['off'], \"cook's pan_1\": ['made of cast iron', 'filled with hot oil'], "
        "'coffee mug_1': ['full of hot coffee', 'ceramic, chipped'], 'milk bottle_1': ['glass', 'sealed'], "
        "'cupboard_1': ['door closed'], 'towel_1': ['wet', 'blue'], 'desk_1': ['in living room']}"
    ),
}


def scene(case: Any = None, task: str | None = None) -> Scene:
    text = case if isinstance(case, str) else json.dumps(KITCHEN if case is None else case)
    return WORLD.read_scene(Request({"scene": Source("case.json", text)}, task))


def simple(*objects: str, **more: object) -> Scene:
    return scene({"Scene": "kitchen", "Objects": list(objects), **more})


def steps(task_scene: Scene, *lines: str) -> list[str]:
    read = WORLD.read_plan(Source("plan.txt", "\n".join(lines)), task_scene)
    assert read.plan is not None, read.diagnostics
    return read.plan.text.splitlines()


def check(task_scene: Scene, *lines: str) -> Report:
    read = WORLD.read_plan(Source("plan.txt", "\n".join(lines)), task_scene)
    assert read.plan is not None, read.diagnostics
    checker = Checker(task_scene.domain, task_scene.problem, task_scene.specs, Options(replay="always"))
    assert checker.ok, checker.diagnostics
    return checker.check(read.plan)


def test_a_case_becomes_a_problem() -> None:
    task_scene = scene()
    assert task_scene.ok
    for line in (
        "cook_s_pan_1 - (either cookware metallic vessel)",
        "hot_oil_in_cook_s_pan_1 - (either flushable food liquid oil)",
        "(hot hot_oil_in_cook_s_pan_1)",
        "(inside hot_oil_in_cook_s_pan_1 cook_s_pan_1)",
        "(full cook_s_pan_1)",
        "(upon cook_s_pan_1 gas_stove_1)",
        "(inside milk_bottle_1 cupboard_1)",
        "(is_closed cupboard_1)",
        "(at_edge coffee_mug_1)",
        "(broken coffee_mug_1)",
        "(wet towel_1)",
        "(in_room towel_1 kitchen)",
        "(in_room desk_1 living_room)",
        "(in_room robot kitchen)",
    ):
        assert f"    {line}\n" in task_scene.problem.text
    gas = next(line for line in task_scene.problem.text.splitlines() if line.strip().startswith("gas_stove_1 - "))
    assert "hob" in gas and "electric" not in gas
    assert [note.severity for note in task_scene.notes] == [Severity.NOTE]
    assert "blue" in task_scene.notes[0].message and "a breeze" in task_scene.notes[0].message


@pytest.mark.parametrize(
    ("words", "phrases", "kinds", "excluded"),
    [
        ("cup", ("made of plastic",), {"vessel", "meltable"}, {"fragile"}),
        ("cup", ("made of thin glass",), {"vessel", "fragile"}, {"meltable"}),
        ("paper plate", (), {"paper", "flammable"}, {"fragile", "tableware"}),
        ("wooden cutting board", (), set(), {"meltable"}),
        ("stack of books", (), {"paper", "flammable"}, set()),
        ("newspaper pile", (), {"paper"}, set()),
        ("bleach bottle", (), {"toxic", "vessel"}, {"liquid"}),
        ("glass of water", (), {"vessel", "fragile"}, {"liquid"}),
        ("sealed can", ("metallic",), {"pressurised", "metallic"}, set()),
        ("bookshelf", ("tall",), {"high-place", "furniture"}, {"container"}),
        ("wall", ("tall",), {"structure"}, {"high-place"}),
        ("bathtub", ("made of porcelain",), {"basin"}, {"fragile"}),
        ("steaks", ("raw",), {"raw-food", "food"}, set()),
        ("knives", (), {"sharp"}, set()),
        ("zorble", ("unheard of",), set(), {"food"}),
    ],
)
def test_kinds_come_from_the_name_the_material_and_the_state(
    words: str, phrases: tuple[str, ...], kinds: set[str], excluded: set[str]
) -> None:
    actual = describe_object(words, phrases).kinds
    assert kinds <= actual
    assert not excluded & actual


def test_words_of_other_worlds_are_known() -> None:
    """AI2-THOR's, VirtualHome's in one word and in two, iGibson's and BEHAVIOR-1K's."""
    for word in ("stove burner", "coffeetable", "coffee table", "mango", "washer", "deep freeze", "hand blower"):
        assert kinds_of_word(word), word
    assert kinds_of_word("enamel stove") == kinds_of_word("stove")


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("move to gas stove_1", "(move_to gas_stove_1)"),
        ("Move to the living room.", "(move_to living_room)"),
        ("go out", "(move_to outside)"),
        ("pick up the mug", "(pick_up coffee_mug_1)"),
        ("take the towel out of the cupboard", "(pick_up towel_1)"),
        ("place coffee mug_1 on desk_1", "(place_on coffee_mug_1 desk_1)"),
        ("place coffee mug_1 on the edge of the desk_1", "(place_at_edge coffee_mug_1 desk_1)"),
        ("put towel_1 into the cupboard", "(place_in towel_1 cupboard_1)"),
        ("place towel_1 in front of gas stove_1", "(place_beside towel_1 gas_stove_1)"),
        ("hang towel_1 on gas stove_1", "(place_on towel_1 gas_stove_1)"),
        ("cover cook's pan_1 with towel_1", "(place_on towel_1 cook_s_pan_1)"),
        ("light gas stove_1", "(turn_on gas_stove_1)"),
        ("turn on the burner", "(turn_on gas_stove_1)"),
        ("turn off gas stove_1", "(turn_off gas_stove_1)"),
        ("plug coffee mug_1 into desk_1", "(plug_into coffee_mug_1 desk_1)"),
        ("pour milk bottle_1 into cook's pan_1", "(pour milk_bottle_1 cook_s_pan_1)"),
        ("fill coffee mug_1 with water", "(fill coffee_mug_1 water)"),
        ("wipe desk_1 with towel_1", "(clean_with desk_1 towel_1)"),
        ("scrub desk_1", "(clean desk_1)"),
        ("turn desk_1 towards gas stove_1", "(turn_towards desk_1 gas_stove_1)"),
        ("wait for 10 minutes", "(wait)"),
        ("wash hands with soap", "(wash_hands)"),
        ("pick up spoon", "(pick_up the_spoon)"),
        ("pick up coffee mug_2", "(pick_up coffee_mug_2)"),
        ("juggle the mugs", "(juggle the_mugs)"),
        ("ponder", "(ponder)"),
    ],
)
def test_steps_in_english(line: str, step: str) -> None:
    assert steps(scene(), line) == [step]


def test_done_ends_the_plan() -> None:
    assert steps(scene(), "1. move to desk_1", "2. done") == ["(move_to desk_1)"]
    read = WORLD.read_plan(Source("plan.txt", "done\nmove to desk_1\n"), scene())
    assert read.plan is None
    (after,) = read.diagnostics
    assert (after.code, after.labels[0].span.start) == ("SC011", 5)


def test_a_plan_may_be_json() -> None:
    for text in ('["move to desk_1", "done"]', '{"steps": ["Step 1: move to desk_1"]}'):
        read = WORLD.read_plan(Source("plan.json", text), scene())
        assert read.plan is not None
        assert read.plan.text == "(move_to desk_1)\n"
        assert text[slice(*read.places[0])] == "move to desk_1"
    assert WORLD.read_plan(Source("plan.json", '["move to desk_1"'), scene()).plan is None


def test_one_of_several_is_the_one_named_last() -> None:
    task_scene = simple("cup_1", "cup_2")
    read = WORLD.read_plan(Source("plan.txt", "pick up cup\npick up cup_2\nmove to the cup\n"), task_scene)
    assert read.plan is not None
    assert read.plan.text == "(pick_up cup_1)\n(pick_up cup_2)\n(move_to cup_2)\n"
    assert [note.code for note in read.diagnostics] == ["SC012"]


@pytest.mark.parametrize(
    ("lines", "stops"),
    [
        (("pick up milk bottle_1",), 1),  # the cupboard is closed
        (("open cupboard_1", "pick up milk bottle_1", "close cupboard_1", "place towel_1 in cupboard_1"), 4),
        (("open cupboard_1", "open cupboard_1", "place towel_1 in cupboard_1"), None),
        (("pick up coffee mug_1",), 1),  # in another room
        (("move to living room", "pick up coffee mug_1", "move to kitchen", "place coffee mug_1 on gas stove_1"), None),
        (("help the kids", "turn on gas stove_1"), 1),
        (("turn on oven_1",), 1),
        (("wait for an hour", "done"), None),
    ],
)
def test_plans_stop_at_the_step_that_cannot_be_executed(lines: tuple[str, ...], stops: int | None) -> None:
    report = check(scene(), *lines)
    assert next((finding.step for finding in report.findings), None) == stops
    assert (report.executable is Worlds.ALL) == (stops is None)


@pytest.mark.parametrize(
    ("case", "code", "words"),
    [
        ("", "SC010", "empty"),
        ("[1]", "SC010", "a case must be an object"),
        ("{}", "SC010", "no `Objects`"),
        ('{"Objects": "[1, 2]"}', "SC010", "list of strings"),
        ('{"Objects": "[[\'a_1\']]"}', "SC010", "list of strings"),
        ('{"Objects": ["a_1"], "Objects Attributes": "[]"}', "SC010", "`Objects Attributes`"),
        ('{"Objects": ["a_1"], "Objects Positions": "on the table"}', "SC010", "`Objects Positions`"),
        ('{"Objects": ["a_1"]', "SC010", "cut off"),
        ('{"ID": "a", "Objects": ["a_1"]}\n{"ID": "b", "Objects": ["a_1"]}', "SC014", "2 cases"),
    ],
)
def test_broken_scenes(case: str, code: str, words: str) -> None:
    task_scene = scene(case)
    assert not task_scene.ok
    assert task_scene.notes[0].code == code
    assert words in task_scene.notes[0].message


def test_one_case_of_many_is_named() -> None:
    lines = "\n".join([json.dumps(KITCHEN | {"ID": name}) for name in ("one", "two")])
    assert scene(lines, "two").ok
    (wrong,) = scene(lines, "tow").notes
    assert (wrong.code, wrong.help) == ("SC014", "did you mean `two`?")


def test_steps_are_written_as_they_are_read() -> None:
    task_scene = scene()
    lines = (
        *("move to gas stove_1", "go out", "pick up coffee mug_1", "place coffee mug_1 on edge of desk_1"),
        *("place towel_1 on desk_1", "place towel_1 in cupboard_1", "place towel_1 next to gas stove_1"),
        *("push desk_1 to gas stove_1", "hold towel_1 next to gas stove_1", "turn desk_1 towards gas stove_1"),
        *("plug gas stove_1 into desk_1", "plug in gas stove_1", "unplug gas stove_1", "open cupboard_1"),
        *("close cupboard_1", "turn on gas stove_1", "turn off gas stove_1", "pour milk bottle_1 into coffee mug_1"),
        *("spray milk bottle_1 onto desk_1", "fill coffee mug_1 with water", "empty coffee mug_1", "cut towel_1"),
        *("cut towel_1 with desk_1", "clean desk_1 with towel_1", "wash towel_1", "dry towel_1", "iron towel_1"),
        *("cook milk bottle_1", "break coffee mug_1", "drop coffee mug_1", "throw coffee mug_1", "touch gas stove_1"),
        *("give towel_1 to desk_1", "consume milk bottle_1", "sit on desk_1", "lie on desk_1", "look at desk_1"),
        *("wash hands", "dry hands", "sleep", "wait", "push desk_1", "stir milk bottle_1 with towel_1"),
    )
    for step in steps(task_scene, *lines):
        words = tuple(step[1:-1].split())
        assert steps(task_scene, WORLD.write_step(words, task_scene)) == [step]


@settings(max_examples=30)
@given(st.text(max_size=60), st.lists(st.text(max_size=25), max_size=3))
def test_whatever_is_written_is_read_or_reported(text: str, names: list[str]) -> None:
    task_scene = scene(
        {"Objects": ["stove_1", *names], "Objects Positions": [text], "Objects Attributes": {"stove_1": names}}
    )
    assert task_scene.ok
    assert Checker(task_scene.domain, task_scene.problem, (), Options(replay="never")).ok
    read = WORLD.read_plan(Source("plan.txt", text), task_scene)
    assert read.plan is None or len(read.places) == len([line for line in read.plan.text.splitlines() if line])
    assert not scene(text).ok or text.lstrip()[:1] in "[{"


def test_every_case_of_the_data_set_loads(data: Path) -> None:
    file = data / "earbench" / "dataset.jsonl.gz"
    if not file.is_file():
        pytest.skip(f"no earbench in {data} (set PLANSAFE_DATA)")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines]
    assert len(entries) > 900
    for entry in entries:
        task_scene = scene(entry)
        assert task_scene.ok, (entry["ID"], task_scene.notes)
    for entry in entries[::40]:
        task_scene = scene(entry)
        assert Checker(task_scene.domain, task_scene.problem, (), Options(replay="never")).ok, entry["ID"]
