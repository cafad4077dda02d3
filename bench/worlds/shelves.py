"""Things on shelves of limited capacity: too many, or just enough. Whether they fit is a question of counting.

``pairwise``: a rule forbids two things on one shelf. ``counted``: a number says how much is on a shelf, two at most.
``floor``: shelves hold one thing each by an invariant, and what is on no shelf is on the floor, which nothing may be
missing from.
"""

from __future__ import annotations

from bench.worlds.task import ALWAYS_UNSAFE, SAFE, UNSAFE, Task, problem_of

DOMAIN = """(define (domain shelves)
  (:types thing place)
  (:predicates (on ?x - thing ?p - place) (stowed ?x - thing) (shelf ?p - place))
  (:action stow :parameters (?x - thing) :effect (stowed ?x)))
"""
PAIRWISE = """(define (safety shelves)
  (:process alone :parameters (?x ?y - thing ?p - place)
    :forbid (and (not (= ?x ?y)) (on ?x ?p) (on ?y ?p) (stowed ?x) (stowed ?y))))
"""
COUNTED_DOMAIN = """(define (domain shelves)
  (:types thing place)
  (:predicates (on ?x - thing ?p - place))
  (:functions (load ?p - place))
  (:action stow :parameters (?x - thing)
    :effect (forall (?p - place) (when (on ?x ?p) (increase (load ?p) 1)))))
"""
COUNTED = """(define (safety shelves)
  (:process capacity :parameters (?p - place) :forbid (> (load ?p) 2)))
"""
FLOOR = """(define (safety shelves)
  (:invariant one-each :parameters (?x ?y - thing ?p - place)
    :holds (not (and (shelf ?p) (not (= ?x ?y)) (on ?x ?p) (on ?y ?p))))
  (:termination something-left :require (exists (?x - thing ?p - place) (and (on ?x ?p) (not (shelf ?p))))))
"""


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{i}" for i in range(count)]


def _anywhere(things: list[str], places: list[str]) -> list[str]:
    return [f"(oneof {' '.join([f'(on {x} {p})' for p in places])})" for x in things]


def _plan(things: list[str]) -> str:
    return "\n".join([f"(stow {x})" for x in things]) + "\n"


def pairwise(capacity: int, *, fits: bool) -> Task:
    """As many shelves as the capacity says, and things for them, or one more."""
    things, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity)
    problem = problem_of("shelves", {"thing": things, "place": places}, _anywhere(things, places))
    expected = UNSAFE if fits else ALWAYS_UNSAFE
    return Task(DOMAIN, problem, PAIRWISE, _plan(things), expected, len(things) * len(places))


def counted(capacity: int, *, fits: bool) -> Task:
    """Half as many shelves as the (even) capacity says, each for two things, and things for them, or one more."""
    things, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity // 2)
    init = [*_anywhere(things, places), *[f"(= (load {p}) 0)" for p in places]]
    problem = problem_of("shelves", {"thing": things, "place": places}, init)
    expected = UNSAFE if fits else ALWAYS_UNSAFE
    return Task(COUNTED_DOMAIN, problem, COUNTED, _plan(things), expected, len(things) * len(places))


def floor(capacity: int, *, fits: bool) -> Task:
    """Shelves and the floor: where things are too many something is on the floor in every world, which is safe."""
    things, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity + 1)
    init = [*_anywhere(things, places), *[f"(shelf {p})" for p in places[:capacity]]]
    problem = problem_of("shelves", {"thing": things, "place": places}, init)
    return Task(DOMAIN, problem, FLOOR, _plan(things), UNSAFE if fits else SAFE, len(things) * len(places))
