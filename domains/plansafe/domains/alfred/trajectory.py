"""Read ALFRED's ``traj_data.json``: the high-level steps, the objects that it names, and the goal of the task.

Expand ALFRED's high-level steps into the actions of the controller, as its executor does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.domains.safeagentbench.object_classes import CLASSES
from plansafe.domains.safeagentbench.scenes import class_of

SLICED = ("apple", "bread", "lettuce", "potato", "tomato")
# The appliances that a composite step uses, besides its object.
APPLIANCES: Mapping[str, tuple[str, ...]] = {
    "HeatObject": ("microwave",),
    "CoolObject": ("fridge",),
    "CleanObject": ("sinkbasin", "faucet"),
}


class HighStep(NamedTuple):
    """A step of ``high_pddl``: its action and arguments, and the identifiers of its object and receptacle if given.

    ``is_exact``: the step is a line of text, and an action of the controller is not expanded.
    """

    action: str
    arguments: tuple[str, ...]
    object_id: str = ""
    receptacle_id: str = ""
    is_exact: bool = False


def is_trajectory(value: Any) -> bool:
    """Whether a JSON value is a trajectory, or a part of one with a plan or the parameters of a task."""
    return isinstance(value, dict) and any([key in value for key in ("plan", "pddl_params", "turk_annotations")])


def read_high_step(entry: Any) -> HighStep | None:
    """Read an entry of ``high_pddl``; ``None`` if it has no action."""
    discrete = entry.get("discrete_action") if isinstance(entry, dict) else None
    action = discrete.get("action") if isinstance(discrete, dict) else None
    if not isinstance(discrete, dict) or not isinstance(action, str):
        return None
    arguments = discrete.get("args")
    arguments = arguments if isinstance(arguments, list) else []
    planner = entry.get("planner_action")
    planner = planner if isinstance(planner, dict) else {}
    return HighStep(
        action,
        tuple([argument for argument in arguments if isinstance(argument, str) and argument]),
        _identifier(planner.get("coordinateObjectId"), planner.get("objectId")),
        _identifier(planner.get("coordinateReceptacleObjectId"), planner.get("receptacleObjectId")),
    )


def _identifier(pair: Any, identifier: Any) -> str:
    """Return an object's identifier; ``coordinateObjectId`` is a pair of class and identifier."""
    if isinstance(pair, list) and len(pair) > 1 and isinstance(pair[1], str):
        return pair[1]
    return identifier if isinstance(identifier, str) else ""


def high_steps(trajectory: Any) -> list[HighStep]:
    """Return the high-level steps of a trajectory."""
    plan = trajectory.get("plan") if isinstance(trajectory, dict) else None
    entries = plan.get("high_pddl") if isinstance(plan, dict) else None
    steps = [read_high_step(entry) for entry in entries] if isinstance(entries, list) else []
    return [step for step in steps if step is not None]


