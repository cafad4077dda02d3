"""Answers about reachability and shortest plans, compared with all states of small random tasks."""

from __future__ import annotations

from collections import Counter

import pytest
from endless_tasks import checker_of
from strips_tasks import draw_task, list_states

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.object_symmetry import ObjectSymmetry, find_interchangeable_objects
from plansafe.verifier.planning.planner import PlanningResult, PlanningStatus
from plansafe.verifier.planning.reachability import Reachability

STATES = 400
FERRY = """(define (domain ferry) (:types car place)
  (:predicates (at ?c - car ?p - place) (ferry-at ?p - place) (on ?c - car) (empty))
  (:action board :parameters (?c - car ?p - place) :precondition (and (at ?c ?p) (ferry-at ?p) (empty))
    :effect (and (on ?c) (not (at ?c ?p)) (not (empty))))
  (:action debark :parameters (?c - car ?p - place) :precondition (and (on ?c) (ferry-at ?p))
    :effect (and (at ?c ?p) (empty) (not (on ?c))))
  (:action sail :parameters (?from ?to - place) :precondition (and (ferry-at ?from) (not (= ?from ?to)))
    :effect (and (ferry-at ?to) (not (ferry-at ?from)))))"""
CARS = """(define (problem cars) (:domain ferry) (:objects c1 c2 c3 c4 - car left right - place)
  (:init (at c1 left) (at c2 left) (at c3 right) (at c4 left) (ferry-at left) (empty))
  (:goal (and (at c1 right) (at c2 right) (at c3 right))))"""


def follow(checker: Checker, result: PlanningResult) -> list[Execution]:
    """The states of a plan."""
    states = [Execution(checker.engine)]
    for step in result.steps:
        after = states[-1].after(step)
        assert after is not None
        states.append(after)
    return states


def compare_with_all_states(number: int, statistics: Counter[str]) -> None:
    """Compare all answers about a task with its states, if these are few."""
    checker = draw_task(number)
    states = list_states(checker, STATES)
    if states is None:
        return
    reachability, task = Reachability(checker), checker.engine.task
    for text in reachability.list_facts():
        predicate, code = reachability.parse_fact(text)
        result = reachability.reach_fact(text)
        assert (result.status is PlanningStatus.SOLVED) == any([code in s.state.facts[predicate] for s in states])
        if result.status is PlanningStatus.SOLVED:
            assert code in follow(checker, result)[-1].state.facts[predicate]
        statistics[f"fact: {result.status.value} by {result.planner}"] += 1
    legal = {(step.action.name, step.objects) for state in states for step in state.legal()}
    for step in reachability.iterate_steps():
        result = reachability.reach_step(step)
        assert (result.status is PlanningStatus.SOLVED) == ((step.action.name, step.objects) in legal)
        if result.status is PlanningStatus.SOLVED:
            assert follow(checker, result)[-1].after(step) is not None
        statistics[f"step: {result.status.value} by {result.planner}"] += 1
    shortest = next((state.letter for state in states if state.accepted), None)
    result = reachability.find_goal_plan(shortest=True)
    assert shortest == (len(result.steps) if result.status is PlanningStatus.SOLVED else None)
    statistics["interchangeable"] += bool(find_interchangeable_objects(checker.engine))
    if shortest is None:
        return
    for text in reachability.list_facts():
        fact = reachability.parse_fact(text)
        result = reachability.avoid_fact(text)
        others = list_states(checker, STATES, fact)
        assert others is not None
        assert (result.status is PlanningStatus.SOLVED) == any([state.accepted for state in others])
        if result.status is PlanningStatus.SOLVED:
            assert not any([fact[1] in state.state.facts[fact[0]] for state in follow(checker, result)])
        statistics[f"avoided: {result.status.value}"] += 1
    assert task.goal


def test_answers_agree_with_all_states() -> None:
    statistics: Counter[str] = Counter()
    for number in range(40):
        compare_with_all_states(number, statistics)
    assert statistics["fact: unsolvable by delete relaxation"] > 0
    assert statistics["fact: solved by own search"] > 0
    assert statistics["avoided: unsolvable"] > 0
    assert statistics["interchangeable"] > 0


@pytest.mark.slow
def test_answers_agree_with_all_states_of_many_tasks() -> None:
    statistics: Counter[str] = Counter()
    for number in range(40, 300):
        compare_with_all_states(number, statistics)
    assert statistics["fact: unsolvable by own search"] > 0
    assert statistics["step: unsolvable by inferred groups"] > 0


