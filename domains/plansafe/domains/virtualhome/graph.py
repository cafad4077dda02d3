"""Read environment graphs of VirtualHome as objects and facts of the shipped domain.

The simulator's ``environment_graph`` returns a graph, and ActivityPrograms has one for each script: nodes with a class,
properties and states, and edges that relate two nodes. The file contains the graph itself, or under ``init_graph`` or
``environment_graph``.

The objects of a scene by the words of scripts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plansafe.domains.json_text import BadJson, place_of, read_json
from plansafe.domains.virtualhome.names import (
    CHARACTER,
    ROOM,
    UNKNOWN_TYPE,
    is_room,
    known_types,
    letters_of,
    pddl_name,
    synonyms,
)
from plansafe.domains.virtualhome.script_lines import Argument
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.verifier.execution.engine import Engine


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
_MAX_LISTED = 8

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


class _GraphError(Exception):
    """The value is not a graph: ``path`` leads to the wrong part, ``message`` is the reason."""

    def __init__(self, path: tuple[str | int, ...], message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


def read_graph(source: Source) -> Home | Diagnostic:
    """Read a graph, or return a diagnostic (SC010) with the place of the error. Linear in the size of the text."""
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
            raise _GraphError(path, "a graph must have `nodes` and `edges`")
        return _Reader(path, source).read(value)
    except _GraphError as graph_error:
        return _unreadable(source, graph_error.message, place_of(source.text, graph_error.path))


def _unreadable(source: Source, message: str, place: Span) -> Diagnostic:
    advice = 'an environment graph is {"nodes": [..], "edges": [..]}, or holds one under `init_graph`'
    return Diagnostic(SC.UNREADABLE_WORLD, message, (Label(source.name, place),), help=advice)


class _Reader:
    """Translates the nodes and edges of one graph to facts, and counts what the domain does not have."""

    def __init__(self, path: tuple[str | int, ...], source: Source) -> None:
        self.path = path
        self.source = source
        self.objects: dict[Id, Node] = {}
        self.facts: list[str] = []
        self.unknown: dict[str, Counter[str]] = {}
        self.first_unknown_class = ""
        self._used_names: set[str] = set()

    def read(self, graph: dict[str, Any]) -> Home:
        nodes, edges = graph["nodes"], graph["edges"]
        for key, value in (("nodes", nodes), ("edges", edges)):
            if not isinstance(value, list):
                raise _GraphError((*self.path, key), f"`{key}` is not a list")
        for number, node in enumerate(nodes):
            self._node(number, node)
        self._edges(edges)
        return Home(self.objects, self.facts, self._notes())

    def _node(self, number: int, node: Any) -> None:
        place = (*self.path, "nodes", number)
        if not isinstance(node, dict):
            raise _GraphError(place, "a node must be an object with `id` and `class_name`")
        identity, written = node.get("id"), node.get("class_name")
        if isinstance(identity, bool) or not isinstance(identity, (int, str)):
            raise _GraphError((*place, "id") if "id" in node else place, "the `id` of a node must be a number")
        if not isinstance(written, str):
            raise _GraphError(
                (*place, "class_name") if "class_name" in node else place, "the `class_name` of a node must be a word"
            )
        if identity in self.objects:
            self._count("nodes that occur twice", f"{pddl_name(written)} ({identity})")
            return
        of_class = pddl_name(written)
        kind = self._type(of_class, node, written)
        name = self._name(f"{of_class}_{pddl_name(str(identity))}")
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

    def _type(self, of_class: str, node: dict[str, Any], written: str) -> str:
        parents = known_types()
        category = node.get("category")
        above = parents.get(of_class)
        if of_class == CHARACTER or (above is not None and above != "object"):
            if category == "Rooms" and above != ROOM:
                return ROOM
            return of_class
        if category == "Rooms":
            self._count("classes of rooms", of_class)
            return ROOM
        self.first_unknown_class = self.first_unknown_class or written
        self._count("classes", of_class)
        return UNKNOWN_TYPE

    def _name(self, name: str) -> str:
        while name in self._used_names:
            name += "_"
        self._used_names.add(name)
        return name

    def _words(self, node: dict[str, Any], key: str, place: tuple[str | int, ...]) -> list[str]:
        words = node.get(key) or ()
        if not isinstance(words, (list, tuple)) or not all([isinstance(word, str) for word in words]):
            raise _GraphError((*place, key), f"`{key}` must be a list of words")
        return [word.lower() for word in words]

    def _edges(self, edges: list[Any]) -> None:
        """Add the facts of relations, without objects close to a held object: they are not near it for long."""
        objects = self.objects
        relations: dict[str, list[tuple[Id, Id]]] = {name: [] for name in RELATIONS}
        for number, edge in enumerate(edges):
            try:
                tail, word, head = edge["from_id"], edge["relation_type"].lower(), edge["to_id"]
                has_both_ends = tail in objects and head in objects
            except (KeyError, TypeError, AttributeError):
                message = "an edge must be an object with `from_id`, `relation_type` and `to_id`"
                raise _GraphError((*self.path, "edges", number), message) from None
            if not has_both_ends:
                self._count("edges to missing nodes", f"{tail} {word.upper()} {head}")
            elif word in relations:
                relations[word].append((tail, head))
            else:
                self._count("relations", word)
        rooms = {key for key, node in objects.items() if is_room(node.type)}
        people = {key for key, node in objects.items() if node.type == CHARACTER}
        holder_of = self._holding(relations, people)
        add = self.facts.append
        for tail, head in relations["close"]:
            if tail in people:
                add(f"(close {objects[tail].name} {objects[head].name})")
            elif head not in people and tail not in holder_of and head not in holder_of:
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
        for tail, room in _rooms_of_objects(objects, rooms, relations, holder_of):
            add(f"(in_room {objects[tail].name} {objects[room].name})")

    def _holding(self, relations: dict[str, list[tuple[Id, Id]]], people: set[Id]) -> dict[Id, Id]:
        holder_of = {}
        for word in ("holds_rh", "holds_lh"):
            for tail, head in relations[word]:
                if tail in people:
                    self.facts.append(f"({word} {self.objects[tail].name} {self.objects[head].name})")
                    holder_of[head] = tail
                else:
                    self._count("relations", f"{word} (from an object that is not a character)")
        return holder_of

    # -- parts of the graph that the domain does not have -------------------------------------------------------------

    def _count(self, category: str, word: str) -> None:
        self.unknown.setdefault(category, Counter())[word] += 1

    def _notes(self) -> list[Diagnostic]:
        notes = []
        for category, words in sorted(self.unknown.items()):
            listed = [word if times == 1 else f"{word} ({times} times)" for word, times in sorted(words.items())]
            more = [f"and {len(listed) - _MAX_LISTED} more"] if len(listed) > _MAX_LISTED else []
            listed_text = ", ".join([*listed[:_MAX_LISTED], *more])
            label, help = Label(self.source.name, Span(0, 0)), None
            if category == "classes":
                message = f"the domain has no types for these classes (their kinds: object table): {listed_text}"
                word = json.dumps(self.first_unknown_class, ensure_ascii=False)
                start = self.source.text.find(word)
                label = Label(self.source.name, Span(start, start + len(word)) if start >= 0 else Span(0, 0))
                help = "`safecheck worlds kinds SCENE --world virtualhome` shows the kinds of each object"
            elif category == "classes of rooms":
                message = f"the domain does not have these {category}; their rooms get the type room: {listed_text}"
            elif category.startswith(("nodes", "edges")):
                message = f"{category} are left out: {listed_text}"
            else:
                message = f"the domain does not have these {category}, and they are left out: {listed_text}"
            notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (label,), help=help, severity=Severity.NOTE))
        return notes


def _rooms_of_objects(
    objects: Mapping[Id, Node], rooms: set[Id], relations: dict[str, list[tuple[Id, Id]]], holder_of: dict[Id, Id]
) -> list[tuple[Id, Id]]:
    """Pairs of objects and rooms; an object without a room is in the room of its holder, container or support."""
    room_by_object: dict[Id, Id | None] = {}
    support: dict[Id, Id] = {}
    for tail, head in (*relations["on"], *relations["sitting"]):
        support.setdefault(tail, head)
    for tail, head in relations["inside"]:
        if head in rooms:
            room_by_object.setdefault(tail, head)
        else:
            support[tail] = head
    support.update(holder_of)
    pairs = []
    for start in objects:
        chain: list[Id] = []
        current: Id | None = start
        while current is not None and current not in room_by_object and current not in rooms:
            chain.append(current)
            room_by_object[current] = None  # until it is known; also ends a cycle of supports
            current = support.get(current)
        room = current if current in rooms else room_by_object[current] if current is not None else None
        room_by_object.update(dict.fromkeys(chain, room))
        if room is not None and start not in rooms:
            pairs.append((start, room))
    return pairs


class Mention(NamedTuple):
    """The first mention of an object that a script leaves open, as written, with the place of its step."""

    argument: Argument
    place: Span


class SceneObjects(NamedTuple):
    """The objects of a scene, for the reader of scripts.

    ``members``: numbers in the graph by class (letters); ``characters``: PDDL names, ``<char0>`` first; ``numbers``:
    numbers by PDDL name. ``resolved`` is a cache of arguments, and ``engine`` is compiled when a script first leaves an
    object open.
    """

    home: Home
    members: Mapping[str, list[Id]]
    characters: tuple[str, ...]
    numbers: Mapping[str, Id]
    resolved: dict[Argument, str | None]
    engine: list[Engine]


def index_objects(home: Home) -> SceneObjects:
    """Index the objects of a graph."""
    members: dict[str, list[Id]] = {}
    for number, node in home.objects.items():
        members.setdefault(letters_of(node.class_name), []).append(number)
    characters = [(number, node.name) for number, node in home.objects.items() if node.type == CHARACTER]
    characters.sort(key=lambda entry: (isinstance(entry[0], str), entry[0]))
    numbers = {node.name: number for number, node in home.objects.items()}
    return SceneObjects(home, members, tuple([name for _, name in characters]), numbers, {}, [])


def candidates(word: str, data: SceneObjects) -> list[str]:
    """The objects that a word can mean: objects of its class, then of classes with a similar meaning."""
    return [data.home.objects[number].name for number in candidate_ids(word, data)]


def candidate_ids(word: str, data: SceneObjects) -> list[Id]:
    """The numbers in the graph of the objects that a word can mean."""
    class_name = letters_of(word)
    numbers: list[Id] = list(data.members.get(class_name, ()))
    for synonym in synonyms().get(class_name, ()):
        numbers += data.members.get(synonym, ())
    return numbers
