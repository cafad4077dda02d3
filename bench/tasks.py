"""Benchmark tasks, written to a folder. The same seed gives the same bytes.

usage: python bench/tasks.py FOLDER [NAME ..]

hhN        household in a fixed world (6 rooms, 12 cupboards, 30 items), a random valid plan of N steps
hhbigN     the same with 50 rooms, 300 cupboards and 1,500 items
c_hhN      with four PDDL3 constraints; c_hhbigN likewise
m_hhN      with one constraint over all pairs of items; m_hhbigN likewise
gripN      gripper with N balls: the objects grow with the plan
whN        warehouse with N items, nested quantifiers in goal and preconditions; whNsafe: steps require shut doors
groundedN  a domain without parameters, N actions, 100 of them in the plan
batchN     N plans of 20 steps for one problem; about half of them lack one step
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

STANDARD = [
    "hh20",
    "hh1000",
    "hh10000",
    "hh100000",
    "hhbig1000",
    "hhbig10000",
    "batch1000",
    "grip334",
    "grip3334",
    "grip33334",
    "wh200",
    "wh2000",
    "wh2000safe",
    "wh5000",
    "c_hh1000",
    "c_hh10000",
    "c_hh100000",
    "c_hhbig1000",
    "c_hhbig10000",
    "m_hhbig1000",
    "grounded10000",
]

HOUSEHOLD = """\
(define (domain household)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions{more})
  (:types room item furniture - object fridge cabinet - furniture)
  (:predicates (at ?r - room) (connected ?from ?to - room) (in-room ?f - furniture ?r - room) (open ?f - furniture)
    (holding ?i - item) (handfree) (in ?i - item ?f - furniture) (on-floor ?i - item ?r - room)
    (clean ?i - item) (dirty ?i - item))
  (:action goto :parameters (?from ?to - room)
    :precondition (and (at ?from) (or (connected ?from ?to) (connected ?to ?from)))
    :effect (and (not (at ?from)) (at ?to)))
  (:action open-it :parameters (?f - furniture ?r - room)
    :precondition (and (at ?r) (in-room ?f ?r) (not (open ?f)))
    :effect (open ?f))
  (:action close-it :parameters (?f - furniture ?r - room)
    :precondition (and (at ?r) (in-room ?f ?r) (open ?f))
    :effect (not (open ?f)))
  (:action take :parameters (?i - item ?f - furniture ?r - room)
    :precondition (and (at ?r) (in-room ?f ?r) (open ?f) (in ?i ?f) (handfree))
    :effect (and (holding ?i) (not (handfree)) (not (in ?i ?f))))
  (:action put :parameters (?i - item ?f - furniture ?r - room)
    :precondition (and (at ?r) (in-room ?f ?r) (open ?f) (holding ?i))
    :effect (and (not (holding ?i)) (handfree) (in ?i ?f)))
  (:action wash :parameters (?i - item)
    :precondition (and (holding ?i) (dirty ?i)) :effect (and (clean ?i) (not (dirty ?i))))
  (:action soil :parameters (?i - item)
    :precondition (and (holding ?i) (clean ?i)) :effect (and (dirty ?i) (not (clean ?i)))))