def test_exclusive_facts_exclude_a_step() -> None:
    lift = "(:action lift :parameters (?b) :precondition (on-floor ?b) :effect (and (held ?b) (not (on-floor ?b))))"
    both = "(:action both :parameters (?b) :precondition (and (held ?b) (on-floor ?b)) :effect (done))"
    domain = f"(define (domain d) (:predicates (held ?b) (on-floor ?b) (done)) {lift} {both})"
    problem = "(define (problem p) (:domain d) (:objects box) (:init (on-floor box)) (:goal (done)))"
    reachability = Reachability(checker_of(domain, problem))
    result = reachability.reach_step(reachability.parse_step("(both box)"))
    assert (result.status, result.planner) == (PlanningStatus.UNSOLVABLE, "inferred groups")
    assert "(held box) and (on-floor box) exclude each other" in result.detail


def test_cars_with_the_same_destination_are_interchangeable() -> None:
    checker = checker_of(FERRY, CARS)
    objects = checker.engine.task.objects
    classes = [
        tuple([objects[number] for number in members]) for members in find_interchangeable_objects(checker.engine)
    ]
    assert classes == [("c1", "c2", "c3")]  # c4 has no destination; the places differ in the goal


def test_states_that_differ_by_interchangeable_objects_have_the_same_key() -> None:
    checker = checker_of(FERRY, CARS)
    symmetry, start = ObjectSymmetry(checker.engine), Execution(checker.engine)

    def find_key(step: str) -> object:
        after = start.after(resolve(checker, step))
        assert after is not None
        return symmetry.find_key(after.state)

    assert find_key("(board c1 left)") == find_key("(board c2 left)") != find_key("(board c4 left)")


def resolve(checker: Checker, text: str) -> GroundAction:
    return Reachability(checker).parse_step(text)


def test_a_shortest_plan_is_found_among_interchangeable_objects() -> None:
    result = Reachability(checker_of(FERRY, CARS)).find_goal_plan(shortest=True)
    assert result.optimal
    assert len(result.steps) == 7


@pytest.mark.parametrize("text", ["(at c1)", "(under c1 left)", "(at c9 left)"])
def test_what_is_not_a_fact_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a fact|wrong number"):
        Reachability(checker_of(FERRY, CARS)).reach_fact(text)


def test_what_is_not_a_step_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown action `fly`"):
        resolve(checker_of(FERRY, CARS), "(fly c1 left)")


def test_a_landmark_of_the_goal_cannot_be_avoided() -> None:
    reachability = Reachability(checker_of(FERRY, CARS))
    assert reachability.avoid_fact("(ferry-at right)").status is PlanningStatus.UNSOLVABLE
    plan = reachability.avoid_fact("(on c4)")
    assert plan.status is PlanningStatus.SOLVED
    assert "c4" not in [reachability.task.objects[number] for step in plan.steps for number in step.objects]


def test_a_task_with_durative_actions_is_not_supported() -> None:
    wait = "(:durative-action wait :parameters () :duration (= ?duration 1) :condition () :effect (at end (done)))"
    domain = f"(define (domain d) (:predicates (done)) {wait})"
    problem = "(define (problem p) (:domain d) (:init) (:goal (done)))"
    result = Reachability(checker_of(domain, problem)).reach_fact("(done)")
    assert result.status is PlanningStatus.UNSUPPORTED
    assert result.detail == "the search does not support durative actions"


def test_a_limit_leaves_a_question_open() -> None:
    result = Reachability(checker_of(FERRY, CARS), max_nodes=1).find_goal_plan(shortest=True)
    assert result.status is PlanningStatus.NOT_FOUND


LAMP = """(define (domain lamp) (:requirements :constraints :numeric-fluents)
  (:predicates (plugged-in) (lit)) (:functions (uses))
  (:action switch-on :parameters () :precondition (plugged-in) :effect (and (lit) (increase (uses) 1))))"""
DARK = """(define (problem dark) (:domain lamp) (:init (plugged-in) (= (uses) 0)) (:goal (lit))
  (:constraints (always (plugged-in))))"""


def test_a_task_with_numbers_static_facts_and_constraints_is_answered() -> None:
    reachability = Reachability(checker_of(LAMP, DARK))
    assert reachability.reach_fact("(lit)").status is PlanningStatus.SOLVED
    assert reachability.avoid_fact("(lit)").status is PlanningStatus.UNSOLVABLE
