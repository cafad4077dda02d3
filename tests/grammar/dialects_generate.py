"""Random domains with a problem, in the dialects of docs/language.md, section 2, and what they say in plain PDDL.

A depot task: a carrier takes boxes from place to place. ``features`` are the dialects that a text is written in; with
none it is plain PDDL. The meaning is the same for all.
"""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution

FEATURES = ("supertypes", "hyphens", "init-and", "objects", "repeated", "names", "cost", "vars", "private", "agent")
FEATURES += ("constraint", "kinds", "unread", "surplus")
APART = frozenset(("cost", "unread"))  # where a cost gets its value by default, no other value is left out
SETS = [s for size in (1, 2) for chosen in combinations(FEATURES, size) if (s := frozenset(chosen)) != APART]


class Texts(NamedTuple):
    domain: str
    problem: str


def texts(seed: int, features: frozenset[str]) -> Texts:
    """The task of a seed, written in these dialects."""
    random = Random(seed)
    places = [f"p{i}" for i in range(random.randint(2, 4))]
    boxes = [f"b{i}" for i in range(random.randint(1, 3))]
    facts = [f"(at c0 {random.choice(places)})", f"(at c1 {random.choice(places)})"]
    facts += [f"(lies {box} {random.choice(places)})" for box in boxes]
    facts += [f"(near {x} {y})" for x in places for y in places if x != y and random.random() < 0.8]
    goal = " ".join([f"(lies {box} {random.choice(places)})" for box in boxes if random.random() < 0.4])
    home, form, nested = random.choice(places), random.randrange(2), random.randrange(2)

    hyphen = "-" if "hyphens" in features else "- "
    supertypes = "" if "supertypes" in features else f"thing spot {hyphen}object"
    second = "?x" if "repeated" in features else "?y"
    at, holds = f"(at ?x {hyphen}carrier {second} {hyphen}place)", f"(holds ?x {hyphen}carrier {second} {hyphen}box)"
    private = f"(:private ?c {hyphen}carrier {at} {holds})" if "private" in features else f"{at} {holds}"
    carrier = f"?c {hyphen}carrier"
    head = f":parameters ({carrier} "
    if "agent" in features:
        head = f":agent {carrier if form else f'({carrier})'} :parameters ("
    spot = f"?p {hyphen}place"
    take = f"""(:action take {head}?b {hyphen}box {spot}) :precondition (and (at ?c ?p) (lies ?b ?p))
      :effect (and (holds ?c ?b) (not (lies ?b ?p)) (increase (total-cost) 2)))"""
    # A box lies in one place and a carrier is in one, so that leaving the place out of the step is clear.
    drop = f"""(:action drop {head}?b {hyphen}box {spot}) :precondition (and (at ?c ?p) (holds ?c ?b))
      :effect (and (lies ?b ?p) (not (holds ?c ?b)) (increase (total-cost) 1)))"""
    if "vars" in features:
        drop = drop.replace(f" {spot})", f") :vars ({spot})", 1)
    constants = "" if "names" in features else f"(:constants {home} {hyphen}place)"
    domain = f"""(define (domain depot) (:requirements :typing :negative-preconditions :action-costs)
    (:types carrier box {hyphen}thing place {hyphen}spot {supertypes}) {constants}
    (:predicates (near ?x {second} {hyphen}place) (lies ?x {hyphen}box {second} {hyphen}place) {private})
    (:functions (total-cost) {hyphen}number)
    (:action go {head}?f ?t {hyphen}place) :precondition (and (at ?c ?f) (near ?f ?t))
      :effect (and (at ?c ?t) (not (at ?c ?f)) (increase (total-cost) 1)))
    (:action call {head}) :precondition (not (at ?c {home}))
      :effect (and (forall ({spot}) (not (at ?c ?p))) (at ?c {home})))
    {take} {drop})"""
    some, others = f"{' '.join(places)} {hyphen}place", f"{' '.join(boxes)} {hyphen}box"
    tray = f"tray {hyphen}carrier tray {hyphen}box" if "kinds" in features else f"tray {hyphen}(either carrier box)"
    own = [f"c{i} {hyphen}carrier" for i in range(2)]
    if "private" in features:
        own = [f"(:private c{i} {owned})" for i, owned in enumerate(own)]
    apart = ") (:objects" if "objects" in features else ""
    given = " ".join(facts)
    if "init-and" in features:
        given = f"(and {facts[0]} (and {' '.join(facts[1:])}))" if nested else f"(and {given})"
    cost = "" if "cost" in features else "(= (total-cost) 0)"
    cost += "(= (fuel-used) 0) (= (fuel tray) 7)" if "unread" in features else ""
    law = f"(:constraint{'' if 'constraint' in features else 's'} (always (not (at c0 {places[0]}))))"
    end = ")" if "surplus" in features else ""
    problem = f"""(define (problem p) (:domain depot)
    (:objects {others} {apart} {some} {tray if form else ""} {" ".join(own)} {"" if form else tray})
    (:init {given} {cost}) {law} (:goal (and {goal})) (:metric minimize (total-cost)))"""
    return Texts(domain + end, problem + end)


def plan(seed: int, length: int) -> list[tuple[str, ...]]:
    """Random steps for the task of a seed that can be taken; each names all parameters."""
    random = Random(-1 - seed)
    plain = texts(seed, frozenset())
    engine = Checker(Source("domain", plain.domain), Source("problem", plain.problem)).engine
    simulation = Execution(engine)
    steps = []
    for _ in range(length):
        step = random.choice(list(simulation.legal()))
        simulation.take(step)
        steps.append((step.action.name, *[engine.task.objects[o] for o in step.objects]))
    return steps


def written(steps: list[tuple[str, ...]], features: frozenset[str]) -> str:
    """A plan as text; of an action with local variables, a step does not name them."""
    hidden = {"drop"} if "vars" in features else set()
    return "\n".join([f"({' '.join(step[:3] if step[0] in hidden else step)})" for step in steps])
