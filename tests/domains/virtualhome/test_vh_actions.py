"""Preconditions and effects of the actions, and their differences from the public simulator."""

from __future__ import annotations

import pytest
from vh_home import CHARACTER, HOME, checker_of, edge, graph, node, reached, scene, stops

from plansafe.domains.virtualhome.formula_translation import known_action
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Worlds
from quick import quick_every

WATER = "walk character_65 water_42;grab character_65 water_42"
HAT = "walk character_65 clothes_hat_502;grab character_65 clothes_hat_502;puton character_65 clothes_hat_502"
GET = "[WALK] <table> (226)\n[GRAB] <apple> (437)\n"


def holds(text: str, fact: str) -> bool:
    """Whether a fact is true at the end of a script."""
    checker = checker_of(HOME.domain.text, HOME.problem.text.replace("(:goal (and))", f"(:goal {fact})"))
    plan = "\n".join([f"({line})" for line in text.split(";")])
    report = checker.check(Source("plan", plan))
    assert report.executable is Worlds.ALL, report.findings
    return report.goal is Worlds.ALL


# script; the step that cannot be taken
AFFORDANCES = [
    ("[GRAB] <apple> (437)", 1, "it is not close"),
    (GET, None, "the table is, and the apple is on it"),
    ("[WALK] <fridge> (305)\n[GRAB] <apple> (438)", 2, "it is in a closed fridge"),
    ("[WALK] <fridge> (305)\n[OPEN] <fridge> (305)\n[GRAB] <apple> (438)", None, ""),
    ("[WALK] <fridge> (305)\n[CLOSE] <fridge> (305)", 2, "it is closed"),
    ("[WALK] <fridge> (305)\n[SWITCHON] <fridge> (305)\n[OPEN] <fridge> (305)", 3, "it is on"),
    (GET + "[GRAB] <apple> (437)", 3, "it is in the hand"),
    (GET + "[GRAB] <mug> (41)\n[GRAB] <knife> (43)", 4, "both hands are full"),
    (GET + "[GRAB] <mug> (41)\n[WALK] <fridge> (305)\n[OPEN] <fridge> (305)", 5, "to open takes a hand"),
    (GET + "[PUTBACK] <apple> (437) <table> (226)", None, ""),
    (GET + "[PUTBACK] <apple> (437) <couch> (352)", 3, "the couch is far"),
    (GET + "[PUTBACK] <apple> (437) <apple> (437)", 3, "an object is not put on itself"),
    (GET + "[PUTIN] <apple> (437) <apple> (437)", 3, "nor into itself"),
    (GET + "[WALK] <fridge> (305)\n[PUTIN] <apple> (437) <fridge> (305)", 4, "it is closed"),
    (GET + "[PUTIN] <apple> (437) <mug> (41)", None, "a mug has no lid"),
    (GET + "[WALK] <couch> (352)\n[PUTOBJBACK] <apple> (437)", 4, "the table is far"),
    (GET + "[PUTOBJBACK] <apple> (437)", None, ""),
    (GET + "[DROP] <apple> (437)\n[GRAB] <apple> (437)", None, ""),
    ("[DROP] <apple> (437)", 1, "nothing is held"),
    ("[RELEASE] <apple> (437)", 1, ""),
    ("[GRAB] <fridge> (305)", 1, ""),
    ("[WALK] <table> (226)\n[GRAB] <table> (226)", 2, "a table is not taken"),
    ("[WALK] <water> (42)\n[GRAB] <water> (42)", None, "water is, with hands"),
    ("[WALK] <chair> (356)\n[SIT] <chair> (356)\n[SIT] <chair> (356)", 3, "who sits does not sit down"),
    ("[WALK] <chair> (356)\n[SIT] <chair> (356)\n[WALK] <table> (226)", 3, "who sits does not walk"),
    ("[WALK] <chair> (356)\n[SIT] <chair> (356)\n[STANDUP]\n[WALK] <table> (226)", None, ""),
    ("[STANDUP]", 1, ""),
    ("[SLEEP]", 1, ""),
    ("[WAKEUP]", 1, ""),
    ("[WALK] <couch> (352)\n[LIE] <couch> (352)", 2, "a hat and a novel are on it: no room for one more"),
    ("[WALK] <couch> (352)\n[SIT] <couch> (352)\n[SLEEP]\n[WAKEUP]", None, "four can sit on it"),
    ("[WALK] <table> (226)\n[SIT] <table> (226)", 2, ""),
    ("[WALK] <table> (226)\n[LIE] <table> (226)", 2, ""),
    ("[TURNTO] <fridge> (305)\n[LOOKAT] <fridge> (305)\n[POINTAT] <fridge> (305)", None, "from anywhere"),
    ("[LOOKAT] <fridge> (305)", 1, ""),
    ("[POINTAT] <fridge> (305)", 1, ""),
    ("[TURNTO] <television> (410)\n[WATCH] <television> (410)", None, ""),
    ("[WALK] <kitchen> (11)\n[TURNTO] <television> (410)\n[WATCH] <television> (410)", 3, "it is in another room"),
    ("[TURNTO] <couch> (352)\n[WATCH] <couch> (352)", 2, ""),
    ("[WALK] <mug> (41)\n[SIT] <chair> (356)\n[STANDUP]", 2, ""),
    ("[WALK] <television> (410)\n[SWITCHON] <television> (410)", 2, "it is unplugged"),
    ("[WALK] <television> (410)\n[PLUGIN] <television> (410)\n[SWITCHON] <television> (410)", None, ""),
    ("[WALK] <television> (410)\n[PLUGOUT] <television> (410)", 2, ""),
    ("[WALK] <television> (410)\n[SWITCHOFF] <television> (410)", 2, ""),
    ("[SWITCHON] <television> (410)", 1, ""),
    ("[WALK] <couch> (352)\n[SWITCHON] <couch> (352)", 2, ""),
    ("[WALK] <couch> (352)\n[PLUGIN] <couch> (352)", 2, ""),
    ("[WALK] <table> (226)\n[DRINK] <mug> (41)", 2, "it is not held"),
    ("[WALK] <table> (226)\n[GRAB] <mug> (41)\n[DRINK] <mug> (41)", None, ""),
    (GET + "[DRINK] <apple> (437)", 3, ""),
    ("[WALK] <table> (226)\n[EAT] <apple> (437)", None, ""),
    ("[WALK] <table> (226)\n[EAT] <table> (226)", None, "objects on it"),
    ("[WALK] <couch> (352)\n[EAT] <couch> (352)", 2, ""),
    ("[WALK] <table> (226)\n[CUT] <apple> (437)", 2, "without a knife"),
    ("[WALK] <table> (226)\n[GRAB] <knife> (43)\n[CUT] <apple> (437)", None, ""),
    (GET + "[GRAB] <knife> (43)\n[CUT] <apple> (437)", 4, "no hand is free"),
    ("[WALK] <table> (226)\n[GRAB] <knife> (43)\n[CUT] <mug> (41)", 3, ""),
    ("[WALK] <water> (42)\n[GRAB] <water> (42)\n[WALK] <table> (226)\n[POUR] <water> (42) <mug> (41)", None, ""),
    ("[WALK] <water> (42)\n[GRAB] <water> (42)\n[POUR] <water> (42) <hands_both> (500)", None, ""),
    ("[WALK] <water> (42)\n[GRAB] <water> (42)\n[WALK] <table> (226)\n[POUR] <water> (42) <table> (226)", 4, ""),
    (GET + "[POUR] <apple> (437) <mug> (41)", 3, ""),
    ("[WALK] <table> (226)\n[WASH] <apple> (437)\n[RINSE] <mug> (41)\n[SCRUB] <tray> (504)", None, ""),
    ("[WASH] <apple> (437)", 1, ""),
    ("[RINSE] <apple> (437)", 1, ""),
    ("[SCRUB] <apple> (437)", 1, ""),
    ("[WALK] <table> (226)\n[WIPE] <table> (226)", 2, "with what?"),
    ("[WALK] <table> (226)\n[GRAB] <towel> (501)\n[WIPE] <table> (226)", None, ""),
    ("[WALK] <table> (226)\n[SQUEEZE] <towel> (501)", None, ""),
    ("[WALK] <table> (226)\n[SQUEEZE] <mug> (41)", 2, ""),
    ("[WALK] <table> (226)\n[TOUCH] <apple> (437)", None, ""),
    ("[WALK] <fridge> (305)\n[TOUCH] <apple> (438)", 2, ""),
    ("[WALK] <television> (410)\n[TYPE] <television> (410)", None, ""),
    ("[WALK] <couch> (352)\n[TYPE] <couch> (352)", 2, ""),
    ("[WALK] <table> (226)\n[MOVE] <table> (226)\n[PULL] <table> (226)\n[PUSH] <table> (226)", None, ""),
    ("[WALK] <couch> (352)\n[PUSH] <couch> (352)\n[PULL] <couch> (352)", 3, ""),
    ("[WALK] <couch> (352)\n[MOVE] <couch> (352)", 2, ""),
    ("[WALK] <couch> (352)\n[READ] <novel> (503)", 2, ""),
    ("[WALK] <couch> (352)\n[GRAB] <novel> (503)\n[READ] <novel> (503)", None, ""),
    ("[WALK] <couch> (352)\n[PUTON] <clothes_hat> (502)", 2, ""),
    (
        "[WALK] <couch> (352)\n[GRAB] <clothes_hat> (502)\n[PUTON] <clothes_hat> (502)\n[PUTOFF] <clothes_hat> (502)",
        None,
        "",
    ),
    ("[PUTOFF] <clothes_hat> (502)", 1, ""),
    ("[GREET] <character> (65)", 1, "these graphs have no PERSON"),
    ("[FIND] <apple> (437)\n[GRAB] <apple> (437)", None, "to find is to walk"),
    ("[FIND] <hands_both> (500)", 1, "the simulator finds a body only where the character has walked to a thing"),
    ("[WALK] <table> (226)\n[FIND] <hands_both> (500)\n[WASH] <hands_both> (500)", None, ""),
    ("[RUN] <kitchen> (11)\n[FIND] <apple> (437)", None, ""),
    ("[WALK] <chair> (356)\n[SIT] <chair> (356)\n[RUN] <table> (226)", 3, ""),
    ("[WALK] <fridge> (305)\n[OPEN] <fridge> (305)\n[CLOSE] <fridge> (305)", None, ""),
    ("[WALK] <fridge> (305)\n[SWITCHON] <fridge> (305)\n[SWITCHOFF] <fridge> (305)", None, ""),
    ("[WALK] <fridge> (305)\n[PLUGOUT] <fridge> (305)\n[PLUGIN] <fridge> (305)", None, ""),
    ("[WALK] <novel> (503)\n[GRAB] <novel> (503)\n[LIE] <couch> (352)", None, "a hat alone leaves room"),
    (GET + "[RELEASE] <apple> (437)", None, ""),
    ("[PUSH] <table> (226)", 1, ""),
]


