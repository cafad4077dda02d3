"""EAI's goal interpretation: the counts of safecheck, and the counts with each habit of the evaluator."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from bench.eai import evaluator, goals
from bench.eai.answers import read_cases
from bench.eai.goal_counts import HABITS, count_goals, find_habits, read_goals

NODES = [{"id": 65, "class_name": "character"}, *[{"id": n, "class_name": "cup"} for n in (1, 2)]]
NODES += [{"id": 3, "class_name": "lamp"}, {"id": 4, "class_name": "sofa"}]
REFERENCE = read_goals(
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
HOLDS = {"from_name": "character", "relation": "HOLDS_RH", "to_name": "cup"}
DRINK, WASH = {"action": "drink", "description": "it"}, {"action": "WASH", "description": "it"}
Counts = tuple[int, int, int]


def make_text(states: list[object], relations: list[object], actions: list[object]) -> str:
    return json.dumps({"node goals": states, "edge goals": relations, "action goals": actions})


def count(text: str, *habits: str) -> tuple[Counts, ...]:
    return tuple(count_goals(text, REFERENCE, LISTED, frozenset(habits)).values())


RIGHT = make_text([LAMP, CUP], [HOLDS], [DRINK, WASH])


def test_counts_of_the_right_goals() -> None:
    assert count(RIGHT) == ((2, 0, 0), (1, 0, 0), (2, 0, 0))
    for text in (f"Here:\n```\n{RIGHT}\n```", str(json.loads(RIGHT)), RIGHT.replace("it", "the robot's own")):
        assert count(text) == count(RIGHT)
    assert count("The lamp is on.") == count("{}") == ((0, 0, 2), (0, 0, 1), (0, 0, 2))


@pytest.mark.parametrize(
    ("habit", "text", "ours", "theirs"),
    [
        ("reading", "No goals.", ((0, 0, 2), (0, 0, 1), (0, 0, 2)), ((0, 0, 0), (0, 0, 0), (0, 0, 0))),
        (
            "not listed",
            make_text([{"name": "sofa", "state": "ON"}], [], []),
            ((0, 1, 2), (0, 0, 1), (0, 0, 2)),
            ((0, 0, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "malformed",
            make_text([{"name": "lamp"}, {}], [{"relation": "ON"}], [{"description": "it"}]),
            ((0, 1, 2), (0, 1, 1), (0, 1, 2)),
            ((0, 0, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "by number",
            make_text([LAMP, CUP], [HOLDS], []),
            ((2, 0, 0), (1, 0, 0), (0, 0, 2)),
            ((1, 1, 1), (0, 1, 1), (0, 0, 2)),
        ),
        (
            "letters",
            make_text([{"name": "lamp", "state": "on"}], [], []),
            ((1, 0, 1), (0, 0, 1), (0, 0, 2)),
            ((0, 1, 2), (0, 0, 1), (0, 0, 2)),
        ),
        (
            "twice",
            make_text([LAMP, {**LAMP, "why": "dark"}], [], [WASH, {"action": "RINSE"}]),
            ((1, 0, 1), (0, 0, 1), (1, 1, 1)),
            ((2, 0, 0), (0, 0, 1), (2, 0, 0)),
        ),
    ],
)
def test_each_habit_alone(habit: str, text: str, ours: tuple[Counts, ...], theirs: tuple[Counts, ...]) -> None:
    assert count(text) == ours
    assert count(text, habit) == theirs
    assert find_habits(text, REFERENCE, LISTED, count_goals(text, REFERENCE, LISTED, frozenset([habit]))) == (habit,)


def test_reasons_are_the_fewest_and_never_guessed() -> None:
    several = make_text(
        [{"name": "lamp", "state": "on"}, {"name": "sofa", "state": "ON"}], [{"to_name": "cup"}], [DRINK]
    )
    both = count_goals(several, REFERENCE, LISTED, frozenset(HABITS))
    assert find_habits(several, REFERENCE, LISTED, both) == ("not listed", "malformed", "letters")
    assert find_habits(RIGHT, REFERENCE, LISTED, count_goals(RIGHT, REFERENCE, LISTED)) == ()
    assert find_habits(RIGHT, REFERENCE, LISTED, {**both, "edge goals": (5, 5, 5)}) is None
    assert count("{" * 100_000) == count("")


def test_no_action_serves_two_goals() -> None:
    reference = read_goals({"actions": ["TOUCH", "TOUCH|PUSH"], "goal": []}, [])
    for actions, expected in (
        (["TOUCH"], (1, 0, 1)),
        (["TOUCH", "PUSH"], (2, 0, 0)),
        (["PUSH", "TOUCH", "READ"], (2, 1, 0)),
    ):
        text = make_text([], [], [{"action": action} for action in actions])
        assert count_goals(text, reference, {})["action goals"] == expected


def test_references_are_right_in_every_complete_shape(data: Path) -> None:
    folder = data / "eai-virtualhome"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for case in read_cases(folder)[:20]:
        reference = goals.read_case_goals(case)
        for answer in goals.make_shapes(case, reference):
            is_complete = answer.kind not in ("cut off", "empty", "words alone")
            counts = count_goals(answer.text, reference, {}).values()
            missed, false = sum([count[2] for count in counts]), sum([count[1] for count in counts])
            has_goals = bool(reference.states or reference.relations or reference.actions)
            assert (missed > 0, false) == (has_goals and not is_complete, 0), answer


def test_missing_data_is_reported(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["goals", "--python", sys.executable])
    monkeypatch.setattr(evaluator, "DATA_SETS", Path(os.devnull))
    assert goals.main() == 2
    assert "PLANSAFE_DATA" in capsys.readouterr().out
