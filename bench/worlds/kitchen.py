"""Kitchens of any size about which little is known: what is in which container, what is metal, what is wet.

Most of what a plan does, it does to everything in a container (universal conditional effects): it pours one container
into another, heats, washes or cools what is in it. A rule forbids that anything metal be in a microwave that runs, another
that anything wet be in an oven that is hot, a third that anything hot be left in the end.
"""

from __future__ import annotations

import random
from typing import NamedTuple

DOMAIN = """(define (domain kitchens)
  (:requirements :adl)
  (:types item container)
  (:predicates (in ?x - item ?c - container) (metal ?x - item) (wet ?x - item) (hot ?x - item)
    (running ?c - container) (shut ?c - container) (microwave ?c - container))
  (:action pour :parameters (?from ?to - container)
    :precondition (and (not (running ?from)) (not (running ?to)))
    :effect (forall (?x - item) (when (in ?x ?from) (and (in ?x ?to) (not (in ?x ?from))))))
  (:action sort-out :parameters (?c ?to - container)
    :precondition (not (running ?c))
    :effect (forall (?x - item) (when (and (in ?x ?c) (metal ?x)) (and (in ?x ?to) (not (in ?x ?c))))))
  (:action run :parameters (?c - container) :precondition (not (running ?c)) :effect (running ?c))
  (:action stop :parameters (?c - container)
    :precondition (running ?c)
    :effect (and (not (running ?c)) (forall (?x - item) (when (in ?x ?c) (hot ?x)))))
  (:action wash :parameters (?c - container)
    :precondition (not (running ?c))
    :effect (forall (?x - item) (when (in ?x ?c) (wet ?x))))
  (:action dry :parameters (?c - container)
    :precondition (not (running ?c))
    :effect (forall (?x - item) (when (in ?x ?c) (and (not (wet ?x)) (not (hot ?x)))))))
"""
RULES = """(define (safety kitchens)
  (:domain kitchens)
  (:process no-metal :parameters (?x - item ?c - container)
    :forbid (and (running ?c) (microwave ?c) (metal ?x) (in ?x ?c)) :severity critical)
  (:process dry-heat :parameters (?x - item ?c - container)
    :on (run ?c) :forbid (and (wet ?x) (in ?x ?c)))
  (:termination nothing-hot :parameters (?x - item) :forbid (hot ?x)))
"""


class Kitchen(NamedTuple):
    """A task as text: domain, problem, rules and plan; ``open_facts`` are unknown in the beginning."""

    domain: str
    problem: str
    rules: str
    plan: str
    open_facts: int


def kitchen(objects: int, steps: int, open_facts: int, *, safe: bool, seed: int = 0) -> Kitchen:
    """A kitchen with a plan that is SAFE in all worlds, or in some only."""
    rnd = random.Random(seed)
    containers = [f"c{i}" for i in range(max(4, objects // 20))]
    items = [f"i{i}" for i in range(objects - len(containers))]
    microwaves = containers[: len(containers) // 2]
    init = [f"(microwave {c})" for c in microwaves]
    facts = [f"(in {x} {c})" for x in items for c in containers]
    rnd.shuffle(facts)
    left = max(0, open_facts - 2 * len(items))
    unknown = [*facts[:left], *[f"(metal {x})" for x in items], *[f"(wet {x})" for x in items]]
    init += [f"(unknown {fact})" for fact in unknown[:open_facts]]
    plan: list[str] = []
    while len(plan) < steps - 2 * len(containers):
        c, d = rnd.sample(containers, 2)
        kind = rnd.randrange(4)
        if kind == 0:
            plan.append(f"(pour {c} {d})")
        elif kind == 1:
            plan.append(f"(wash {c})")
        elif kind == 2 and steps - len(plan) > 2 * len(containers) + 4:
            oven = next(o for o in containers if o not in microwaves)
            plan += [f"(sort-out {c} {oven})", f"(dry {c})", f"(run {c})", f"(stop {c})", f"(dry {c})"]
        else:
            plan.append(f"(dry {c})")
    if not safe:  # what was sorted out goes into a microwave after all
        microwave, oven = microwaves[0], next(c for c in containers if c not in microwaves)
        plan[len(plan) // 2 : len(plan) // 2] = [
            f"(pour {oven} {microwave})",
            f"(run {microwave})",
            f"(stop {microwave})",
        ]
    plan += [f"(dry {c})" for c in containers]
    problem = (
        f"(define (problem kitchen) (:domain kitchens)\n (:objects {' '.join(items)} - item"
        f" {' '.join(containers)} - container)\n (:init {' '.join(init)})\n (:goal (and)))\n"
    )
    return Kitchen(DOMAIN, problem, RULES, "\n".join(plan[:steps] if safe else plan) + "\n", len(unknown[:open_facts]))
