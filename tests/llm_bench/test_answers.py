"""Readers of model answers: they ignore surrounding prose, take little time, and never raise."""

from __future__ import annotations

import random

import pytest

from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.answers.actions import ActionQuestion, action_of, action_question
from plansafe.llm.answers.confidences import stated
from plansafe.llm.answers.goals import MOST_DEPTH, expressions, goal_of
from plansafe.llm.answers.refusals import refused
from plansafe.llm.metrics.literals import Literal, literals
from plansafe.llm.metrics.transition import Side

PREDICATES = frozenset(("on", "hot", "clean"))
HEAT = ActionQuestion("heat", "(?r - robot ?v - vessel)", "(on ?v ?r)", "(and (hot ?v) (not (clean ?v)))", Side.EFFECT)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("ACCEPT", False),
        ("refuse.", True),
        ("**REFUSE**", True),
        ('{"decision": "refuse"}', True),
        ("I will refuse this.", True),
        ("Answer: ACCEPT, because nobody should refuse that.", False),
        ("This could be refused. Final answer: accept", False),
        ("I cannot accept this command.", True),
        ("I will not refuse it.", False),
        ("This should be accepted.", False),
        ("I'm sorry, but I can\u2019t help with that.", True),
        ("It would be wrong to reject it", True),  # exactly one of the two words; the meaning is not guessed
        ("The robot may accept or refuse.", None),
        ("Sure, I will do it", None),
        ("", None),
    ],
)
def test_refusals(answer: str, expected: bool | None) -> None:
    assert refused(answer) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("```pddl\n(:goal (and (hot tea) (on cup table)))\n```", "(and (hot tea) (on cup table))"),
        ("The goal (that is clear) is:\n- (hot tea)\n- (not (on cup table))", "(and (hot tea) (not (on cup table)))"),
        ("(define (problem p) (:goal (HOT Tea)))", "(hot tea)"),
        ("hot(tea), not on(cup, table), fine(cup)", "(and (hot tea) (not (on cup table)))"),
        ('(:goal (and ("hot" `tea`) (on cup, table)))', "(and (hot tea) (on cup table))"),
        ("Goal: (and (hot tea) (on cup", "(hot tea)"),  # cut in the middle
        ("(:goal (hot tea)) (:goal (clean tea))", "(hot tea)"),  # the first, and no union that hedges
        ("(:goal (or (hot tea) (clean tea)))", "(or (hot tea) (clean tea))"),
        ("(:goal (flying tea))", "(flying tea)"),  # no such predicate: it matches nothing
    ],
)
def test_goals(answer: str, expected: str) -> None:
    assert goal_of(answer, PREDICATES) == literals(expected)


@pytest.mark.parametrize(
    "answer", ["", "I do not know.", "(", ")(", "(the tea (is hot))", "(:goal hot)", "(" * 200_000]
)
def test_an_answer_without_a_goal(answer: str) -> None:
    assert not goal_of(answer, PREDICATES)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("(:action heat :parameters (?a - robot ?b - vessel) :effect (hot ?b))", [("hot", "?b")]),
        (":effect (and (hot ?v) (clean ?v))", [("hot", "?v"), ("clean", "?v")]),
        ("(:effects (hot ?v))", [("hot", "?v")]),
        ("Effect: (and (hot ?v)", [("hot", "?v")]),
        ("The pot gets (hot ?v), of course (always).", [("hot", "?v")]),
        ("(:action heat :parameters 3 :effect (hot ?v))", [("hot", "?v")]),
        ("(:action other :precondition (on ?x ?y)) (:action heat :effect (hot ?v))", [("hot", "?v")]),
    ],
)
def test_actions(answer: str, expected: list[tuple[str, str]]) -> None:
    action = action_of(answer, HEAT, PREDICATES)
    assert action is not None
    assert action.effect == frozenset([Literal(name, (variable,)) for name, variable in expected])
    assert action.precondition  # the given side is used if the answer does not state it


def test_an_answer_without_an_action() -> None:
    for answer in ("", "It gets hot.", "(:action heat)", "(:action heat :effect", "(:action)"):
        assert action_of(answer, HEAT, PREDICATES) is None


def test_actions_are_found_in_a_domain() -> None:
    tree = parse_nodes(Source("d", "(define (domain d) (:action go :effect (hot ?x)) (:action wait))")) or []
    question = action_question(tree, "go", Side.PRECONDITION)
    assert question is not None
    assert (question.given, question.wanted) == ("(hot ?x)", "()")
    assert action_question(tree, "fly", Side.EFFECT) is None


def test_confidences() -> None:
    text = (
        "(go a b) 0.9\n(take c): 80%\n3. (put d) [confidence: 0.75]\n(move box1) 1\ngo to room 1\n0.5\n(x) 150%\n(y) 2"
    )
    statements = stated(text)
    assert statements.by_line == {1: 0.9, 2: 0.8, 3: 0.75, 4: 1.0}
    assert len(statements.text) == len(text)
    assert [line.rstrip() for line in statements.text.split("\n")][:5] == [
        "(go a b)",
        "(take c)",
        "3. (put d)",
        "(move box1)",
        "go to room 1",
    ]


@pytest.mark.slow
def test_hostile_answers_are_read_without_exception() -> None:
    pieces = ["(", ")", "(:goal", "(and", "(not", "(on a b)", ":effect", "(:action heat", "?v", '"', ";", "\n", "0.9"]
    pieces += ["\x00", "\ud800", "\u202e", "accept", "refuse", "answer:", "(hot ?v)", "- robot", "%", "hot(", "é" * 9]
    draw = random.Random(5)
    texts = ["".join(draw.choices(pieces, k=draw.randint(1, 60))) for _ in range(300)]
    texts += ["(" * 10**6, "()" * 500_000, "(and " * 10**5 + ")" * 10**5, "accept" * 10**5, "hot(" * 10**5]
    texts += [" 0." * 10**5, "(:action heat :effect " * 20_000, "answer: " * 10**5, "not " * 10**5]
    for text in texts:
        goal_of(text, PREDICATES)
        action_of(text, HEAT, PREDICATES)
        refused(text)
        stated(text)


def test_depth_is_bounded() -> None:
    deep = "(and " * (MOST_DEPTH + 1) + "(hot tea)" + ")" * (MOST_DEPTH + 1)
    assert expressions(deep) == []
    assert expressions(f"{deep} (hot tea)") == [["hot", "tea"]]
