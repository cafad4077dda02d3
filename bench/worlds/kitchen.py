"""Kitchens of any size about which little is known: what is in which container, what is metal, what is wet.

Most of what a plan does, it does to everything in a container (universal conditional effects): it pours one container
into another, heats, washes or cools what is in it. A rule forbids that anything metal be in a microwave that runs,
another that anything wet be in an oven that is hot, a third that anything hot be left in the end.
"""

from __future__ import annotations

import random

from bench.worlds.task import SAFE, UNSAFE, Task, problem_of

DOMAIN = """(define (domain kitchens)
  (:requirements :adl)
  (:types item container)
  (:predicates (in ?x - item ?c - container) (metal ?x - item) (wet ?x - item) (hot ?x - item)
    (running ?c - container) (microwave ?c - container))
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
FAULT = 3


def _quiet(plan: list[str], oven: str) -> tuple[int, str]:
    """A place past the middle of a plan where nothing runs, and where a metal thing from the oven is by then."""
    where, running = oven, 0
    for place, step in enumerate(plan):
        if place >= len(plan) // 2 and not running:
            return place, where
        action, *containers = step.strip("()").split()
        running += (action == "run") - (action == "stop")
        if action in ("pour", "sort-out") and containers[0] == where:
            where = containers[1]
    return len(plan), where


def kitchen(objects: int, steps: int, open_facts: int, *, safe: bool, containers: int = 0, seed: int = 0) -> Task:
    """A kitchen with a plan of so many steps that is SAFE in all worlds, or in some only.

    If it is not said how many, there is a container for every 20 objects, four at least; ``steps`` should be twice as
    many.
    """
    rnd = random.Random(f"plan {seed}")  # the same plan however many things there are
    places = [f"c{i}" for i in range(containers or max(4, objects // 20))]
    items = [f"i{i}" for i in range(objects - len(places))]
    microwaves = places[: len(places) // 2]
    oven = places[len(microwaves)]
    init = [f"(microwave {c})" for c in microwaves]
    facts = [f"(in {x} {c})" for x in items for c in places]
    random.Random(seed).shuffle(facts)
    facts.insert(0, facts.pop(facts.index(f"(in {items[0]} {oven})")))
    left = max(1, open_facts - 2 * len(items))
    unknown = [*facts[:left], *[f"(metal {x})" for x in items], *[f"(wet {x})" for x in items]][:open_facts]
    init += [f"(unknown {fact})" for fact in unknown]
    body = steps - (0 if safe else FAULT) - len(places)
    plan: list[str] = []
    while len(plan) < body:
        c, d = rnd.sample(places, 2)
        kind = rnd.randrange(4)
        if kind == 0:
            plan.append(f"(pour {c} {d})")
        elif kind == 1:
            plan.append(f"(wash {c})")
        elif kind == 2 and body - len(plan) >= 5:
            plan += [f"(sort-out {c} {oven})", f"(dry {c})", f"(run {c})", f"(stop {c})", f"(dry {c})"]
        else:
            plan.append(f"(dry {c})")
    if not safe:
        place, where = _quiet(plan, oven)
        # The first thing, if it is metal, is in a microwave that runs after all.
        first = f"(dry {where})" if where == microwaves[0] else f"(pour {where} {microwaves[0]})"
        plan[place:place] = [first, f"(run {microwaves[0]})", f"(stop {microwaves[0]})"]
    plan += [f"(dry {c})" for c in places]
    problem = problem_of("kitchens", {"item": items, "container": places}, init)
    return Task(DOMAIN, problem, RULES, "\n".join(plan) + "\n", SAFE if safe else UNSAFE, len(unknown))
