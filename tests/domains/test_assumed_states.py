"""Initial states that a plan presupposes and its scene does not state."""

from __future__ import annotations

import pytest

from plansafe.domains.assumed_states import assume_undone_states, read_action_states, scene_with_facts
from plansafe.domains.world import ForeignPlan, Scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

DOMAIN = """(define (domain lamps) (:types lamp)
  (:predicates (on ?l - lamp) (broken ?l - lamp) (beside ?l ?m - lamp))
  (:action turn-on :parameters (?l - lamp) :precondition (and (not (on ?l)) (not (broken ?l))) :effect (on ?l))
  (:action turn-off :parameters (?l - lamp) :precondition (on ?l) :effect (and (not (on ?l))))
  (:action swap :parameters (?l ?m - lamp) :precondition (and (and (on ?m)) (not (on ?l)))
    :effect (and (on ?l) (not (on ?m))))
  (:action look :parameters (?l - lamp) :precondition (on ?l) :effect (and))
  (:action part :parameters (?l ?m - lamp) :precondition (beside ?l ?m) :effect (not (beside ?l ?m))))"""
PROBLEM = "(define (problem home) (:domain lamps) (:objects hall attic - lamp) (:init) (:goal (and)))"
UNSTATED = {"on": frozenset({"hall", "attic"})}


def read(steps: str, unstated: dict[str, frozenset[str]] = UNSTATED) -> tuple[Scene, ForeignPlan]:
    source = Source("evening.txt", steps)
    places = [Span(0, len(line)) for line in steps.splitlines()]
    scene = Scene(Source("lamps.pddl", DOMAIN), Source("home.pddl", PROBLEM), unstated=unstated)
    return scene, assume_undone_states(scene, ForeignPlan(source, tuple(places)), source)


@pytest.mark.parametrize(
    ("steps", "assumed"),
    [
        ("(turn-off hall)", ("(on hall)",)),
        ("(turn-on hall)\n(turn-off hall)", ()),
        ("(turn-on attic)\n(turn-off hall)", ("(on hall)",)),
        ("(turn-off hall)\n(turn-on hall)\n(turn-off hall)", ("(on hall)",)),
        ("(swap attic hall)", ("(on hall)",)),
        ("(swap hall attic)\n(turn-off hall)\n(turn-off attic)", ("(on attic)",)),
        ("(look hall)", ()),
        ("(part hall attic)", ()),
        ("(turn-off)\n(fly hall)\n(turn-off cellar)", ()),
    ],
)
def test_a_step_that_undoes_an_unstated_state_assumes_it(steps: str, assumed: tuple[str, ...]) -> None:
    assert read(steps)[1].assumed == assumed


def test_an_assumed_state_is_a_note_at_its_step() -> None:
    _, plan = read("(turn-on attic)\n(turn-off hall)")
    (note,) = plan.diagnostics
    assert (note.code, note.severity) == (SC.FOREIGN_SCENE, Severity.NOTE)
    assert "`(on hall)` is assumed at the start" in note.message
    assert note.labels[0].span == plan.places[1]


def test_a_stated_state_is_never_assumed() -> None:
    assert read("(turn-off hall)", {})[1].assumed == ()
    assert read("(turn-off hall)", {"on": frozenset({"attic"})})[1].assumed == ()


def test_the_plan_is_executable_with_the_assumed_facts() -> None:
    scene, plan = read("(turn-off hall)\n(turn-on hall)")
    assert plan.plan is not None
    headlines = []
    for task in (scene, scene_with_facts(scene, plan.assumed)):
        report = Checker(task.domain, task.problem).check(plan.plan)
        assert report.headline is not None
        headlines.append(report.headline.value)
    assert headlines == ["INVALID", "VALID"]


def test_only_literals_about_one_parameter_are_read() -> None:
    actions = read_action_states(DOMAIN)
    assert actions["swap"].undone == (("on", 2),)
    assert set(actions["swap"].decided) == {("on", 1), ("on", 2)}
    assert actions["look"].undone == actions["part"].undone == ()
    assert read_action_states("(define (domain d) (:action)) (") == {}
