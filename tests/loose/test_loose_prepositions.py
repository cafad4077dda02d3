"""``from`` and ``to`` in a sentence are read if names, effects or types decide the parameter, else refused."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.api import Checker

DOMAIN = """(define (domain d) (:requirements :typing) (:types room item robot)
  (:predicates (at ?r - robot ?x - room) (in ?i - item ?x - room) (beside ?x ?y - item))
  (:action move :parameters (?a - robot ?x ?y - room)
    :precondition (at ?a ?x) :effect (and (not (at ?a ?x)) (at ?a ?y)))
  (:action go :parameters (?to ?from - room) :effect (and))
  (:action carry :parameters (?y ?x - room ?i - item)
    :precondition (in ?i ?x) :effect (and (not (in ?i ?x)) (in ?i ?y)))
  (:action swap :parameters (?x ?y - room) :effect (and))
  (:action pair :parameters (?x ?y - item ?from - room) :effect (beside ?x ?y)))"""
PROBLEM = """(define (problem q) (:domain d)
  (:objects base hall long-hall - room cup jug - item r1 - robot) (:init (at r1 base)) (:goal (at r1 hall)))"""


def make_checker(domain: str = DOMAIN, problem: str = PROBLEM) -> Checker:
    task_checker = Checker(Source("d", domain), Source("p", problem))
    assert task_checker.ok, task_checker.diagnostics
    return task_checker


CHECKER = make_checker()


def read(text: str, against: Checker = CHECKER) -> LooseResult:
    return read_loose(Source("output.txt", text), against)


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Move from base to hall.", "(move r1 base hall)"),
        ("1. Move to the hall from base", "(move r1 base hall)"),
        ("move r1 from base to hall", "(move r1 base hall)"),
        ("Go from base to hall", "(go hall base)"),
        ("Carry the cup from base into the long hall", "(carry long-hall base cup)"),
        ("carry cup onto base from hall", "(carry base hall cup)"),
        ("First, move from base to hall, then move from hall to base.", "(move r1 base hall)\n(move r1 hall base)"),
    ],
)
def test_a_preposition_determines_the_parameter(text: str, plan: str) -> None:
    result = read(text)
    assert result.plan is not None, result.diagnostics
    assert result.plan.text.strip() == plan
    assert "SC735" in {note.code for note in result.notes}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("swap from base to hall", "SC744"),  # names, effects and types do not decide
        ("pair cup from base to jug", "SC744"),  # no parameter is reached
        ("pair from base cup jug", "SC403"),
        ("Move from base to hall to base", "SC403"),
        ("Move from cup to hall", "SC744"),
        ("Move from base to nowhere", "SC403"),
        ("move to hall", "SC402"),
        ("Move from base to hall if the cup is there", "SC740"),
        ("Move from base to hall or to the long hall", "SC740"),
        ("Do not move from base to hall", "SC740"),
        ("Move from base", "SC402"),
    ],
)
def test_an_ambiguous_preposition_is_refused(text: str, code: str) -> None:
    result = read(text)
    assert result.plan is None, result.plan.text
    assert code in {diagnostic.code for diagnostic in result.diagnostics}, result.diagnostics


def test_an_object_can_have_the_name_of_a_preposition() -> None:
    odd = make_checker(problem=PROBLEM.replace("(:objects", "(:objects to - room"))
    result = read("swap to hall", odd)
    assert result.plan is not None
    assert result.plan.text.strip() == "(swap to hall)"


@settings(max_examples=60)
@given(
    order=st.sampled_from(list(permutations(("?who - robot", "?old - room", "?new - room", "?what - item")))),
    uses_names=st.booleans(),
    to_comes_first=st.booleans(),
    effects=st.booleans(),
    verb=st.sampled_from(("bring", "fetch-it")),
)
def test_the_order_of_parameters_does_not_matter(
    order: tuple[str, ...], uses_names: bool, to_comes_first: bool, effects: bool, verb: str
) -> None:
    """Names or effects decide for every order of parameters; without them the text is refused."""
    parameters = " ".join(order)
    if uses_names:
        parameters = parameters.replace("?old", "?from").replace("?new", "?to")
    old, new = ("?from", "?to") if uses_names else ("?old", "?new")
    effect = f"(and (not (in ?what {old})) (in ?what {new}))" if effects else f"(at ?who {new})"
    task_checker = make_checker(DOMAIN[:-1] + f"(:action {verb} :parameters ({parameters}) :effect {effect}))")
    words = "to hall from base" if to_comes_first else "from base to hall"
    names = {"?who": "r1", "?old": "base", "?new": "hall", "?what": "cup"}
    step = " ".join([verb, *[names[parameter.split()[0]] for parameter in order]])
    reading = read(f"{verb.replace('-', ' ')} cup {words}", task_checker)
    robot_is_first = order[0].startswith("?who")
    if robot_is_first and (uses_names or effects):
        assert reading.plan is not None, reading.diagnostics
        assert reading.plan.text.strip() == f"({step})"
    else:
        assert reading.plan is None, reading.plan.text
