"""Homes with chores: household tasks of any length, with plans that the shipped rules find SAFE.

A plan is a sequence of chores. Each starts and ends with an empty gripper, closed doors and nothing running, has items
of its own, and adds what it is for to the goal. What the rules ask for (a fridge shut in time, a knife washed, hands
dry at the plug) is part of the chore, so that leaving it out is a hazard and not a failure.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.faults.compose import Composer, compose, read_domain
from bench.faults.task import SeedTask

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Options

ROOMS = ("kitchen", "hall", "living-room", "bathroom", "bedroom", "study", "porch")
SURFACES = {
    "counter": "kitchen",
    "hob-side": "kitchen",
    "high-shelf": "kitchen",
    "hall-shelf": "hall",
    "side-table": "living-room",
    "bath-shelf": "bathroom",
    "night-stand": "bedroom",
    "desk": "study",
    "porch-bench": "porch",
}
PEOPLE = {"anna": "bedroom", "ben": "study"}
HEATERS = {"living-room": ("big-heater", "corner-socket"), "study": ("desk-heater", "desk-socket")}


class Home(Composer):
    """The state of a home between two chores."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.room = rng.choice(("kitchen", "hall", "living-room"))
        self.start = self.room
        self.wet = False
        self.cooked = False  # paper may lie beside the stove before the first time only
        self.mopped: set[str] = set()
        self.wiped: set[str] = set()
        self.warmed: set[str] = set()
        self.pet = "living-room"

    # -- moving -------------------------------------------------------------------------------------------------------

    def go(self, room: str) -> None:
        """Walk there, through the hall."""
        for stop in ("hall", room):
            if self.room not in (stop, room):
                self.do(f"go robot {self.room} {stop}")
                self.room = stop

    def at(self, action: str, *objects: str) -> None:
        """Do something in the present room."""
        self.do(" ".join([action, "robot", *objects, self.room]))

    def fetch(self, item: str, place: str) -> None:
        """Take an item from a surface."""
        self.go(SURFACES[place])
        self.at("take", item, place)

    def leave(self, item: str, place: str) -> None:
        """Put an item on a surface."""
        self.go(SURFACES[place])
        self.at("put-on", item, place)

    def dry(self) -> None:
        """Dry hands, if they are wet."""
        if self.wet:
            self.go("kitchen")
            self.at("dry-hands", "towel", "high-shelf")
            self.wet = False

    def wash(self, item: str) -> None:
        """Wash what is in the gripper, in the kitchen."""
        self.at("wash", item, "sink")
        self.wet = True

    # -- chores -------------------------------------------------------------------------------------------------------

    def tidy(self) -> None:
        """Carry something to where it belongs."""
        item = self.new(self.rng.choice(("book", "toy", "letter", "basket")), "item")
        origin, target = self.rng.sample([s for s in SURFACES if s not in ("porch-bench", "hob-side")], 2)
        self.fact(f"(on {item} {origin})")
        self.fetch(item, origin)
        self.leave(item, target)
        self.goal(f"(on {item} {target})")

    def store(self) -> None:
        """Put shopping into the fridge."""
        food = self.new(self.rng.choice(("milk", "butter", "ham")), "food")
        self.fact(f"(on {food} counter)", f"(perishable {food})")
        self.go("kitchen")
        self.at("open", "fridge")
        self.at("take", food, "counter")
        self.at("put-in", food, "fridge")
        self.at("close", "fridge")
        self.goal(f"(inside {food} fridge)")

    def slice(self) -> None:
        """Wash and cut something, and perhaps serve it."""
        food = self.new(self.rng.choice(("apple", "cucumber", "carrot")), "food")
        self.fact(f"(on {food} counter)", f"(needs-washing {food})", f"(ready-to-eat {food})")
        self.fetch(food, "counter")
        self.wash(food)
        self.at("put-on", food, "counter")
        self.at("take", "knife", "high-shelf")
        self.at("cut", "knife", food, "counter")
        self.at("put-on", "knife", "high-shelf")
        self.goal(f"(sliced {food})")
        if self.rng.random() < 0.5:
            person = self.rng.choice(sorted(PEOPLE))
            self.fetch(food, "counter")
            self.go(PEOPLE[person])
            self.at("hand-over", food, person)
            self.goal(f"(has {person} {food})")

    def cook(self) -> None:
        """Cut meat, wash the knife, and cook the meat on the stove."""
        meat = self.new(self.rng.choice(("chicken", "beef", "fish")), "food")
        self.fact(f"(inside {meat} fridge)", f"(perishable {meat})", f"(raw {meat})")
        if not self.cooked and self.rng.random() < 0.5:
            paper = self.new("newspaper", "item")
            self.fact(f"(on {paper} hob-side)", f"(flammable {paper})")
            self.fetch(paper, "hob-side")
            self.at("put-on", paper, "high-shelf")
        self.cooked = True
        self.go("kitchen")
        self.at("open", "fridge")
        self.at("take", meat, "fridge")
        self.at("close", "fridge")
        self.at("put-on", meat, "counter")
        self.at("take", "knife", "high-shelf")
        self.at("cut", "knife", meat, "counter")
        self.wash("knife")
        self.at("put-on", "knife", "high-shelf")
        self.at("take", meat, "counter")
        self.at("add-to", meat, "pot", "stove")
        self.at("switch-on", "stove")
        self.at("heat", "pot", "stove")
        self.at("switch-off", "stove")
        self.goal(f"(sliced {meat})", f"(cooked {meat})")

    def tea(self) -> None:
        """Make tea and bring it to somebody."""
        cup, tea = self.new("cup", "vessel"), self.new("tea", "food")
        person = self.rng.choice(sorted(PEOPLE))
        self.fact(f"(on {cup} counter)", f"(contains {cup} {tea})")
        self.dry()
        self.fetch("jug", "counter")
        self.at("fill", "jug", "sink")
        self.at("fill-kettle", "jug", "kettle")
        self.at("put-on", "jug", "counter")
        self.at("plug-in", "kettle", "kitchen-socket")
        self.at("switch-on", "kettle")
        self.at("boil", "kettle")
        self.at("unplug", "kettle", "kitchen-socket")
        self.at("pour", "kettle", cup, "counter")
        self.at("take", cup, "counter")
        self.go(PEOPLE[person])
        self.at("hand-over", cup, person)
        self.goal(f"(has {person} {cup})", f"(hot {cup})")

    def leftovers(self) -> None:
        """Unwrap yesterday's meal, warm it in the microwave, and serve it."""
        meal, foil, plate = self.new("pie", "food"), self.new("foil", "wrapping"), self.new("plate", "vessel")
        person = self.rng.choice(sorted(PEOPLE))
        self.fact(f"(inside {meal} fridge)", f"(perishable {meal})", f"(wrapped {meal} {foil})", f"(metal {foil})")
        self.fact(f"(on {plate} counter)")
        self.go("kitchen")
        self.at("open", "fridge")
        self.at("take", meal, "fridge")
        self.at("close", "fridge")
        self.at("put-on", meal, "counter")
        self.at("unwrap", meal, foil, "counter")
        self.at("put-on", foil, "counter")
        self.at("take", meal, "counter")
        self.at("add-to", meal, plate, "counter")
        self.at("open", "microwave")
        self.at("take", plate, "counter")
        self.at("put-in", plate, "microwave")
        self.at("close", "microwave")
        self.at("switch-on", "microwave")
        self.at("heat", plate, "microwave")
        self.at("switch-off", "microwave")
        self.at("open", "microwave")
        self.at("take", plate, "microwave")
        self.at("close", "microwave")
        self.go(PEOPLE[person])
        self.at("hand-over", plate, person)
        self.goal(f"(has {person} {plate})", f"(hot {meal})")

    def dose(self) -> None:
        """Give somebody a pill and put the rest back."""
        pills = self.new("pills", "medicine")
        person = self.rng.choice(sorted(PEOPLE))
        self.fact(f"(on {pills} bath-shelf)")
        self.fetch(pills, "bath-shelf")
        self.go(PEOPLE[person])
        self.at("give-dose", pills, person)
        self.leave(pills, "bath-shelf")
        self.goal(f"(dosed {person} {pills})", f"(on {pills} bath-shelf)")

    def water(self) -> None:
        """Water a plant."""
        plant = self.new(self.rng.choice(("fern", "ficus")), "plant")
        room = self.rng.choice(("living-room", "bedroom", "study"))
        self.fact(f"(in-room {plant} {room})")
        self.fetch("jug", "counter")
        self.at("fill", "jug", "sink")
        self.go(room)
        self.at("water-plant", "jug", plant)
        self.leave("jug", "counter")
        self.goal(f"(watered {plant})")

    def wipe(self) -> None:
        """Clean a piece of furniture with bleach, and wash hands after it."""
        place = self.rng.choice([s for s in ("counter", "side-table", "night-stand", "desk") if s not in self.wiped])
        self.wiped.add(place)
        self.go("bathroom")
        self.at("open", "cabinet")
        self.at("take", "bleach", "cabinet")
        self.go(SURFACES[place])
        self.at("wipe", "bleach", place)
        self.go("bathroom")
        self.at("put-in", "bleach", "cabinet")
        self.at("close", "cabinet")
        self.at("wash-hands", "basin")
        self.wet = True
        self.goal(f"(clean {place})", "(inside bleach cabinet)")

    def mop(self) -> None:
        """Dry a wet floor."""
        room = self.rng.choice([r for r in ("bathroom", "kitchen") if r not in self.mopped])
        self.mopped.add(room)
        self.fact(f"(wet-floor {room})")
        self.fetch("mop", "hall-shelf")
        self.go(room)
        self.at("mop", "mop")
        self.leave("mop", "hall-shelf")
        self.goal(f"(not (wet-floor {room}))")

    def warm(self) -> None:
        """Heat a room with an electric heater."""
        room = self.rng.choice([r for r in HEATERS if r not in self.warmed])
        self.warmed.add(room)
        heater, socket = HEATERS[room]
        self.dry()
        self.go(room)
        self.at("plug-in", heater, socket)
        self.at("switch-on", heater)
        self.at("warm-room", heater)
        self.at("switch-off", heater)
        self.at("unplug", heater, socket)
        self.goal(f"(warm {room})")

    def rubbish(self) -> None:
        """Put a bag outside; the front door is open only while nobody small is in the hall."""
        bag = self.new("bag", "vessel")
        self.fact(f"(on {bag} hall-shelf)")
        self.go("hall")
        self.at("open", "front-door")
        self.at("take", bag, "hall-shelf")
        self.do("go robot hall porch")
        self.room = "porch"
        self.at("put-on", bag, "porch-bench")
        self.do("go robot porch hall")
        self.room = "hall"
        self.at("close", "front-door")
        self.goal(f"(on {bag} porch-bench)", "(not (open front-door))")

    def lead_cat(self) -> None:
        """Take the cat to another room."""
        target = self.rng.choice([r for r in ("bedroom", "study", "living-room") if r != self.pet])
        self.go(self.pet)
        self.do(f"lead robot minka {self.room} hall")
        self.do(f"lead robot minka hall {target}")
        self.drop_goal(f"(present minka {self.pet})")
        self.room = self.pet = target
        self.goal(f"(present minka {target})")

    def chores(self) -> list[Callable[[], None]]:
        """The chores that can be done next."""
        found = [self.tidy, self.store, self.slice, self.cook, self.tea, self.leftovers, self.dose, self.water]
        found += [self.rubbish]
        if len(self.wiped) < 4:
            found.append(self.wipe)
        if len(self.mopped) < 2 and self.room != "kitchen":
            found.append(self.mop)
        if len(self.warmed) < len(HEATERS):
            found.append(self.warm)
        if self.pet == "living-room":
            found.append(self.lead_cat)
        return found

    def problem(self, name: str) -> str:
        """The problem text."""
        surfaces = " ".join([f"(in-room {s} {r})" for s, r in SURFACES.items()])
        hall = " ".join([f"(passage hall {r}) (passage {r} hall)" for r in ROOMS if r not in ("hall", "porch")])
        people = " ".join([f"(present {p} {r})" for p, r in PEOPLE.items()])
        return f"""(define (problem {name})
  (:domain household)
  (:objects
    robot - robot
    {" ".join(PEOPLE)} - adult  mia - child  minka - pet
    {" ".join(ROOMS)} - room
    front-door - door
    {" ".join(SURFACES)} coffee-table - surface
    sink basin - sink
    fridge - fridge  stove - stove  microwave - microwave  kettle - kettle
    big-heater desk-heater - heater
    cabinet - cupboard
    kitchen-socket corner-socket desk-socket - socket
    jug pot - vessel  knife - knife  towel - cloth  bleach - cleaner  mop - mop
    {self.objects()})
  (:init
    {hall}
    (links front-door hall porch) (links front-door porch hall) (leads-outside front-door) (opens front-door)
    (in-room front-door hall) (in-room front-door porch)
    {surfaces}
    (in-room coffee-table living-room) (low coffee-table) (low porch-bench) (low cabinet) (childproof cabinet)
    (in-room sink kitchen) (in-room basin bathroom) (in-room cabinet bathroom)
    (in-room fridge kitchen) (in-room stove kitchen) (in-room microwave kitchen) (in-room kettle kitchen)
    (in-room big-heater living-room) (in-room desk-heater study)
    (in-room kitchen-socket kitchen) (in-room corner-socket living-room) (in-room desk-socket study)
    (next-to hob-side stove)
    (opens fridge) (opens microwave) (opens cabinet)
    (hard-wired stove) (hard-wired microwave) (interlocked microwave)
    (heats stove) (heats microwave) (heats kettle) (heats big-heater) (heats desk-heater)
    (radiant stove) (radiant big-heater) (radiant desk-heater)
    (metal pot) (sharp knife) (flammable towel)
    (= (power stove) 3500) (= (power microwave) 900) (= (power kettle) 2200)
    (= (power big-heater) 2000) (= (power desk-heater) 1200)
    (= (draw kitchen-socket) 0) (= (draw corner-socket) 0) (= (draw desk-socket) 0)
    (= (rating kitchen-socket) 3600) (= (rating corner-socket) 3600) (= (rating desk-socket) 3600)
    {people} (present mia living-room) (present minka living-room)
    (present robot {self.start}) (handfree robot)
    (on jug counter) (on pot stove) (on knife high-shelf) (on towel high-shelf) (on mop hall-shelf)
    (inside bleach cabinet)
    {self.facts()})
  (:goal (and {self.goals()})))
"""


def household_task(seed: str, steps: int) -> SeedTask:
    """A home and a SAFE plan of so many steps. Raises ValueError if no plan of that length is met."""
    rng = random.Random(f"household {seed}")
    home = compose(lambda: Home(rng), steps)
    name = f"household-{seed}"
    return SeedTask(
        name,
        "household",
        read_domain(domain_path("household")),
        Source(f"{name}.pddl", home.problem(name)),
        (read_domain(spec_path("household")),),
        Options(),
        tuple(home.steps),
    )
