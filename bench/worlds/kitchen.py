"""Kitchens of any size with many unknown facts: which item is in which container, which is metal, which is wet.

Most actions affect all items in a container (universal conditional effects): pour them into another container, heat,
wash or dry them. Rules forbid metal items in a running microwave, starting a container with a wet item, and items that
are hot in the final state.
"""

from __future__ import annotations

import random

from bench.worlds.task import SAFE, UNSAFE, Task, problem_text

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
FAULT_STEPS = 3


def _idle_position(plan: list[str], oven: str) -> tuple[int, str]:
    """Find a position in the second half of the plan at which no machine runs, and the container of the first item."""
    container, running = oven, 0
    for position, step in enumerate(plan):
        if position >= len(plan) // 2 and not running:
            return position, container
        action, *arguments = step.strip("()").split()
        running += (action == "run") - (action == "stop")
        if action in ("pour", "sort-out") and arguments[0] == container:
            container = arguments[1]
    return len(plan), container


def kitchen_task(objects: int, steps: int, open_facts: int, *, safe: bool, containers: int = 0, seed: int = 0) -> Task:
    """A kitchen with a plan of ``steps`` steps that is SAFE in all worlds, or only in some.

    By default there is one container per 20 objects, at least four. ``steps`` should be at least twice the number of
    containers.
    """
    rng = random.Random(f"plan {seed}")  # the plan does not depend on the number of items
    places = [f"c{i}" for i in range(containers or max(4, objects // 20))]
    items = [f"i{i}" for i in range(objects - len(places))]
    microwaves = places[: len(places) // 2]
    oven = places[len(microwaves)]
    init = [f"(microwave {c})" for c in microwaves]
    facts = [f"(in {x} {c})" for x in items for c in places]
    random.Random(seed).shuffle(facts)
    facts.insert(0, facts.pop(facts.index(f"(in {items[0]} {oven})")))
    location_count = max(1, open_facts - 2 * len(items))
    unknown = [*facts[:location_count], *[f"(metal {x})" for x in items], *[f"(wet {x})" for x in items]][:open_facts]
    init += [f"(unknown {fact})" for fact in unknown]
    body_length = steps - (0 if safe else FAULT_STEPS) - len(places)
    plan: list[str] = []
    while len(plan) < body_length:
        c, d = rng.sample(places, 2)
        action_number = rng.randrange(4)
        if action_number == 0:
            plan.append(f"(pour {c} {d})")
        elif action_number == 1:
            plan.append(f"(wash {c})")
        elif action_number == 2 and body_length - len(plan) >= 5:
            plan += [f"(sort-out {c} {oven})", f"(dry {c})", f"(run {c})", f"(stop {c})", f"(dry {c})"]
        else:
            plan.append(f"(dry {c})")
    if not safe:
        position, container = _idle_position(plan, oven)
        # If the first item is metal, it is in a microwave when that runs.
        move_step = f"(dry {container})" if container == microwaves[0] else f"(pour {container} {microwaves[0]})"
        plan[position:position] = [move_step, f"(run {microwaves[0]})", f"(stop {microwaves[0]})"]
    plan += [f"(dry {c})" for c in places]
    problem = problem_text("kitchens", {"item": items, "container": places}, init)
    return Task(DOMAIN, problem, RULES, "\n".join(plan) + "\n", SAFE if safe else UNSAFE, len(unknown))
