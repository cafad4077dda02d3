"""EAI's transition modeling: verdicts, and reasons of differences from an evaluator that compares only texts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from bench.eai import transitions
from bench.eai.answers import Answer
from bench.eai.transition_verdicts import (
    REWRITINGS,
    SIDES,
    ReferenceAction,
    close_truncated,
    judge_sides,
    make_rewritings,
    parse_actions,
)

from plansafe.grammar.sexpr import format_node

OPEN = ReferenceAction(
    "open",
    "(?c - person ?o - thing)",
    "(and (near ?c ?o) (not (open ?o)) (forall (?x - thing) (not (on ?x ?o))))",
    "(open ?o)",
)
MOVED = "(and (not (open ?o)) (near ?c ?o) (forall (?x - thing) (not (on ?x ?o))))"
LOOK = ReferenceAction("look", "(?c - person)", "(awake ?c)", "()")
TASK = transitions.Task("1_1", (OPEN, LOOK))


def action(precondition: str, effect: str, parameters: str = OPEN.parameters) -> str:
    return f"(:action open :parameters {parameters} :precondition {precondition} :effect {effect})"


def verdict(text: str) -> tuple[bool, bool]:
    verdicts = judge_sides(parse_actions(text).get("open"), OPEN)
    return verdicts["precondition"], verdicts["effect"]


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


def test_a_truncated_action_is_not_read_and_can_be_closed() -> None:
    text = f"{LOOK.text} {OPEN.text[: OPEN.text.index(':effect') + 12]}"
    assert set(parse_actions(text)) == {"look"}
    assert judge_sides(close_truncated(text, "open"), OPEN)["precondition"]
    assert close_truncated(text, "look") is None
    assert close_truncated(OPEN.text, "open") is None
    assert close_truncated("no action", "open") is None


def by_text(_: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
    """An evaluator that requires the text of each side, and does not count missing actions."""
    evaluations: dict[str, dict[str, Any]] = {}
    for answer in answers:
        nodes, counts = parse_actions(answer.text), {}
        for reference in TASK.actions:
            node = nodes.get(reference.name)
            if isinstance(node, list):
                sides = {name: format_node(node[node.index(f":{name}") + 1]) for name in SIDES}
                counts[reference.name] = {
                    name: [1, 0, 0] if text == getattr(reference, name) else [0, 1, 1] for name, text in sides.items()
                }
        evaluations[answer.id] = {"read": True, "actions": counts}
    return evaluations


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
                ("look", "precondition"): ("one part below `and`", "repeated part"),
            },
        ),
    ],
)
def test_reasons_are_the_fewest_rewritings(
    text: str, expected: dict[tuple[str, str], tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "evaluate_by_theirs", by_text)
    comparisons = transitions.compare_answers("", [TASK], [Answer("a", "1_1", "", text)])
    assert len(comparisons) == 4
    assert {(row.action, row.side): row.reasons for row in comparisons if row.reasons != ()} == expected


def test_a_difference_without_a_reason_has_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(_: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
        wrong = {action.name: {side: [0, 1, 0] for side in SIDES} for action in TASK.actions}
        return {answer.id: {"read": True, "actions": wrong} for answer in answers}

    monkeypatch.setattr(transitions, "evaluate_by_theirs", never)
    comparisons = transitions.compare_answers("", [TASK], [Answer("a", "1_1", "", f"{OPEN.text} {LOOK.text}")])
    assert [comparison.reasons for comparison in comparisons] == [None] * 4
    transitions.print_summary(comparisons)
    assert "4  NO REASON" in capsys.readouterr().out


def test_rewritings_change_no_verdict_of_ours() -> None:
    nodes = parse_actions(
        action("(and (not (open ?b)) (near ?a ?b) (near ?a ?b))", "(and (open ?b))", "(?a - person ?b - thing)")
    )
    node = nodes["open"]
    before = judge_sides(node, OPEN)
    rewritten = make_rewritings(node, OPEN)
    assert len(rewritten) == 2 ** len(REWRITINGS) - 1
    assert all([judge_sides(new, OPEN) == before for new in rewritten.values()])


def test_references_of_the_public_tasks(data: Path) -> None:
    folder = data / "eai-virtualhome"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    for task in transitions.read_tasks(folder)[:30]:
        for answer in transitions.make_shapes(task):
            nodes = parse_actions(answer.text)
            verdicts = [all(judge_sides(nodes.get(action.name), action).values()) for action in task.actions]
            assert all(verdicts) is (answer.kind not in ("cut off", "words alone")), answer
        for answer in transitions.make_mutants(task, random.Random(1), 3):
            for name, node in parse_actions(answer.text).items():
                assert name in [action.name for action in task.actions]
                assert isinstance(node, list)
