"""Small tasks with rules for planners, and their shortest safe continuations by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.reporting.report import Headline

DOMAIN = """(define (domain flat)
  (:types room stove box - object)
  (:predicates (in ?r - room) (at ?x - object ?r - room) (on ?s - stove) (open ?b - box) (full ?b - box))
  (:action go :parameters (?a ?b - room) :precondition (and (in ?a) (not (= ?a ?b)))
    :effect (and (not (in ?a)) (in ?b)))
  (:action light :parameters (?s - stove ?r - room) :precondition (and (in ?r) (at ?s ?r) (not (on ?s)))
    :effect (on ?s))
  (:action douse :parameters (?s - stove ?r - room) :precondition (and (in ?r) (at ?s ?r) (on ?s))
    :effect (not (on ?s)))
  (:action toggle :parameters (?b - box ?r - room) :precondition (and (in ?r) (at ?b ?r))
    :effect (and (when (open ?b) (not (open ?b))) (when (not (open ?b)) (open ?b))))
  (:action fill :parameters (?b - box) :precondition (and (open ?b) (exists (?r - room) (and (in ?r) (at ?b ?r))))
    :effect (full ?b)))"""
OBJECTS = "(:objects kitchen hall - room hob - stove chest - box)"
INITS = (
    "(in kitchen) (at hob kitchen) (at chest hall)",
    "(in hall) (at hob kitchen) (at chest hall) (open chest)",
    "(in kitchen) (at hob kitchen) (at chest kitchen) (on hob)",
)
GOALS = (
    "(in hall)",
    "(and (on hob) (in hall))",
    "(full chest)",
    "(and (full chest) (not (open chest)))",
    "(and (in kitchen) (full chest) (not (on hob)))",
    "(or (on hob) (full chest))",
)
RULES = (
    "(:process {0} :parameters (?s - stove ?r - room) :forbid (and (on ?s) (at ?s ?r) (not (in ?r))))",
    "(:process {0} :on (go ?a ?b) :forbid (exists (?s - stove) (on ?s)))",
    "(:process {0} :on (go ?a ?b) :forbid-after (exists (?b2 - box) (open ?b2)))",
    "(:process {0} :on (fill ?b) :require (once (exists (?s - stove) (on ?s))))",
    "(:process {0} :on (fill ?b) :require (yesterday (not (open ?b))))",
    "(:process {0} :on (light ?s _) :require (not (once (action (light ?s _)))))",
    "(:process {0} :parameters (?b - box) :forbid (and (full ?b) (historically (not (action (toggle ?b _))))))",
    "(:process {0} :parameters (?b - box) :require (imply (full ?b) (since (not (in kitchen)) (open ?b))))",
    "(:trajectory {0} :formula (sometime (exists (?s - stove) (on ?s))))",
    "(:trajectory {0} :parameters (?s - stove) :formula (at-most-once (on ?s)))",
    "(:trajectory {0} :parameters (?b - box ?s - stove) :formula (sometime-before (full ?b) (on ?s)))",
    "(:trajectory {0} :parameters (?b - box) :formula (sometime-after (open ?b) (not (open ?b))))",
    "(:trajectory {0} :formula (within 2 (in hall)))",
    "(:trajectory {0} :formula (hold-after 2 (in hall)))",
    "(:trajectory {0} :formula (hold-during 1 3 (not (in hall))))",
    "(:trajectory {0} :parameters (?b - box) :formula (until (not (full ?b)) (and (open ?b) (next (in hall)))))",
    "(:trajectory {0} :formula (or (at end (in kitchen)) (always (not (in kitchen)))))",
    "(:trajectory {0} :formula (exists (?r - room) (always (imply (action (fill _)) (in ?r)))))",
    "(:obligation {0} :parameters (?s - stove) :when (on ?s) :then (not (on ?s)) :within 2)",
    "(:obligation {0} :when (in hall) :then (in kitchen))",
    "(:termination {0} :parameters (?s - stove) :forbid (on ?s))",
    "(:termination {0} :parameters (?b - box) :when (full ?b) :require (or (in kitchen) (not (open ?b))))",
    "(:termination {0} :require (once (action (go _ _))))",
)
DEPTH = 5


class Small(NamedTuple):
    """A task with rules, and the steps already taken."""

    checker: Checker
    prefix: tuple[GroundAction, ...]
    text: str


def small_task(number: int) -> Small:
    """A task with one or two rules, each of them in turn; every third task has a prefix."""
    random = Random(f"planners {number}")
    chosen = [RULES[number % len(RULES)], *random.sample(RULES, random.choice((0, 1, 1)))]
    rules = " ".join([rule.format(f"rule-{i}") for i, rule in enumerate(chosen)])
    problem = (
        f"(define (problem p) (:domain flat) {OBJECTS} (:init {random.choice(INITS)}) (:goal {random.choice(GOALS)}))"
    )
    safety = f"(define (safety s) {rules})"
    checker = Checker(Source("domain", DOMAIN), Source("problem", problem), [Source("rules", safety)])
    simulation = Execution(checker.engine)
    prefix = []
    for _ in range(random.randint(1, 2) if number % 3 == 0 else 0):
        prefix.append(random.choice(sorted(simulation.legal(), key=lambda s: step_text(s, simulation.task.objects))))
        simulation.take(prefix[-1])
    prefix_texts = [step_text(step, simulation.task.objects) for step in prefix]
    return Small(checker, tuple(prefix), "\n".join([problem, safety, *prefix_texts]))


def shortest(checker: Checker, prefix: Sequence[GroundAction], depth: int = DEPTH) -> int | None:
    """The length of the shortest safe continuation, by enumeration; ``None`` if it is longer than ``depth``."""
    simulation = Execution(checker.engine)
    for step in prefix:
        assert simulation.take(step)
    objects = simulation.task.objects
    texts = [step_text(step, objects) for step in prefix]
    level: list[list[GroundAction]] = [[]]
    for length in range(depth + 1):
        following: list[list[GroundAction]] = []
        for steps in level:
            mark = simulation.mark()
            for step in steps:
                simulation.take(step)
            if checker.engine.evaluate_goal(simulation.state):
                plan = "\n".join([*texts, *[step_text(step, objects) for step in steps]])
                if checker.check(Source("plan", plan)).headline in (Headline.SAFE, Headline.VALID):
                    return length
            following += [[*steps, step] for step in simulation.legal()]
            simulation.rollback(mark)
        level = following
    return None
