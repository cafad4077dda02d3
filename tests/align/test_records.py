"""Test files of training data: they round-trip, and invalid records are refused with their line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plansafe.align.records import (
    MOST_LINE_BYTES,
    BadRecords,
    Both,
    Pair,
    SftLine,
    even_weights,
    json_of,
    plan_of,
    read_pairs,
    read_sft,
    write_pairs,
    write_sft,
)
from plansafe.grammar.codes import SC

CHOSEN = plan_of(["(go robot hall kitchen)", "(turn-on robot stove)", "(turn-off robot stove)"])
REJECTED = plan_of(["(go robot hall kitchen)", "(turn-on robot stove)"])
PAIR = Pair(
    id="stew/0#1",
    task="stew/0",
    origin="drawn:stew/0/0",
    family="stew",
    world="household",
    split="train",
    prompt="Task: stew für zwei\nPlan:\n",
    chosen=CHOSEN,
    rejected=REJECTED,
    shared=2,
    first_violation=3,
    no_return=(2, 2),
    regret=Both((0, 0, 0), (0, None)),
    grade=Both(("proved", "found", "estimate"), ("proved", "unknown")),
    weights=even_weights(CHOSEN, REJECTED),
    rule="stove-off",
    rules=("stove-off", "door-shut"),
    safel=("fire",),
    categories=("fire-and-heat",),
    moment="termination",
    witness="the stove is on at the end",
    goal=Both(True, False),
    edits=1,
    source="mutant",
    seed=7,
)
LINE = SftLine("stew/0", "drawn:stew/0/0", "stew", "household", "test", "Plan:\n", CHOSEN, "plan")


def test_written_records_are_read_back(tmp_path: Path) -> None:
    second = replace(PAIR, id="stew/0#2", split="test", regret=None, grade=None, no_return=None)
    path = str(tmp_path / "pairs.jsonl")
    assert write_pairs(path, [PAIR, second]) == 2
    assert list(read_pairs(path)) == [PAIR, second]
    assert PAIR.actions.rejected == ("(go robot hall kitchen)", "(turn-on robot stove)")
    knowledge = replace(LINE, kind="knowledge", completion="yes")
    assert write_sft(path, [LINE, knowledge]) == 2
    assert list(read_sft(path)) == [LINE, knowledge]
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.jsonl"]


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"surprise": 1}, "`surprise` is not a field"),
    ({"version": 2}, "`version` is not 1"),
    ({"version": True}, "`version` is not 1"),
    ({"shared": 1}, "`shared` is 1, but the plans have 2"),
    ({"shared": "2"}, "`shared` is not a whole number"),
    ({"chosen": "go\n"}, "`chosen` lacks an action in parentheses in line 1"),
    ({"chosen": CHOSEN[:-1]}, "`chosen` does not end with a newline"),
    ({"chosen": ""}, "`chosen` is empty"),
    ({"chosen": "(go a\x1b)\n"}, "`chosen` lacks an action in parentheses in line 1"),
    ({"rejected": CHOSEN}, "`rejected` is the chosen plan"),
    ({"prompt": "Plan:"}, "`prompt` does not end"),
    ({"prompt": "\ud800\n"}, "`prompt` holds half a character"),
    ({"first_violation": 2}, "`first_violation` is 2, not from 3 to 3"),
    ({"first_violation": 4}, "`first_violation` is 4, not from 3 to 3"),
    ({"no_return": [2, 3]}, "`no_return` is not an interval"),
    ({"no_return": [2]}, "`no_return` is not a list of two"),
    ({"weights": {"chosen": [1, 1, 1], "rejected": [1, 1, 1]}}, "`weights` has 3 values of `chosen` instead of 4"),
    ({"weights": {"chosen": [1, 1, 1, -1], "rejected": [1, 1, 1]}}, "`weights` contains a number that is not from 0"),
    (
        {"weights": {"chosen": [1, 1, 1, True], "rejected": [1, 1, 1]}},
        "`weights` contains an entry that is not a number",
    ),
    ({"weights": {"chosen": [1, 1, 1, 1]}}, "`weights` is not an object"),
    ({"regret": None}, "`grade` and `regret`"),
    ({"regret": {"chosen": [0, 0], "rejected": [0, 0]}}, "`regret` has 2 values of `chosen` instead of 3"),
    ({"grade": {"chosen": ["proved"] * 3, "rejected": ["proved", "sure"]}}, "`grade` is not one of proved"),
    ({"rules": ["door-shut"]}, "`rules` does not contain"),
    ({"rules": ["stove-off", "stove-off"]}, "`rules` contains a name twice"),
    ({"safel": "fire"}, "`safel` is not a list"),
    ({"goal": {"chosen": 1, "rejected": False}}, "`goal` contains an entry"),
    ({"moment": "later"}, "`moment` is not one of"),
    ({"split": "dev"}, "`split` is not one of"),
    ({"source": ["mutant"]}, "`source` is not one of"),
    ({"edits": 0}, "`edits` is 0"),
]


@pytest.mark.parametrize(
    ("change", "reason"), INVALID, ids=[f"{next(iter(c))}-{n}" for n, (c, _) in enumerate(INVALID)]
)
def test_invalid_field_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any], reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    record = {**json.loads(json_of(PAIR)), "id": "other", **change}
    path.write_text(json_of(PAIR) + "\n" + json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(BadRecords) as caught:
        list(read_pairs(str(path)))
    assert caught.value.diagnostic.code == SC.BAD_TRAINING_DATA
    assert f"{path}:2: {reason}" in caught.value.diagnostic.message


@pytest.mark.parametrize("name", json.loads(json_of(PAIR)))
def test_missing_field_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "pairs.jsonl"
    record = {key: value for key, value in json.loads(json_of(PAIR)).items() if key != name}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(BadRecords, match=f":1: `{name}` is missing"):
        list(read_pairs(str(path)))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"{}", ":1: the last line has no line end"),
        (json_of(PAIR).encode()[:-9], ":1: the last line has no line end"),
        (b"{}\n", ":1: `version` is missing"),
        (b"\n", ":1: not JSON"),
        (b"\xff\n", ":1: not UTF-8"),
        (b"[]\n", ":1: not a JSON object"),
        (b"[" * 100_000 + b"\n", ":1: nested too deep"),
        (b'{"version":1,"version":1}\n', ":1: `version` is repeated"),
        (b" " * (MOST_LINE_BYTES + 1), ":1: longer than"),
        (json_of(PAIR).encode() + b"\n" + json_of(PAIR).encode() + b"\n", ":2: `id` stew/0#1 is repeated"),
        (json_of(LINE).encode() + b"\n", ":1: `completion` is not a field"),
    ],
    ids=range(12),
)
def test_file_without_valid_pairs_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRecords) as caught:
        list(read_pairs(str(path)))
    assert reason in caught.value.diagnostic.message


def test_missing_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl", tmp_path / "none" / "none.jsonl"):
        with pytest.raises(BadRecords):
            list(read_pairs(str(path)))
    with pytest.raises(BadRecords):
        write_pairs(str(tmp_path / "none" / "pairs.jsonl"), [PAIR])


def test_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(ValueError, match="shared"):
        write_pairs(str(path), [PAIR, replace(PAIR, id="x", shared=0)])
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_completion_that_is_not_a_plan_is_refused() -> None:
    with pytest.raises(ValueError, match="completion"):
        json_of(replace(LINE, completion="take the pot"))
