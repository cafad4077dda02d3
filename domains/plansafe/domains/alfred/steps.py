"""Expand ALFRED's high-level steps into the actions of the controller, as its executor does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from plansafe.domains.alfred.trajectory import HighStep, whole_identifier
from plansafe.domains.safeagentbench.object_classes import CLASSES
from plansafe.domains.safeagentbench.scenes import class_of

LOW_LEVEL: Mapping[str, str] = {
    "GotoLocation": "find",
    "PickupObject": "pick",
    "PutObject": "put",
    "OpenObject": "open",
    "CloseObject": "close",
    "ToggleObjectOn": "turn_on",
    "ToggleObjectOff": "turn_off",
    "SliceObject": "slice",
    "BreakObject": "break",
    "CookObject": "cook",
    "DirtyObject": "dirty",
    "WashObject": "clean",
    "FillObject": "fill",
    "EmptyObject": "empty",
    "PourObject": "pour",
    "DropObject": "drop",
    "ThrowObject": "throw",
}
"""The controller's actions by the words of a line; a repaired plan is written in them."""
WORDS = {action: word for word, action in LOW_LEVEL.items()}
COMPOSITE = ("ToggleObject", "HeatObject", "CoolObject", "CleanObject", "NoOp", "End")
Step = tuple[str, ...]


class StepExpander:
    """Expands the steps of one plan in their order.

    ``names`` are the names of the room's objects by class, ``objects`` their names by identifier, ``switched_on`` what
    is on at the start.
    """

    def __init__(
        self, names: Mapping[str, Sequence[str]], objects: Mapping[str, str], switched_on: frozenset[str]
    ) -> None:
        self._names = names
        self._objects = objects
        self._on = set(switched_on)
        self._open: set[str] = set()
        self._latest: dict[str, str] = {}

    def expand(self, step: HighStep) -> list[Step] | None:
        """Return the controller's actions of a high-level step; ``None`` if its action is unknown.

        What is in an openable receptacle is pick_steps by opening and closing it, unless the plan has opened it.
        """
        if step.is_exact and step.action in LOW_LEVEL:
            return self._low_level(step)
        first = self.name(step.arguments[0], step.object_id) if step.arguments else ""
        place = self.name(step.arguments[-1], step.receptacle_id) if len(step.arguments) > 1 else ""
        match step.action:
            case "NoOp" | "End":
                return []
            case "GotoLocation" if first:
                return [("find", first)]
            case "PickupObject" if first:
                pick_steps: list[Step] = [("find", first), ("pick", first)]
                return self._opened(self._objects.get(step.receptacle_id, ""), pick_steps)
            case "PutObject" if place or first:
                target = self._basin(place or first)
                return self._opened(target, [("put", target)])
            case "OpenObject" | "CloseObject" if first:
                (self._open.add if step.action == "OpenObject" else self._open.discard)(first)
                return [("open" if step.action == "OpenObject" else "close", first)]
            case "ToggleObject" if first:
                return [self._toggle(first)]
            case "SliceObject" if first:
                return [("slice", first)]
            case "HeatObject" if first:
                oven = self._appliance("microwave", step.receptacle_id)
                heat: list[Step] = [
                    ("open", oven),
                    ("put", oven),
                    ("close", oven),
                    ("turn_on", oven),
                    ("turn_off", oven),
                ]
                return [*heat, ("open", oven), ("find", first), ("pick", first), ("close", oven)]
            case "CoolObject" if first:
                fridge = self._appliance("fridge", step.receptacle_id)
                cool: list[Step] = [("open", fridge), ("put", fridge), ("close", fridge), ("open", fridge)]
                return [*cool, ("find", first), ("pick", first), ("close", fridge)]
            case "CleanObject" if first:
                sink = self._appliance("sinkbasin", step.receptacle_id)
                tap = self.name("faucet")
                return [("put", sink), ("turn_on", tap), ("turn_off", tap), ("find", first), ("pick", first)]
            case _:
                return self._low_level(step)

    def _low_level(self, step: HighStep) -> list[Step] | None:
        action = LOW_LEVEL.get(step.action)
        if action is None:
            return None
        if action in ("pour", "drop", "throw"):
            return [(action,)]
        if not step.arguments:
            return None
        if action == "put":
            return [("put", self._basin(self.name(step.arguments[-1])))]
        name = self.name(step.arguments[0])
        if action in ("turn_on", "turn_off"):
            (self._on.add if action == "turn_on" else self._on.discard)(name)
        if action in ("open", "close"):
            (self._open.add if action == "open" else self._open.discard)(name)
        return [(action, name, *[plain_name(word) for word in step.arguments[1:]])]

    def _opened(self, receptacle: str, steps: list[Step]) -> list[Step]:
        is_openable = class_of(receptacle) in CLASSES and "openable" in CLASSES[class_of(receptacle)].predicates
        if not is_openable or receptacle in self._open:
            return steps
        return [("open", receptacle), *steps, ("close", receptacle)]

    def _toggle(self, name: str) -> Step:
        if name in self._on:
            self._on.remove(name)
            return ("turn_off", name)
        self._on.add(name)
        return ("turn_on", name)

    def _appliance(self, object_class: str, identifier: str) -> str:
        name = self._objects.get(identifier, "")
        return name if class_of(name) == object_class else self.name(object_class)

    def _basin(self, name: str) -> str:
        basin = {"sink": "sinkbasin", "bathtub": "bathtubbasin"}.get(class_of(name), "")
        return self._names[basin][0] if self._names.get(basin) else name

    def name(self, words: str, identifier: str = "") -> str:
        """Return the object that words or an identifier mean; an unknown object keeps its words.

        A class without identifier means the object of the class that the plan named last, else the first one.
        """
        object_class = class_of(words)
        name = self._objects.get(whole_identifier(identifier))
        if name is None and any([plain_name(words) in members for members in self._names.values()]):
            name = plain_name(words)
        if name is None:
            members = self._names.get(object_class) or self._names.get(object_class.removesuffix("sliced")) or ()
            name = self._latest.get(object_class) or (members[0] if members else plain_name(words))
        self._latest[object_class] = name
        return name


def plain_name(words: str) -> str:
    """Return words as a name in PDDL."""
    return re.sub(r"[^a-z0-9_-]", "_", words.lower()) or "_"
