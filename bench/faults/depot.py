"""Generate logistics tasks with rules (parcels, trucks, a plane) and SAFE plans of any length."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from bench.faults.compose import Composer, compose_plan
from bench.faults.task import SeedTask

from plansafe.grammar.source import Source
from plansafe.verifier.api import Options

DOMAIN = """\
; Parcels go by truck within a city and by plane between airports. What must not happen is in the rules.
(define (domain depot)
  (:requirements :adl)
  (:types site vehicle parcel - object  truck plane - vehicle)
  (:predicates
    (road ?a ?b - site) (air ?a ?b - site) (cold-store ?s - site) (home ?v - vehicle ?s - site)
    (hazardous ?p - parcel) (food ?p - parcel) (chilled ?p - parcel)
    (parked ?v - vehicle ?s - site) (stored ?p - parcel ?s - site) (loaded ?p - parcel ?v - vehicle)
    (door-open ?v - vehicle) (inspected ?p - plane))
  (:action open-door :parameters (?v - vehicle ?s - site)
    :precondition (and (parked ?v ?s) (not (door-open ?v))) :effect (door-open ?v))
  (:action close-door :parameters (?v - vehicle ?s - site)
    :precondition (and (parked ?v ?s) (door-open ?v)) :effect (not (door-open ?v)))
  (:action load :parameters (?p - parcel ?v - vehicle ?s - site)
    :precondition (and (parked ?v ?s) (stored ?p ?s) (door-open ?v))
    :effect (and (loaded ?p ?v) (not (stored ?p ?s))))
  (:action unload :parameters (?p - parcel ?v - vehicle ?s - site)
    :precondition (and (parked ?v ?s) (loaded ?p ?v) (door-open ?v))
    :effect (and (stored ?p ?s) (not (loaded ?p ?v))))
  (:action wash-out :parameters (?v - vehicle ?s - site)
    :precondition (and (parked ?v ?s) (door-open ?v) (not (exists (?p - parcel) (loaded ?p ?v))))
    :effect ())
  (:action inspect :parameters (?p - plane ?s - site)
    :precondition (parked ?p ?s) :effect (inspected ?p))
  (:action drive :parameters (?t - truck ?from ?to - site)
    :precondition (and (parked ?t ?from) (road ?from ?to))
    :effect (and (parked ?t ?to) (not (parked ?t ?from))))
  (:action fly :parameters (?p - plane ?from ?to - site)
    :precondition (and (parked ?p ?from) (air ?from ?to))
    :effect (and (parked ?p ?to) (not (parked ?p ?from)) (not (inspected ?p)))))
"""

RULES = """\
(define (safety depot)
  (:process shut-on-the-road
    :on (drive ?t ?from ?to)
    :forbid (door-open ?t)
    :severity critical :message "{?t} leaves {?from} with its door open")
  (:process shut-in-the-air
    :on (fly ?p ?from ?to)
    :forbid (door-open ?p)
    :severity critical :message "{?p} takes off from {?from} with its door open")
  (:process inspected-before-take-off
    :on (fly ?p ?from ?to)
    :require (inspected ?p)
    :severity critical :message "{?p} takes off without an inspection since it landed")
  (:process food-apart-from-hazardous-goods
    :parameters (?v - vehicle ?f ?h - parcel)
    :forbid (and (loaded ?f ?v) (food ?f) (loaded ?h ?v) (hazardous ?h))
    :severity high :message "{?f} is carried with {?h} in {?v}")
  (:process washed-out-before-food
    :on (load ?f ?v ?s)
    :when (food ?f)
    :forbid (since (not (action (wash-out ?v _)))
                   (exists (?h - parcel) (and (hazardous ?h) (action (unload ?h ?v _)))))
    :severity high :message "{?f} is loaded into {?v}, which carried hazardous goods and was not washed out")
  (:obligation chilled-goods-moved-on
    :parameters (?p - parcel)
    :when (and (chilled ?p) (exists (?s - site) (and (stored ?p ?s) (not (cold-store ?s)))))
    :then (not (exists (?s - site) (and (stored ?p ?s) (not (cold-store ?s)))))
    :within 5
    :severity medium :message "{?p} stands unchilled for more than 5 steps")
  (:termination shut-at-the-end
    :parameters (?v - vehicle)
    :forbid (door-open ?v)
    :severity medium :message "{?v} is left with its door open")
  (:termination back-home
    :parameters (?t - truck)
    :require (exists (?s - site) (and (home ?t ?s) (parked ?t ?s)))
    :severity low :message "{?t} does not return home"))
