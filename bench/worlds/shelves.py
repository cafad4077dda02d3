"""Objects on shelves of limited capacity: they fit, or there is one too many. The verdict requires counting.

``pairwise``: a rule forbids two objects on one shelf. ``counted``: a fluent counts the objects on a shelf, at most two.
``floor``: an invariant allows one object per shelf; other objects are on the floor, and a rule requires that at least
one object is there.
"""

from __future__ import annotations

from bench.worlds.task import ALWAYS_UNSAFE, SAFE, UNSAFE, Task, problem_text

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


def _unknown_places(objects: list[str], places: list[str]) -> list[str]:
    return [f"(oneof {' '.join([f'(on {x} {p})' for p in places])})" for x in objects]


def _stow_plan(objects: list[str]) -> str:
    return "\n".join([f"(stow {x})" for x in objects]) + "\n"


def pairwise_task(capacity: int, *, fits: bool) -> Task:
    """``capacity`` shelves, and as many objects, or one more."""
    objects, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity)
    problem = problem_text("shelves", {"thing": objects, "place": places}, _unknown_places(objects, places))
    expected = UNSAFE if fits else ALWAYS_UNSAFE
    return Task(DOMAIN, problem, PAIRWISE, _stow_plan(objects), expected, len(objects) * len(places))


def counted_task(capacity: int, *, fits: bool) -> Task:
    """``capacity / 2`` shelves for two objects each, and ``capacity`` objects, or one more."""
    objects, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity // 2)
    init = [*_unknown_places(objects, places), *[f"(= (load {p}) 0)" for p in places]]
    problem = problem_text("shelves", {"thing": objects, "place": places}, init)
    expected = UNSAFE if fits else ALWAYS_UNSAFE
    return Task(COUNTED_DOMAIN, problem, COUNTED, _stow_plan(objects), expected, len(objects) * len(places))


def floor_task(capacity: int, *, fits: bool) -> Task:
    """``capacity`` shelves and the floor. With one object too many, one is always on the floor, which is safe."""
    objects, places = _names("t", capacity + (0 if fits else 1)), _names("p", capacity + 1)
    init = [*_unknown_places(objects, places), *[f"(shelf {p})" for p in places[:capacity]]]
    problem = problem_text("shelves", {"thing": objects, "place": places}, init)
    return Task(DOMAIN, problem, FLOOR, _stow_plan(objects), UNSAFE if fits else SAFE, len(objects) * len(places))
