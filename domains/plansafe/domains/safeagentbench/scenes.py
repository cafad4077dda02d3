"""Read rooms of AI2-THOR, from metadata of objects or from a list of class names, and write them as problems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safeagentbench.object_classes import CLASSES, LIQUIDS, OLDER_NAMES, PROPERTIES, fits
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

# AI2-THOR's name of a state, and the predicate of the domain.
STATES: Mapping[str, str] = {
    "isOpen": "is_open",
    "isToggled": "is_toggled",
    "isSliced": "is_sliced",
    "isBroken": "is_broken",
    "isDirty": "is_dirty",
    "isCooked": "is_cooked",
    "isFilledWithLiquid": "is_filled",
    "isPickedUp": "held",
}

# A list of names does not say which switch controls which object. The first class that the room has is controlled.
CONTROLLED_CLASSES: Mapping[str, tuple[str, ...]] = {
    "stoveknob": ("stoveburner",),
    "faucet": ("sinkbasin", "sink", "bathtubbasin", "bathtub"),
}
# For a switch without a controlled object: the missing object and the effect, as words of a note.
_UNPAIRED_NOTES = (("stoveknob", "burner", "heats nothing"), ("faucet", "basin", "fills nothing"))
_TYPE_NAME = re.compile(r"[a-z][a-z0-9-]*")


class SceneObject(NamedTuple):
    """An object of a room.

    ``name`` is its name in PDDL, ``object_class`` its PDDL type (``thing`` if AI2-THOR does not have the class), ``id``
    AI2-THOR's identifier. ``abilities`` are predicates of its properties, ``facts`` predicates or atoms that are true
    at the start. ``parents`` are identifiers of its receptacles, ``controls`` of the objects that it switches.
    ``distance`` is the distance of the robot at the start.
    """

    name: str
    object_class: str
    id: str
    abilities: frozenset[str]
    facts: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()
    distance: float = 0.0


class Assumption(NamedTuple):
    """Abilities and initial states that the steps of a task assume for the objects of a class."""

    abilities: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()


class Room(NamedTuple):
    """The objects of a room in the order of the file, the pieces that slicing can make, and notes.

    ``pieces`` maps the name of a piece to the name of the sliced object, ``absent`` are pieces that do not exist yet.
    ``has_metadata`` is false for a list of names.
    """

    objects: tuple[SceneObject, ...]
    pieces: Mapping[str, str]
    absent: frozenset[str]
    has_metadata: bool
    notes: tuple[Diagnostic, ...]


class Unreadable(Exception):
    """Carries the diagnostic of a file that is not a room or a task."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read_room(file: Source, assumptions: Mapping[str, Assumption] | None = None) -> Room:
    """Read a room: JSON (objects with metadata, or names), or names on lines. Raises :class:`Unreadable`.

    ``assumptions`` are the classes that a task names. A room of names, which lists neither the objects that the
    benchmark adds for a task nor any state, is completed with them.
    """
    if file.text.lstrip()[:1] in ("{", "["):
        value = load(file)
        entries = value.get("objects") if isinstance(value, dict) else value
        if not isinstance(entries, list):
            raise unreadable(file, "expected a list of objects, or an object with `objects`")
    else:
        entries = [name for line in file.text.splitlines() for name in line.split("#")[0].split(",") if name.strip()]
    reader = _RoomReader(file)
    for entry in entries:
        object_class = _read_class(file, entry)
        if object_class in CLASSES:
            reader.add(object_class, entry)
        else:
            reader.unknown_classes.setdefault(object_class)
    if entries and all([isinstance(entry, str) for entry in entries]):
        reader.add_floor()
        reader.assume(assumptions or {})
        reader.add_pieces()
        reader.pair_switches()
        return reader.make_room(has_metadata=False)
    reader.add_pieces()
    return reader.make_room(has_metadata=True)


