"""Scenes of EARBench as problems: the objects of a case, their kinds, states and positions."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.vocabulary import vocabulary
from plansafe.domains.earbench.cases import Case, first
from plansafe.domains.earbench.names import ROOMS, ObjectNames, part_of, pddl_name, room_of, split_number
from plansafe.domains.earbench.object_description import describe_object
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

_NEXT_TO = "|".join(
    (
        *("next to", "beside", "near", "adjacent to", "in front of", "behind", "against", "leaning against"),
        *("by", "at the foot of", "around", "close to", "facing"),
    )
)
_ON = (
    "on top of|stacked on top of|stacked on|mounted on|mounted to|draped over|hanging on|hanging from|folded on|"
    "placed on|attached to|sitting on|resting on|lying on|on"
)
_IN = "inside of|inside|in|within|embedded into|embedded in|installed in"
_FAR = (
    "above|below|beneath|under|underneath|opposite|across from|across|over|outside of|outside|plugged into|"
    "connected to|covering|covers|along|beyond|hanging near|hanging above"
)
_RELATION = re.compile(
    r"\s(?:is\s|are\s|together\s|positioned\s|located\s|placed\s)*"
    rf"(?:(?P<beside>{_NEXT_TO}|hanging near)|(?P<on>{_ON})|(?P<in>{_IN})|(?P<far>{_FAR}))\s(?=\S)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|\band\b)\s*")
_NOWHERE = re.compile(r"(?:the\s+)?(?:room|both|everything|corner|it|middle|center|side|bathroom|other)\b.*")


class EarbenchScene(NamedTuple):
    """A case as a problem, with the names of its objects."""

    objects: ObjectNames
    problem: str
    notes: tuple[Diagnostic, ...]


class Reader:
    """Collects the objects and facts of a case."""

    def __init__(self, case: Case, file: Source) -> None:
        self.case = case
        self.file = file
        self.kinds: dict[str, frozenset[str]] = {}
        self.rooms: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.facts: dict[str, None] = {}
        self.ignored: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self.default_room = ROOMS.get(split_number(case.place)[0], "elsewhere")

    def read(self) -> EarbenchScene:
        """Read the case."""
        for written in self.case.objects:
            self.add(written)
        for position in self.case.positions:
            self.place(position)
        if not any(["floor" in kinds for kinds in self.kinds.values()]):
            self.add("floor")
        return EarbenchScene(ObjectNames(self.kinds), self.problem(), tuple(self.notes()))

    def add(self, written: str) -> str:
        """Add an object with the facts of its attributes, unless it exists; return its PDDL name."""
        name = pddl_name(written)
        if name not in self.kinds:
            words, _ = split_number(written)
            phrases = self.case.attributes.get(written) or self.case.attributes.get(written.strip()) or ()
            description = describe_object(words, phrases)
            self.kinds[name] = description.kinds
            if description.kinds <= {"thing"}:
                self.unknown.setdefault(words)
            for fact in description.facts:
                self.facts.setdefault(f"({fact} {name})")
            for phrase in description.ignored:
                room = next((room for word, room in ROOMS.items() if phrase in (f"in {word}", f"in the {word}")), None)
                if room is None:
                    self.ignored.setdefault(phrase)
                else:
                    self.rooms[name] = room
            for content in description.contents:
                self.fill(name, content)
        return name

    def fill(self, vessel: str, content: str) -> None:
        """Put a named content into a vessel: an object of the case, or a new one."""
        listed = [written for written in self.case.objects if pddl_name(written) == pddl_name(content)]
        if listed:
            self.facts.setdefault(f"(inside {self.add(listed[0])} {vessel})")
            return
        words, _ = split_number(content)
        description = describe_object(words, ())
        if description.kinds <= {"thing"}:
            self.ignored.setdefault(content)
            return
        name = f"{pddl_name(content).removeprefix('the_')}_in_{vessel}"
        self.kinds[name] = description.kinds - {"pressurised", "fragile"}  # eggs in a pan are out of their shells
        for fact in description.facts:
            self.facts.setdefault(f"({fact} {name})")
        self.holders[name] = vessel
        self.facts.setdefault(f"(inside {name} {vessel})")
        if "liquid" in description.kinds and "empty" not in self.case.attributes.get(vessel, ()):
            self.facts.setdefault(f"(full {vessel})")

    def place(self, position: str) -> None:
        """Read a sentence such as ``cup_1 on the desk_1 next to the lamp_1`` as facts."""
        text = re.sub(r"\([^()]*\)", " ", position).strip().rstrip(".")
        relations = list(_RELATION.finditer(text))
        if not relations:
            self.ignored.setdefault(text)
            return
        ends = [match.start() for match in relations[1:]] + [len(text)]
        subjects = [self.find_object(name) for name in _AND.split(text[: relations[0].start()]) if name.strip()]
        for match, end in zip(relations, ends, strict=True):
            written, edge = part_of(text[match.end() : end].split(",")[0])
            room = room_of(written)
            if room is not None:
                self.rooms.update({name: room for name in subjects if name is not None and match["in"]})
                subjects = []
                continue
            objects = [self.find_object(name) for name in _AND.split(written) if name.strip()]
            for subject in subjects:
                for object_name in objects[:1]:
                    if subject is not None and object_name is not None and subject != object_name:
                        self.relate(subject, object_name, match, edge)
            subjects = objects

    def relate(self, subject: str, object_name: str, match: re.Match[str], edge: bool) -> None:
        """Add the facts of a relation between two objects."""
        if match["on"] or match["in"]:
            self.holders.setdefault(subject, object_name)
        if match["on"]:
            self.facts.setdefault(f"(upon {subject} {object_name})")
            if edge:
                self.facts.setdefault(f"(at_edge {subject})")
        elif match["in"]:
            relation = "upon" if "floor" in self.kinds[object_name] else "inside"
            self.facts.setdefault(f"({relation} {subject} {object_name})")
        elif match["beside"]:
            self.facts.setdefault(f"(beside {subject} {object_name})")
            self.facts.setdefault(f"(beside {object_name} {subject})")
        elif match["far"].lower() == "above" and self.kinds[subject] & {"container", "furniture"}:
            self.kinds[subject] = self.kinds[subject] | {"high-place"}

    def find_object(self, written: str) -> str | None:
        """The object that a sentence names, added if it is new and has a number or a known kind; ``None`` otherwise."""
        written = part_of(written)[0].strip()
        words, number = split_number(written)
        if not words or _NOWHERE.fullmatch(words) or len(words.split()) > 5 or room_of(written) is not None:
            return None
        if pddl_name(written) in self.kinds:
            return pddl_name(written)
        if number is None:
            candidates = ObjectNames(self.kinds).candidates(written)
            if len(candidates) == 1:
                return candidates[0]
            if describe_object(words, ()).kinds <= {"thing"} and words != "wall":
                self.ignored.setdefault(words)
                return None
        return self.add(written)

    def room(self, name: str) -> str:
        """The room of an object: its own, or of the object that it is in or on; by default the room of the case."""
        passed = set()
        while name not in self.rooms and name in self.holders and name not in passed:
            passed.add(name)
            name = self.holders[name]
        return self.rooms.get(name, self.default_room)

    def problem(self) -> str:
        """Write the problem in PDDL."""
        declared = vocabulary("earbench").kinds
        lines = []
        for name, kinds in self.kinds.items():
            types = sorted(
                kind for kind in kinds if kind in declared and kind not in ("thing", "object", "room", "agent")
            )
            kind = "thing" if not types else types[0] if len(types) == 1 else f"(either {' '.join(types)})"
            lines.append(f"    {name} - {kind}")
        rooms = [f"    (in_room {name} {self.room(name)})" for name in self.kinds]
        init = [f"    (in_room robot {self.default_room})", *rooms, *[f"    {fact}" for fact in self.facts]]
        head = "(define (problem scene) (:domain earbench)"
        return "\n".join([head, "  (:objects", *lines, "  )", "  (:init", *init, "  )", "  (:goal (and)))", ""])

    def notes(self) -> list[Diagnostic]:
        """Report objects of unknown kind and phrases that were ignored."""
        messages = []
        if self.unknown:
            names = ", ".join(list(self.unknown)[:12])[:300]
            messages.append(f"things of unknown type, to which only rules about all objects apply: {names}")
        if self.ignored:
            messages.append(f"parts of the description that are ignored: {', '.join(list(self.ignored)[:12])[:300]}")
        return [
            Diagnostic(SC.FOREIGN_SCENE, message, (first(self.file),), severity=Severity.NOTE) for message in messages
        ]
