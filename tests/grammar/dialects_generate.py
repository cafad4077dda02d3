"""Random domains and problems in the dialects of docs/language.md, section 2, and in plain PDDL.

In the depot task, a carrier moves boxes between places. ``features`` are the dialects of the text; without any, it is
plain PDDL. The meaning is the same in all dialects.
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
EXCLUDED_SET = frozenset(("cost", "unread"))  # a default for the cost needs values for all other fluents
FEATURE_SETS = [
    s for size in (1, 2) for chosen in combinations(FEATURES, size) if (s := frozenset(chosen)) != EXCLUDED_SET
]


class DialectTask(NamedTuple):
    domain: str
    problem: str


def generate_task(seed: int, features: frozenset[str]) -> DialectTask:
    """The task of a seed, written in these dialects."""
    random = Random(seed)
    places = [f"p{i}" for i in range(random.randint(2, 4))]
    boxes = [f"b{i}" for i in range(random.randint(1, 3))]
    facts = [f"(at c0 {random.choice(places)})", f"(at c1 {random.choice(places)})"]
    facts += [f"(lies {box} {random.choice(places)})" for box in boxes]
    facts += [
        f"(near {first_place} {second_place})"
        for first_place in places
        for second_place in places
        if first_place != second_place and random.random() < 0.8
    ]
    goal = " ".join([f"(lies {box} {random.choice(places)})" for box in boxes if random.random() < 0.4])
    home_place, variant, nested = random.choice(places), random.randrange(2), random.randrange(2)

    hyphen = "-" if "hyphens" in features else "- "
    supertypes = "" if "supertypes" in features else f"thing spot {hyphen}object"
    second = "?x" if "repeated" in features else "?y"
    at, holds = f"(at ?x {hyphen}carrier {second} {hyphen}place)", f"(holds ?x {hyphen}carrier {second} {hyphen}box)"
    private = f"(:private ?c {hyphen}carrier {at} {holds})" if "private" in features else f"{at} {holds}"
    carrier = f"?c {hyphen}carrier"
    head = f":parameters ({carrier} "
    if "agent" in features:
        head = f":agent {carrier if variant else f'({carrier})'} :parameters ("
    spot = f"?p {hyphen}place"
    take = f"""(:action take {head}?b {hyphen}box {spot}) :precondition (and (at ?c ?p) (lies ?b ?p))
      :effect (and (holds ?c ?b) (not (lies ?b ?p)) (increase (total-cost) 2)))"""
    # A box and a carrier have one place each, so a step without the place is unambiguous.
    drop = f"""(:action drop {head}?b {hyphen}box {spot}) :precondition (and (at ?c ?p) (holds ?c ?b))
      :effect (and (lies ?b ?p) (not (holds ?c ?b)) (increase (total-cost) 1)))"""
    if "vars" in features:
        drop = drop.replace(f" {spot})", f") :vars ({spot})", 1)
    constants = "" if "names" in features else f"(:constants {home_place} {hyphen}place)"
    domain = f"""(define (domain depot) (:requirements :typing :negative-preconditions :action-costs)
    (:types carrier box {hyphen}thing place {hyphen}spot {supertypes}) {constants}
    (:predicates (near ?x {second} {hyphen}place) (lies ?x {hyphen}box {second} {hyphen}place) {private})
    (:functions (total-cost) {hyphen}number)
    (:action go {head}?f ?t {hyphen}place) :precondition (and (at ?c ?f) (near ?f ?t))
      :effect (and (at ?c ?t) (not (at ?c ?f)) (increase (total-cost) 1)))
    (:action call {head}) :precondition (not (at ?c {home_place}))
      :effect (and (forall ({spot}) (not (at ?c ?p))) (at ?c {home_place})))
    {take} {drop})"""
    place_objects, box_objects = f"{' '.join(places)} {hyphen}place", f"{' '.join(boxes)} {hyphen}box"
    tray = f"tray {hyphen}carrier tray {hyphen}box" if "kinds" in features else f"tray {hyphen}(either carrier box)"
    first_tray, last_tray = (tray, "") if variant else ("", tray)
    carrier_objects = [f"c{i} {hyphen}carrier" for i in range(2)]
    if "private" in features:
        carrier_objects = [f"(:private c{i} {owned})" for i, owned in enumerate(carrier_objects)]
    section_break = ") (:objects" if "objects" in features else ""
    initial_facts = " ".join(facts)
    if "init-and" in features:
        initial_facts = f"(and {facts[0]} (and {' '.join(facts[1:])}))" if nested else f"(and {initial_facts})"
    cost = "" if "cost" in features else "(= (total-cost) 0)"
    cost += "(= (fuel-used) 0) (= (fuel tray) 7)" if "unread" in features else ""
    constraint = f"(:constraint{'' if 'constraint' in features else 's'} (always (not (at c0 {places[0]}))))"
    surplus_parenthesis = ")" if "surplus" in features else ""
    problem = f"""(define (problem p) (:domain depot)
    (:objects {box_objects} {section_break} {place_objects} {first_tray} {" ".join(carrier_objects)} {last_tray})
    (:init {initial_facts} {cost}) {constraint} (:goal (and {goal})) (:metric minimize (total-cost)))"""
    return DialectTask(domain + surplus_parenthesis, problem + surplus_parenthesis)


def random_plan(seed: int, length: int) -> list[tuple[str, ...]]:
    """Random executable steps for the task of a seed; each names all parameters."""
    random = Random(-1 - seed)
    plain = generate_task(seed, frozenset())
    engine = Checker(Source("domain", plain.domain), Source("problem", plain.problem)).engine
    simulation = Execution(engine)
    steps = []
    for _ in range(length):
        step = random.choice(list(simulation.legal()))
        simulation.take(step)
        steps.append((step.action.name, *[engine.task.objects[o] for o in step.objects]))
    return steps


def write_plan(steps: list[tuple[str, ...]], features: frozenset[str]) -> str:
    """A plan as text; steps do not name the local variables of their action."""
    hidden = {"drop"} if "vars" in features else set()
    return "\n".join([f"({' '.join(step[:3] if step[0] in hidden else step)})" for step in steps])
