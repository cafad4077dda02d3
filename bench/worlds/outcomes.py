"""Actions with outcomes, and places of which exactly one is right: the verdict needs what the statements say together.

``pouring``: each item is in exactly one container, and pours may spill each of the items that they move; what was
spilled is swept up. Nothing is ever lost, or in two containers. ``piles``: each token falls on one pile or the other,
which one is open; the piles cannot both have more than half of them.
"""

from __future__ import annotations

import random
from itertools import pairwise

from bench.worlds.task import SAFE, UNSAFE, Task, problem_of

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


def pouring(items: int, containers: int, steps: int, *, spills: bool, safe: bool, seed: int = 0) -> Task:
    """Pours between containers; with ``spills`` every second one may spill, and what was spilled is swept up.

    Not ``safe``: the last thing spilled is left; without ``spills``, one item may be in several containers.
    """
    rnd = random.Random(seed)
    names, places = [f"i{i}" for i in range(items)], [f"c{i}" for i in range(containers)]
    init = [f"(oneof {' '.join([f'(in {x} {c})' for c in places])})" for x in names]
    if not safe and not spills:
        init[0] = init[0].replace("oneof", "or")
    end = [f"(pour {c} c0)" for c in places[1:]]
    end += ["(shake c0 c1)", "(sweep c2)" if safe else "(pour c1 c2)"] if spills else []
    plan: list[str] = []
    while len(plan) < steps - len(end):
        c, d, e = rnd.sample(places, 3)
        if spills and rnd.random() < 0.5 and len(plan) + 2 <= steps - len(end):
            plan += [f"(shake {c} {d})", f"(sweep {e})"]
        else:
            plan.append(f"(pour {c} {d})")
    problem = problem_of("pouring", {"item": names, "container": places}, init)
    text = "\n".join([*plan, *end]) + "\n"
    return Task(POURING, problem, POURING_RULES, text, SAFE if safe else UNSAFE, items * containers)


def piles(tokens: int, *, safe: bool) -> Task:
    """An even number of tokens; not ``safe``: that both piles have half of them is forbidden."""
    levels = [f"l{i}" for i in range(tokens + 1)]
    many = tokens // 2 + (1 if safe else 0)
    init = ["(left l0)", "(right l0)"]
    init += [f"(next {a} {b})" for a, b in pairwise(levels)]
    init += [f"(more {level})" for level in levels[many:]]
    problem = problem_of("piles", {"level": levels}, init)
    return Task(PILES, problem, PILES_RULES, "(drop)\n" * tokens, SAFE if safe else UNSAFE)