"""
FOUR_CONSTRAINTS = """
  (:constraints (and
    (always (forall (?a ?b - room) (imply (and (at ?a) (at ?b)) (= ?a ?b))))
    (always (forall (?i - item) (imply (holding ?i) (not (handfree)))))
    (forall (?i - item) (sometime-before (holding ?i) (exists (?f - furniture) (open ?f))))
    (sometime (exists (?i - item) (clean ?i)))))"""
PAIR_CONSTRAINT = """
  (:constraints (always (forall (?i ?j - item) (imply (and (holding ?i) (holding ?j)) (= ?i ?j)))))"""
GRIPPER = """\
(define (domain gripper-typed)
  (:requirements :strips :typing)
  (:types room ball gripper)
  (:predicates (at-robby ?r - room) (at ?b - ball ?r - room) (free ?g - gripper) (carry ?b - ball ?g - gripper))
  (:action move :parameters (?from ?to - room)
    :precondition (at-robby ?from) :effect (and (at-robby ?to) (not (at-robby ?from))))
  (:action pick :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (at ?b ?r) (at-robby ?r) (free ?g)) :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
  (:action drop :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (carry ?b ?g) (at-robby ?r)) :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
"""
WAREHOUSE = """\
(define (domain warehouse)
  (:requirements :adl :typing)
  (:types item shelf door)
  (:predicates (on ?i - item ?s - shelf) (loose ?i - item) (shut ?d - door) (locked) (audited))
  (:action store :parameters (?i - item ?s - shelf)
    :precondition (loose ?i) :effect (and (on ?i ?s) (not (loose ?i))))
  (:action store-safe :parameters (?i - item ?s - shelf)
    :precondition (and (loose ?i) (forall (?d - door) (shut ?d))) :effect (and (on ?i ?s) (not (loose ?i))))
  (:action audit :parameters ()
    :precondition (forall (?i - item) (exists (?s - shelf) (on ?i ?s)))
    :effect (and (audited) (forall (?d - door) (when (not (shut ?d)) (shut ?d)))))
  (:action lock :parameters () :precondition (and (audited) (forall (?d - door) (shut ?d))) :effect (locked)))
"""


@dataclass(frozen=True)
class Task:
    """The texts of a task; ``plans`` by file name."""

    domain: str
    problem: str
    plans: dict[str, str]


@dataclass(frozen=True)
class House:
    """A house: rooms in a ring, furniture in rooms, items in furniture."""

    rooms: list[str]
    furniture: list[str]
    items: list[str]
    room_of: dict[str, str]
    furniture_of: dict[str, str]


@dataclass
class Household:
    """The state of a house during a random plan."""

    room: str
    contents: dict[str, list[str]]
    opened: set[str] = field(default_factory=set)
    held_item: str | None = None
    clean: set[str] = field(default_factory=set)


def make_house(rooms: int, furniture: int, items: int, rng: random.Random) -> House:
    """A random house; every room gets furniture if there is enough."""
    room_names = [f"room{i}" for i in range(rooms)]
    furniture_names = [f"furn{i}" for i in range(furniture)]
    item_names = [f"item{i}" for i in range(items)]
    room_of = {name: rng.choice(room_names) for name in furniture_names}
    room_of.update(zip(furniture_names, room_names, strict=False))
    return House(room_names, furniture_names, item_names, room_of, {i: rng.choice(furniture_names) for i in item_names})


def make_initial_state(world: House) -> Household:
    """The initial state."""
    contents: dict[str, list[str]] = {name: [] for name in world.furniture}
    for item, piece in world.furniture_of.items():
        contents[piece].append(item)
    return Household(world.rooms[0], contents)


def find_neighbour_rooms(world: House, room: str) -> list[str]:
    """The rooms before and after in the ring."""
    index = world.rooms.index(room)
    return [world.rooms[index - 1], world.rooms[(index + 1) % len(world.rooms)]]


def choose_action(
    world: House, furniture_by_room: dict[str, list[str]], state: Household, rng: random.Random
) -> tuple[str, str]:
    """A random applicable action and its object; opening, taking and putting are twice as likely as other actions."""
    options = [("goto", rng.choice(find_neighbour_rooms(world, state.room)))]
    if furniture_by_room[state.room]:
        piece = rng.choice(furniture_by_room[state.room])
        if piece not in state.opened:
            options += [("open-it", piece)] * 2
        else:
            if rng.random() < 0.2:
                options.append(("close-it", piece))
            if state.held_item is not None:
                options += [("put", piece)] * 2
            elif state.contents[piece]:
                options += [("take", piece)] * 2
    if state.held_item is not None:
        options.append(("soil" if state.held_item in state.clean else "wash", state.held_item))
    return rng.choice(options)


def apply_action(state: Household, action: str, subject: str, rng: random.Random) -> str:
    """Apply an action to the state; returns the step as a line of the plan."""
    room = state.room
    match action:
        case "goto":
            state.room = subject
            return f"(goto {room} {subject})"
        case "open-it":
            state.opened.add(subject)
            return f"(open-it {subject} {room})"
        case "close-it":
            state.opened.remove(subject)
            return f"(close-it {subject} {room})"
        case "take":
            state.held_item = rng.choice(state.contents[subject])
            state.contents[subject].remove(state.held_item)
            return f"(take {state.held_item} {subject} {room})"
        case "put" if state.held_item is not None:
            item, state.held_item = state.held_item, None
            state.contents[subject].append(item)
            return f"(put {item} {subject} {room})"
        case "wash":
            state.clean.add(subject)
        case "soil":
            state.clean.remove(subject)
        case _:
            raise ValueError(action)
    return f"({action} {subject})"


def make_random_plan(world: House, steps: int, rng: random.Random) -> tuple[list[str], Household]:
    """A random valid plan of the given length, and its final state."""
    furniture_by_room: dict[str, list[str]] = {room: [] for room in world.rooms}
    for piece, room in world.room_of.items():
        furniture_by_room[room].append(piece)
    state = make_initial_state(world)
    plan = [apply_action(state, *choose_action(world, furniture_by_room, state, rng), rng) for _ in range(steps)]
    return plan, state


def format_household_problem(name: str, world: House, goal: Iterable[str], constraints: str) -> str:
    """The problem text of a house."""
    ring = zip(world.rooms, world.rooms[1:] + world.rooms[:1], strict=True)
    facts = [f"(at {world.rooms[0]})", "(handfree)"]
    facts += [f"(connected {room} {next_room})" for room, next_room in ring]
    facts += [f"(in-room {piece} {room})" for piece, room in world.room_of.items()]
    facts += [f"(in {item} {piece})\n    (dirty {item})" for item, piece in world.furniture_of.items()]
    objects = f"{' '.join(world.rooms)} - room {' '.join(world.furniture)} - cabinet {' '.join(world.items)} - item"
    return (
        f"(define (problem {name}) (:domain household)\n  (:objects {objects})\n  (:init\n    "
        + "\n    ".join(facts)
        + f")\n  (:goal (and {' '.join(goal)})){constraints})\n"
    )


def make_household_task(name: str, big: bool, steps: int, constraints: str) -> Task:
    """One plan in a house; the goal is the final location of the first 200 items."""
    rng = random.Random(f"household {big} {steps}")
    world = make_house(50, 300, 1500, rng) if big else make_house(6, 12, 30, rng)
    plan, state = make_random_plan(world, steps, rng)
    place_of = {item: place for place, items in state.contents.items() for item in items}
    goal = [f"(at {state.room})"]
    goal += [f"(in {i} {place_of[i]})" if i in place_of else f"(holding {i})" for i in world.items[:200]]
    domain = HOUSEHOLD.format(more=" :equality :adl :constraints" if constraints else "")
    return Task(domain, format_household_problem(name, world, goal, constraints), {"plan": "\n".join(plan) + "\n"})


def make_batch_task(name: str, plans: int) -> Task:
    """Many plans of 20 steps in one house; every complete plan reaches the goal."""
    rng = random.Random(name)
    world = make_house(6, 12, 30, rng)
    texts = {}
    for number in range(plans):
        plan, _ = make_random_plan(world, 20, rng)
        if rng.random() < 0.5:
            del plan[rng.randrange(len(plan))]
        texts[f"plans/p{number:04d}.plan"] = "\n".join(plan) + "\n"
    goal = [f"(or {' '.join(f'(at {room})' for room in world.rooms)})"]
    return Task(HOUSEHOLD.format(more=""), format_household_problem(name, world, goal, ""), texts)


def make_gripper_task(name: str, balls: int) -> Task:
    """Carry all balls to the other room, two at once."""
    names = [f"ball{i}" for i in range(balls)]
    plan: list[str] = []
    for index in range(0, balls, 2):
        pair = list(zip(names[index : index + 2], ("left", "right"), strict=False))
        plan += [f"(pick {ball} rooma {hand})" for ball, hand in pair] + ["(move rooma roomb)"]
        plan += [f"(drop {ball} roomb {hand})" for ball, hand in pair] + ["(move roomb rooma)"]
    problem = (
        f"(define (problem {name}) (:domain gripper-typed)\n"
        f"  (:objects rooma roomb - room left right - gripper {' '.join(names)} - ball)\n"
        "  (:init (at-robby rooma) (free left) (free right)\n"
        + "".join(f"  (at {ball} rooma)\n" for ball in names)
        + f" )\n (:goal (and {' '.join(f'(at {ball} roomb)' for ball in names)})))\n"
    )
    return Task(GRIPPER, problem, {"plan": "\n".join(plan) + "\n"})


def make_warehouse_task(name: str, items: int, safe: bool) -> Task:
    """Store all items, audit, lock."""
    shelf_count, door_count = (50, 200) if items > 200 else (20, 20)
    names = [f"i{k}" for k in range(items)]
    shelves = [f"s{k}" for k in range(shelf_count)]
    doors = [f"d{k}" for k in range(door_count)]
    facts = [f"(loose {item})" for item in names]
    facts += [f"(shut {door})" for door in (doors if safe else doors[: door_count // 2])]
    problem = (
        f"(define (problem {name}) (:domain warehouse)\n"
        f"  (:objects {' '.join(names)} - item {' '.join(shelves)} - shelf {' '.join(doors)} - door)\n"
        f"  (:init {' '.join(facts)})\n"
        "  (:goal (and (locked) (forall (?i - item) (exists (?s - shelf) (on ?i ?s)))\n"
        "    (forall (?i - item) (not (loose ?i))))))\n"
    )
    action = "store-safe" if safe else "store"
    plan = [f"({action} {item} {shelves[k % shelf_count]})" for k, item in enumerate(names)]
    return Task(WAREHOUSE, problem, {"plan": "\n".join([*plan, "(audit)", "(lock)"]) + "\n"})


def make_grounded_task(name: str, actions: int) -> Task:
    """A chain of actions without parameters, each with six negative preconditions."""
    rng = random.Random(name)
    plan_length = min(100, actions)
    predicates = {f"(reached-{i})": None for i in range(actions + 1)}
    texts = []
    for index in range(actions):
        blockers = [f"(blocked-{rng.randrange(actions)}-at-stage-{stage})" for stage in range(6)]
        predicates.update(dict.fromkeys(blockers))
        conditions = " ".join(f"(not {blocker})" for blocker in blockers)
        texts.append(
            f"  (:action step-{index}\n    :parameters ()\n    :precondition (and (reached-{index}) {conditions})\n"
            f"    :effect (and (not (reached-{index})) (reached-{index + 1})))\n"
        )
    domain = (
        f"(define (domain {name})\n  (:requirements :strips :negative-preconditions)\n"
        f"  (:predicates {' '.join(predicates)})\n{''.join(texts)})\n"
    )
    problem = f"(define (problem p) (:domain {name})\n  (:init (reached-0))\n  (:goal (reached-{plan_length})))\n"
    return Task(domain, problem, {"plan": "".join(f"(step-{i})\n" for i in range(plan_length))})


def make_task(name: str) -> Task:
    """The task of a name. Raises ValueError for an unknown name."""
    if match := re.fullmatch(r"([cm]_)?hh(big)?(\d+)", name):
        constraints = {"c_": FOUR_CONSTRAINTS, "m_": PAIR_CONSTRAINT, None: ""}[match[1]]
        return make_household_task(name, match[2] is not None, int(match[3]), constraints)
    if match := re.fullmatch(r"batch(\d+)", name):
        return make_batch_task(name, int(match[1]))
    if match := re.fullmatch(r"grip(\d+)", name):
        return make_gripper_task(name, int(match[1]))
    if match := re.fullmatch(r"wh(\d+)(safe)?", name):
        return make_warehouse_task(name, int(match[1]), match[2] is not None)
    if match := re.fullmatch(r"grounded(\d+)", name):
        return make_grounded_task(name, int(match[1]))
    raise ValueError(f"`{name}` is not a task")


def write_task(folder: Path, name: str) -> None:
    """Write ``domain.pddl``, ``problem.pddl`` and the plan (or ``plans/``) to ``folder/name``."""
    task = make_task(name)
    target = folder / name
    for path, text in {"domain.pddl": task.domain, "problem.pddl": task.problem, **task.plans}.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")


def main() -> int:
    """Write the tasks named on the command line, or the standard ones."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    for name in sys.argv[2:] or STANDARD:
        write_task(Path(sys.argv[1]), name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
