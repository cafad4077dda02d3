"""Generate rover tasks without rules, with VALID plans of any length."""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.faults.compose import Composer, compose_plan
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
    """A ring of places with two stations, and the locations of the rovers."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.locations = {rover: rng.randrange(PLACES) for rover in ROVERS}
        self.start_locations = dict(self.locations)
        self.stations = (0, 4)
        self.boards = (2, 6)
        self.full_rovers: set[str] = set()

    def move_rover(self, rover: str, place: int) -> None:
        """Move around the ring in the shorter direction."""
        while (location := self.locations[rover]) != place:
            direction = 1 if (place - location) % PLACES <= PLACES // 2 else -1
            self.locations[rover] = (location + direction) % PLACES
            self.add_step(f"move {rover} p{location} p{self.locations[rover]}")

    def nearest_place(self, rover: str, places: tuple[int, ...]) -> int:
        """The place that is nearest to the rover."""
        location = self.locations[rover]
        return min(places, key=lambda place: (min((place - location) % PLACES, (location - place) % PLACES), place))

    def take_picture(self) -> None:
        """Calibrate the camera, take a picture and send it."""
        rover, place = self.rng.choice(ROVERS), self.rng.randrange(PLACES)
        target = self.new_object("crag", "target")
        self.add_facts(f"(visible {target} p{place})")
        board = self.nearest_place(rover, self.boards)
        self.move_rover(rover, board)
        self.add_step(f"calibrate {rover} {rover}-camera board{board} p{board}")
        self.move_rover(rover, place)
        self.add_step(f"picture {rover} {rover}-camera {target} p{place}")
        station = self.nearest_place(rover, self.stations)
        self.move_rover(rover, station)
        self.add_step(f"send-picture {rover} {target} p{station}")
        self.add_goals(f"(sent-picture {target})")

    def take_sample(self) -> None:
        """Take a sample and send its analysis."""
        rover, place = self.rng.choice(ROVERS), self.rng.randrange(PLACES)
        rock = self.new_object("rock", "rock")
        self.add_facts(f"(lies {rock} p{place})")
        self.move_rover(rover, place)
        if rover in self.full_rovers:
            self.add_step(f"dump {rover}")
        self.add_step(f"sample {rover} {rock} p{place}")
        self.full_rovers.add(rover)
        station = self.nearest_place(rover, self.stations)
        self.move_rover(rover, station)
        self.add_step(f"send-analysis {rover} {rock} p{station}")
        self.add_goals(f"(sent-analysis {rock})")

    def possible_chores(self) -> list[Callable[[], None]]:
        """The methods that add a chore which is possible next."""
        return [self.take_picture, self.take_sample]

    def problem_text(self, name: str) -> str:
        """The problem text."""
        ring = [(i, (i + 1) % PLACES) for i in range(PLACES)]
        rovers = [
            f"(in {rover} p{start}) (empty {rover}) (mounted {rover}-camera {rover})"
            for rover, start in self.start_locations.items()
        ]
        boards = [f"(board board{place}) (visible board{place} p{place})" for place in self.boards]
        return f"""(define (problem {name})
  (:domain survey)
  (:objects {" ".join([f"p{i}" for i in range(PLACES)])} - place {" ".join(ROVERS)} - rover
    {" ".join([f"{r}-camera" for r in ROVERS])} - camera {" ".join([f"board{p}" for p in self.boards])} - target
    {self.object_declarations()})
  (:init
    {" ".join([f"(way p{start} p{end}) (way p{end} p{start})" for start, end in ring])}
    {" ".join([f"(station p{place})" for place in self.stations])} {" ".join(boards)}
    {" ".join(rovers)}
    {self.fact_text()})
  (:goal (and {self.goal_text()})))
"""


def survey_task(seed: str, steps: int) -> SeedTask:
    """A task with a VALID plan of ``steps`` steps. Raises ValueError if no plan of that length is found."""
    rng = random.Random(f"survey {seed}")
    site = compose_plan(lambda: Site(rng), steps)
    name = f"survey-{seed}"
    return SeedTask(
        name,
        "survey",
        Source("survey.pddl", DOMAIN),
        Source(f"{name}.pddl", site.problem_text(name)),
        (),
        Options(),
        tuple(site.steps),
    )
