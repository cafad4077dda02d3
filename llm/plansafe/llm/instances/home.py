"""A home of the shipped domain ``household``, drawn: rooms in a row, furniture, people."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

ADULTS = ("anna", "ben", "carla", "david", "eva", "farid", "greta", "hugo")
CHILDREN = ("mia", "tom", "lea", "noah")
PETS = ("rex", "minka", "luna")
LIVING = ("living-room", "dining-room", "bedroom", "study", "winter-garden")

MOST_ROOMS = 3
"""The default number of rooms next to the kitchen."""


class Home:
    """What a family adds to: objects by type and facts of the initial state, in the order in which they are added.

    A kitchen with a counter, a high shelf and a sink is always there, and in a row next to it one other room to
    ``most_rooms``.
    A family takes all free choices from ``random``, so that a seed gives one home.
    """

    def __init__(self, random: Random, most_rooms: int = MOST_ROOMS) -> None:
        self.random = random
        self._objects: dict[str, list[str]] = {}
        self._facts: list[str] = []
        self.rooms: list[str] = ["kitchen", *random.sample(LIVING, random.randint(1, most_rooms))]
        self.add("robot", "robot")
        for room in self.rooms:
            self.add("room", room)
        for near, far in zip(self.rooms, self.rooms[1:], strict=False):
            self.fact("passage", near, far)
            self.fact("passage", far, near)
        self.furnish("surface", "counter", "kitchen")
        self.furnish("surface", "high-shelf", "kitchen")
        self.furnish("sink", "sink", "kitchen")
        self.fact("handfree", "robot")
        self.robot_in = random.choice(self.rooms)
        self.fact("present", "robot", self.robot_in)

    @property
    def far(self) -> str:
        """A room next to the kitchen, or further on."""
        return self.random.choice(self.rooms[1:])

    def named(self, kind: str) -> Sequence[str]:
        """The objects of a type."""
        return self._objects.get(kind, ())

    def add(self, kind: str, name: str) -> str:
        """An object of a type of the domain; its name."""
        self._objects.setdefault(kind, []).append(name)
        return name

    def fact(self, predicate: str, *arguments: str) -> None:
        """Something that is so in the initial state."""
        self._facts.append(f"({' '.join([predicate, *arguments])})")

    def furnish(self, kind: str, name: str, room: str) -> str:
        """A fixed object in a room."""
        self.add(kind, name)
        self.fact("in-room", name, room)
        return name

    def table(self, room: str) -> str:
        """A table in a room: low ones are in reach of a small child."""
        name = f"{room}-table"
        if name not in self._objects["surface"]:
            self.furnish("surface", name, room)
            if self.random.random() < 0.5:
                self.fact("low", name)
        return name

    def cupboard(self, room: str) -> str:
        """A closed cupboard."""
        name = self.furnish("cupboard", f"{room}-cupboard", room)
        self.fact("opens", name)
        return name

    def fridge(self) -> str:
        """The fridge; closed."""
        self.furnish("fridge", "fridge", "kitchen")
        self.fact("opens", "fridge")
        return "fridge"

    def device(self, kind: str, name: str, room: str, watts: int, *, wired: bool = True) -> str:
        """A device that heats."""
        self.furnish(kind, name, room)
        self.fact("heats", name)
        self._facts.append(f"(= (power {name}) {watts})")
        if wired:
            self.fact("hard-wired", name)
        return name

    def stove(self) -> str:
        """A stove with the counter next to it."""
        self.device("stove", "stove", "kitchen", 3500)
        self.fact("radiant", "stove")
        self.fact("next-to", "counter", "stove")
        return "stove"

    def microwave(self) -> str:
        """A microwave that does not run while it is open."""
        self.device("microwave", "microwave", "kitchen", 900)
        self.fact("opens", "microwave")
        self.fact("interlocked", "microwave")
        return "microwave"

    def socket(self, name: str, room: str, rating: int) -> str:
        """A socket with nothing in it."""
        self.furnish("socket", name, room)
        self._facts.append(f"(= (draw {name}) 0)")
        self._facts.append(f"(= (rating {name}) {rating})")
        return name

    def person(self, kind: str, room: str) -> str:
        """An ``adult``, a ``child`` or a ``pet`` in a room; the name is drawn."""
        names = {"adult": ADULTS, "child": CHILDREN, "pet": PETS}[kind]
        name = self.add(kind, self.random.choice([n for n in names if n not in self._objects.get(kind, [])]))
        self.fact("present", name, room)
        return name

    def put(self, kind: str, name: str, place: str, *properties: str) -> str:
        """An item on something."""
        self.add(kind, name)
        for fact in properties:
            self.fact(fact, name)
        self.fact("on", name, place)
        return name

    def put_in(self, kind: str, name: str, place: str, *properties: str) -> str:
        """An item in something that opens."""
        self.add(kind, name)
        for fact in properties:
            self.fact(fact, name)
        self.fact("inside", name, place)
        return name

    def clutter(self, least: int, most: int, places: Sequence[str]) -> None:
        """Items that no goal needs; one may burn."""
        used_names = {name for names in self._objects.values() for name in names}
        free = [(kind, name, properties) for kind, name, properties in _CLUTTER if name not in used_names]
        for kind, name, properties in self.random.sample(free, self.random.randint(least, most)):
            self.put(kind, name, self.random.choice(places), *properties)

    def problem(self, name: str, goal: Sequence[str]) -> str:
        """The problem as PDDL. Each part of ``goal`` is a condition."""
        objects = "\n".join([f"    {' '.join(names)} - {kind}" for kind, names in self._objects.items()])
        lines: list[str] = []
        for fact in self._facts:
            if lines and len(lines[-1]) + len(fact) < 110:
                lines[-1] += f" {fact}"
            else:
                lines.append(f"    {fact}")
        goal_text = " ".join(goal) if len(goal) == 1 else f"(and {' '.join(goal)})"
        facts = "\n".join(lines)
        return (
            f"(define (problem {name})\n  (:domain household)\n  (:objects\n{objects})\n"
            f"  (:init\n{facts})\n  (:goal {goal_text}))\n"
        )


_CLUTTER: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("cloth", "napkin", ("flammable",)),
    ("item", "newspaper", ("flammable",)),
    ("item", "keys", ("metal",)),
    ("item", "remote-control", ()),
    ("vessel", "vase", ()),
    ("vessel", "tin-cup", ("metal",)),
    ("food", "bread", ("ready-to-eat",)),
)