@pytest.mark.parametrize(
    ("text", "step", "why"), quick_every(12, AFFORDANCES), ids=[text.replace("\n", "; ") for text, _, _ in AFFORDANCES]
)
def test_affordances(text: str, step: int | None, why: str) -> None:
    assert stops(text) == step, why


def test_every_action_has_a_script_that_takes_it_and_one_that_cannot() -> None:
    executed, refused = set(), set()
    for text, step, _ in AFFORDANCES:
        lines = [line for line in text.splitlines() if line]
        names = [line.partition("]")[0].strip("[").lower() for line in lines]
        executed |= set(names[: step - 1 if step else None])
        if step:
            refused.add(names[step - 1])
    actions = {name for name in HOME.domain.text.split() if known_action(name)}
    assert actions - executed == {"greet"}, "a scene with people follows"
    assert actions - refused == {"turnto"}


@pytest.mark.parametrize(
    ("plan", "fact"),
    [
        ("walk character_65 mug_41", "(in_room character_65 kitchen_11)"),
        ("walk character_65 mug_41", "(not (in_room character_65 livingroom_12))"),
        ("walk character_65 mug_41", "(and (close character_65 mug_41) (close character_65 table_226))"),
        ("walk character_65 mug_41;walk character_65 couch_352", "(not (close character_65 mug_41))"),
        (
            "walk character_65 mug_41;turnto character_65 mug_41;walk character_65 kitchen_11",
            "(not (facing character_65 mug_41))",
        ),
        ("walk character_65 mug_41;find character_65 apple_437", "(close character_65 mug_41)"),
        (
            "walk character_65 chair_356;sit character_65 chair_356",
            "(and (sitting character_65) (on_top character_65 chair_356))",
        ),
        ("walk character_65 mug_41;grab character_65 mug_41", "(holds_rh character_65 mug_41)"),
        ("walk character_65 mug_41;grab character_65 mug_41", "(not (on_top mug_41 table_226))"),
        (
            "walk character_65 mug_41;grab character_65 mug_41;grab character_65 apple_437",
            "(holds_lh character_65 apple_437)",
        ),
        ("walk character_65 mug_41;wash character_65 mug_41", "(and (wet mug_41) (clean mug_41))"),
        ("walk character_65 mug_41;wash character_65 apple_437", "(not (dirty apple_437))"),
        (
            "walk character_65 mug_41;wash character_65 mug_41;grab character_65 towel_501;wipe character_65 mug_41",
            "(not (wet mug_41))",
        ),
        (
            f"{WATER};walk character_65 mug_41;pour character_65 water_42 mug_41",
            "(and (contains mug_41 water_42) (wet mug_41) (not (holds_rh character_65 water_42)))",
        ),
        ("walk character_65 mug_41;grab character_65 knife_43;cut character_65 apple_437", "(sliced apple_437)"),
        ("walk character_65 couch_352;sit character_65 couch_352;sleep character_65", "(asleep character_65)"),
        (
            "walk character_65 couch_352;sit character_65 couch_352;sleep character_65;wakeup character_65",
            "(not (asleep character_65))",
        ),
    ],
)
def test_effects(plan: str, fact: str) -> None:
    assert holds(plan, fact)