"""

CITIES = ("north", "south", "west")
SHOPS = ("shop", "market")


class Depots(Composer):
    """Cities, each with a depot, an airport, shops and a truck; one plane for all."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.plane_at = self.plane_start = rng.choice(CITIES)
        self.contaminated: set[str] = set()

    # -- parts of chores ----------------------------------------------------------------------------------------------

    def carry_by_truck(
        self, city: str, parcels: Sequence[str], origin: str, target: str, hazardous: bool, food: bool
    ) -> None:
        """Drive the truck from the depot, carry the parcels from origin to target, and return."""
        truck = f"{city}-truck"
        if origin != "depot":
            self.add_step(f"drive {truck} {city}-depot {city}-{origin}")
        self.add_step(f"open-door {truck} {city}-{origin}")
        if food and truck in self.contaminated:
            self.add_step(f"wash-out {truck} {city}-{origin}")
            self.contaminated.discard(truck)
        for parcel in parcels:
            self.add_step(f"load {parcel} {truck} {city}-{origin}")
        self.add_step(f"close-door {truck} {city}-{origin}")
        if origin != "depot":
            self.add_step(f"drive {truck} {city}-{origin} {city}-depot")
        if target != "depot":
            self.add_step(f"drive {truck} {city}-depot {city}-{target}")
        self.add_step(f"open-door {truck} {city}-{target}")
        for parcel in parcels:
            self.add_step(f"unload {parcel} {truck} {city}-{target}")
        if hazardous:
            self.contaminated.add(truck)
        self.add_step(f"close-door {truck} {city}-{target}")
        if target != "depot":
            self.add_step(f"drive {truck} {city}-{target} {city}-depot")

    def new_parcels(self, count: int, site: str, food: bool, hazardous: bool, chilled: bool) -> list[str]:
        """Declare new parcels at a site; returns their names."""
        names = []
        for _ in range(count):
            parcel = self.new_object("crate" if food else "drum" if hazardous else "box", "parcel")
            self.add_facts(f"(stored {parcel} {site})")
            kinds = {"food": food, "hazardous": hazardous, "chilled": chilled}
            self.add_facts(*[f"({kind} {parcel})" for kind, is_set in kinds.items() if is_set])
            names.append(parcel)
        return names

    # -- chores -------------------------------------------------------------------------------------------------------

    def deliver_parcels(self) -> None:
        """Deliver parcels from one site of a city to another."""
        city, content = self.rng.choice(CITIES), self.rng.choice(("plain", "food", "hazardous", "chilled"))
        origin, target = self.rng.sample(("depot", "airport", *SHOPS), 2)
        if content == "chilled":
            origin, target = "depot", self.rng.choice(SHOPS)
            self.add_facts(f"(cold-store {city}-{target})")
        food, hazardous = content in ("food", "chilled"), content == "hazardous"
        parcels = self.new_parcels(self.rng.randint(1, 3), f"{city}-{origin}", food, hazardous, content == "chilled")
        self.carry_by_truck(city, parcels, origin, target, hazardous, food)
        self.add_goals(*[f"(stored {parcel} {city}-{target})" for parcel in parcels])

    def send_parcels(self) -> None:
        """Send parcels from the airport of one city to the depot of another."""
        origin, target = self.rng.sample(CITIES, 2)
        content = self.rng.choice(("plain", "food", "hazardous"))
        food, hazardous = content == "food", content == "hazardous"
        parcels = self.new_parcels(self.rng.randint(1, 2), f"{origin}-airport", food, hazardous, False)
        self.fly_plane_to(origin)
        self.add_step(f"open-door plane {origin}-airport")
        if food and "plane" in self.contaminated:
            self.add_step(f"wash-out plane {origin}-airport")
            self.contaminated.discard("plane")
        for parcel in parcels:
            self.add_step(f"load {parcel} plane {origin}-airport")
        self.add_step(f"close-door plane {origin}-airport")
        self.fly_plane_to(target)
        self.add_step(f"open-door plane {target}-airport")
        for parcel in parcels:
            self.add_step(f"unload {parcel} plane {target}-airport")
        if hazardous:
            self.contaminated.add("plane")
        self.add_step(f"close-door plane {target}-airport")
        self.carry_by_truck(target, parcels, "airport", "depot", hazardous, food)
        self.add_goals(*[f"(stored {parcel} {target}-depot)" for parcel in parcels])

    def fly_plane_to(self, city: str) -> None:
        """Inspect the plane and fly it to a city."""
        if self.plane_at != city:
            self.add_step(f"inspect plane {self.plane_at}-airport")
            self.add_step(f"fly plane {self.plane_at}-airport {city}-airport")
            self.plane_at = city

    def possible_chores(self) -> list[Callable[[], None]]:
        """The methods that add a chore which is possible next."""
        return [self.deliver_parcels, self.deliver_parcels, self.send_parcels]

    def problem_text(self, name: str) -> str:
        """The problem text."""
        places = ("depot", "airport", *SHOPS)
        sites = " ".join([f"{city}-{place}" for city in CITIES for place in places])
        roads = [(f"{c}-depot", f"{c}-{place}") for c in CITIES for place in places[1:]]
        airports = [(f"{start}-airport", f"{end}-airport") for start in CITIES for end in CITIES if start != end]
        trucks = " ".join([f"(parked {c}-truck {c}-depot) (home {c}-truck {c}-depot)" for c in CITIES])
        return f"""(define (problem {name})
  (:domain depot)
  (:objects {sites} - site {" ".join([f"{c}-truck" for c in CITIES])} - truck plane - plane
    {self.object_declarations()})
  (:init
    {" ".join([f"(road {start} {end}) (road {end} {start})" for start, end in roads])}
    {" ".join([f"(air {start} {end})" for start, end in airports])}
    {" ".join([f"(cold-store {c}-depot)" for c in CITIES])}
    {trucks} (parked plane {self.plane_start}-airport)
    {self.fact_text()})
  (:goal (and {self.goal_text()})))
"""


def depot_task(seed: str, steps: int) -> SeedTask:
    """A task with a SAFE plan of ``steps`` steps. Raises ValueError if no plan of that length is found."""
    rng = random.Random(f"depot {seed}")
    depots = compose_plan(lambda: Depots(rng), steps)
    name = f"depot-{seed}"
    return SeedTask(
        name,
        "depot",
        Source("depot.pddl", DOMAIN),
        Source(f"{name}.pddl", depots.problem_text(name)),
        (Source("depot.safe", RULES),),
        Options(),
        tuple(depots.steps),
    )
