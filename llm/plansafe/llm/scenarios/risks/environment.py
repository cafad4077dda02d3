"""Environments in a compact notation, expanded to environment graphs of VirtualHome.

An object is written ``NAME [RELATION TARGET].. [+PROPERTY|-PROPERTY].. [: STATE..]``, for example
``milk inside fridge`` or ``stove in kitchen: on``. A name is a class, or ``CLASS.NUMBER`` for a further object of it.

The rules of the shipped library for homes by name, with their hazards and targets, read without compiling them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from plansafe.domains.virtualhome.graph import POSTURES, PROPERTIES, STATES
from plansafe.domains.virtualhome.names import (
    CHARACTER,
    UNKNOWN_TYPE,
    class_category,
    class_properties,
    default_states,
    is_room,
    known_types,
)
from plansafe.grammar.diagnostics import suggest_name
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.sets.part_files import Line, Mistake
from plansafe.specs import spec_names, spec_path

RELATIONS = {
    "in": "INSIDE",
    "on": "ON",
    "inside": "INSIDE",
    "near": "CLOSE",
    "between": "BETWEEN",
    "facing": "FACING",
    "holds": "HOLDS_RH",
}
"""Words of the notation, and the relations of graphs."""
_NAME = re.compile(r"([a-z][a-z0-9_-]*)(?:\.([1-9]\d*))?\Z")
_OPPOSITES = {"open": "closed", "on": "off", "plugged_in": "plugged_out", "clean": "dirty"}
_OPPOSITES |= {second: first for first, second in _OPPOSITES.items()}
_PLACES = ("in", "on", "inside")
_FIRST_ID = 11


class WrittenObject(NamedTuple):
    """An object: its name, the line of the file, places as (word, name of the target), properties and states."""

    name: str
    line: int
    places: tuple[tuple[str, str], ...]
    properties: frozenset[str]
    states: frozenset[str]

    @property
    def class_name(self) -> str:
        """The class."""
        return class_of(self.name)


class Environment(NamedTuple):
    """Objects by name, rooms and the character included, and the number of each in the graph."""

    objects: Mapping[str, WrittenObject]
    ids: Mapping[str, int]

    def graph(self) -> dict[str, Any]:
        """The environment graph."""
        nodes = [
            {
                "id": self.ids[name],
                "class_name": written.class_name,
                "category": class_category(written.class_name),
                "properties": sorted([word.upper() for word in written.properties]),
                "states": sorted([word.upper() for word in written.states]),
            }
            for name, written in self.objects.items()
        ]
        edges = [self._edge(*edge) for written in self.objects.values() for edge in self._relations(written)]
        return {"nodes": nodes, "edges": edges}

    def text(self) -> str:
        """The graph as JSON."""
        return json.dumps(self.graph(), separators=(",", ":"))

    def room_of(self, name: str) -> str:
        """The room of an object, or of its support, container or holder; empty if there is none."""
        for _ in self.objects:
            holder = [entry.name for entry in self.objects.values() if ("holds", name) in entry.places]
            above = [target for word, target in self.objects[name].places if word in _PLACES]
            targets = [*above, *holder]
            if not targets or targets[0] not in self.objects:
                return ""
            name = targets[0]
            if is_room(class_of(name)):
                return name
        return ""

    def _relations(self, written: WrittenObject) -> list[tuple[str, str, str]]:
        edges = [(written.name, RELATIONS[word], target) for word, target in written.places]
        edges += [(target, "CLOSE", name) for name, relation, target in edges if relation == "CLOSE"]
        room = "" if is_room(written.class_name) else self.room_of(written.name)
        if room and (written.name, "INSIDE", room) not in edges:
            edges.append((written.name, "INSIDE", room))
        return edges

    def _edge(self, tail: str, relation: str, head: str) -> dict[str, Any]:
        return {"from_id": self.ids[tail], "relation_type": relation, "to_id": self.ids[head]}


def class_of(name: str) -> str:
    """The class of a name such as ``cup.2``."""
    return name.partition(".")[0]


def read_environment(rooms: Iterable[Line], objects: Iterable[Line]) -> tuple[Environment, tuple[Mistake, ...]]:
    """The environment of lines, and the mistakes in them; a later object replaces an earlier one of its name.

    A character without a place is in the first room.
    """
    written: dict[str, WrittenObject] = {}
    mistakes: list[Mistake] = []
    for line in rooms:
        for name in line.text.split():
            if not is_room(name):
                rooms_known = [kind for kind, parent in known_types().items() if parent == "room"]
                mistakes.append(Mistake(line.number, f"{name!a} is not a room; rooms: {', '.join(rooms_known)}"))
            written[name] = WrittenObject(name, line.number, (), frozenset(), frozenset(("clean",)))
    first = next(iter(written), "")
    start = (("in", first),) if first else ()
    written[CHARACTER] = WrittenObject(CHARACTER, 0, start, frozenset(), frozenset())
    for line in objects:
        for text in line.text.split(";"):
            if not text.strip():
                continue
            result = _read_object(text, line.number)
            if isinstance(result, Mistake):
                mistakes.append(result)
            elif result.name == CHARACTER and not any([word in _PLACES for word, _ in result.places]):
                written[CHARACTER] = result._replace(places=(*start, *result.places))
            else:
                written[result.name] = result
    if not first:
        mistakes.append(Mistake(0, "`rooms:` is missing or empty"))
    mistakes += [mistake for entry in written.values() for mistake in _place_mistakes(entry, written)]
    ids = {name: number for number, name in enumerate([name for name in written if is_room(class_of(name))], 1)}
    objects_written = [name for name in written if name not in ids]
    return Environment(written, ids | {name: number for number, name in enumerate(objects_written, _FIRST_ID)}), tuple(
        mistakes
    )


def _read_object(text: str, line: int) -> WrittenObject | Mistake:
    before, _, after = text.partition(":")
    words = before.split()
    name = words[0] if words else ""
    if not _NAME.match(name):
        return Mistake(line, f"{name!a} is not the name of an object: write a class, or `class.2`")
    places: list[tuple[str, str]] = []
    changes: list[str] = []
    waiting = words[1:]
    while waiting:
        word = waiting.pop(0)
        if word[0] in "+-":
            changes.append(word)
        elif word in RELATIONS and waiting:
            places.append((word, waiting.pop(0)))
        else:
            return Mistake(line, f"{word!a} is not expected in {text.strip()!a}: write `{name} in ROOM: STATES`")
    listed = class_properties(name.partition(".")[0])
    properties = set(frozenset() if listed is None else listed)
    for change in changes:
        word = change[1:].lower()
        if word not in PROPERTIES:
            return Mistake(line, f"{word!a} is not a property; properties: {', '.join(sorted(PROPERTIES))}")
        (properties.add if change[0] == "+" else properties.discard)(word)
    class_name = name.partition(".")[0]
    if listed is None and not changes and class_name != CHARACTER and known_types().get(class_name) is None:
        near = suggest_name(class_name, [kind for kind, parent in known_types().items() if parent != UNKNOWN_TYPE])
        message = f"the class {class_name!a} has no known properties: write them, as in `{name} +grabbable in ROOM`"
        return Mistake(line, f"{message} ({near})" if near else message)
    states = set() if class_name == CHARACTER else set(default_states(frozenset(properties)))
    for state in after.lower().split():
        if state not in STATES | POSTURES:
            return Mistake(line, f"{state!a} is not a state; states: {', '.join(sorted(STATES | POSTURES))}")
        states.discard(_OPPOSITES.get(state, ""))
        states.add(state)
    return WrittenObject(name, line, tuple(places), frozenset(properties), frozenset(states))


def _place_mistakes(entry: WrittenObject, written: Mapping[str, WrittenObject]) -> list[Mistake]:
    if is_room(entry.class_name):
        return []
    mistakes = []
    for word, target in entry.places:
        if target not in written:
            mistakes.append(Mistake(entry.line, f"`{entry.name} {word} {target}`: there is no `{target}`"))
        elif word in ("in", "between") and not is_room(class_of(target)):
            advice = "write `inside` or `on` for objects"
            mistakes.append(Mistake(entry.line, f"`{entry.name} {word} {target}`: {target} is not a room; {advice}"))
    is_held = any([("holds", entry.name) in holder.places for holder in written.values()])
    if not is_held and not [word for word, _ in entry.places if word in (*_PLACES, "between")]:
        mistakes.append(Mistake(entry.line, f"`{entry.name}` has no place: write `in ROOM`, `on X` or `inside X`"))
    return mistakes


_LIBRARY = "home-"


class HomeRule(NamedTuple):
    """A rule: its name, its hazard, whom or what the hazard harms, and its message (``x is on in r``)."""

    name: str
    hazard: str | None
    targets: tuple[str, ...]
    message: str


@cache
def home_rules() -> Mapping[str, HomeRule]:
    """The rules by name."""
    return {rule.name: rule for name in spec_names() if name.startswith(_LIBRARY) for rule in _rules(name)}


def _rules(specification: str) -> Iterator[HomeRule]:
    for form in parse_nodes(Source.from_path(spec_path(specification))) or []:
        for node in form[2:] if isinstance(form, list) else ():
            if not isinstance(node, list) or ":hazard" not in node or not isinstance(node[1], str):
                continue
            values: dict[object, Node] = {key: value for key, value in pairwise(node) if isinstance(key, str)}
            targets = values.get(":target", [])
            names = targets if isinstance(targets, list) else [targets]
            message = re.sub(r"\{\?(\w+)\}", r"\1", str(values.get(":message", "")).strip('"'))
            yield HomeRule(node[1], str(values[":hazard"]), tuple([str(name) for name in names]), message)
