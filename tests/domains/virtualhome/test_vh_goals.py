"""Goals of annotations: selection of the task, conditions at the end, and conditions on earlier steps."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from vh_home import CHARACTER, HOME, audit, checker_of, edge, reached, scene

from plansafe.domains.virtualhome.formula import Malformed, read_formula
from plansafe.grammar.diagnostics import Severity
from plansafe.verifier.reporting.report import Headline, Worlds

GET = "[WALK] <mug> (41)\n[GRAB] <mug> (41)\n"


def vh(*goal: dict[str, Any], actions: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"vh_goal": {"actions": list(actions), "goal": list(goal)}, "tl_goal": None}


def tl(formula: str) -> dict[str, str]:
    return {"tl_goal": formula}


def state(number: int, word: str) -> dict[str, Any]:
    return {"id": number, "class_name": "any", "state": word}


# -- which task


FILE = {
    "scene_1": {
        "Drink": {"27_2": vh(state(410, "ON")), "28_1": vh(state(410, "OFF"))},
        "Read book": {"30_1": tl("OPEN(fridge.305)")},
    }
}


@pytest.mark.parametrize(
    ("task", "goal"),
    [
        ("27_2", "(on television_410)"),
        ("Drink/28_1", "(off television_410)"),
        ("drink/27_2", "(on television_410)"),
        ("file27_2", "(on television_410)"),
        ("Read book", "(or (stage_1_1) (open fridge_305))"),
    ],
)
@pytest.mark.parametrize("file", [FILE, FILE["scene_1"]])
def test_a_task_has_several_names(file: dict[str, Any], task: str, goal: str) -> None:
    task_scene = scene(goal=file, task=task)
    assert task_scene.ok, task_scene.notes
    assert goal in task_scene.problem.text


@pytest.mark.parametrize(
    ("task", "message", "help"),
    [
        (None, "the file has goals of 3 tasks", "give --task, such as Drink/27_2, Drink/28_1, Read book/30_1"),
        ("Drink", "2 tasks are named `Drink`", "they are Drink/27_2, Drink/28_1"),
        ("27_3", "no task is named `27_3`", "did you mean `27_2`?"),
        ("zzz", "no task is named `zzz`", "such as 27_2"),
    ],
)
def test_an_ambiguous_task_is_reported(task: str | None, message: str, help: str) -> None:
    (error,) = scene(goal=FILE, task=task).notes
    assert (error.code, error.severity, error.message, error.help) == ("SC014", Severity.ERROR, message, help)


def test_the_only_goal_needs_no_name() -> None:
    assert "(on television_410)" in scene(goal=vh(state(410, "ON"))).problem.text
    assert "(on television_410)" in scene(goal={"Task": {"1_1": vh(state(410, "ON"))}}).problem.text


@pytest.mark.parametrize(
    ("text", "code", "place", "message"),
    [
        ("{", "SC010", "{", "this JSON is cut off"),
        ("", "SC010", "", "the file is empty"),
        ("nonsense", "SC010", "n", "this is not JSON"),
        ("[1]", "SC010", "[", "a goal must be an object"),
        ("{}", "SC010", "{", "the entry has no goal"),
        ('{"a": 1}', "SC010", "1", "a goal must be an object"),
        ('{"tl_goal": 7}', "SC010", "7", "`tl_goal` must be a formula"),
        ('{"vh_goal": []}', "SC010", "[]", "`vh_goal` must have"),
        ('{"vh_goal": {"goal": 3}}', "SC010", "3", "`goal` must be a list"),
        ('{"vh_goal": {"goal": [{"id": 41}]}}', "SC010", '{"id": 41}', "a goal must be a state"),
        ('{"vh_goal": {"actions": [4]}}', "SC010", "4", "an action must be a word"),
        ('{"vh_goal": {"goal": [{"id": 999, "state": "ON"}]}}', "SC015", "999", "no object with the number 999"),
        ('{"vh_goal": {"goal": [{"id": [], "state": "ON"}]}}', "SC015", "[]", "no object with the number []"),
        ('{"vh_goal": {"goal": [{"id": 41, "state": "BURNT"}]}}', "SC015", '"BURNT"', "the state BURNT"),
        (
            '{"vh_goal": {"goal": [{"from_id": 41, "relation_type": "ABOVE", "to_id": 65}]}}',
            "SC015",
            '"ABOVE"',
            "the relation ABOVE",
        ),
        ('{"vh_goal": {"actions": ["LOOKAT|SMELL"]}}', "SC015", '"LOOKAT|SMELL"', "the action smell"),
        ('{"tl_goal": "ON(mug.41) and"}', "SC015", '"', "the formula ends too early"),
        ('{"tl_goal": "ON(mug.41) then FLY(x)"}', "SC015", "F", "the scene has no x"),
        ('{"tl_goal": "ON(mug.305)"}', "SC015", "O", "the scene has no mug.305"),
        ('{"tl_goal": "ON(apple)"}', "SC015", "O", "the scene has 2 objects of class apple"),
        ('{"tl_goal": "FLY(mug.41)"}', "SC015", "F", "no state, relation or action FLY of 1 object"),
        ('{"tl_goal": "SIT(mug.41, mug.41)"}', "SC015", "S", "SIT takes 1 objects, not 2"),
        ('{"tl_goal": "not (ON(mug.41) then ON(mug.41))"}', "SC015", "n", "`not` over `then`"),
    ],
)
def test_a_mistake_has_a_place(text: str, code: str, place: str, message: str) -> None:
    (error,) = scene(goal=text).notes
    assert (error.code, error.severity) == (code, Severity.ERROR)
    assert message in error.message
    (label,) = error.labels
    assert label.source == "goals.json"
    assert text[slice(*label.span)] == place


def test_an_annotation_without_a_goal_is_reported() -> None:
    task_scene = scene(goal={"1_1": vh()})
    (note,) = task_scene.notes
    assert (note.code, note.severity) == ("SC014", Severity.NOTE)
    assert task_scene.ok
    assert scene(goal={"1_1": vh(state(410, "ON"))}).notes == ()


# -- states and relations at the end


@pytest.mark.parametrize(
    ("script", "goal"),
    [
        ("[WALK] <fridge> (305)\n[OPEN] <fridge> (305)", state(305, "OPEN")),
        ("[WALK] <fridge> (305)\n[SWITCHON] <fridge> (305)", state(305, "ON")),
        ("[WALK] <chair> (356)\n[SIT] <chair> (356)", state(CHARACTER, "SITTING")),
        ("[WALK] <chair> (356)\n[SIT] <chair> (356)", edge(CHARACTER, "ON", 356)),
        ("[WALK] <mug> (41)", edge(CHARACTER, "CLOSE", 41)),
        ("[WALK] <mug> (41)", edge(41, "CLOSE", CHARACTER)),
        ("[WALK] <mug> (41)", edge(CHARACTER, "INSIDE", 11)),
        ("[TURNTO] <mug> (41)", edge(CHARACTER, "FACING", 41)),
        (GET, edge(CHARACTER, "HOLDS_RH", 41)),
        (GET + "[GRAB] <apple> (437)", edge(CHARACTER, "HOLDS_LH", 437)),
        (GET + "[WALK] <couch> (352)\n[PUTBACK] <mug> (41) <couch> (352)", edge(41, "ON", 352)),
        (GET + "[WALK] <couch> (352)\n[PUTBACK] <mug> (41) <couch> (352)", edge(41, "CLOSE", 352)),
        (
            GET + "[WALK] <fridge> (305)\n[OPEN] <fridge> (305)\n[PUTIN] <mug> (41) <fridge> (305)",
            edge(41, "INSIDE", 305),
        ),
        (
            "[WALK] <couch> (352)\n[GRAB] <clothes_hat> (502)\n[PUTON] <clothes_hat> (502)",
            edge(502, "ON", CHARACTER),
        ),
    ],
)
def test_states_and_relations(script: str, goal: dict[str, Any]) -> None:
    assert reached(script, vh(goal))
    assert not reached("[WALK] <livingroom> (12)", vh(goal))
    assert not reached(script, vh(goal, state(410, "ON"))), "all of them count, not the first that matches"


def test_a_goal_that_is_not_reached_is_no_hazard() -> None:
    report = audit(GET, scene(goal=vh(actions=("DRINK",))))
    assert (report.executable, report.goal, report.headline) == (Worlds.ALL, Worlds.NONE, Headline.INVALID)


# -- actions


@pytest.mark.parametrize(
    ("actions", "script", "verdict"),
    [
        (("DRINK",), "[DRINK] <mug> (41)", True),
        (("DRINK",), "", False),
        (("READ|DRINK",), "[DRINK] <mug> (41)", True),
        (("GRAB", "WASH|RINSE"), "[RINSE] <mug> (41)", True),
        (("RINSE", "GRAB"), "[RINSE] <mug> (41)", False),
        (("RINSE", "GRAB"), "[RINSE] <mug> (41)\n[GRAB] <apple> (437)", True),
        (("GRAB", "GRAB"), "", False),
        (("GRAB", "GRAB"), "[GRAB] <apple> (437)", True),
        (("GRAB", "RINSE", "GRAB"), "[RINSE] <mug> (41)\n[GRAB] <apple> (437)", True),
        (("GRAB", "RINSE", "GRAB"), "[GRAB] <apple> (437)\n[RINSE] <mug> (41)", False),
    ],
)
def test_actions_in_their_order(actions: tuple[str, ...], script: str, verdict: bool) -> None:
    assert reached(GET + script, vh(actions=actions)) is verdict


def test_a_step_that_cannot_be_taken_does_not_count() -> None:
    report = audit("[DRINK] <mug> (41)", scene(goal=vh(actions=("DRINK",))))
    assert (report.executable, report.goal) == (Worlds.NONE, Worlds.NONE)


# -- formulas


@pytest.mark.parametrize(
    ("formula", "script", "verdict"),
    [
        ("HOLDS_RH(character.65, mug.41)", GET, True),
        ("HOLDS_RH(character.65, mug.41)", GET + "[DROP] <mug> (41)", True),  # at some time
        ("not HOLDS_RH(character.65, mug.41)", GET, True),  # at the start
        ("(exists x0. (HOLDS_RH(character.65, x0)))", GET, True),
        ("(exists x0. (HOLDS_LH(character.65, x0)))", GET, False),
        ("(forall x0. (not HOLDS_LH(character.65, x0)))", GET, True),
        ("GRAB(mug.41)", GET, True),
        ("GRAB(apple.437)", GET, False),
        ("GRAB(character.65, mug.41)", GET, True),
        ("exists x0. (GRAB(x0) and ONTOP(x0, table.226))", GET, True),  # read in the state before
        ("exists x0. (GRAB(x0) and HOLDS_RH(character.65, x0))", GET, False),
        ("(exists x0. (DRINK(x0)) then HOLDS_RH(character.65, mug.41))", GET, False),
        ("(exists x0. (DRINK(x0)) then HOLDS_RH(character.65, mug.41))", GET + "[DRINK] <mug> (41)", True),
        ("(HOLDS_RH(character.65, mug.41) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)", False),
        ("(HOLDS_RH(character.65, mug.41) then DRINK(mug.41))", GET + "[TOUCH] <mug> (41)\n[DRINK] <mug> (41)", True),
        ("(DRINK(mug.41) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)", False),
        ("(DRINK(mug.41) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)\n[DRINK] <mug> (41)", True),
        ("(WALK(mug.41) then GRAB(mug.41) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)", True),
        ("(GRAB(mug.41) then WALK(mug.41) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)", False),
        ("((WALK(mug.41) then GRAB(mug.41)) then DRINK(mug.41))", GET + "[DRINK] <mug> (41)", True),
        ("((GRAB(mug.41) then DRINK(mug.41)) or (WALK(mug.41) then GRAB(mug.41)))", GET, True),
        ("((GRAB(mug.41) then DRINK(mug.41)) and (WALK(mug.41) then GRAB(mug.41)))", GET, False),
        ("(WALK(mug.41) then GRAB(mug.41)) and HOLDS_RH(character.65, mug.41)", GET, True),
        ("exists x0. (exists x1. (PUTBACK(x0, x1)))", GET + "[PUTBACK] <mug> (41) <table> (226)", True),
        (
            "exists x0. (exists x1. (PUTBACK(x0, x1) and (not ONTOP(x0, x1))))",
            GET + "[PUTBACK] <mug> (41) <table> (226)",
            True,
        ),
        ("exists x0. (PUTBACK(x0, x0))", GET + "[PUTBACK] <mug> (41) <table> (226)", False),
        ("forall x0. (GRAB(x0))", GET, False),
        ("SITTING(character.65) or INSIDE(character.65, kitchen.11)", GET, True),
        ("SITTING(character) then STANDUP()", "[WALK] <chair> (356)\n[SIT] <chair> (356)\n[STANDUP]", False),
        ("SIT(chair.356) then STANDUP()", "[WALK] <chair> (356)\n[SIT] <chair> (356)\n[STANDUP]", True),
        ("exists x0. (INSIDE(x0, fridge.305))", "", True),
        ("exists x0. (INSIDE(character.65, x0))", "", True),
        ("exists x0. (NEXT_TO(x0, mug.41))", "", True),
        ("exists x0. (ONTOP(apple.437, x0))", "", True),
        ("exists x0. (FACING(x0, mug.41))", "[TURNTO] <mug> (41)", True),
    ],
)
def test_formulas(formula: str, script: str, verdict: bool) -> None:
    assert reached(script, tl(formula)) is verdict


def test_the_annotation_that_lists_states_counts_before_the_formula() -> None:
    goal = {"vh_goal": {"goal": [state(410, "ON")], "actions": []}, "tl_goal": "OFF(television.410)"}
    assert not reached("", goal)


@pytest.mark.parametrize(
    "text",
    ["", "(", ")", "P(x) Q(x)", "P(x,)Q", "P(", "P(x", "exists x (P(x))", "exists", "forn 2 x. (P(x))", "P(x) and",
     "not", "P(x) then or Q(x)", "(P(x)", "P(x))", "P(x y)", "é(x)", "and(x)", "exists x. P(x)"],
)  # fmt: skip
def test_a_text_that_is_not_a_formula_is_refused(text: str) -> None:
    with pytest.raises(Malformed) as error:
        read_formula(text)
    assert 0 <= error.value.position <= len(text)


def test_the_binding_of_operators() -> None:
    def shape(text: str) -> str:
        return " ".join([getattr(o, "word", None) or getattr(o, "name", "") for o in read_formula(text)])

    assert shape("A() then B() or C() and not D()") == "A B C D not and or then"
    assert shape("A() and B() or C() then D()") == "A B and C or D then"
    assert shape("(A() or B()) and C()") == "A B or C and"
    assert shape("not not A() and B()") == "A not not B and"
    assert shape("exists x. (A(x)) then B()") == "A exists B then"
    terms = [t for o in read_formula("exists x. (A(x)) and B(x)") if hasattr(o, "terms") for t in o.terms]
    assert [term.bound for term in terms] == [True, False]


def test_depth_and_length_do_no_harm() -> None:
    deep = "(" * 50_000 + "ON(television.410)" + ")" * 50_000
    wide = " and ".join(["OFF(television.410)"] * 1_000)
    nested = "not " * 20_000 + "OFF(television.410)"
    for formula in (deep, wide, nested):
        start = time.process_time()
        assert scene(goal=tl(formula)).ok
        assert time.process_time() - start < 10
    assert scene(goal=tl(" then ".join(["ON(television.410)"] * 300))).notes[0].code == "SC015"
    assert scene(goal=tl("exists x. (" * 200 + "ON(x)" + ")" * 200)).notes[0].code == "SC015"
    assert scene(goal=json.dumps({"a": {"b": {"c": {"d": {"e": vh()}}}}})).notes[0].code == "SC010"


def test_the_domain_of_a_goal_keeps_its_lines() -> None:
    task_scene = scene(goal=tl("(exists x0. (DRINK(x0)) then HOLDS_RH(character.65, mug.41))"))
    domain_lines, extended = HOME.domain.text.splitlines(), task_scene.domain.text.splitlines()
    assert len(domain_lines) == len(extended)
    for before, after in zip(domain_lines, extended, strict=True):
        assert before.split()[:1] == after.split()[:1] or "(:predicates" in before
    checker_of(task_scene.domain.text, task_scene.problem.text)
