"""Rooms of AI2-THOR as problems: from the metadata of its objects, or from a list of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safeagentbench.classes import CLASSES, LIQUIDS, OTHER_NAMES, PIECES, PROPERTIES
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

# What switches what in a room of names, which does not say it: the first of the classes that is there.
SWITCHED: Mapping[str, tuple[str, ...]] = {
    "stoveknob": ("stoveburner",),
    "faucet": ("sinkbasin", "sink", "bathtubbasin", "bathtub"),
}
# What a switch that controls nothing does, which a room of names with more switches than things to switch has.
_ALONE = (("stoveknob", "burner", "heats nothing"), ("faucet", "basin", "fills nothing"))
_NAME = re.compile(r"[a-z][a-z0-9-]*")


class Thing(NamedTuple):
    """An object of a room: its name in PDDL, its class, AI2-THOR's identifier, and its facts (predicates) at the start.

    The class of one that is not AI2-THOR's is ``thing``. ``parents`` are identifiers of its receptacles; ``controls``
    of what it switches.
    """

    name: str
    kind: str
    id: str
    can: frozenset[str]
    facts: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()


class Named(NamedTuple):
    """What a task's steps suppose of a thing that they name: what it can do, and its states at the start."""

    can: frozenset[str] = frozenset()
    facts: tuple[str, ...] = ()


class Room(NamedTuple):
    """The objects of a room in the order of the file, what pieces there may be, and what was left out."""

    things: tuple[Thing, ...]
    pieces: Mapping[str, str]  # of a piece: the name of the whole
    notes: tuple[Diagnostic, ...]


class Unreadable(Exception):
    """The diagnostic that says why there is no task."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read_room(file: Source, named: Mapping[str, Named] | None = None) -> Room:
    """Read a room: JSON (objects with their metadata, or names), or names on lines. Raises :class:`Unreadable`.

    ``named`` are the classes that a task names: a room of names, which lists neither what the benchmark puts there for
    a task nor any state, is as the task supposes.
    """
    if file.text.lstrip()[:1] in ("{", "["):
        value = load(file)
        entries = value.get("objects") if isinstance(value, dict) else value
        if not isinstance(entries, list):
            raise unreadable(file, "expected a list of objects, or an object with `objects`")
    else:
        entries = [name for line in file.text.splitlines() for name in line.split("#")[0].split(",") if name.strip()]
    reader = _Room(file)
    for entry in entries:
        kind = _kind(file, entry)
        if kind in CLASSES:
            reader.add(kind, entry)
        else:
            reader.unknown.setdefault(kind)
    if entries and all([isinstance(entry, str) for entry in entries]):
        reader.suppose(named or {})
        reader.add_pieces()
        reader.pair()
    else:
        reader.add_pieces()
    return reader.done()


class _Room:
    """The things of a room as they are read."""

    def __init__(self, file: Source) -> None:
        self.file = file
        self.things: list[Thing] = []
        self.counts: dict[str, int] = {}
        self.pieces: dict[str, str] = {}
        self.unknown: dict[str, None] = {}
        self.notes: list[Diagnostic] = []

    def name(self, kind: str) -> str:
        """The name of the next thing of a class."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"{kind}_{self.counts[kind]}"

    def add(self, kind: str, entry: Any) -> None:
        """One more thing of a class."""
        self.things.append(_thing(entry, kind, self.name(kind)))

    def suppose(self, named: Mapping[str, Named]) -> None:
        """Add what is named and lacks, and make the first thing of each class what is supposed of it."""
        comes = {PIECES.get(kind) for kind in (*self.counts, *named)}
        lacking = [kind for kind in named if kind not in {*self.counts, *comes} and _NAME.fullmatch(kind)]
        for kind in lacking:
            self.things.append(_thing(kind, kind, self.name(kind)))
        firsts = {f"{kind}_1": supposed for kind, supposed in named.items()}
        for at, thing in enumerate(self.things):
            can, facts = firsts.get(thing.name, Named())
            self.things[at] = thing._replace(can=thing.can | can, facts=facts)
            states = [f"{thing.name} {fact}" for fact in (*sorted(can - thing.can), *facts)]
            if states and class_of_thing(thing.name) not in lacking:
                self.note(f"the task assumes states that the room does not list: {', '.join(states)}")
        if lacking:
            self.note(
                f"objects of the task that the room does not list are assumed to be present: {', '.join(lacking)[:300]}"
            )

    def add_pieces(self) -> None:
        """What slicing and cracking may bring about."""
        for thing in list(self.things):
            kind = PIECES.get(thing.kind)
            if kind is not None:
                piece = Thing(self.name(kind), kind, "", CLASSES[kind][1])
                self.things.append(piece)
                self.pieces[piece.name] = thing.name

    def pair(self) -> None:
        """Let the first knob switch the first burner, and so on; taps likewise."""
        there = by_class(self.things)
        pairs: dict[str, str] = {}
        for switch, kinds in SWITCHED.items():
            switched = next((there[kind] for kind in kinds if kind in there), ())
            pairs.update(zip(there.get(switch, ()), switched, strict=False))
        self.things = [t._replace(controls=(pairs[t.name],)) if t.name in pairs else t for t in self.things]

    def note(self, message: str, help: str | None = None) -> None:
        """Say what was decided about the room."""
        self.notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (first(self.file),), help=help, severity=Severity.NOTE))

    def done(self) -> Room:
        """The room."""
        if self.unknown:
            unknown = list(self.unknown)
            message = f"objects of unknown classes are left out: {', '.join(unknown[:8])[:300]}"
            self.note(message, suggest_name(unknown[0], tuple(CLASSES)))
        for kind, controlled, said in _ALONE:
            alone = [thing.name for thing in self.things if thing.kind == kind and not thing.controls]
            if alone:
                self.note(f"which {controlled} {', '.join(alone)[:300]} controls is not said: switched on, it {said}")
        return Room(tuple(self.things), self.pieces, tuple(self.notes))


