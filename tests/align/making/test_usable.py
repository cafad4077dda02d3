"""What can be done with which thing."""

from __future__ import annotations

from random import Random

from plansafe.align.making.usable import Usable
from plansafe.align.tasks import task_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution

DOMAIN = """(define (domain d)
  (:requirements :adl)
  (:types thing place - object)
  (:predicates (small ?x - thing) (nailed ?x - thing) (held ?x - thing) (at ?x - thing ?p - place) (wet ?x - thing))
  (:action take :parameters (?x - thing ?p - place)
    :precondition (and (at ?x ?p) (small ?x) (not (nailed ?x))) :effect (and (held ?x) (not (at ?x ?p))))
  (:action dip :parameters (?x - thing) :precondition (or (held ?x) (exists (?p - place) (= ?p ?x)))
    :effect (wet ?x))
  (:action drop :parameters (?x - thing ?p - place) :precondition (held ?x) :effect (and (at ?x ?p) (not (held ?x)))))
"""
PROBLEM = """(define (problem p) (:domain d)
  (:objects chair stool wardrobe - thing hall cellar - place)
  (:init (at chair hall) (at stool hall) (at wardrobe hall) (small chair) (small stool) (nailed stool))
  (:goal (wet chair)))
"""


def test_what_cannot_be_taken_cannot_be_dropped() -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), ())
    task = checker.engine.task
    usable = Usable(task)

    def named(action: str, place: int) -> set[str]:
        return {task.objects[number] for number in usable.at(task.actions[action], place)}

    assert named("take", 0) == named("dip", 0) == named("drop", 0) == {"chair"}
    assert named("take", 1) == named("drop", 1) == {"hall", "cellar"}


def test_whatever_can_be_done_is_left() -> None:
    engine = task_of("drawn:tea/0/1/2/full").checker.engine
    usable, random, done = Usable(engine.task), Random(5), 0
    for _ in range(4):
        now = Execution.initial(engine, False)
        for _ in range(12):
            legal = list(now.legal())
            for step in legal:
                assert all(number in usable.at(step.action, place) for place, number in enumerate(step.objects)), step
            done += len(legal)
            assert now.take(random.choice(legal))
    assert done > 500
