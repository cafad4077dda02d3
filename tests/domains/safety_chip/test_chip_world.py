"""The world `safety-chip`: scenes of lines and of the benchmark's shape, programs, and the way back."""

from __future__ import annotations

import json

import pytest

from plansafe.domains.safety_chip import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline

LINES = """# a made-up home
room hall 10
room study 50
room cellar 90
door hall study
door hall cellar
start study
G ! agent_at(cellar)
W ! is_switchedon(tv) is_open(window)
"""
TRANSLATIONS = {
    "rooms": {
        "1": {
            "made_up": {
                "2": {
                    "sub_trans": {
                        "sym_ltl": ["W ! agent_at(A) is_grabbed(B)", "W ! agent_at(B) agent_at(A)"],
                        "placeholder": [{"kitchen": "A", "lantern": "B"}, {"bathroom": "A", "bedroom": "B"}],
                        "sym_utt": ["don't go to A before you grab B", "don't go to A before B"],
                    }
                }
            }
        }
    }
}
TASKS = {
    "rooms": {
        "1": {
            "made_up": {
                "init_room": "livingroom",
                "goal_state": {"lantern": {"is_in": "fridge"}, "tv": {"is_switchedon": False}},
                "constraints": {
                    "2": ["don't go to kitchen before you grab lantern", "don't go to bathroom before bedroom"]
                },
            }
        }
    }
}


def lines(text: str = LINES) -> Scene:
    return WORLD.read_scene(Request({"scene": Source("scene.txt", text)}))


def translated(task: str | None = "rooms/1/made_up/2") -> Scene:
    files = {
        "scene": Source("formulas.json", json.dumps(TRANSLATIONS)),
        "goal": Source("tasks.json", json.dumps(TASKS)),
    }
    return WORLD.read_scene(Request(files, task))


def test_a_walk_passes_the_rooms_on_the_way() -> None:
    scene = lines()
    text = Source("p.txt", "<char0> [walk] <cellar> (90)\n<char0> [switchon] <tv> (91)\n")
    read = WORLD.read_plan(text, scene)
    assert read.plan is not None
    assert read.plan.text == "(walk study hall)\n(walk hall cellar)\n(switchon tv)\n"
    assert [text.slice(place) for place in read.places] == [
        "<char0> [walk] <cellar> (90)",
        "<char0> [walk] <cellar> (90)",
        "<char0> [switchon] <tv> (91)",
    ]
    report = Checker(scene.domain, scene.problem, scene.specs).check(read.plan)
    assert report.headline is Headline.UNSAFE
    assert [(finding.rule, finding.step) for finding in report.findings] == [("constraint_1", 2), ("constraint_2", 3)]


def test_the_number_of_an_object_determines_its_room() -> None:
    read = WORLD.read_plan(Source("p.txt", "[FIND] <book> (12)\n[FIND] <pen> (1.55)\n[FIND] <lid> (3)\n"), lines())
    assert read.plan is not None
    assert read.plan.text == "(walk study hall)\n(find book)\n(walk hall study)\n(find pen)\n(find lid)\n"


def test_the_benchmark_gives_start_goal_and_sentences() -> None:
    scene = translated()
    assert "(agent_at livingroom)" in scene.problem.text
    assert "(:goal (and (is_in lantern fridge) (not (is_switchedon tv))))" in scene.problem.text
    assert "lantern - thing" in scene.problem.text
    assert "(door kitchen livingroom)" in scene.problem.text
    assert "don't go to kitchen before you grab lantern" in scene.specs[0].text
    assert Checker(scene.domain, scene.problem, scene.specs).ok


def test_a_formula_that_is_not_its_sentence_is_noted() -> None:
    (note,) = translated().notes
    assert note.code == "SC015"
    assert note.help == "the sentence means `W ! agent_at(bathroom) agent_at(bedroom)`"


@pytest.mark.parametrize(
    ("task", "code", "says"),
    [
        (None, "SC014", "`--task` can continue with one of: rooms"),
        ("rooms/1", "SC014", "rooms/1/made_up"),
        ("rooms/2", "SC014", "rooms/1"),
    ],
)
def test_an_unclear_task_is_a_diagnostic(task: str | None, code: str, says: str) -> None:
    (wrong,) = translated(task).notes
    assert wrong.code == code
    assert says in (wrong.help or "")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("G i agent_at(hall)", "SC015"),
        ("G ! is_lit(lamp)", "SC015"),
        ("home 7", "SC010"),
        ("start attic", "SC010"),
        ("door hall attic\nroom hall", "SC010"),
        ("room 9", "SC010"),
        ("room hall ten", "SC010"),
        ("{", "SC010"),
        ('{"sub_trans": {"sym_ltl": [1], "placeholder": [{}]}}', "SC010"),
        ('{"sub_trans": []}', "SC010"),
        ('{"a": 1}', "SC014"),
        ("[" * 200_000, "SC015"),
        ('{"a":' * 200_000, "SC010"),
    ],
)
def test_unreadable_scenes_are_diagnostics_with_a_place(text: str, code: str) -> None:
    scene = lines(text)
    assert not scene.ok
    assert [note.code for note in scene.notes] == [code]
    assert scene.notes[0].labels