@pytest.mark.parametrize(
    ("plan", "fact"),
    [
        (
            "walk character_65 chair_356;sit character_65 chair_356;standup character_65",
            "(not (on_top character_65 chair_356))",
        ),
        ("walk character_65 tray_504;grab character_65 tray_504", "(on_top spoon_505 tray_504)"),
        (
            "walk character_65 tray_504;grab character_65 tray_504;walk character_65 couch_352",
            "(in_room tray_504 livingroom_12)",
        ),
        (
            "walk character_65 tray_504;grab character_65 tray_504;walk character_65 couch_352",
            "(in_room spoon_505 livingroom_12)",
        ),
        (
            f"{HAT};putoff character_65 clothes_hat_502;grab character_65 clothes_hat_502",
            "(holds_rh character_65 clothes_hat_502)",
        ),
        ("walk character_65 chair_356;grab character_65 chair_356", "(not (on_top chair_356 table_226))"),
    ],
)
def test_effects_that_differ_from_the_simulator(plan: str, fact: str) -> None:
    assert holds(plan, fact)


def test_a_character_that_stood_up_can_sit_down_again() -> None:
    assert stops("[WALK] <chair> (356)\n[SIT] <chair> (356)\n[STANDUP]\n[SIT] <chair> (356)") is None


def test_objects_on_a_carried_tray_can_be_grabbed() -> None:
    assert stops("[WALK] <tray> (504)\n[GRAB] <tray> (504)\n[WALK] <couch> (352)\n[GRAB] <spoon> (505)") is None


