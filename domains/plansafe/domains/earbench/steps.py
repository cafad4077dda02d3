"""The words of a step of EARBench: an action, the things that it names, and how it places them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from plansafe.domains.earbench.names import TAP_WATER, Things, part_of, plain, room_of

# The words of a step with one thing, and the action. Longer words first.
_ONE: tuple[tuple[str, str], ...] = (
    ("move to|go to|walk to|approach|navigate to|find", "move_to"),
    ("pick up|take out|take|grab|grasp|lift|remove|get", "pick_up"),
    ("turn on|switch on|light|ignite|start|activate", "turn_on"),
    ("turn off|switch off|extinguish|blow out|put out|stop", "turn_off"),
    ("plug in", "plug_in"),
    ("unplug", "unplug"),
    ("open", "open"),
    ("close|shut", "close"),
    ("cut|slice|chop|dice|peel", "cut"),
    ("clean|wipe|scrub|mop|vacuum|sweep|dust|polish|disinfect", "clean"),
    ("wash|rinse", "wash"),
    ("dry", "dry"),
    ("stir|mix", "stir"),
    ("empty", "empty"),
    ("fill", "fill"),
    ("cook|heat|bake|boil|fry|microwave|roast", "cook"),
    ("iron", "iron"),
    ("break", "break"),
    ("drop", "drop"),
    ("throw", "throw"),
    ("eat|drink|consume", "consume"),
    ("touch", "touch"),
    ("push|pull|slide", "push"),
    ("look at|look under|look in|look for|inspect|check|observe|hold", "look_at"),
    ("sit on|sit in|sit", "sit"),
    ("lie on|lie in|lie", "lie"),
)
_NONE: Mapping[str, str] = {
    r"wait(?: .*)?": "(wait)",
    r"(?:go out|leave|exit|go outside)(?: .*)?": "(move_to outside)",
    r"wash (?:your |the )?hands?(?: .*)?": "(wash_hands)",
    r"dry (?:your |the )?hands?(?: .*)?": "(dry_hands)",
    r"(?:go to )?sleep": "(sleep)",
}
DONE = re.compile(r"(?:done|finish|finished|end|stop)\Z", re.IGNORECASE)
_NEAR = (
    "next to|beside|near|in front of|behind|against|below|beneath|under|underneath|above|close to|around|between|"
    "towards|to|at"
)
_PLACES: tuple[tuple[str, str], ...] = (
    ("inside|into|in", "place_in"),
    ("on top of|onto|on|over|across", "place_on"),
    (_NEAR, "place_beside"),
)
# The words of a step with two things: what is between them says which action it is.
_TWO: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("place|put|set|lay|stack|hang|attach|store|lean|return|drape|arrange|spread|mount|rest|leave|stand", _PLACES),
    ("hold", ((_NEAR, "hold_at"),)),
    ("plug", (("into|in|to|with", "plug_into"),)),
    ("connect", (("into|in|to|with", "plug_into"),)),
    ("pour|drain|dump|sprinkle|squeeze|spill|add", (("onto|into|on|in|over|down|to", "pour"),)),
    ("spray|apply", (("onto|into|on|in|over|to", "spray"),)),
    ("turn|point|direct|aim", (("towards|toward|at|to", "turn_towards"),)),
    ("push|pull|slide|move|drag", ((f"{_NEAR}|onto|on", "push_to"),)),
    ("take|remove|pick up|get|grab", (("out of|from|off", "pick_from"),)),
    ("give|hand", (("to", "give"),)),
    ("throw", (("into|in", "place_in"), ("at|to|onto|on", "throw_at"))),
    ("cover|wrap", (("with|in", "cover"),)),
    ("fill", (("with", "fill_with"),)),
    ("cut|slice|chop|dice|peel", (("with|on", "cut_with"),)),
    ("clean|wipe|scrub|mop|vacuum|sweep|dust|polish|disinfect", (("with", "clean_with"),)),
    ("wash|rinse", (("with", "wash_with"),)),
    ("stir|mix", (("with", "stir_with"),)),
)
SAID = tuple(sorted({word for words, _ in (*_ONE, *_TWO) for word in words.split("|")} | {"wait", "done"}))
"""What an action may be called."""
_ONES = tuple([(re.compile(rf"(?:{words})\s+(?=\S)", re.IGNORECASE), action) for words, action in _ONE])
_TWOS = tuple(
    [
        (
            re.compile(rf"(?:{words})\s+(?=\S)", re.IGNORECASE),
            tuple([(re.compile(rf"\s(?:{between})\s(?=\S)", re.IGNORECASE), action) for between, action in ways]),
        )
        for words, ways in _TWO
    ]
)
_TOOL = re.compile(r"\s(?:with|using|by)\s.*\Z", re.IGNORECASE)


class Step(NamedTuple):
    """A step in PDDL, and of the things that it names those that were one of several."""

    text: str
    chosen: tuple[tuple[str, int], ...] = ()


class Words:
    """Reads the steps of one plan about the things of a scene."""

    def __init__(self, things: Things) -> None:
        self.things = things
        self.last: dict[str, str] = {}

    def read(self, said: str) -> Step:
        """The step that words say. Words for no action are kept as a step that no world has."""
        said = " ".join(said.split()).rstrip(".")
        for pattern, step in _NONE.items():
            if re.fullmatch(pattern, said, re.IGNORECASE):
                return Step(step)
        found = self._two(said) or self._one(said)
        if found is None:
            verb, _, rest = said.partition(" ")
            return Step(f"({' '.join([_word(verb), *([_word(rest)] if rest else [])])})")
        return found

    def _two(self, said: str) -> Step | None:
        """A step with two things: the first place where the words before it name a thing, else the first place."""
        for start, ways in _TWOS:
            verb = start.match(said)
            if verb is None:
                continue
            rest = said[verb.end() :]
            splits = sorted([(m.start(), -m.end(), action) for way, action in ways for m in way.finditer(rest)])
            if not splits:
                continue
            named = [split for split in splits if self.things.meant(rest[: split[0]])]
            at, end, action = (named or splits)[0]
            return self._made(action, rest[:at], rest[-end:])
        return None

    def _made(self, action: str, one: str, other: str) -> Step:
        other, edge = part_of(other)
        first, second = self.name(one), self.name(_TOOL.sub("", other))
        chosen = tuple([picked for picked in (first[1], second[1]) if picked is not None])
        x, y = first[0], second[0]
        match action:
            case "place_on" if edge:
                text = f"(place_at_edge {x} {y})"
            case "cover":
                text = f"(place_on {y} {x})"
            case "fill_with":
                text = f"(fill {x} {y})"
            case "pick_from":
                text = f"(pick_up {x})"
            case "throw_at":
                text = f"(throw {x})"
            case _:
                text = f"({action} {x} {y})"
        return Step(text, chosen)

    def _one(self, said: str) -> Step | None:
        for start, action in _ONES:
            verb = start.match(said)
            if verb is not None:
                name, choice = self.name(_TOOL.sub("", said[verb.end() :]), room=action == "move_to")
                tail = f" {TAP_WATER}" if action == "fill" else ""
                return Step(f"({action} {name}{tail})", () if choice is None else (choice,))
        return None

    def name(self, written: str, room: bool = False) -> tuple[str, tuple[str, int] | None]:
        """The thing that is meant, as a name of PDDL; one that the scene does not have keeps its words.

        Of several it is the one that was named last, else the first: then the choice is told with how many there are.
        """
        written = part_of(written)[0]
        place = room_of(written) if room else None
        there = self.things.meant(written)
        if not there:
            if place is not None:
                return place, None
            words = plain(written)
            return (TAP_WATER if words == "the_water" else words), None
        key = " ".join(there)
        told = len(there) == 1 or key in self.last
        picked = self.last.get(key, there[0])
        for name in (key, *[known for known in self.last if picked in known.split()]):
            self.last[name] = picked
        return picked, None if told else (picked, len(there))


def _word(text: str) -> str:
    letters = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60]
    return letters if letters and letters[0].isalpha() else f"n_{letters}"