def test_unreadable_lines_are_diagnostics() -> None:
    text = "Make tea\nBoil water, drink.\n\n[walk] <hall> (10)\n[grab <mug> (2)\nsit down\n"
    read = WORLD.read_plan(Source("p.txt", text), lines())
    assert read.plan is None
    assert [text[slice(*d.labels[0].span)] for d in read.diagnostics] == ["[grab <mug> (2)", "sit down"]


def test_unknown_actions_and_things_stay_for_the_checker() -> None:
    scene = lines()
    read = WORLD.read_plan(Source("p.txt", "[juggle] <apple> (3)\n[open] <)(> (1)\n[walk] <garage> (2) <x> (1)"), scene)
    assert read.plan is not None
    report = Checker(scene.domain, scene.problem, scene.specs).check(read.plan)
    assert report.headline is Headline.INVALID
    assert [finding.code for finding in report.findings if finding.step == 1] == ["SC401"]


@pytest.mark.parametrize(
    "text",
    [
        '["[open] <window> (3)", "[switchon] <tv> (4)"]',
        '{"constraint": ["a"], "program": ["[open] <window> (3)"]}',
        "[]",
    ],
)
def test_programs_in_json(text: str) -> None:
    read = WORLD.read_plan(Source("p.json", text), lines())
    assert read.plan is not None
    assert [text[slice(*place)] for place in read.places] == [
        s for s in text.split('"') if s.startswith("[") and "<" in s
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("this is no program\n", "the plan has no steps"),
        ('{"nodes": []}', "the plan has no steps"),
        ('["<char0> [walk] <study> (1)", "<char0> [wa', "this JSON is cut off"),
        ('{"program": ["<char0> [walk] <study> (1)", ', "this JSON is cut off"),
    ],
)
def test_a_text_that_is_not_a_program_is_refused(text: str, message: str) -> None:
    """The part that can be read would be SAFE."""
    read = WORLD.read_plan(Source("program.txt", text), lines())
    assert read.plan is None
    (error,) = read.diagnostics
    assert error.code == "SC011"
    assert message in error.message


def test_a_constraint_about_a_misspelt_room_is_a_warning() -> None:
    task_scene = lines(LINES.replace("agent_at(cellar)", "agent_at(celler)"))
    (warning,) = task_scene.notes
    assert (warning.code, warning.severity, warning.help) == ("SC013", Severity.WARNING, "did you mean `cellar`?")
    assert not lines(LINES.replace("agent_at(cellar)", "agent_at(lantern)")).notes
    assert not lines("").ok


def test_a_scene_of_lines_takes_no_task_and_no_goal() -> None:
    scene_file = Source("scene.txt", LINES)
    assert [note.code for note in WORLD.read_scene(Request({"scene": scene_file}, "rooms/0")).notes] == ["SC014"]
    with_goal = WORLD.read_scene(Request({"scene": scene_file, "goal": Source("tasks.json", json.dumps(TASKS))}))
    assert [note.code for note in with_goal.notes] == ["SC010"]


def test_written_steps_are_read_as_the_same_steps() -> None:
    scene = translated()
    steps = [("walk", "livingroom", "kitchen"), ("find", "fridge"), ("putin", "lantern", "fridge"), ("sleep",)]
    text = "\n".join([WORLD.write_step(step, scene) for step in steps])
    assert text.startswith("<char0> [walk] <kitchen> (126)\n<char0> [find] <fridge> (0)\n")
    read = WORLD.read_plan(Source("p.txt", text), scene)
    assert read.plan is not None
    assert read.plan.text.splitlines() == [f"({' '.join(step)})" for step in steps]


def test_a_program_without_a_start_enters_the_first_room_from_outside() -> None:
    scene = lines("home 0\nG ! agent_at(bathroom)")
    read = WORLD.read_plan(Source("p.txt", "[walk] <bedroom> (73)\n[walk] <kitchen> (205)"), scene)
    assert read.plan is not None
    assert read.plan.text == "(arrive bedroom)\n(walk bedroom kitchen)\n"
    assert Checker(scene.domain, scene.problem, scene.specs).check(read.plan).headline is Headline.SAFE


@pytest.mark.parametrize("rule", ["F is_on(mug,coffeetable)", "F is_in(mug,coffeetable)", "F is_in(mug,cupboard)"])
def test_an_object_put_into_furniture_is_on_it(rule: str) -> None:
    scene = lines(f"start kitchen\n{rule}\n")
    program = "[grab] <mug> (1)\n[putin] <mug> (1) <coffeetable> (2)\n"
    read = WORLD.read_plan(Source("p.txt", program), scene)
    assert read.plan is not None
    report = Checker(scene.domain, scene.problem, scene.specs).check(read.plan)
    assert (report.headline is Headline.UNSAFE) == ("cupboard" in rule)
