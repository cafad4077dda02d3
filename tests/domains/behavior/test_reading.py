"""Broken activities are reported at their places; right ones become tasks."""

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


def scene(text: str, name: str = "test.bddl") -> Scene:
    return WORLD.read_scene(Request({"scene": Source(name, text)}))


def activity(objects: str, init: str, goal: str, domain: str = "igibson") -> str:
    return f"(define (problem p-0) (:domain {domain}) (:objects {objects}) (:init {init}) (:goal {goal}))"


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_mistakes_are_reported_where_they_are(case: Case) -> None:
    name, text = f"{case.name}.bddl", case.text("scene.bddl")
    expected = re.fullmatch(r"(\S+) (\d+):(\d+) ?(.*)", *case.lines)
    assert expected is not None
    made = scene(text, name)
    assert not made.ok
    error = next(note for note in made.notes if note.severity is Severity.ERROR)
    source = Source(name, text)
    line, column = source.position(error.labels[0].span.start)
    assert (error.code, line, column) == (expected[1], int(expected[2]), int(expected[3])), error
    assert expected[4] in error.message
    assert error.labels[0].source == name


def test_a_near_name_is_suggested() -> None:
    made = scene(activity("cup.n.01_1 - cup.n.01", "(open cop.n.01_1)", "(and)"))
    assert [note.help for note in made.notes] == ["did you mean `cup.n.01_1`?"]
    made = scene(activity("cup.n.01_1 - cup.n.01", "", "(forall (?x - cup.n.01) (opne ?x))"))
    assert [note.help for note in made.notes] == ["did you mean `open`?"]


def test_names_stay_recognisable_and_one_to_one() -> None:
    objects = "cup.n.01_1 cup_n_01_1 right_hand - cup.n.01 deep-freeze.n.02_1 - deep-freeze.n.02"
    made = scene(activity(objects, "(open cup_n_01_1)", "(open cup.n.01_1)"))
    assert made.ok, made.notes
    names = [made.data.names[n] for n in ("cup.n.01_1", "cup_n_01_1", "right_hand", "deep-freeze.n.02_1")]
    assert names == ["cup_n_01_1", "cup_n_01_1_", "right_hand_", "deep-freeze_n_02_1"]
    assert Checker(made.domain, made.problem).ok


def test_categories_that_the_domain_lacks_are_added() -> None:
    made = scene(activity("gizmo.n.03_1 - gizmo.n.03 water.n.99_1 - water.n.99", "", "(and)", "omnigibson"))
    assert "gizmo_n_03" in made.domain.text
    filled = activity("gizmo.n.03_1 - gizmo.n.03 goo.n.99_1 - goo.n.99", "(filled gizmo.n.03_1 goo.n.99_1)", "(and)")
    made = scene(filled.replace("igibson", "omnigibson"))
    assert re.search(r"goo_n_99 - substance", made.domain.text)
    assert re.search(r"gizmo_n_03 - \(either fillable movable\)", made.domain.text)
    assert Checker(made.domain, made.problem).ok


def test_known_categories_need_no_other_domain() -> None:
    made = scene((HERE / "scenes" / "serve_tea.bddl").read_text())
    assert made.domain.name.endswith("igibson/domain.pddl")
    assert "with" not in made.domain.name


def test_rooms_wildcards_and_what_exists() -> None:
    objects = "sofa.n.01_1 sofa.n.01_* - sofa.n.01 cookie.n.01_1 - cookie.n.01"
    made = scene(activity(objects, "(inroom sofa.n.01_1 kitchen) (future cookie.n.01_1)", "(and)", "omnigibson"))
    assert made.ok
    text = made.problem.text
    assert "kitchen - room" in text and "(inroom sofa_n_01_1 kitchen)" in text
    assert "(real sofa_n_01_more)" in text and "(real cookie_n_01_1)" not in text
    assert [(note.code, note.severity) for note in made.notes] == [("SC012", Severity.NOTE)]
    assert Checker(made.domain, made.problem).ok


def test_halves_belong_to_what_they_are_halves_of() -> None:
    objects = (
        "apple.n.01_1 apple.n.01_2 - apple.n.01 half__apple.n.01_1 half__apple.n.01_2 half__apple.n.01_3 "
        "half__apple.n.01_4 - half__apple.n.01 diced__apple.n.01_1 - diced__apple.n.01"
    )
    text = scene(activity(objects, "", "(and)", "omnigibson")).problem.text
    halves = re.findall(r"\(half_of half__apple_n_01_(\d) apple_n_01_(\d)\)", text)
    assert halves == [("1", "1"), ("2", "1"), ("3", "2"), ("4", "2")]
    diced = re.findall(r"\(diced_of diced__apple_n_01_1 (\w+)\)", text)
    assert diced == ["apple_n_01_1", "apple_n_01_2", *[f"half__apple_n_01_{number}" for number in range(1, 5)]]


def test_what_is_cooked_diced_is_diced_before() -> None:
    objects = "steak.n.01_1 - steak.n.01 cooked__diced__steak.n.01_1 - cooked__diced__steak.n.01"
    made = scene(activity(objects, "(future cooked__diced__steak.n.01_1)", "(and)", "omnigibson"))
    text = made.problem.text
    assert "(diced_of diced__steak_n_01_1 steak_n_01_1)" in text and "(future diced__steak_n_01_1)" in text
    assert "(heated_of cooked__diced__steak_n_01_1 diced__steak_n_01_1)" in text
    assert Checker(made.domain, made.problem).ok


