"""The home of a drawn task: rooms, objects and initial facts, and the goals that a family asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from plansafe.align.stated.plans import Act, Order

NAMES: Mapping[str, tuple[str, ...]] = {
    "room": ("kitchen", "hall", "attic", "cellar", "office", "bedroom", "bathroom", "garage", "study", "pantry"),
    "thing": ("mug", "cup", "knife", "book", "vase", "bottle", "plate", "jar", "towel", "scarf", "candle", "phone"),
    "surface": ("table", "shelf", "desk", "counter", "bench", "stool", "ledge", "tray", "rack", "stand"),
    "box": ("crate", "drawer", "cupboard", "chest", "locker", "trunk", "cabinet", "fridge", "bin", "closet"),
    "device": ("fan", "heater", "lamp", "radio", "kettle", "oven", "toaster", "mixer", "iron", "dryer"),
    "person": ("anna", "ben", "clara", "david", "emma", "felix", "grace", "henry", "ida", "jonas"),
}
"""Names of objects, by type. A task draws its names at random, so that a name says nothing about its role."""
_CLOSED_SHARE = 0.15
"""Of things to move: how many are in a closed box; of their destinations: how many are closed boxes."""


class Fact(NamedTuple):
    """A condition on one or two objects, true or false."""

    predicate: str
    objects: tuple[str, ...]
    holds: bool = True

    @property
    def formula(self) -> str:
        """The condition in PDDL."""
        atom = f"({' '.join([self.predicate, *self.objects])})"
        return atom if self.holds else f"(not {atom})"


class Goal(NamedTuple):
    """A goal: its verb, the condition, and the acts that reach it. The last of ``acts`` is the one that rules name."""

    verb: str
    fact: Fact
    acts: tuple[Act, ...]
    orders: tuple[Order, ...] = ()

    @property
    def main(self) -> Act:
        """The act that makes the goal true."""
        return self.acts[-1]


class Home:
    """A home under construction. All choices come from ``random``."""

    def __init__(self, random: Random, rooms: int) -> None:
        self.random = random
        self._names = {kind: random.sample(names, len(names)) for kind, names in NAMES.items()}
        self.objects: dict[str, list[str]] = {kind: [] for kind in NAMES}
        self.facts: list[str] = []
        self.rooms = [self._name("room") for _ in range(rooms)]
        self.start = random.choice(self.rooms)
        self.facts.append(f"(here {self.start})")

    def _name(self, kind: str) -> str:
        name = self._names[kind].pop()
        self.objects[kind].append(name)
        return name

    def room(self, *other_than: str) -> str:
        """A random room."""
        return self.random.choice([room for room in self.rooms if room not in other_than])

    def add(self, kind: str, room: str) -> str:
        """A new object in a room."""
        name = self._name(kind)
        self.facts.append(f"(in {name} {room})")
        return name

    def add_unplaced(self, kind: str) -> str:
        """A new object whose room differs between twins."""
        return self._name(kind)

    def set(self, fact: Fact) -> None:
        """Make a fact true in the initial state; facts that are not set are false."""
        if fact.holds:
            self.facts.append(fact.formula)

    def problem(self, goal: str, facts: tuple[str, ...] = ()) -> str:
        """The problem in PDDL, with further initial facts."""
        objects = " ".join([f"{' '.join(names)} - {kind}" for kind, names in self.objects.items() if names])
        init = " ".join([*self.facts, *facts])
        return f"(define (problem home) (:domain stated)\n (:objects {objects})\n (:init {init})\n (:goal {goal}))\n"


def _two_rooms(home: Home, count: int) -> list[str]:
    """The rooms of the alternatives of a goal: different ones if the home has several."""
    first = home.room()
    return [first] if count == 1 else [first, home.room(first) if len(home.rooms) > 1 else first]


def _fetched(home: Home) -> tuple[tuple[Act, ...], tuple[Order, ...]]:
    """A thing to move: the acts that bring it into the hand."""
    room = home.room()
    target = home.add("thing", room)
    take = Act("take", (target,), room)
    if home.random.random() >= _CLOSED_SHARE:
        return (take,), ()
    box = home.add("box", room)
    home.set(Fact("closed", (box,)))
    home.set(Fact("at", (target, box)))
    opening = Act("open", (box,), room)
    return (opening, take), ((opening, take),)


def _put(home: Home, count: int) -> list[Goal]:
    acts, orders = _fetched(home)
    take = acts[-1]
    goals = []
    for room in _two_rooms(home, count):
        is_box = home.random.random() < _CLOSED_SHARE
        place = home.add("box" if is_box else "surface", room)
        put = Act("put", (*take.objects, place), room)
        fact = Fact("at", put.objects)
        if is_box:
            home.set(Fact("closed", (place,)))
            opening = Act("open", (place,), room)
            more = ((opening, put), (take, put))
            goals.append(Goal("put", fact, (*acts, opening, put), (*orders, *more)))
        else:
            goals.append(Goal("put", fact, (*acts, put), (*orders, (take, put))))
    return goals


def _give(home: Home, count: int) -> list[Goal]:
    acts, orders = _fetched(home)
    take = acts[-1]
    goals = []
    for room in _two_rooms(home, count):
        give = Act("give", (*take.objects, home.add("person", room)), room)
        goals.append(
            Goal("give", Fact("has", (give.objects[1], give.objects[0])), (*acts, give), (*orders, (take, give)))
        )
    return goals


def _single(verb: str, kinds: tuple[str, ...], predicate: str, holds: bool) -> Callable[[Home, int], list[Goal]]:
    """A goal that one act reaches."""

    def make(home: Home, count: int) -> list[Goal]:
        goals = []
        kind = home.random.choice(kinds)
        for room in _two_rooms(home, count):
            item = home.add(kind, room)
            fact = Fact(predicate, (item,), holds)
            home.set(fact._replace(holds=not holds))
            goals.append(Goal(verb, fact, (Act(verb, (item,), room),)))
        return goals

    return make


def _send(home: Home, count: int) -> list[Goal]:
    room = home.room()
    person = home.add("person", room)
    targets = [target for target in home.rooms if target != room]
    chosen = home.random.sample(targets, min(count, len(targets)))
    return [Goal("send", Fact("in", (person, target)), (Act("send", (person, target), room),)) for target in chosen]


GOALS: Mapping[str, Callable[[Home, int], list[Goal]]] = {
    "put": _put,
    "give": _give,
    "start": _single("start", ("device",), "running", True),
    "stop": _single("stop", ("device",), "running", False),
    "open": _single("open", ("box",), "closed", False),
    "close": _single("close", ("box",), "closed", True),
    "wipe": _single("wipe", ("surface", "device", "thing"), "clean", True),
    "send": _send,
}
"""Of each verb: a function that adds its objects to a home and returns a goal, or alternative goals."""