class _RoomReader:
    """Collects the objects of a room."""

    def __init__(self, file: Source) -> None:
        self.file = file
        self.objects: list[SceneObject] = []
        self.counts: dict[str, int] = {}
        self.pieces: dict[str, str] = {}
        self.absent: set[str] = set()
        self.unknown_classes: dict[str, None] = {}
        self.notes: list[Diagnostic] = []

    def next_name(self, object_class: str) -> str:
        """Return the PDDL name of the next object of a class: ``mug_2`` after ``mug_1``."""
        self.counts[object_class] = self.counts.get(object_class, 0) + 1
        return f"{object_class}_{self.counts[object_class]}"

    def add(self, object_class: str, entry: Any) -> None:
        """Add an object from its name or its metadata."""
        self.objects.append(_read_object(entry, object_class, self.next_name(object_class)))

    def add_floor(self) -> None:
        """Add the floor, which every room of AI2-THOR has and old layouts do not list."""
        if self.objects and "floor" not in self.counts:
            self.add("floor", "floor")

    def assume(self, assumptions: Mapping[str, Assumption]) -> None:
        """Add missing objects of a task, and give the first object of each class the assumed states.

        AI2-THOR's classes keep their properties: a step that the simulator refuses stays impossible.
        """
        piece_classes = {CLASSES[name].piece for name in (*self.counts, *assumptions) if name in CLASSES}
        missing = [
            name
            for name in assumptions
            if name not in self.counts and name not in piece_classes and _TYPE_NAME.fullmatch(name)
        ]
        for object_class in missing:
            self.add(object_class, object_class)
        for index, scene_object in enumerate(self.objects):
            object_class = class_of_name(scene_object.name)
            if object_class not in assumptions or scene_object.name != f"{object_class}_1":
                continue
            abilities, facts = assumptions[object_class]
            if object_class in CLASSES:
                abilities = frozenset()
            self.objects[index] = scene_object._replace(abilities=scene_object.abilities | abilities, facts=facts)
            if facts and object_class not in missing:
                states = ", ".join([f"{scene_object.name} {fact}" for fact in facts])
                self.note(f"the task assumes states that the room does not list: {states}")
        if missing:
            names = ", ".join(missing)[:300]
            self.note(f"objects of the task that the room does not list are assumed to be present: {names}")

    def add_pieces(self) -> None:
        """Add the pieces that slicing and cracking can make; a sliced object of the metadata has its pieces already."""
        for scene_object in list(self.objects):
            piece_class = CLASSES[scene_object.object_class].piece if scene_object.object_class in CLASSES else None
            if piece_class is None:
                continue
            listed = [
                o.name for o in self.objects if o.object_class == piece_class and o.id.startswith(f"{scene_object.id}|")
            ]
            if listed:
                self.pieces[listed[0]] = scene_object.name
                continue
            piece = SceneObject(self.next_name(piece_class), piece_class, "", CLASSES[piece_class].predicates)
            self.objects.append(piece)
            self.pieces[piece.name] = scene_object.name
            self.absent.add(piece.name)

    def pair_switches(self) -> None:
        """Let the first knob control the first burner, the second knob the second burner, and taps likewise."""
        names = names_by_class(self.objects)
        controlled: dict[str, str] = {}
        for switch, object_classes in CONTROLLED_CLASSES.items():
            targets = next((names[name] for name in object_classes if name in names), ())
            controlled.update(zip(names.get(switch, ()), targets, strict=False))
        self.objects = [
            scene_object._replace(controls=(controlled[scene_object.name],))
            if scene_object.name in controlled
            else scene_object
            for scene_object in self.objects
        ]

    def note(self, message: str, help: str | None = None) -> None:
        """Add a note about the room."""
        label = start_of(self.file)
        self.notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (label,), help=help, severity=Severity.NOTE))

    def make_room(self, has_metadata: bool) -> Room:
        """Return the room, with notes about unknown classes and switches that control nothing."""
        if self.unknown_classes:
            unknown = list(self.unknown_classes)
            message = f"objects of unknown classes are left out: {', '.join(unknown[:8])[:300]}"
            self.note(message, suggest_name(unknown[0], tuple(CLASSES)))
        for switch, target, effect in _UNPAIRED_NOTES:
            unpaired = [o.name for o in self.objects if o.object_class == switch and not o.controls]
            if unpaired:
                names = ", ".join(unpaired)[:300]
                self.note(f"the room does not list which {target} {names} controls: switched on, it {effect}")
        return Room(tuple(self.objects), self.pieces, frozenset(self.absent), has_metadata, tuple(self.notes))


def names_by_class(objects: Iterable[SceneObject]) -> dict[str, tuple[str, ...]]:
    """Group the names of objects by the class in the name, in order."""
    names: dict[str, tuple[str, ...]] = {}
    for scene_object in objects:
        object_class = class_of_name(scene_object.name)
        names[object_class] = (*names.get(object_class, ()), scene_object.name)
    return names


def class_of_name(name: str) -> str:
    """Return the class of an object's name: ``mug`` for ``mug_2``."""
    return name.rpartition("_")[0]


def single_places(room: Room) -> list[str]:
    """Return the receptacles that accept one object at a time.

    A list of names has each class once, so it does not tell how many burners a room has: then the result is empty.
    """
    if not room.has_metadata:
        return []
    return [o.name for o in room.objects if "accepts_only_fitting" in o.abilities]


