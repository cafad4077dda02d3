"""Mistakes in activities are reported at their places; valid activities become tasks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from case_files import Case, read_cases
from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

HERE = Path(__file__).parent
BROKEN = read_cases(HERE / "broken.md")


def read_scene(text: str, name: str = "test.bddl") -> Scene:
    return WORLD.read_scene(Request({"scene": Source(name, text)}))


def write_activity(objects: str, init: str, goal: str, domain: str = "igibson") -> str:
    return f"(define (problem p-0) (:domain {domain}) (:objects {objects}) (:init {init}) (:goal {goal}))"


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_mistakes_are_reported_at_their_places(case: Case) -> None:
    name, text = f"{case.name}.bddl", case.text("scene.bddl")
    expected = re.fullmatch(r"(\S+) (\d+):(\d+) ?(.*)", *case.lines)
    assert expected is not None
    activity_scene = read_scene(text, name)
    assert not activity_scene.ok
    error = next(note for note in activity_scene.notes if note.severity is Severity.ERROR)
    source = Source(name, text)
    line, column = source.position(error.labels[0].span.start)
    assert (error.code, line, column) == (expected[1], int(expected[2]), int(expected[3])), error
    assert expected[4] in error.message
    assert error.labels[0].source == name


def test_a_near_name_is_suggested() -> None:
    activity_scene = read_scene(write_activity("cup.n.01_1 - cup.n.01", "(open cop.n.01_1)", "(and)"))
    assert [note.help for note in activity_scene.notes] == ["did you mean `cup.n.01_1`?"]
    activity_scene = read_scene(write_activity("cup.n.01_1 - cup.n.01", "", "(forall (?x - cup.n.01) (opne ?x))"))
    assert [note.help for note in activity_scene.notes] == ["did you mean `open`?"]


def test_names_stay_recognisable_and_one_to_one() -> None:
    objects = "cup.n.01_1 cup_n_01_1 right_hand - cup.n.01 deep-freeze.n.02_1 - deep-freeze.n.02"
    activity_scene = read_scene(write_activity(objects, "(open cup_n_01_1)", "(open cup.n.01_1)"))
    assert activity_scene.ok, activity_scene.notes
    names = [
        activity_scene.data.names[name] for name in ("cup.n.01_1", "cup_n_01_1", "right_hand", "deep-freeze.n.02_1")
    ]
    assert names == ["cup_n_01_1", "cup_n_01_1_", "right_hand_", "deep-freeze_n_02_1"]
    assert Checker(activity_scene.domain, activity_scene.problem).ok


def test_categories_that_the_domain_lacks_are_added() -> None:
    activity_scene = read_scene(
        write_activity("gizmo.n.03_1 - gizmo.n.03 water.n.99_1 - water.n.99", "", "(and)", "omnigibson")
    )
    assert "gizmo_n_03" in activity_scene.domain.text
    filled = write_activity(
        "gizmo.n.03_1 - gizmo.n.03 goo.n.99_1 - goo.n.99", "(filled gizmo.n.03_1 goo.n.99_1)", "(and)"
    )
    activity_scene = read_scene(filled.replace("igibson", "omnigibson"))
    assert re.search(r"goo_n_99 - substance", activity_scene.domain.text)
    assert re.search(r"gizmo_n_03 - \(either fillable movable\)", activity_scene.domain.text)
    assert Checker(activity_scene.domain, activity_scene.problem).ok


def test_known_categories_use_the_shipped_domain() -> None:
    tea_scene = read_scene((HERE / "scenes" / "serve_tea.bddl").read_text())
    assert tea_scene.domain.name.endswith("igibson/domain.pddl")
    assert "with" not in tea_scene.domain.name


def test_rooms_wildcards_and_real_objects() -> None:
    objects = "sofa.n.01_1 sofa.n.01_* - sofa.n.01 cookie.n.01_1 - cookie.n.01"
    activity_scene = read_scene(
        write_activity(objects, "(inroom sofa.n.01_1 kitchen) (future cookie.n.01_1)", "(and)", "omnigibson")
    )
    assert activity_scene.ok
    text = activity_scene.problem.text
    assert "kitchen - room" in text and "(inroom sofa_n_01_1 kitchen)" in text
    assert "(real sofa_n_01_more)" in text and "(real cookie_n_01_1)" not in text
    assert [(note.code, note.severity) for note in activity_scene.notes] == [("SC012", Severity.NOTE)]
    assert Checker(activity_scene.domain, activity_scene.problem).ok


def test_halves_belong_to_their_object() -> None:
    objects = (
        "apple.n.01_1 apple.n.01_2 - apple.n.01 half__apple.n.01_1 half__apple.n.01_2 half__apple.n.01_3 "
        "half__apple.n.01_4 - half__apple.n.01 diced__apple.n.01_1 - diced__apple.n.01"
    )
    text = read_scene(write_activity(objects, "", "(and)", "omnigibson")).problem.text
    halves = re.findall(r"\(half_of half__apple_n_01_(\d) apple_n_01_(\d)\)", text)
    assert halves == [("1", "1"), ("2", "1"), ("3", "2"), ("4", "2")]
    diced = re.findall(r"\(diced_of diced__apple_n_01_1 (\w+)\)", text)
    assert diced == ["apple_n_01_1", "apple_n_01_2", *[f"half__apple_n_01_{number}" for number in range(1, 5)]]


def test_cooked_diced_food_has_a_diced_object() -> None:
    objects = "steak.n.01_1 - steak.n.01 cooked__diced__steak.n.01_1 - cooked__diced__steak.n.01"
    activity_scene = read_scene(write_activity(objects, "(future cooked__diced__steak.n.01_1)", "(and)", "omnigibson"))
    text = activity_scene.problem.text
    assert "(diced_of diced__steak_n_01_1 steak_n_01_1)" in text and "(future diced__steak_n_01_1)" in text
    assert "(heated_of cooked__diced__steak_n_01_1 diced__steak_n_01_1)" in text
    assert Checker(activity_scene.domain, activity_scene.problem).ok


def test_a_goal_about_more_objects_than_declared_is_a_warning() -> None:
    activity_scene = read_scene(write_activity("cup.n.01_1 - cup.n.01", "", "(forn (2) (?c - cup.n.01) (open ?c))"))
    assert activity_scene.ok
    assert [(note.code, note.severity) for note in activity_scene.notes] == [("SC015", Severity.WARNING)]


def test_a_goal_with_too_large_a_count_is_refused() -> None:
    cups = " ".join(f"cup.n.01_{number}" for number in range(300))
    goal = "(forn (150) (?c - cup.n.01) (forn (150) (?d - cup.n.01) (forn (150) (?e - cup.n.01) (open ?e))))"
    activity_scene = read_scene(write_activity(f"{cups} - cup.n.01", "", goal))
    assert [note.code for note in activity_scene.notes if note.severity is Severity.ERROR] == ["SC015"]
    goal = "(forn (60) (?c - cup.n.01) (open ?c))"
    assert [note.code for note in read_scene(write_activity(f"{cups} - cup.n.01", "", goal)).notes] == ["SC015"]


def test_deep_goals_are_accepted() -> None:
    deep = 50_000
    activity_scene = read_scene(
        write_activity("cup.n.01_1 - cup.n.01", "", "(not " * deep + "(open cup.n.01_1)" + ")" * deep)
    )
    assert activity_scene.ok
    activity_scene = read_scene(
        write_activity("cup.n.01_1 - cup.n.01", "", "(forall (?c - cup.n.01) " * 600 + "(open ?c)" + ")" * 600)
    )
    assert [note.code for note in activity_scene.notes] == ["SC015"]


@pytest.mark.parametrize("text", ["", "; nothing", "[", '{"a": ', "hello", "(", '[{"identifier": 1}]', '"x"', "[" * 99])
def test_other_files_are_refused(text: str) -> None:
    activity_scene = read_scene(text)
    assert not activity_scene.ok
    assert activity_scene.notes[0].code in ("SC010", "SC002")


@pytest.mark.parametrize(
    ("init", "goal", "note"),
    [
        ("(open cup.n.01_1) \\", "(open cup.n.01_1)", "a stray backslash is ignored"),
        ("(open cup.n.01_1)", "(open cup.n.01_1) (dusty cup.n.01_1)", "a goal is one formula: the first one is used"),
    ],
)
def test_mistakes_that_bddl_accepts_are_read_with_a_note(init: str, goal: str, note: str) -> None:
    """As in the package `bddl`: tokens between literals have no effect, and a second goal formula is ignored."""
    plain = read_scene(write_activity("cup.n.01_1 - cup.n.01", "(open cup.n.01_1)", "(open cup.n.01_1)"))
    noted = read_scene(write_activity("cup.n.01_1 - cup.n.01", init, goal))
    assert noted.ok
    assert note in noted.notes[0].message
    assert len(noted.notes) == 1
    assert noted.problem.text == plain.problem.text


def test_cabinets_have_the_names_of_omnigibson() -> None:
    objects = "bottom_cabinet.n.01_1 - bottom_cabinet.n.01 top_cabinet.n.01_1 - top_cabinet.n.01"
    objects += " agent.n.01_1 - agent.n.01"
    activity_scene = read_scene(write_activity(objects, "", "(open ?top_cabinet.n.01_1)", "omnigibson"))
    for name in ("top_cabinet.n.01_1", "top_cabinet_0", "top_cabinet", "top_cabinet_slgzfc_0"):
        plan = WORLD.read_plan(Source("p", f"OPEN({name})\nCLOSE(bottom_cabinet)"), activity_scene)
        assert plan.plan is not None
        report = Checker(activity_scene.domain, activity_scene.problem).check(plan.plan)
        assert [finding.code for finding in report.findings] == [], "closing the closed cabinet changes nothing"
        plan = WORLD.read_plan(Source("p", f"OPEN(bottom_cabinet)\nCLOSE({name})"), activity_scene)
        assert plan.plan is not None
        report = Checker(activity_scene.domain, activity_scene.problem).check(plan.plan)
        assert [finding.code for finding in report.findings] == ["SC310"], "the other cabinet is open at the end"


def test_names_of_simulators() -> None:
    objects = "soda.n.01_1 - soda.n.01 caldron.n.01_1 - caldron.n.01 agent.n.01_1 - agent.n.01"
    activity_scene = read_scene(write_activity(objects, "", "(and)", "igibson"))
    plan = WORLD.read_plan(Source("p", "GRASP(pop_112)\nPLACE_INSIDE(cauldron_7)"), activity_scene)
    assert plan.plan is not None
    assert "(place_inside soda_n_01_1 caldron_n_01_1 agent_n_01_1)" in plan.plan.text


def test_spellings_of_a_synset() -> None:
    activity_scene = read_scene(
        write_activity("jar__of__jam.n.01_1 - jar__of__jam.n.01 key.n.01_1 - key.n.01", "", "(and)", "omnigibson")
    )
    plan = WORLD.read_plan(Source("p", "NAVIGATE_TO(jar_of_jam_3)\nNAVIGATE_TO(keys_1)"), activity_scene)
    assert plan.plan is not None
    assert [line.split()[1].rstrip(")") for line in plan.plan.text.splitlines()] == [
        "jar__of__jam_n_01_1",
        "key_n_01_1",
    ]
