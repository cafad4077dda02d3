"""Files of any content give diagnostics, never an exception, and every resulting task is valid PDDL."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from test_plans import CLEANING, PROMPT, TEA, as_json

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from quick import quick_every

HERE = Path(__file__).parent
SCENES = [
    (HERE / "scenes" / "serve_tea.bddl").read_text(),
    PROMPT,
    json.dumps([{"identifier": "a", "llm_prompt": PROMPT}]),
    json.dumps(
        {
            "initial_condition": [["ontop", "rag.n.01_1", "table.n.02_1"]],
            "goal_condition": [["exists", "sink.n.01", "-", "sink.n.01", "inside", "rag.n.01_1", "sink.n.01"]],
            "name_category": {"rag.n.01_1": "rag.n.01", "table.n.02_1": "table.n.02", "sink.n.01_1": "sink.n.01"},
        }
    ),
]
PLANS = [
    TEA,
    as_json(CLEANING),
    "RIGHT_GRASP(cup_0)\nRIGHT_PLACE_ONTOP(tray_0)",
    "(navigate_to rag.n.01_1 agent.n.01_1)\n(grasp rag.n.01_1 agent.n.01_1)",
]
BITS = [
    *"()[]{}\"',:;?-#_\n .",
    *(
        "forall",
        "forn",
        "(2)",
        "forpairs",
        "?x",
        "- cup.n.01",
        "_part_0",
        "define",
        "and",
        "not",
        "\x00",
        "é",
        "\udcff",
    ),
    *("9" * 30, "((((", "[[[[", "room_floor_kitchen_0", "RIGHT_", "_with", "agent.n.01_1", ") (:goal", "\\n"),
]


def mutate_text(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 2, 4))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 0, 1, 3, 20)))
        copied_start = rng.randrange(len(text) + 1)
        piece = rng.choice((rng.choice(BITS), rng.choice(BITS), "", text[copied_start : copied_start + 20]))
        text = text[:start] + piece + text[end:]
    return text


@pytest.mark.parametrize("seed", quick_every(4, range(4)))
def test_mutated_files_never_raise(seed: int) -> None:
    rng = random.Random(seed)
    read = 0
    for _ in range(60):
        text = rng.choice(SCENES)
        task = "a" if "identifier" in text else None
        source = Source("scene", mutate_text(rng, text) if rng.random() < 0.6 else text)
        scene = WORLD.read_scene(Request({"scene": source}, task))
        if not scene.ok:
            assert scene.notes
            continue
        checker = Checker(scene.domain, scene.problem, options=Options(replay="never"))
        plan = WORLD.read_plan(Source("plan", mutate_text(rng, rng.choice(PLANS))), scene)
        assert (plan.plan is None) <= bool(plan.diagnostics)
        if plan.plan is not None and checker.ok:
            read += 1
            assert len(checker.read(plan.plan).text.steps) == len(plan.places)
    assert read > 5


def test_names_from_json_stay_names() -> None:
    for name in ("a) (dusty b", "a b", "a;b", "", "?a", 'a"b'):
        prompt = PROMPT.replace("'jeans_46'", json.dumps(name))
        scene = WORLD.read_scene(Request({"scene": Source("prompt.txt", prompt)}))
        assert {note.code for note in scene.notes} <= {"SC010", "SC108"} and not scene.ok, name
    plan = WORLD.read_plan(
        Source("plan.json", as_json([("OPEN) (define", "x) (y")])),
        WORLD.read_scene(Request({"scene": Source("p", PROMPT)})),
    )
    assert plan.plan is not None
    assert plan.plan.text == "(open_define x_y agent_n_01_1)\n"


@pytest.mark.parametrize(
    "text", ["open " * 50_000 + "(", "x" * 200_000, "a_" * 50_000 + "1", "[" * 50_000, "(" * 50_000]
)
def test_long_lines_take_no_longer_than_they_are_long(text: str) -> None:
    scene = WORLD.read_scene(Request({"scene": Source("p", PROMPT)}))
    WORLD.read_plan(Source("plan", text), scene)
    WORLD.read_plan(Source("plan", f"GRASP({text.replace('(', '').replace('[', '')})"), scene)