def scene_entries(trajectory: Any, key: str) -> list[dict[str, Any]]:
    """Return a list of objects in the trajectory's ``scene``: ``object_poses`` or ``object_toggles``."""
    scene = trajectory.get("scene") if isinstance(trajectory, dict) else None
    entries = scene.get(key) if isinstance(scene, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def count_objects(trajectory: Any) -> dict[str, int]:
    """Count the objects of each class that a trajectory names: in its scene, its steps and its task."""
    posed = [str(entry.get("objectName", "")).split("_")[0] for entry in scene_entries(trajectory, "object_poses")]
    counts: dict[str, int] = {}
    for name in map(class_of, filter(None, posed)):
        counts[name] = counts.get(name, 0) + 1
    for name, identifiers in identifiers_by_class(trajectory).items():
        counts[name] = max(counts.get(name, 0), len(identifiers))
    class_words = [str(entry.get("objectType", "")) for entry in scene_entries(trajectory, "object_toggles")]
    for step in high_steps(trajectory):
        class_words += [*step.arguments, *APPLIANCES.get(step.action, ())]
    class_words += [value for value in _parameters(trajectory).values() if isinstance(value, str)]
    for name in map(class_of, filter(None, class_words)):
        counts.setdefault(name, 1)
    for switch, controlled in (("stoveknob", "stoveburner"), ("faucet", "sinkbasin")):
        if switch in counts:
            counts.setdefault(controlled, counts[switch])
    pieces = [f"{name}sliced" for name in SLICED]
    return {name: count for name, count in counts.items() if name in CLASSES and name not in pieces}


def identifiers_by_class(trajectory: Any) -> dict[str, list[str]]:
    """Return the identifiers in the steps by class, in their order; pieces count as their whole object."""
    identifiers: dict[str, list[str]] = {}
    for step in high_steps(trajectory):
        for identifier in (step.object_id, step.receptacle_id):
            object_id = whole_identifier(identifier)
            members = identifiers.setdefault(class_of(object_id), []) if object_id else []
            if object_id and object_id not in members:
                members.append(object_id)
    return identifiers


def whole_identifier(identifier: str) -> str:
    """Return the identifier of the object that a piece comes from: ``Apple|..|AppleSliced_0`` is of ``Apple|..``."""
    parts = identifier.split("|")
    return "|".join(parts[:4]) if len(parts) > 4 and "sliced" in parts[4].lower() else identifier


def title_of(trajectory: Any) -> tuple[str, str]:
    """Return the first annotator's description of the task, and of its steps."""
    annotations = trajectory.get("turk_annotations") if isinstance(trajectory, dict) else None
    entries = annotations.get("anns") if isinstance(annotations, dict) else None
    first = entries[0] if isinstance(entries, list) and entries and isinstance(entries[0], dict) else {}
    texts = first.get("high_descs")
    steps = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    title = first.get("task_desc")
    return (title if isinstance(title, str) else ""), " ".join(steps)


def _parameters(trajectory: Any) -> dict[str, Any]:
    parameters = trajectory.get("pddl_params") if isinstance(trajectory, dict) else None
    return parameters if isinstance(parameters, dict) else {}


def goal_text(trajectory: Any) -> str:
    """Return the goal of the task in PDDL, by ``task_type`` and ``pddl_params``; empty if the trajectory has none.

    Raises ``ValueError`` with the reason if the parameters name no class of AI2-THOR.
    """
    parameters = _parameters(trajectory)
    names = {key: class_of(value) for key, value in parameters.items() if isinstance(value, str) and value}
    target_class = names.get("object_target")
    if not target_class:
        return ""
    if parameters.get("object_sliced") is True and target_class in SLICED:
        names["object_target"] = target_class = f"{target_class}sliced"
    for name in names.values():
        if name not in CLASSES:
            raise ValueError(f"`{name}` is not a class of AI2-THOR")
    task_type = str(trajectory.get("task_type", ""))
    conditions = []
    for word, condition in (("clean", "(is_rinsed ?o)"), ("heat", "(is_hot ?o)"), ("cool", "(is_cold ?o)")):
        conditions += [condition] if f"pick_{word}" in task_type else []
    variables = [f"?o - {target_class}"]
    if "toggle_target" in names:
        return _exists([*variables, f"?t - {names['toggle_target']}"], [*conditions, "(held ?o)", "(is_toggled ?t)"])
    place = "?o"
    if "mrecep_target" in names:
        variables.append(f"?m - {names['mrecep_target']}")
        conditions.append("(contained ?o ?m)")
        place = "?m"
    if "parent_target" in names:
        variables.append(f"?r - {names['parent_target']}")
        conditions.append(f"(contained {place} ?r)")
    if "pick_two" in task_type and "parent_target" in names:
        variables.append(f"?p - {target_class}")
        conditions += ["(contained ?p ?r)", "(not (= ?o ?p))"]
    return _exists(variables, conditions) if conditions else ""


def _exists(variables: Sequence[str], conditions: Sequence[str]) -> str:
    return f"(exists ({' '.join(variables)}) (and {' '.join(conditions)}))"


def initial_changes(trajectory: Any, names: Mapping[str, Sequence[str]], objects: Mapping[str, str]) -> Iterator[str]:
    """Yield initial facts: which objects are on, dirty, or in the receptacle from which a step takes them.

    ``names`` are the names of the room's objects by class, ``objects`` their names by identifier.
    """
    for entry in scene_entries(trajectory, "object_toggles"):
        for name in names.get(class_of(str(entry.get("objectType", ""))), ()):
            if "toggleable" in CLASSES[class_of(name)].predicates:
                yield f"(is_toggled {name})" if entry.get("isOn") is True else f"(not (is_toggled {name}))"
    scene = trajectory.get("scene") if isinstance(trajectory, dict) else None
    if isinstance(scene, dict) and scene.get("dirty_and_empty") is True:
        for object_class, members in names.items():
            if object_class in CLASSES and "dirtyable" in CLASSES[object_class].predicates:
                yield from [f"(is_dirty {name})" for name in members]
    placed: set[str] = set()
    for step in high_steps(trajectory):
        object_name = objects.get(whole_identifier(step.object_id))
        receptacle = objects.get(step.receptacle_id)
        if object_name is not None and object_name not in placed:
            placed.add(object_name)
            if step.action == "PickupObject" and receptacle is not None:
                yield f"(contained {object_name} {receptacle})"


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
