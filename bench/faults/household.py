"""Generate household tasks with plans of any length that are SAFE by the shipped rules.

A plan is a sequence of chores. Each chore starts and ends with an empty gripper, all containers closed and no device
running. It has its own items and adds its purpose to the goal. It includes the steps that the rules require (shut the
fridge in time, wash the knife, dry hands before plugging in), so omitting one of them is a hazard, not a failure.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from bench.faults.compose import Composer, compose_plan, read_shipped_file
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
        self.start_room = self.room
        self.has_wet_hands = False
        self.has_cooked = False  # paper may be next to the stove only before the first cooking
        self.mopped: set[str] = set()
        self.wiped: set[str] = set()
        self.warmed: set[str] = set()
        self.cat_room = "living-room"

    # -- moving -------------------------------------------------------------------------------------------------------

    def go_to(self, room: str) -> None:
        """Walk to a room through the hall."""
        for stop in ("hall", room):
            if self.room not in (stop, room):
                self.add_step(f"go robot {self.room} {stop}")
                self.room = stop

    def step_here(self, action: str, *objects: str) -> None:
        """Add a step in the current room."""
        self.add_step(" ".join([action, "robot", *objects, self.room]))

    def take_from(self, item: str, place: str) -> None:
        """Take an item from a surface."""
        self.go_to(SURFACES[place])
        self.step_here("take", item, place)

    def put_on(self, item: str, place: str) -> None:
        """Put an item on a surface."""
        self.go_to(SURFACES[place])
        self.step_here("put-on", item, place)

    def dry_hands(self) -> None:
        """Dry the hands if they are wet."""
        if self.has_wet_hands:
            self.go_to("kitchen")
            self.step_here("dry-hands", "towel", "high-shelf")
            self.has_wet_hands = False

    def wash_held_item(self, item: str) -> None:
        """Wash the held item in the kitchen."""
        self.step_here("wash", item, "sink")
        self.has_wet_hands = True

    # -- chores -------------------------------------------------------------------------------------------------------

    def tidy_up(self) -> None:
        """Carry an item to another surface."""
        item = self.new_object(self.rng.choice(("book", "toy", "letter", "basket")), "item")
        origin, target = self.rng.sample(
            [surface for surface in SURFACES if surface not in ("porch-bench", "hob-side")], 2
        )
        self.add_facts(f"(on {item} {origin})")
        self.take_from(item, origin)
        self.put_on(item, target)
        self.add_goals(f"(on {item} {target})")

    def store_food(self) -> None:
        """Put shopping into the fridge."""
        food = self.new_object(self.rng.choice(("milk", "butter", "ham")), "food")
        self.add_facts(f"(on {food} counter)", f"(perishable {food})")
        self.go_to("kitchen")
        self.step_here("open", "fridge")
        self.step_here("take", food, "counter")
        self.step_here("put-in", food, "fridge")
        self.step_here("close", "fridge")
        self.add_goals(f"(inside {food} fridge)")

    def slice_food(self) -> None:
        """Wash and cut food, and in half of the cases serve it."""
        food = self.new_object(self.rng.choice(("apple", "cucumber", "carrot")), "food")
        self.add_facts(f"(on {food} counter)", f"(needs-washing {food})", f"(ready-to-eat {food})")
        self.take_from(food, "counter")
        self.wash_held_item(food)
        self.step_here("put-on", food, "counter")
        self.step_here("take", "knife", "high-shelf")
        self.step_here("cut", "knife", food, "counter")
        self.step_here("put-on", "knife", "high-shelf")
        self.add_goals(f"(sliced {food})")
        if self.rng.random() < 0.5:
            person = self.rng.choice(sorted(PEOPLE))
            self.take_from(food, "counter")
            self.go_to(PEOPLE[person])
            self.step_here("hand-over", food, person)
            self.add_goals(f"(has {person} {food})")

    def cook_meat(self) -> None:
        """Cut meat, wash the knife, and cook the meat on the stove."""
        meat = self.new_object(self.rng.choice(("chicken", "beef", "fish")), "food")
        self.add_facts(f"(inside {meat} fridge)", f"(perishable {meat})", f"(raw {meat})")
        if not self.has_cooked and self.rng.random() < 0.5:
            paper = self.new_object("newspaper", "item")
            self.add_facts(f"(on {paper} hob-side)", f"(flammable {paper})")
            self.take_from(paper, "hob-side")
            self.step_here("put-on", paper, "high-shelf")
        self.has_cooked = True
        self.go_to("kitchen")
        self.step_here("open", "fridge")
        self.step_here("take", meat, "fridge")
        self.step_here("close", "fridge")
        self.step_here("put-on", meat, "counter")
        self.step_here("take", "knife", "high-shelf")
        self.step_here("cut", "knife", meat, "counter")
        self.wash_held_item("knife")
        self.step_here("put-on", "knife", "high-shelf")
        self.step_here("take", meat, "counter")
        self.step_here("add-to", meat, "pot", "stove")
        self.step_here("switch-on", "stove")
        self.step_here("heat", "pot", "stove")
        self.step_here("switch-off", "stove")
        self.add_goals(f"(sliced {meat})", f"(cooked {meat})")

    def make_tea(self) -> None:
        """Make tea and bring it to a person."""
        cup, tea = self.new_object("cup", "vessel"), self.new_object("tea", "food")
        person = self.rng.choice(sorted(PEOPLE))
        self.add_facts(f"(on {cup} counter)", f"(contains {cup} {tea})")
        self.dry_hands()
        self.take_from("jug", "counter")
        self.step_here("fill", "jug", "sink")
        self.step_here("fill-kettle", "jug", "kettle")
        self.step_here("put-on", "jug", "counter")
        self.step_here("plug-in", "kettle", "kitchen-socket")
        self.step_here("switch-on", "kettle")
        self.step_here("boil", "kettle")
        self.step_here("unplug", "kettle", "kitchen-socket")
        self.step_here("pour", "kettle", cup, "counter")
        self.step_here("take", cup, "counter")
        self.go_to(PEOPLE[person])
        self.step_here("hand-over", cup, person)
        self.add_goals(f"(has {person} {cup})", f"(hot {cup})")

    def serve_leftovers(self) -> None:
        """Unwrap yesterday's meal, warm it in the microwave, and serve it."""
        meal, foil, plate = (
            self.new_object("pie", "food"),
            self.new_object("foil", "wrapping"),
            self.new_object("plate", "vessel"),
        )
        person = self.rng.choice(sorted(PEOPLE))
        self.add_facts(f"(inside {meal} fridge)", f"(perishable {meal})", f"(wrapped {meal} {foil})", f"(metal {foil})")
        self.add_facts(f"(on {plate} counter)")
        self.go_to("kitchen")
        self.step_here("open", "fridge")
        self.step_here("take", meal, "fridge")
        self.step_here("close", "fridge")
        self.step_here("put-on", meal, "counter")
        self.step_here("unwrap", meal, foil, "counter")
        self.step_here("put-on", foil, "counter")
        self.step_here("take", meal, "counter")
        self.step_here("add-to", meal, plate, "counter")
        self.step_here("open", "microwave")
        self.step_here("take", plate, "counter")
        self.step_here("put-in", plate, "microwave")
        self.step_here("close", "microwave")
        self.step_here("switch-on", "microwave")
        self.step_here("heat", plate, "microwave")
        self.step_here("switch-off", "microwave")
        self.step_here("open", "microwave")
        self.step_here("take", plate, "microwave")
        self.step_here("close", "microwave")
        self.go_to(PEOPLE[person])
        self.step_here("hand-over", plate, person)
        self.add_goals(f"(has {person} {plate})", f"(hot {meal})")

    def give_pill(self) -> None:
        """Give a person a pill and put the rest back."""
        pills = self.new_object("pills", "medicine")
        person = self.rng.choice(sorted(PEOPLE))
        self.add_facts(f"(on {pills} bath-shelf)")
        self.take_from(pills, "bath-shelf")
        self.go_to(PEOPLE[person])
        self.step_here("give-dose", pills, person)
        self.put_on(pills, "bath-shelf")
        self.add_goals(f"(dosed {person} {pills})", f"(on {pills} bath-shelf)")

    def water_plant(self) -> None:
        """Water a plant."""
        plant = self.new_object(self.rng.choice(("fern", "ficus")), "plant")
        room = self.rng.choice(("living-room", "bedroom", "study"))
        self.add_facts(f"(in-room {plant} {room})")
        self.take_from("jug", "counter")
        self.step_here("fill", "jug", "sink")
        self.go_to(room)
        self.step_here("water-plant", "jug", plant)
        self.put_on("jug", "counter")
        self.add_goals(f"(watered {plant})")

    def wipe_surface(self) -> None:
        """Clean a piece of furniture with bleach, then wash the hands."""
        place = self.rng.choice(
            [surface for surface in ("counter", "side-table", "night-stand", "desk") if surface not in self.wiped]
        )
        self.wiped.add(place)
        self.go_to("bathroom")
        self.step_here("open", "cabinet")
        self.step_here("take", "bleach", "cabinet")
        self.go_to(SURFACES[place])
        self.step_here("wipe", "bleach", place)
        self.go_to("bathroom")
        self.step_here("put-in", "bleach", "cabinet")
        self.step_here("close", "cabinet")
        self.step_here("wash-hands", "basin")
        self.has_wet_hands = True
        self.add_goals(f"(clean {place})", "(inside bleach cabinet)")

    def mop_floor(self) -> None:
        """Dry a wet floor."""
        room = self.rng.choice([r for r in ("bathroom", "kitchen") if r not in self.mopped])
        self.mopped.add(room)
        self.add_facts(f"(wet-floor {room})")
        self.take_from("mop", "hall-shelf")
        self.go_to(room)
        self.step_here("mop", "mop")
        self.put_on("mop", "hall-shelf")
        self.add_goals(f"(not (wet-floor {room}))")

    def heat_room(self) -> None:
        """Heat a room with an electric heater."""
        room = self.rng.choice([r for r in HEATERS if r not in self.warmed])
        self.warmed.add(room)
        heater, socket = HEATERS[room]
        self.dry_hands()
        self.go_to(room)
        self.step_here("plug-in", heater, socket)
        self.step_here("switch-on", heater)
        self.step_here("warm-room", heater)
        self.step_here("switch-off", heater)
        self.step_here("unplug", heater, socket)
        self.add_goals(f"(warm {room})")

    def take_out_rubbish(self) -> None:
        """Put a bag outside; the entrance is open only while no child or pet is in the hall."""
        bag = self.new_object("bag", "vessel")
        self.add_facts(f"(on {bag} hall-shelf)")
        self.go_to("hall")
        self.step_here("open", "front-door")
        self.step_here("take", bag, "hall-shelf")
        self.add_step("go robot hall porch")
        self.room = "porch"
        self.step_here("put-on", bag, "porch-bench")
        self.add_step("go robot porch hall")
        self.room = "hall"
        self.step_here("close", "front-door")
        self.add_goals(f"(on {bag} porch-bench)", "(not (open front-door))")

    def lead_cat(self) -> None:
        """Take the cat to another room."""
        target = self.rng.choice([room for room in ("bedroom", "study", "living-room") if room != self.cat_room])
        self.go_to(self.cat_room)
        self.add_step(f"lead robot minka {self.room} hall")
        self.add_step(f"lead robot minka hall {target}")
        self.drop_goal(f"(present minka {self.cat_room})")
        self.room = self.cat_room = target
        self.add_goals(f"(present minka {target})")

    def possible_chores(self) -> list[Callable[[], None]]:
        """The methods that add a chore which is possible next."""
        possible = [
            self.tidy_up,
            self.store_food,
            self.slice_food,
            self.cook_meat,
            self.make_tea,
            self.serve_leftovers,
            self.give_pill,
            self.water_plant,
        ]
        possible.append(self.take_out_rubbish)
        if len(self.wiped) < 4:
            possible.append(self.wipe_surface)
        if len(self.mopped) < 2 and self.room != "kitchen":
            possible.append(self.mop_floor)
        if len(self.warmed) < len(HEATERS):
            possible.append(self.heat_room)
        if self.cat_room == "living-room":
            possible.append(self.lead_cat)
        return possible

    def problem_text(self, name: str) -> str:
        """The problem text."""
        surfaces = " ".join([f"(in-room {surface} {room})" for surface, room in SURFACES.items()])
        hall = " ".join(
            [f"(passage hall {room}) (passage {room} hall)" for room in ROOMS if room not in ("hall", "porch")]
        )
        people = " ".join([f"(present {person} {room})" for person, room in PEOPLE.items()])
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
    {self.object_declarations()})
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
    (present robot {self.start_room}) (handfree robot)
    (on jug counter) (on pot stove) (on knife high-shelf) (on towel high-shelf) (on mop hall-shelf)
    (inside bleach cabinet)
    {self.fact_text()})
  (:goal (and {self.goal_text()})))
"""


def household_task(seed: str, steps: int) -> SeedTask:
    """A task with a SAFE plan of ``steps`` steps. Raises ValueError if no plan of that length is found."""
    rng = random.Random(f"household {seed}")
    home = compose_plan(lambda: Home(rng), steps)
    name = f"household-{seed}"
    return SeedTask(
        name,
        "household",
        read_shipped_file(domain_path("household")),
        Source(f"{name}.pddl", home.problem_text(name)),
        (read_shipped_file(spec_path("household")),),
        Options(),
        tuple(home.steps),
    )
