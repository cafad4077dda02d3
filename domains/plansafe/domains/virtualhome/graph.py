"""Environment graphs of VirtualHome to objects and facts of the shipped domain.

A graph is what the simulator's ``environment_graph`` returns, and what ActivityPrograms keeps for each script: nodes
with a class, properties and states, and edges that relate two nodes. The file may hold the graph itself, or hold it
under ``init_graph`` or ``environment_graph``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, place_of, read_json
from plansafe.domains.virtualhome.names import CHARACTER, ROOM, THING, is_room, known_types, plain
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

# fmt: off
PROPERTIES = frozenset((
    "surfaces", "grabbable", "sittable", "lieable", "hangable", "drinkable", "eatable", "recipient", "cuttable",
    "pourable", "can_open", "has_switch", "readable", "lookable", "containers", "clothes", "person", "body_part",
    "cover_object", "has_plug", "has_paper", "movable", "cream",
))
# fmt: on
STATES = frozenset(("open", "closed", "on", "off", "plugged_in", "plugged_out", "clean", "dirty"))
POSTURES = frozenset(("sitting", "lying"))
RELATIONS = ("on", "inside", "between", "close", "facing", "holds_rh", "holds_lh", "sitting")
_GRAPHS = ("init_graph", "environment_graph", "graph")
_SHOWN = 8

Id = int | str


class Node(NamedTuple):
    """A node of a graph: its PDDL name, its class as written, and the PDDL type of that class."""

    name: str
    class_name: str
    type: str


class Home(NamedTuple):
    """A graph as PDDL: ``objects`` by their numbers in the graph, and the facts that hold at the start."""

    objects: Mapping[Id, Node]
    facts: list[str]
    notes: list[Diagnostic]


class _Bad(Exception):
    """The graph has not the shape of one: ``path`` leads to the part, ``message`` says what is wrong with it."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def read_graph(source: Source) -> Home | Diagnostic:
    """Read a graph; a diagnostic (SC010) says where it is no graph. Linear in the size of the text."""
    try:
        value = read_json(source.text)
    except BadJson as error:
        place = Span(error.position, min(error.position + 1, len(source.text)))
        return _unreadable(source, error.message, place)
    path: tuple[str | int, ...] = ()
    try:
        while isinstance(value, dict) and "nodes" not in value:
            inner = next((key for key in _GRAPHS if key in value), None)
            if inner is None:
                break
            path, value = (*path, inner), value[inner]
        if not isinstance(value, dict) or not {"nodes", "edges"} <= value.keys():
            raise _Bad(path, "a graph must have `nodes` and `edges`")
        return _Reader(path, source).read(value)
    except _Bad as bad:
        return _unreadable(source, bad.message, place_of(source.text, bad.path))


def _unreadable(source: Source, message: str, place: Span) -> Diagnostic:
    advice = 'an environment graph is {"nodes": [..], "edges": [..]}, or holds one under `init_graph`'
    return Diagnostic(SC.UNREADABLE_WORLD, message, (Label(source.name, place),), help=advice)


