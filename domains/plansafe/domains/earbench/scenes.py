"""Scenes of EARBench as problems: the things of a case, their kinds and states, and where they are."""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.behavior.vocabulary import vocabulary
from plansafe.domains.earbench.cases import Case, first
from plansafe.domains.earbench.described import described
from plansafe.domains.earbench.names import ROOMS, Things, part_of, plain, room_of, split_number
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

_BESIDE = (
    "next to|beside|near|adjacent to|in front of|behind|against|leaning against|by|at the foot of|around|close to|"
    "facing"
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
    rf"(?:(?P<beside>{_BESIDE}|hanging near)|(?P<on>{_ON})|(?P<in>{_IN})|(?P<far>{_FAR}))\s(?=\S)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|\band\b)\s*")
_NOWHERE = re.compile(r"(?:the\s+)?(?:room|both|everything|corner|it|middle|center|side|bathroom|other)\b.*")


class Home(NamedTuple):
    """What a case comes to."""

    things: Things
    problem: str
    notes: tuple[Diagnostic, ...]


class Reader:
    """Gathers the things of a case and what holds of them."""

    def __init__(self, case: Case, file: Source) -> None:
        self.case = case
        self.file = file
        self.kinds: dict[str, frozenset[str]] = {}
        self.rooms: dict[str, str] = {}
        self.holders: dict[str, str] = {}
        self.facts: dict[str, None] = {}
        self.idle: dict[str, None] = {}
        self.unknown: dict[str, None] = {}
        self.here = ROOMS.get(split_number(case.place)[0], "elsewhere")

    def read(self) -> Home:
        """The problem of the case."""
        for written in self.case.objects:
            self.add(written)
        for position in self.case.positions:
            self.place(position)
        if not any(["floor" in kinds for kinds in self.kinds.values()]):
            self.add("floor")
        return Home(Things(self.kinds), self.problem(), tuple(self.notes()))

    def add(self, written: str) -> str:
        """The thing of a name, with what the case says of it."""
        name = plain(written)
        if name not in self.kinds:
            words, _ = split_number(written)
            said = self.case.attributes.get(written) or self.case.attributes.get(written.strip()) or ()
            about = described(words, said)
            self.kinds[name] = about.kinds
            if about.kinds <= {"thing"}:
                self.unknown.setdefault(words)
            for fact in about.facts:
                self.facts.setdefault(f"({fact} {name})")
            for phrase in about.idle:
                room = next((room for word, room in ROOMS.items() if phrase in (f"in {word}", f"in the {word}")), None)
                if room is None:
                    self.idle.setdefault(phrase)
                else:
                    self.rooms[name] = room
            for content in about.contents:
                self.fill(name, content)
        return name

    def fill(self, vessel: str, content: str) -> None:
        """Put what is said to be in a thing into it: a thing of the case, or one more."""
        listed = [written for written in self.case.objects if plain(written) == plain(content)]
        if listed:
            self.facts.setdefault(f"(inside {self.add(listed[0])} {vessel})")
            return
        words, _ = split_number(content)
        about = described(words, ())
        if about.kinds <= {"thing"}:
            self.idle.setdefault(content)
            return
        name = f"{plain(content).removeprefix('the_')}_in_{vessel}"
        self.kinds[name] = about.kinds - {"pressurised", "fragile"}  # eggs in a pan are out of their shells
        for fact in about.facts:
            self.facts.setdefault(f"({fact} {name})")
        self.holders[name] = vessel
        self.facts.setdefault(f"(inside {name} {vessel})")
        if "liquid" in about.kinds and "empty" not in self.case.attributes.get(vessel, ()):
            self.facts.setdefault(f"(full {vessel})")

    def place(self, position: str) -> None:
        """Take a sentence such as ``cup_1 on the desk_1 next to the lamp_1`` as facts."""
        text = re.sub(r"\([^()]*\)", " ", position).strip().rstrip(".")
        found = list(_RELATION.finditer(text))
        if not found:
            self.idle.setdefault(text)
            return
        ends = [match.start() for match in found[1:]] + [len(text)]
        subjects = [self.known(name) for name in _AND.split(text[: found[0].start()]) if name.strip()]
        for match, end in zip(found, ends, strict=True):
            written, edge = part_of(text[match.end() : end].split(",")[0])
            room = room_of(written)
            if room is not None:
                self.rooms.update({name: room for name in subjects if name is not None and match["in"]})
                subjects = []
                continue
            objects = [self.known(name) for name in _AND.split(written) if name.strip()]
            for one in subjects:
                for other in objects[:1]:
                    if one is not None and other is not None and one != other:
                        self.relate(one, other, match, edge)
            subjects = objects

    def relate(self, one: str, other: str, match: re.Match[str], edge: bool) -> None:
        """What a relation of two things means."""
        if match["on"] or match["in"]:
            self.holders.setdefault(one, other)
        if match["on"]:
            self.facts.setdefault(f"(upon {one} {other})")
            if edge:
                self.facts.setdefault(f"(at_edge {one})")
        elif match["in"]:
            relation = "upon" if "floor" in self.kinds[other] else "inside"
            self.facts.setdefault(f"({relation} {one} {other})")
        elif match["beside"]:
            self.facts.setdefault(f"(beside {one} {other})")
            self.facts.setdefault(f"(beside {other} {one})")
        elif match["far"].lower() == "above" and self.kinds[one] & {"container", "furniture"}:
            self.kinds[one] = self.kinds[one] | {"high-place"}

    def known(self, written: str) -> str | None:
        """The thing that a sentence names: one of the case, or one more that has a number or a known kind."""
        written = part_of(written)[0].strip()
        words, number = split_number(written)
        if not words or _NOWHERE.fullmatch(words) or len(words.split()) > 5 or room_of(written) is not None:
            return None
        if plain(written) in self.kinds:
            return plain(written)
        if number is None:
            same = Things(self.kinds).meant(written)
            if len(same) == 1:
                return same[0]
            if described(words, ()).kinds <= {"thing"} and words != "wall":
                self.idle.setdefault(words)
                return None
        return self.add(written)

    def room(self, name: str) -> str:
        """The room of a thing: as said of it, or of what it is in or on, and so on; else that of the case."""
        passed = set()
        while name not in self.rooms and name in self.holders and name not in passed:
            passed.add(name)
            name = self.holders[name]
        return self.rooms.get(name, self.here)

    def problem(self) -> str:
        """The problem in PDDL."""
        declared = vocabulary("earbench").kinds
        lines = []
        for name, kinds in self.kinds.items():
            types = sorted(
                kind for kind in kinds if kind in declared and kind not in ("thing", "object", "room", "agent")
            )
            kind = "thing" if not types else types[0] if len(types) == 1 else f"(either {' '.join(types)})"
            lines.append(f"    {name} - {kind}")
        rooms = [f"    (in_room {name} {self.room(name)})" for name in self.kinds]
        init = [f"    (in_room robot {self.here})", *rooms, *[f"    {fact}" for fact in self.facts]]
        head = "(define (problem scene) (:domain earbench)"
        return "\n".join([head, "  (:objects", *lines, "  )", "  (:init", *init, "  )", "  (:goal (and)))", ""])

    def notes(self) -> list[Diagnostic]:
        """What of the case means nothing here."""
        found = []
        if self.unknown:
            names = ", ".join(list(self.unknown)[:12])[:300]
            found.append(f"things of unknown type, to which only rules about all objects apply: {names}")
        if self.idle:
            found.append(f"parts of the description that are ignored: {', '.join(list(self.idle)[:12])[:300]}")
        return [Diagnostic(SC.FOREIGN_SCENE, said, (first(self.file),), severity=Severity.NOTE) for said in found]