def test_grabbing_an_object_without_a_place_does_not_move_the_character() -> None:
    more = [edge(600, "INSIDE", 12), edge(600, "CLOSE", 352), edge(352, "CLOSE", 600)]
    home = scene(graph(nodes=[node(600, "remote_control", "GRABBABLE")], edges=more))
    assert stops("[WALK] <remote_control> (600)\n[GRAB] <remote_control> (600)\n[SIT] <couch> (352)", home) is None


def test_an_object_taken_by_another_character_leaves_the_first_hand() -> None:
    home = scene(graph(nodes=[node(66, "character")], edges=[edge(66, "INSIDE", 12)]))
    text = (
        "<char0> [walk] <mug> (41)\n<char0> [grab] <mug> (41)\n<char1> [walk] <mug> (41)\n<char1> [grab] <mug> (41)\n"
    )
    assert stops(text + "<char0> [drink] <mug> (41)", home) == 5
    assert stops(text + "<char1> [drink] <mug> (41)", home) is None


def test_people_are_greeted_from_anywhere() -> None:
    assert stops("[GREET] <man> (600)", scene(graph(nodes=[node(600, "man", "PERSON")]))) is None


def test_furniture_is_full_at_some_point() -> None:
    nodes = [node(700 + i, "pillow") for i in range(4)]
    for count, free in ((1, True), (2, False)):
        home = scene(graph(nodes=nodes, edges=[edge(700 + i, "ON", 352) for i in range(count)]))
        assert (stops("[WALK] <couch> (352)\n[SIT] <couch> (352)", home) is None) is free, "a hat and a novel are there"


def test_a_character_may_hold_something_from_the_start() -> None:
    home = scene(graph(edges=[edge(CHARACTER, "HOLDS_LH", 41)]))
    assert stops("[DRINK] <mug> (41)", home) is None
    goal = {"vh_goal": {"goal": [{"from_id": 41, "relation_type": "INSIDE", "to_id": 12}], "actions": []}}
    assert not reached("[WALK] <kitchen> (11)", goal)
