"""Tasks with nondeterministic effects and unknown locations, where the verdict needs several constraints together.

``pouring``: each item is in exactly one container; a pour can spill each of its items, and spilled items are swept up.
No item is lost or in two containers. ``piles``: each token falls on one of two piles, nondeterministically; the piles
cannot both have more than half of the tokens.
"""

from __future__ import annotations

import random
from itertools import pairwise

from bench.worlds.task import SAFE, UNSAFE, Task, problem_text

POURING = """(define (domain pouring)
  (:types item container)
  (:predicates (in ?x - item ?c - container) (spilled ?x - item))
  (:action pour :parameters (?from ?to - container)
    :effect (forall (?x - item) (when (in ?x ?from) (and (not (in ?x ?from)) (in ?x ?to)))))
  (:action shake :parameters (?from ?to - container)
    :effect (forall (?x - item)
      (when (in ?x ?from) (and (not (in ?x ?from)) (oneof (in ?x ?to) (spilled ?x))))))
  (:action sweep :parameters (?c - container)
    :effect (forall (?x - item) (when (spilled ?x) (and (not (spilled ?x)) (in ?x ?c))))))
"""
POURING_RULES = """(define (safety pouring)
  (:process nowhere-twice :parameters (?x - item ?c ?d - container)
    :forbid (and (in ?x ?c) (in ?x ?d) (not (= ?c ?d))))
  (:termination nothing-lost :parameters (?x - item) :require (exists (?c - container) (in ?x ?c))))
"""
PILES = """(define (domain piles)
  (:types level)
  (:predicates (left ?l - level) (right ?l - level) (next ?a ?b - level) (more ?l - level))
  (:action drop :effect (oneof
    (forall (?a ?b - level) (when (and (left ?a) (next ?a ?b)) (and (not (left ?a)) (left ?b))))
    (forall (?a ?b - level) (when (and (right ?a) (next ?a ?b)) (and (not (right ?a)) (right ?b)))))))
"""
PILES_RULES = """(define (safety piles)
  (:termination not-both :parameters (?a ?b - level) :forbid (and (left ?a) (more ?a) (right ?b) (more ?b))))
"""


def pouring_task(items: int, containers: int, steps: int, *, spills: bool, safe: bool, seed: int = 0) -> Task:
    """Pours between containers; with ``spills`` about half of them can spill items, which are then swept up.

    If not ``safe``, the last spilled items are not swept up; without ``spills``, one item can be in several containers.
    """
    rng = random.Random(seed)
    names, places = [f"i{i}" for i in range(items)], [f"c{i}" for i in range(containers)]
    init = [f"(oneof {' '.join([f'(in {x} {c})' for c in places])})" for x in names]
    if not safe and not spills:
        init[0] = init[0].replace("oneof", "or")
    last_steps = [f"(pour {c} c0)" for c in places[1:]]
    last_steps += ["(shake c0 c1)", "(sweep c2)" if safe else "(pour c1 c2)"] if spills else []
    plan: list[str] = []
    while len(plan) < steps - len(last_steps):
        c, d, e = rng.sample(places, 3)
        if spills and rng.random() < 0.5 and len(plan) + 2 <= steps - len(last_steps):
            plan += [f"(shake {c} {d})", f"(sweep {e})"]
        else:
            plan.append(f"(pour {c} {d})")
    problem = problem_text("pouring", {"item": names, "container": places}, init)
    plan_text = "\n".join([*plan, *last_steps]) + "\n"
    return Task(POURING, problem, POURING_RULES, plan_text, SAFE if safe else UNSAFE, items * containers)


def piles_task(tokens: int, *, safe: bool) -> Task:
    """An even number of tokens. If not ``safe``, the rule also forbids that both piles have half of them."""
    levels = [f"l{i}" for i in range(tokens + 1)]
    first_forbidden = tokens // 2 + (1 if safe else 0)
    init = ["(left l0)", "(right l0)"]
    init += [f"(next {a} {b})" for a, b in pairwise(levels)]
    init += [f"(more {level})" for level in levels[first_forbidden:]]
    problem = problem_text("piles", {"level": levels}, init)
    return Task(PILES, problem, PILES_RULES, "(drop)\n" * tokens, SAFE if safe else UNSAFE)
