"""Rovers that survey a site: tasks of any length without rules, with VALID plans."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.faults.compose import Composer, compose
from bench.faults.task import SeedTask

from plansafe.grammar.source import Source
from plansafe.verifier.api import Options

DOMAIN = """\
; Rovers photograph objects and analyse rocks and soil, and transmit what they found. A camera that took a picture must
; be calibrated again; a rover holds one sample at a time.
(define (domain survey)
  (:requirements :strips :typing :negative-preconditions)
  (:types place rover camera target rock - object)
  (:predicates
    (way ?a ?b - place) (station ?a - place) (mounted ?c - camera ?r - rover) (visible ?t - target ?a - place)
    (board ?t - target) (in ?r - rover ?a - place) (calibrated ?c - camera) (lies ?k - rock ?a - place)
    (empty ?r - rover) (analysed ?k - rock ?r - rover) (pictured ?t - target ?r - rover)
    (sent-analysis ?k - rock) (sent-picture ?t - target))
  (:action move :parameters (?r - rover ?from ?to - place)
    :precondition (and (in ?r ?from) (way ?from ?to)) :effect (and (in ?r ?to) (not (in ?r ?from))))
  (:action calibrate :parameters (?r - rover ?c - camera ?t - target ?a - place)
    :precondition (and (in ?r ?a) (mounted ?c ?r) (board ?t) (visible ?t ?a)) :effect (calibrated ?c))
  (:action picture :parameters (?r - rover ?c - camera ?t - target ?a - place)
    :precondition (and (in ?r ?a) (mounted ?c ?r) (calibrated ?c) (visible ?t ?a))
    :effect (and (pictured ?t ?r) (not (calibrated ?c))))
  (:action sample :parameters (?r - rover ?k - rock ?a - place)
    :precondition (and (in ?r ?a) (lies ?k ?a) (empty ?r))
    :effect (and (analysed ?k ?r) (not (empty ?r)) (not (lies ?k ?a))))
  (:action dump :parameters (?r - rover)
    :precondition (not (empty ?r)) :effect (empty ?r))
  (:action send-analysis :parameters (?r - rover ?k - rock ?a - place)
    :precondition (and (in ?r ?a) (station ?a) (analysed ?k ?r)) :effect (sent-analysis ?k))
  (:action send-picture :parameters (?r - rover ?t - target ?a - place)
    :precondition (and (in ?r ?a) (station ?a) (pictured ?t ?r)) :effect (sent-picture ?t)))
"""

ROVERS = ("ada", "bea")
PLACES = 9


class Site(Composer):
    """A ring of places with two stations, and where the rovers are."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.where = {rover: rng.randrange(PLACES) for rover in ROVERS}
        self.start = dict(self.where)
        self.stations = (0, 4)
        self.boards = (2, 6)
        self.full: set[str] = set()

    def move(self, rover: str, place: int) -> None:
        """Go round the ring, the short way."""
        while (here := self.where[rover]) != place:
            step = 1 if (place - here) % PLACES <= PLACES // 2 else -1
            self.where[rover] = (here + step) % PLACES
            self.do(f"move {rover} p{here} p{self.where[rover]}")

    def nearest(self, rover: str, places: tuple[int, ...]) -> int:
        """The nearest of some places."""
        here = self.where[rover]
        return min(places, key=lambda p: (min((p - here) % PLACES, (here - p) % PLACES), p))

    def take_picture(self) -> None:
        """Calibrate, take a picture, send it."""
        rover, place = self.rng.choice(ROVERS), self.rng.randrange(PLACES)
        target = self.new("crag", "target")
        self.fact(f"(visible {target} p{place})")
        board = self.nearest(rover, self.boards)
        self.move(rover, board)
        self.do(f"calibrate {rover} {rover}-camera board{board} p{board}")
        self.move(rover, place)
        self.do(f"picture {rover} {rover}-camera {target} p{place}")
        station = self.nearest(rover, self.stations)
        self.move(rover, station)
        self.do(f"send-picture {rover} {target} p{station}")
        self.goal(f"(sent-picture {target})")

    def take_sample(self) -> None:
        """Take a sample and send its analysis."""
        rover, place = self.rng.choice(ROVERS), self.rng.randrange(PLACES)
        rock = self.new("rock", "rock")
        self.fact(f"(lies {rock} p{place})")
        self.move(rover, place)
        if rover in self.full:
            self.do(f"dump {rover}")
        self.do(f"sample {rover} {rock} p{place}")
        self.full.add(rover)
        station = self.nearest(rover, self.stations)
        self.move(rover, station)
        self.do(f"send-analysis {rover} {rock} p{station}")
        self.goal(f"(sent-analysis {rock})")

    def chores(self) -> list[Callable[[], None]]:
        """The chores that can be done next."""
        return [self.take_picture, self.take_sample]

    def problem(self, name: str) -> str:
        """The problem text."""
        ring = [(i, (i + 1) % PLACES) for i in range(PLACES)]
        rovers = [f"(in {r} p{a}) (empty {r}) (mounted {r}-camera {r})" for r, a in self.start.items()]
        boards = [f"(board board{p}) (visible board{p} p{p})" for p in self.boards]
        return f"""(define (problem {name})
  (:domain survey)
  (:objects {" ".join([f"p{i}" for i in range(PLACES)])} - place {" ".join(ROVERS)} - rover
    {" ".join([f"{r}-camera" for r in ROVERS])} - camera {" ".join([f"board{p}" for p in self.boards])} - target
    {self.objects()})
  (:init
    {" ".join([f"(way p{a} p{b}) (way p{b} p{a})" for a, b in ring])}
    {" ".join([f"(station p{p})" for p in self.stations])} {" ".join(boards)}
    {" ".join(rovers)}
    {self.facts()})
  (:goal (and {self.goals()})))
"""


def survey_task(seed: str, steps: int) -> SeedTask:
    """A site and a VALID plan of so many steps. Raises ValueError if no plan of that length is met."""
    rng = random.Random(f"survey {seed}")
    made = compose(lambda: Site(rng), steps)
    name = f"survey-{seed}"
    return SeedTask(
        name,
        "survey",
        Source("survey.pddl", DOMAIN),
        Source(f"{name}.pddl", made.problem(name)),
        (),
        Options(),
        tuple(made.steps),
    )