class _Reader:
    """Turns the nodes and edges of one graph into facts, and remembers what the domain has no word for."""

    def __init__(self, path: tuple[str | int, ...], source: Source) -> None:
        self.path = path
        self.source = source
        self.objects: dict[Id, Node] = {}
        self.facts: list[str] = []
        self.unknown: dict[str, Counter[str]] = {}
        self._taken: set[str] = set()

    def read(self, graph: dict[str, Any]) -> Home:
        nodes, edges = graph["nodes"], graph["edges"]
        for key, value in (("nodes", nodes), ("edges", edges)):
            if not isinstance(value, list):
                raise _Bad((*self.path, key), f"`{key}` is not a list")
        for number, node in enumerate(nodes):
            self._node(number, node)
        self._edges(edges)
        return Home(self.objects, self.facts, self._notes())

    def _node(self, number: int, node: Any) -> None:
        place = (*self.path, "nodes", number)
        if not isinstance(node, dict):
            raise _Bad(place, "a node must be an object with `id` and `class_name`")
        identity, written = node.get("id"), node.get("class_name")
        if isinstance(identity, bool) or not isinstance(identity, (int, str)):
            raise _Bad((*place, "id") if "id" in node else place, "the `id` of a node must be a number")
        if not isinstance(written, str):
            raise _Bad(
                (*place, "class_name") if "class_name" in node else place, "the `class_name` of a node must be a word"
            )
        if identity in self.objects:
            self._count("nodes that occur twice", f"{plain(written)} ({identity})")
            return
        of_class = plain(written)
        kind = self._type(of_class, node)
        name = self._name(f"{of_class}_{plain(str(identity))}")
        self.objects[identity] = Node(name, written, kind)
        add = self.facts.append
        for word in self._words(node, "properties", place):
            if word in PROPERTIES:
                add(f"({word} {name})")
            else:
                self._count("properties", word)
        for word in self._words(node, "states", place):
            if word in STATES or (word in POSTURES and kind == CHARACTER):
                add(f"({word} {name})")
            else:
                self._count("states", word)

    def _type(self, of_class: str, node: dict[str, Any]) -> str:
        parents = known_types()
        category = node.get("category")
        above = parents.get(of_class)
        if of_class == CHARACTER or (above is not None and above != "object"):
            if category == "Rooms" and above != ROOM:
                return ROOM
            return of_class
        self._count("classes", of_class)
        return ROOM if category == "Rooms" else THING

    def _name(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _words(self, node: dict[str, Any], key: str, place: tuple[str | int, ...]) -> list[str]:
        words = node.get(key) or ()
        if not isinstance(words, (list, tuple)) or not all([isinstance(word, str) for word in words]):
            raise _Bad((*place, key), f"`{key}` must be a list of words")
        return [word.lower() for word in words]

    def _edges(self, edges: list[Any]) -> None:
        """Facts of relations. What is close to a thing in someone's hands is not near it for long, and is left out."""
        objects = self.objects
        relations: dict[str, list[tuple[Id, Id]]] = {name: [] for name in RELATIONS}
        for number, edge in enumerate(edges):
            try:
                tail, word, head = edge["from_id"], edge["relation_type"].lower(), edge["to_id"]
                known = tail in objects and head in objects
            except (KeyError, TypeError, AttributeError):
                message = "an edge must be an object with `from_id`, `relation_type` and `to_id`"
                raise _Bad((*self.path, "edges", number), message) from None
            if not known:
                self._count("edges to missing nodes", f"{tail} {word.upper()} {head}")
            elif word in relations:
                relations[word].append((tail, head))
            else:
                self._count("relations", word)
        rooms = {key for key, node in objects.items() if is_room(node.type)}
        people = {key for key, node in objects.items() if node.type == CHARACTER}
        held = self._holding(relations, people)
        add = self.facts.append
        for tail, head in relations["close"]:
            if tail in people:
                add(f"(close {objects[tail].name} {objects[head].name})")
            elif head not in people and tail not in held and head not in held:
                add(f"(near {objects[tail].name} {objects[head].name})")
        for tail, head in relations["facing"]:
            word = "facing" if tail in people else "faces"
            add(f"({word} {objects[tail].name} {objects[head].name})")
        for tail, head in (*relations["on"], *relations["sitting"]):
            word = "worn" if head in people else "on_top"
            add(f"({word} {objects[tail].name} {objects[head].name})")
        for tail, head in relations["inside"]:
            if head not in rooms:
                add(f"(inside {objects[tail].name} {objects[head].name})")
        for tail, head in relations["between"]:
            if head in rooms:
                add(f"(between {objects[tail].name} {objects[head].name})")
            else:
                self._count("relations", "between (to an object that is not a room)")
        for tail, room in _places(objects, rooms, relations, held):
            add(f"(in_room {objects[tail].name} {objects[room].name})")

    def _holding(self, relations: dict[str, list[tuple[Id, Id]]], people: set[Id]) -> dict[Id, Id]:
        held = {}
        for word in ("holds_rh", "holds_lh"):
            for tail, head in relations[word]:
                if tail in people:
                    self.facts.append(f"({word} {self.objects[tail].name} {self.objects[head].name})")
                    held[head] = tail
                else:
                    self._count("relations", f"{word} (from an object that is not a character)")
        return held

    # -- what the domain does not know --------------------------------------------------------------------------------

    def _count(self, what: str, word: str) -> None:
        self.unknown.setdefault(what, Counter())[word] += 1

    def _notes(self) -> list[Diagnostic]:
        out = []
        for what, words in sorted(self.unknown.items()):
            listed = [word if times == 1 else f"{word} ({times} times)" for word, times in sorted(words.items())]
            more = [f"and {len(listed) - _SHOWN} more"] if len(listed) > _SHOWN else []
            said = ", ".join([*listed[:_SHOWN], *more])
            if what == "classes":
                message = f"the domain does not have these classes; their objects get the type thing: {said}"
            elif what.startswith(("nodes", "edges")):
                message = f"{what} are left out: {said}"
            else:
                message = f"the domain does not have these {what}, and they are left out: {said}"
            label = Label(self.source.name, Span(0, 0))
            out.append(Diagnostic(SC.FOREIGN_SCENE, message, (label,), severity=Severity.NOTE))
        return out


def _places(
    objects: Mapping[Id, Node], rooms: set[Id], relations: dict[str, list[tuple[Id, Id]]], held: dict[Id, Id]
) -> list[tuple[Id, Id]]:
    """The room of each object: its own, else that of who holds it, or of what it is in or on, however far up."""
    found: dict[Id, Id | None] = {}
    above: dict[Id, Id] = {}
    for tail, head in (*relations["on"], *relations["sitting"]):
        above.setdefault(tail, head)
    for tail, head in relations["inside"]:
        if head in rooms:
            found.setdefault(tail, head)
        else:
            above[tail] = head
    above.update(held)
    out = []
    for start in objects:
        chain: list[Id] = []
        here: Id | None = start
        while here is not None and here not in found and here not in rooms:
            chain.append(here)
            found[here] = None  # until it is known: who comes by again has gone round in a circle
            here = above.get(here)
        room = here if here in rooms else found[here] if here is not None else None
        found.update(dict.fromkeys(chain, room))
        if room is not None and start not in rooms:
            out.append((start, room))
    return out
