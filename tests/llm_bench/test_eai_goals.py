"""EAI's goal interpretation: counts by hand, and by each habit of its evaluator."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from bench.eai import goals
from bench.eai.answers import cases
from bench.eai.goal_counts import HABITS, annotated, counts, why

NODES = [{"id": 65, "class_name": "character"}, *[{"id": n, "class_name": "cup"} for n in (1, 2)]]
NODES += [{"id": 3, "class_name": "lamp"}, {"id": 4, "class_name": "sofa"}]
WANTED = annotated(
    {
        "actions": ["RINSE|WASH", "DRINK"],
        "goal": [
            {"id": 3, "class_name": "lamp", "state": "ON"},
            {"id": 3, "class_name": "lamp", "state": "ON"},
            {"id": 1, "class_name": "cup", "state": "CLEAN"},
            {"from_id": 65, "relation_type": "HOLDS_RH", "to_id": 1},
        ],
    },
    NODES,
)
LISTED = {"character": 65, "cup": 2, "lamp": 3}  # the evaluator took the other cup
LAMP, CUP = {"name": "lamp", "state": "ON"}, {"name": "cup", "state": "CLEAN"}
HELD = {"from_name": "character", "relation": "HOLDS_RH", "to_name": "cup"}
DRINK, WASH = {"action": "drink", "description": "it"}, {"action": "WASH", "description": "it"}
Counts = tuple[int, int, int]


def said(states: list[object], relations: list[object], actions: list[object]) -> str:
    return json.dumps({"node goals": states, "edge goals": relations, "action goals": actions})


def found(text: str, *habits: str) -> tuple[Counts, ...]:
    return tuple(counts(text, WANTED, LISTED, frozenset(habits)).values())


RIGHT = said([LAMP, CUP], [HELD], [DRINK, WASH])


def test_what_is_right() -> None:
    assert found(RIGHT) == ((2, 0, 0), (1, 0, 0), (2, 0, 0))
    for text in (f"Here:\n```\n{RIGHT}\n```", str(json.loads(RIGHT)), RIGHT.replace("it", "the robot's own")):
        assert found(text) == found(RIGHT)
    assert found("The lamp is on.") == found("{}") == ((0, 0, 2), (0, 0, 1), (0, 0, 2))


@pytest.mark.parametrize(
    ("habit", "text", "ours", "theirs"),
    [
        ("reading", "No goals.", ((0, 0, 2), (0, 0, 1), (0, 0, 2)), ((0, 0, 0), (0, 0, 0), (0, 0, 0))),
        (
            "not listed",
            said([{"name": "sofa", "state": "ON"}], [], []),
            ((0, 1, 2), (0, 0, 1), (0, 0, 2)),
            ((0, 0, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "malformed",
            said([{"name": "lamp"}, {}], [{"relation": "ON"}], [{"description": "it"}]),
            ((0, 1, 2), (0, 1, 1), (0, 1, 2)),
            ((0, 0, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "by number",
            said([LAMP, CUP], [HELD], []),
            ((2, 0, 0), (1, 0, 0), (0, 0, 2)),
            ((1, 1, 1), (0, 1, 1), (0, 0, 2)),
        ),
        (
            "letters",
            said([{"name": "lamp", "state": "on"}], [], []),
            ((1, 0, 1), (0, 0, 1), (0, 0, 2)),
            ((0, 1, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "twice",
            said([LAMP, {**LAMP, "why": "dark"}], [], [WASH, {"action": "RINSE"}]),
            ((1, 0, 1), (0, 0, 1), (1, 1, 1)),
            ((2, 0, 0), (0, 0, 1), (2, 0, 0)),
        ),
    ],
)
def test_each_habit_alone(habit: str, text: str, ours: tuple[Counts, ...], theirs: tuple[Counts, ...]) -> None:
    assert found(text) == ours
    assert found(text, habit) == theirs
    assert why(text, WANTED, LISTED, counts(text, WANTED, LISTED, frozenset([habit]))) == (habit,)


def test_reasons_are_the_fewest_and_never_guessed() -> None:
    several = said([{"name": "lamp", "state": "on"}, {"name": "sofa", "state": "ON"}], [{"to_name": "cup"}], [DRINK])
    both = counts(several, WANTED, LISTED, frozenset(HABITS))
    assert why(several, WANTED, LISTED, both) == ("not listed", "malformed", "letters")
    assert why(RIGHT, WANTED, LISTED, counts(RIGHT, WANTED, LISTED)) == ()
    assert why(RIGHT, WANTED, LISTED, {**both, "edge goals": (5, 5, 5)}) is None
    assert found("{" * 100_000) == found("")


def test_no_action_serves_two_goals() -> None:
    wanted = annotated({"actions": ["TOUCH", "TOUCH|PUSH"], "goal": []}, [])
    for actions, expected in (
        (["TOUCH"], (1, 0, 1)),
        (["TOUCH", "PUSH"], (2, 0, 0)),
        (["PUSH", "TOUCH", "READ"], (2, 1, 0)),
    ):
        text = said([], [], [{"action": one} for one in actions])
        assert counts(text, wanted, {})["action goals"] == expected


def test_references_are_right_in_every_shape_that_is_a_whole_answer(data: Path) -> None:
    folder = data / "eai-virtualhome"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for case in cases(folder)[:20]:
        wanted = goals.goals_of(case)
        for answer in goals.forms(case, wanted):
            whole = answer.kind not in ("cut off", "empty", "words alone")
            missed = sum([one[2] for one in counts(answer.text, wanted, {}).values()])
            false = sum([one[1] for one in counts(answer.text, wanted, {}).values()])
            some = bool(wanted.states or wanted.relations or wanted.actions)
            assert (missed > 0, false) == (some and not whole, 0), answer


def test_without_the_evaluator_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["goals", "--python", sys.executable])
    monkeypatch.setenv("PLANSAFE_DATA", os.devnull)
    assert goals.main() == 2
    assert "PLANSAFE_DATA" in capsys.readouterr().out