def by_class(things: Iterable[Thing]) -> dict[str, tuple[str, ...]]:
    """The names of things by the class in the name, in order."""
    found: dict[str, tuple[str, ...]] = {}
    for thing in things:
        kind = class_of_thing(thing.name)
        found[kind] = (*found.get(kind, ()), thing.name)
    return found


def class_of_thing(name: str) -> str:
    """The class of a thing's name: ``mug`` of ``mug_2``."""
    return name.rpartition("_")[0]


def problem_text(room: Room, goal: str, extra: list[str]) -> str:
    """The problem of a room; ``extra`` are facts that hold besides (``(not ..)``: that do not)."""
    names = {thing.id: thing.name for thing in room.things if thing.id}
    facts: dict[str, None] = {}
    for thing in room.things:
        if thing.name not in room.pieces:
            facts.setdefault(f"(present {thing.name})")
        for predicate in (*sorted(thing.can), *thing.facts):
            facts.setdefault(predicate if predicate.startswith("(") else f"({predicate} {thing.name})")
        for parent in thing.parents:
            if parent in names:
                facts.setdefault(f"(contained {thing.name} {names[parent]})")
        for other in thing.controls:
            if other in names:
                facts.setdefault(f"(controls {thing.name} {names[other]})")
    for piece, whole in room.pieces.items():
        facts.setdefault(f"(piece_of {piece} {whole})")
    for fact in extra:
        if fact.startswith("(not "):
            facts.pop(fact[5:-1], None)
        else:
            facts.setdefault(fact)
    kinds: dict[str, list[str]] = {}
    for thing in room.things:
        kinds.setdefault(thing.kind, []).append(thing.name)
    objects = "\n".join([f"    {' '.join(names)} - {kind}" for kind, names in kinds.items()])
    init = "\n".join([f"    {fact}" for fact in facts])
    head = "(define (problem room) (:domain safeagentbench)"
    return "\n".join([head, f"  (:objects\n{objects})", f"  (:init\n{init})", f"  (:goal {goal}))", ""])


def _kind(file: Source, entry: Any) -> str:
    """The class of an entry, in lower case."""
    if isinstance(entry, dict):
        entry = entry.get("objectType") or entry.get("objectId")
    if not isinstance(entry, str) or not entry.strip():
        raise unreadable(file, "an object needs its `objectType`, or is a name")
    return class_of(entry)


def class_of(name: str) -> str:
    """The class of ``Mug``, ``coffee machine``, ``Mug|+00.52|..``, ``Sink|..|SinkBasin``; today's of an older name."""
    parts = name.split("|")
    own = re.sub(r"_\d+$", "", parts[4] if len(parts) > 4 else parts[0])
    kind = re.sub(r"[\s_]", "", own.lower())
    return OTHER_NAMES.get(kind, kind)


def _thing(entry: Any, kind: str, name: str) -> Thing:
    if kind not in CLASSES:
        return Thing(name, "thing", name, frozenset())
    if not isinstance(entry, dict):
        return Thing(name, kind, name, CLASSES[kind][1])
    can = set(CLASSES[kind][1])
    for key, predicate in PROPERTIES.items():
        if isinstance(entry.get(key), bool):
            (can.add if entry[key] else can.discard)(predicate)
    facts = [predicate for key, predicate in STATES.items() if entry.get(key) is True]
    liquid = entry.get("fillLiquid")
    if liquid in LIQUIDS:
        facts += ["is_filled", f"(filled_with {name} {liquid})"]
    if entry.get("temperature") == "Hot":
        facts.append("is_hot")
    return Thing(
        name,
        kind,
        str(entry.get("objectId") or name),
        frozenset(can),
        tuple(dict.fromkeys(facts)),
        _strings(entry.get("parentReceptacles")),
        _strings(entry.get("controlledObjects")),
    )


def _strings(value: Any) -> tuple[str, ...]:
    return tuple([item for item in value if isinstance(item, str)]) if isinstance(value, list) else ()


def load(file: Source) -> Any:
    """The JSON of a file. Raises :class:`Unreadable`."""
    try:
        return read_json(file.text)
    except BadJson as error:
        span = Span(error.position, min(error.position + 1, len(file.text)))
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, error.message, (Label(file.name, span),))) from None


def first(file: Source) -> Label:
    """The beginning of a file, for what is about all of it."""
    return Label(file.name, Span(0, min(1, len(file.text))))


def unreadable(file: Source, message: str) -> Unreadable:
    """What to raise about a file that is not what it should be."""
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (first(file),)))
