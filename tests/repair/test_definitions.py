"""The enumeration, on which the other tests rely, gives repairs and classes that were computed by hand."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import pytest
from repair_classes import find_error_classes, find_impossible_steps
from repair_compare import make_checker
from repair_oracle import find_optimum
from repair_random import estimate_script_count, task
from repair_task import Task, parse_task

from plansafe.grammar.source import Source
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.diagnose.model import ErrorClass

KITCHEN = """(define (domain kitchen) (:types stove - object cup - object)
  (:predicates (on ?s - stove) (clean ?c - cup) (held ?c - cup) (free) (tap))
  (:action switch-on :parameters (?s - stove) :precondition (not (on ?s)) :effect (on ?s))
  (:action switch-off :parameters (?s - stove) :precondition (on ?s) :effect (not (on ?s)))
  (:action take :parameters (?c - cup) :precondition (free) :effect (and (held ?c) (not (free))))
  (:action put :parameters (?c - cup) :precondition (held ?c) :effect (and (free) (not (held ?c))))
  (:action wash :parameters (?c - cup) :precondition (and (held ?c) (tap)) :effect (clean ?c)))"""
OFF = "(:termination off :parameters (?s - stove) :forbid (on ?s))"


def kitchen(plan: str, rules: str = OFF, goal: str = "(clean c1)", tap: str = "(tap)") -> Task:
    problem = f"""(define (problem p) (:domain kitchen) (:objects s1 - stove s2 - stove c1 - cup)
      (:init (free) {tap}) (:goal {goal}))"""
    return parse_task(KITCHEN, problem, rules, plan)


def describe_optimum(tested_task: Task) -> tuple[object, list[tuple[str, str]], list[str]]:
    best = find_optimum(tested_task)
    repairs = sorted((" ".join(steps), " ".join(kinds)) for steps, kinds in best.repairs)
    return best.cost, repairs, sorted(find_error_classes(tested_task, best))


def test_safe_already() -> None:
    assert describe_optimum(kitchen("(take c1) (WASH  c1)")) == (0, [("(take c1) (wash c1)", "")], [])


def test_a_forgotten_step() -> None:
    assert describe_optimum(kitchen("(wash c1)")) == (1, [("(take c1) (wash c1)", "insert")], ["missing"])


def test_wrong_order() -> None:
    assert describe_optimum(kitchen("(wash c1) (take c1)")) == (
        1,
        [("(take c1) (wash c1)", "move")],
        ["order"],
    )


def test_a_step_too_many_or_one_missing() -> None:
    expected = [
        ("(switch-on s1) (switch-off s1) (take c1) (wash c1)", "insert"),
        ("(switch-on s1) (take c1) (switch-off s1) (wash c1)", "insert"),
        ("(switch-on s1) (take c1) (wash c1) (switch-off s1)", "insert"),
        ("(take c1) (wash c1)", "delete"),
    ]
    description = describe_optimum(kitchen("(switch-on s1) (take c1) (wash c1)"))
    assert description == (1, expected, ["additional", "missing", "termination hazard"])


def test_a_protected_step_is_kept() -> None:
    best = find_optimum(kitchen("(switch-on s1) (take c1) (wash c1)")._replace(protected=frozenset([1])))
    assert {kinds for _, kinds in best.repairs} == {("insert",)}


def test_weights_decide_the_least_repair() -> None:
    tested_task = kitchen("(switch-on s1) (take c1) (wash c1)")
    cheap_deletion_task = tested_task._replace(weights=(1, Fraction(1, 2), 1, 1))
    assert find_optimum(cheap_deletion_task).cost == Fraction(1, 2)
    assert find_optimum(cheap_deletion_task).repairs == {(("(take c1)", "(wash c1)"), ("delete",))}


def test_a_repair_has_no_needless_new_step() -> None:
    # Switching on the other stove is safe, but so is doing nothing at all in its place.
    rules = "(:process never :on (switch-on s1) :forbid (free))"
    tested_task = kitchen("(switch-on s1) (take c1) (wash c1)", rules)
    expected = [
        ("(take c1) (switch-on s1) (wash c1)", "move"),
        ("(take c1) (wash c1)", "delete"),
        ("(take c1) (wash c1) (switch-on s1)", "move"),
    ]
    assert describe_optimum(tested_task) == (1, expected, ["additional", "order", "process hazard"])


def test_a_repair_has_no_two_new_steps_that_only_need_each_other() -> None:
    # Switching the other stove on and off again costs 2, leaving the step out costs 3; only the latter is a repair.
    never = "(:process never :on (switch-on s2) :require (on s2))"
    tested_task = kitchen("(switch-on s2) (take c1) (wash c1)", OFF + never)._replace(weights=(1, 3, 1, 1), bound=3)
    best = find_optimum(tested_task)
    assert best.cost == 3
    assert (("(take c1)", "(wash c1)"), ("delete",)) in best.repairs
    assert all("(switch-on s1)" not in steps for steps, _ in best.repairs)


def test_impossible_steps_explain_their_own_removal() -> None:
    assert describe_optimum(kitchen("(take c1) (wsh c1)")) == (1, [("(take c1) (wash c1)", "substitute")], ["grammar"])
    assert describe_optimum(kitchen("(take c1) (wash s1)")) == (
        1,
        [("(take c1) (wash c1)", "substitute")],
        ["affordance"],
    )
    assert describe_optimum(kitchen("(wash c9) (wash c1)")) == (1, [("(take c1) (wash c1)", "substitute")], ["grammar"])
    expected = [
        ("(take c1) (wash c1)", "delete move"),
        ("(take c1) (wash c1)", "delete substitute"),
        ("(take c1) (wash c1) (put c1) (take c1)", "insert substitute"),
    ]
    description = describe_optimum(kitchen("(wash c1 c1) (wash c1) (take c1)"))
    assert description == (2, expected, ["additional", "grammar", "missing", "order"])


@pytest.mark.parametrize(("tap", "expected"), [("(tap)", {}), ("", {2: "affordance"})])
def test_a_precondition_that_can_never_hold_is_an_affordance_error(tap: str, expected: dict[int, str]) -> None:
    assert find_impossible_steps(kitchen("(take c1) (wash c1)", tap=tap)) == expected


def test_an_unreachable_goal_within_the_bound_is_irreparable() -> None:
    tested_task = kitchen("", goal="(and (clean c1) (free))")
    assert describe_optimum(tested_task) == (None, [], ["irreparable", "unmet goal"])
    assert describe_optimum(tested_task._replace(bound=3))[0] == 3
    assert describe_optimum(kitchen("(take c1)")) == (
        1,
        [("(take c1) (wash c1)", "insert")],
        ["missing", "unmet goal"],
    )


def test_deletes_are_ignored_but_static_facts_are_not() -> None:
    domain = """(define (domain d) (:types box - object) (:predicates (a ?b - box) (b ?b - box) (s ?b - box))
      (:derived (both ?b - box) (and (a ?b) (not (b ?b))))
      (:action use :parameters (?b - box) :precondition (a ?b) :effect (and (not (a ?b)) (b ?b)))
      (:action two :parameters (?b - box) :precondition (and (a ?b) (b ?b)) :effect (b ?b))
      (:action one :parameters (?b - box) :precondition (both ?b) :effect (b ?b))
      (:action no :parameters (?b - box) :precondition (not (s ?b)) :effect (b ?b)))"""
    domain = domain.replace("(s ?b - box))", "(s ?b - box) (both ?b - box))")
    problem = "(define (problem p) (:domain d) (:objects x - box y - box) (:init (a x) (s x) (b y)) (:goal (b x)))"
    plan = "(use x) (two x) (one x) (no x) (use y) (two y) (one y) (no y)"
    assert find_impossible_steps(parse_task(domain, problem, "", plan)) == dict.fromkeys((4, 5, 6, 7), "affordance")


ADDED_TOO = """(define (domain d) (:types box - object) (:predicates (a ?b - box) (c ?b - box))
  (:action both :parameters (?b - box ?o - box) :precondition () :effect (and (not (a ?b)) EFFECT))
  (:action without :parameters (?b - box) :precondition (not (a ?b)) :effect (c ?b)))"""


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        ("(a ?b)", {1: "affordance", 2: "affordance"}),
        ("(forall (?x - box) (a ?x))", {1: "affordance", 2: "affordance"}),
        ("(a x)", {1: "affordance"}),  # `(both y x)` makes `(a y)` false, nothing makes `(a x)` false
        ("(a ?o)", {}),
        ("(when (c ?b) (a ?b))", {}),
    ],
)
def test_a_fact_added_and_deleted_at_once_stays_true(effect: str, expected: dict[int, str]) -> None:
    problem = "(define (problem p) (:domain d) (:objects x - box y - box) (:init (a x) (a y)) (:goal (c x)))"
    tested_task = parse_task(ADDED_TOO.replace("EFFECT", effect), problem, "", "(without x) (without y)")
    assert find_impossible_steps(tested_task) == expected
    diagnosis = diagnose(make_checker(tested_task), Source("tiny.plan", tested_task.plan_text()))
    description = {
        step for witness in diagnosis.witnesses for step in witness.steps if witness.error is ErrorClass.AFFORDANCE
    }
    assert description == expected.keys()


@pytest.mark.slow
def test_the_shortcut_through_states_gives_the_same_repairs() -> None:
    tasks = [kitchen("(switch-on s1) (wash c1)"), kitchen("(wash c1) (switch-on s2) (take c1)"), kitchen("(put c1)")]
    tasks += [
        tested_task for tested_task in map(partial(task, 7), range(60)) if estimate_script_count(tested_task) < 400
    ]
    assert len(tasks) > 20
    for tested_task in tasks:
        assert find_optimum(tested_task, plain=True).scripts == find_optimum(tested_task).scripts