def problem_text(room: Room, goal: str, changes: list[str]) -> str:
    """Write the problem of a room; ``changes`` are further initial facts, or ``(not ..)`` for facts to remove."""
    facts = dict.fromkeys(_initial_facts(room))
    for change in changes:
        if change.startswith("(not "):
            facts.pop(change[5:-1], None)
        else:
            facts.setdefault(change)
    names: dict[str, list[str]] = {}
    for scene_object in room.objects:
        names.setdefault(scene_object.object_class, []).append(scene_object.name)
    objects = "\n".join([f"    {' '.join(members)} - {object_class}" for object_class, members in names.items()])
    init = "\n".join([f"    {fact}" for fact in facts])
    head = "(define (problem room) (:domain safeagentbench)"
    return "\n".join([head, f"  (:objects\n{objects})", f"  (:init\n{init})", f"  (:goal {goal}))", ""])


def _initial_facts(room: Room) -> Iterable[str]:
    names = {o.id: o.name for o in room.objects if o.id}
    for scene_object in room.objects:
        if scene_object.name not in room.absent:
            yield f"(present {scene_object.name})"
        for predicate in (*sorted(scene_object.abilities), *scene_object.facts):
            yield predicate if predicate.startswith("(") else f"({predicate} {scene_object.name})"
        for parent in scene_object.parents:
            if parent in names:
                yield f"(contained {scene_object.name} {names[parent]})"
        for target in scene_object.controls:
            if target in names:
                yield f"(controls {scene_object.name} {names[target]})"
    for piece, sliced_object in room.pieces.items():
        yield f"(piece_of {piece} {sliced_object})"
    for place in single_places(room):
        yield f"(accepts_one {place})"
    for receptacle in room.objects:
        if "accepts_only_fitting" in receptacle.abilities:
            for scene_object in room.objects:
                if fits(scene_object.object_class, receptacle.object_class):
                    yield f"(fits {scene_object.name} {receptacle.name})"


def _read_class(file: Source, entry: Any) -> str:
    """Return the class of an entry, in lower case."""
    if isinstance(entry, dict):
        entry = entry.get("objectType") or entry.get("objectId")
    if not isinstance(entry, str) or not entry.strip():
        raise unreadable(file, "an object needs its `objectType`, or is a name")
    return class_of(entry)


def class_of(name: str) -> str:
    """Return the class in ``Mug``, ``coffee machine``, ``Mug|+00.52|..`` or ``Sink|..|SinkBasin``: its current name."""
    parts = name.split("|")
    class_name = re.sub(r"_\d+$", "", parts[4] if len(parts) > 4 else parts[0])
    object_class = re.sub(r"[\s_]", "", class_name.lower())
    return OLDER_NAMES.get(object_class, object_class)


def _read_object(entry: Any, object_class: str, name: str) -> SceneObject:
    if object_class not in CLASSES:
        return SceneObject(name, "thing", name, frozenset())
    if not isinstance(entry, dict):
        return SceneObject(name, object_class, name, CLASSES[object_class].predicates)
    abilities = set(CLASSES[object_class].predicates)
    for key, predicate in PROPERTIES.items():
        if isinstance(entry.get(key), bool):
            (abilities.add if entry[key] else abilities.discard)(predicate)
    if "openable" not in abilities:
        abilities.discard("accepts_only_open")
    facts = [predicate for key, predicate in STATES.items() if entry.get(key) is True]
    liquid = entry.get("fillLiquid")
    if liquid in LIQUIDS:
        facts += ["is_filled", f"(filled_with {name} {liquid})"]
    if entry.get("temperature") == "Hot":
        facts.append("is_hot")
    return SceneObject(
        name,
        object_class,
        str(entry.get("objectId") or name),
        frozenset(abilities),
        tuple(dict.fromkeys(facts)),
        _strings(entry.get("parentReceptacles")),
        _strings(entry.get("controlledObjects")),
        _number(entry.get("distance")),
    )


def _strings(value: Any) -> tuple[str, ...]:
    return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, list) else ()


def _number(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e9 else 0.0


def load(file: Source) -> Any:
    """Read a file as JSON. Raises :class:`Unreadable`."""
    try:
        return read_json(file.text)
    except BadJson as error:
        span = Span(error.position, min(error.position + 1, len(file.text)))
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, error.message, (Label(file.name, span),))) from None


def start_of(file: Source) -> Label:
    """Return a label at the start of a file, for diagnostics about the whole file."""
    return Label(file.name, Span(0, min(1, len(file.text))))


def unreadable(file: Source, message: str) -> Unreadable:
    """Return the exception for a file that does not have the expected content."""
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (start_of(file),)))
