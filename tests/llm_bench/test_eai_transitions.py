"""EAI's transition modeling: verdicts by hand, and reasons held against an evaluator that compares texts alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from bench.eai import transitions
from bench.eai.answers import Answer
from bench.eai.transition_verdicts import REWRITINGS, SIDES, Gold, actions_of, closed, rewritten, right

from plansafe.grammar.sexpr import format_node

OPEN = Gold(
    "open",
    "(?c - person ?o - thing)",
    "(and (near ?c ?o) (not (open ?o)) (forall (?x - thing) (not (on ?x ?o))))",
    "(open ?o)",
)
MOVED = "(and (not (open ?o)) (near ?c ?o) (forall (?x - thing) (not (on ?x ?o))))"
LOOK = Gold("look", "(?c - person)", "(awake ?c)", "()")
TASK = transitions.Task("1_1", (OPEN, LOOK))


def action(precondition: str, effect: str, parameters: str = OPEN.parameters) -> str:
    return f"(:action open :parameters {parameters} :precondition {precondition} :effect {effect})"


def verdict(text: str) -> tuple[bool, bool]:
    found = right(actions_of(text).get("open"), OPEN)
    return found["precondition"], found["effect"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (OPEN.text, (True, True)),
        (json.dumps({"output": f"{LOOK.text}\n{OPEN.text} ; done"}), (True, True)),
        (f"Sure:\n```\n{OPEN.text}\n```", (True, True)),
        (
            action(MOVED.replace("?x", "?y"), "(and (open ?o))"),
            (True, True),
        ),
        (action("(near ?a ?b)", "(open ?b)", "(?a - person ?b - thing)"), (False, True)),
        (action(OPEN.precondition, "(and (open ?o) (open ?o))"), (True, True)),
        (action(OPEN.precondition, "(not (open ?o))"), (True, False)),
        (action("()", "()"), (False, False)),
        (action("(and (near ?c ?o)", "(open ?o)"), (False, False)),
        ("(:action close :parameters () :precondition () :effect ())", (False, False)),
        ("{", (False, False)),
        ("(:action " * 2000, (False, False)),
    ],
)
def test_verdicts_by_hand(text: str, expected: tuple[bool, bool]) -> None:
    assert verdict(text) == expected


def test_what_breaks_off_is_no_action_and_can_be_closed() -> None:
    text = f"{LOOK.text} {OPEN.text[: OPEN.text.index(':effect') + 12]}"
    assert set(actions_of(text)) == {"look"}
    assert right(closed(text, "open"), OPEN)["precondition"]
    assert closed(text, "look") is None
    assert closed(OPEN.text, "open") is None
    assert closed("no action", "open") is None


def by_text(_: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
    """An evaluator that wants each side word by word, and counts nothing where an action is not there."""
    out: dict[str, dict[str, Any]] = {}
    for answer in answers:
        said, counted = actions_of(answer.text), {}
        for one in TASK.actions:
            node = said.get(one.name)
            if isinstance(node, list):
                sides = {name: format_node(node[node.index(f":{name}") + 1]) for name in SIDES}
                counted[one.name] = {
                    name: [1, 0, 0] if text == getattr(one, name) else [0, 1, 1] for name, text in sides.items()
                }
        out[answer.id] = {"read": True, "actions": counted}
    return out


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{OPEN.text} {LOOK.text}", {}),
        (OPEN.text, {("look", "precondition"): ("not there",), ("look", "effect"): ("not there",)}),
        (
            f"{action(OPEN.precondition, '(and (open ?o))')} {LOOK.text}",
            {("open", "effect"): ("one part below `and`",)},
        ),
        (
            f"{action(OPEN.precondition.replace('?x', '?y'), OPEN.effect)} {LOOK.text}",
            {("open", "precondition"): ("bound names",)},
        ),
        (
            f"{action(MOVED, OPEN.effect)} {LOOK.text}",
            {("open", "precondition"): ("order of parts",)},
        ),
        (
            f"{OPEN.text.replace('?o', '?lid')} {LOOK.text.replace('(awake ?c)', '(and (awake ?c) (awake ?c))')}",
            {
                ("open", "precondition"): ("names of variables",),
                ("open", "effect"): ("names of variables",),
                ("look", "precondition"): ("one part below `and`", "said twice"),
            },
        ),
    ],
)
def test_reasons_are_the_fewest_rewritings(
    text: str, expected: dict[tuple[str, str], tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "by_theirs", by_text)
    found = transitions.pairs("", [TASK], [Answer("a", "1_1", "", text)])
    assert len(found) == 4
    assert {(one.action, one.side): one.reasons for one in found if one.reasons != ()} == expected


def test_a_difference_without_a_reason_has_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(_: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
        wrong = {one.name: {side: [0, 1, 0] for side in SIDES} for one in TASK.actions}
        return {answer.id: {"read": True, "actions": wrong} for answer in answers}

    monkeypatch.setattr(transitions, "by_theirs", never)
    found = transitions.pairs("", [TASK], [Answer("a", "1_1", "", f"{OPEN.text} {LOOK.text}")])
    assert [one.reasons for one in found] == [None] * 4
    transitions.show(found)
    assert "4  NO REASON" in capsys.readouterr().out


def test_rewritings_change_no_verdict_of_ours() -> None:
    said = actions_of(
        action("(and (not (open ?b)) (near ?a ?b) (near ?a ?b))", "(and (open ?b))", "(?a - person ?b - thing)")
    )
    node = said["open"]
    before = right(node, OPEN)
    ways = rewritten(node, OPEN)
    assert len(ways) == 2 ** len(REWRITINGS) - 1
    assert all([right(new, OPEN) == before for new in ways.values()])


def test_references_of_the_public_tasks(data: Path) -> None:
    folder = data / "eai-virtualhome"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for task in transitions.tasks(folder)[:30]:
        for answer in transitions.forms(task):
            said = actions_of(answer.text)
            verdicts = [all(right(said.get(one.name), one).values()) for one in task.actions]
            assert all(verdicts) is (answer.kind not in ("cut off", "words alone")), answer
        for answer in transitions.changed(task, random.Random(1), 3):
            for name, node in actions_of(answer.text).items():
                assert name in [one.name for one in task.actions]
                assert isinstance(node, list)