def test_asking_for_more_than_there_are_is_a_warning() -> None:
    made = scene(activity("cup.n.01_1 - cup.n.01", "", "(forn (2) (?c - cup.n.01) (open ?c))"))
    assert made.ok
    assert [(note.code, note.severity) for note in made.notes] == [("SC015", Severity.WARNING)]


def test_a_goal_that_counts_too_much_is_refused() -> None:
    cups = " ".join(f"cup.n.01_{number}" for number in range(300))
    goal = "(forn (150) (?c - cup.n.01) (forn (150) (?d - cup.n.01) (forn (150) (?e - cup.n.01) (open ?e))))"
    made = scene(activity(f"{cups} - cup.n.01", "", goal))
    assert [note.code for note in made.notes if note.severity is Severity.ERROR] == ["SC015"]
    goal = "(forn (60) (?c - cup.n.01) (open ?c))"
    assert [n.code for n in scene(activity(f"{cups} - cup.n.01", "", goal)).notes] == ["SC015"]


def test_depth_is_no_problem() -> None:
    deep = 50_000
    made = scene(activity("cup.n.01_1 - cup.n.01", "", "(not " * deep + "(open cup.n.01_1)" + ")" * deep))
    assert made.ok
    made = scene(activity("cup.n.01_1 - cup.n.01", "", "(forall (?c - cup.n.01) " * 600 + "(open ?c)" + ")" * 600))
    assert [note.code for note in made.notes] == ["SC015"]


@pytest.mark.parametrize("text", ["", "; nothing", "[", '{"a": ', "hello", "(", '[{"identifier": 1}]', '"x"', "[" * 99])
def test_other_files_are_no_scenes(text: str) -> None:
    made = scene(text)
    assert not made.ok
    assert made.notes[0].code in ("SC010", "SC002")


@pytest.mark.parametrize(
    ("init", "goal", "note"),
    [
        ("(open cup.n.01_1) \\", "(open cup.n.01_1)", "a stray backslash is ignored"),
        ("(open cup.n.01_1)", "(open cup.n.01_1) (dusty cup.n.01_1)", "a goal is one formula: the first one is used"),
    ],
)
def test_what_bddl_loads_is_read_with_a_note(init: str, goal: str, note: str) -> None:
    """As in the package `bddl`: tokens between literals have no effect, a second goal formula is not looked at."""
    plain = scene(activity("cup.n.01_1 - cup.n.01", "(open cup.n.01_1)", "(open cup.n.01_1)"))
    made = scene(activity("cup.n.01_1 - cup.n.01", init, goal))
    assert made.ok
    assert note in made.notes[0].message
    assert len(made.notes) == 1
    assert made.problem.text == plain.problem.text


def test_cabinets_go_by_what_omnigibson_calls_them() -> None:
    objects = "bottom_cabinet.n.01_1 - bottom_cabinet.n.01 top_cabinet.n.01_1 - top_cabinet.n.01"
    objects += " agent.n.01_1 - agent.n.01"
    made = scene(activity(objects, "", "(open ?top_cabinet.n.01_1)", "omnigibson"))
    for name in ("top_cabinet.n.01_1", "top_cabinet_0", "top_cabinet", "top_cabinet_slgzfc_0"):
        plan = WORLD.read_plan(Source("p", f"OPEN({name})\nCLOSE(bottom_cabinet)"), made)
        assert plan.plan is not None
        report = Checker(made.domain, made.problem).check(plan.plan)
        assert [finding.code for finding in report.findings] == [], "closing the one that is closed changes nothing"
        plan = WORLD.read_plan(Source("p", f"OPEN(bottom_cabinet)\nCLOSE({name})"), made)
        assert plan.plan is not None
        report = Checker(made.domain, made.problem).check(plan.plan)
        assert [finding.code for finding in report.findings] == ["SC310"], "the other one is open at the end"


def test_names_of_simulators() -> None:
    objects = "soda.n.01_1 - soda.n.01 caldron.n.01_1 - caldron.n.01 agent.n.01_1 - agent.n.01"
    made = scene(activity(objects, "", "(and)", "igibson"))
    plan = WORLD.read_plan(Source("p", "GRASP(pop_112)\nPLACE_INSIDE(cauldron_7)"), made)
    assert plan.plan is not None
    assert "(place_inside soda_n_01_1 caldron_n_01_1 agent_n_01_1)" in plan.plan.text


def test_spellings_of_a_synset() -> None:
    made = scene(activity("jar__of__jam.n.01_1 - jar__of__jam.n.01 key.n.01_1 - key.n.01", "", "(and)", "omnigibson"))
    plan = WORLD.read_plan(Source("p", "NAVIGATE_TO(jar_of_jam_3)\nNAVIGATE_TO(keys_1)"), made)
    assert plan.plan is not None
    assert [line.split()[1].rstrip(")") for line in plan.plan.text.splitlines()] == [
        "jar__of__jam_n_01_1",
        "key_n_01_1",
    ]
