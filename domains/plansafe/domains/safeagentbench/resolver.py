"""Find the objects that the steps of a plan mean."""

from __future__ import annotations

import re

from plansafe.domains.safeagentbench.scenes import Room, names_by_class, single_places
from plansafe.domains.safeagentbench.steps import parse_step, split_number

# `put Sink` places the object in the basin, as the controller does.
_BASINS = {"sink": "sinkbasin", "bathtub": "bathtubbasin"}


class ObjectResolver:
    """Resolves the words of steps to objects of a room, in the order of the plan.

    A class without a number means the object of the class that the plan named last, else the nearest object by the
    metadata, else the first object. The controller skips objects in closed receptacles and prefers free burners, so the
    resolver follows which receptacles the plan opens and closes, and where it puts objects.
    """

    def __init__(self, room: Room) -> None:
        self.names = names_by_class(room.objects)
        self.choice: str | None = None
        """The object of the current step, if several objects qualify and the plan does not say which."""
        self.hindrance: str | None = None
        """The object in the hand, if the current step is a `pick` that changes nothing because of it."""
        self._latest: dict[str, str] = {}
        self._distances = {scene_object.name: scene_object.distance for scene_object in room.objects}
        self._single_places = single_places(room)
        names = {scene_object.id: scene_object.name for scene_object in room.objects}
        self._receptacles = {
            scene_object.name: {names[parent] for parent in scene_object.parents if parent in names}
            for scene_object in room.objects
        }
        self._pickupable = {
            scene_object.name for scene_object in room.objects if "pickupable" in scene_object.abilities
        }
        self._openable = {scene_object.name for scene_object in room.objects if "openable" in scene_object.abilities}
        self._closed = self._openable - {
            scene_object.name for scene_object in room.objects if "is_open" in scene_object.facts
        }
        self._in_hand: str | None = None

    def read_step(self, words: str) -> tuple[str, ...] | None:
        """Return the PDDL step for words; ``None`` if they are not a step."""
        self.choice = self.hindrance = None
        step = parse_step(words)
        if step is None:
            return None
        if step.object_words is None:
            self._follow(step.action, "")
            return (step.action,)
        name = self._resolve(step.object_words, step.action)
        self._follow(step.action, name)
        return (step.action, name) if step.liquid is None else (step.action, name, _plain_name(step.liquid))

    def _resolve(self, words: str, action: str) -> str:
        """Return the PDDL name of the object; an object that the scene does not have keeps its words."""
        object_class, number = split_number(words)
        if action == "put" and _BASINS.get(object_class) in self.names:
            object_class = _BASINS[object_class]
        names = self.names.get(object_class, ())
        if number is not None:
            name = names[number - 1] if 1 <= number <= len(names) else _plain_name(f"{object_class}_{number}")
        elif names:
            name = self._choose(names, self._latest.get(object_class))
        else:
            name = _plain_name(object_class)
        self._latest[object_class] = name
        return name

    def _choose(self, names: tuple[str, ...], latest: str | None) -> str:
        best = min(names, key=lambda name: (self._obstacles(name), self._distances[name]))
        if latest is None:
            self.choice = best if len(names) > 1 else None
            return best
        return latest if latest not in names or self._obstacles(latest) == self._obstacles(best) else best

    def _obstacles(self, name: str) -> tuple[bool, bool]:
        """Return whether the object is in a closed receptacle, and whether it is an occupied place for one object."""
        is_hidden = not self._closed.isdisjoint(self._receptacles.get(name, ()))
        is_occupied = name in self._single_places and any([name in places for places in self._receptacles.values()])
        return is_hidden, is_occupied

    def _follow(self, action: str, name: str) -> None:
        """Update the positions of objects and the closed receptacles after a step."""
        if action == "pick" and name in self._pickupable:
            self.hindrance = self._in_hand
            if self._in_hand is None:
                self._in_hand = name
                self._receptacles[name] = set()
        elif action in ("put", "drop", "throw") and self._in_hand is not None:
            self._receptacles[self._in_hand] = {name} if action == "put" else set()
            self._in_hand = None
        elif action == "open":
            self._closed.discard(name)
        elif action == "close" and name in self._openable:
            self._closed.add(name)


def _plain_name(words: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "_", words.lower()) or "_"
