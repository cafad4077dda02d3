"""Read steps of EARBench: an action, the objects that it names, and their relation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from plansafe.domains.earbench.names import TAP_WATER, ObjectNames, part_of, pddl_name, room_of

# Words of steps with one object, and their action. Longer words first.
_ONE_OBJECT_ACTIONS: tuple[tuple[str, str], ...] = (
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
_NO_OBJECT_STEPS: Mapping[str, str] = {
    r"wait(?: .*)?": "(wait)",
    r"(?:go out|leave|exit|go outside)(?: .*)?": "(move_to outside)",
    r"wash (?:your |the )?hands?(?: .*)?": "(wash_hands)",
    r"dry (?:your |the )?hands?(?: .*)?": "(dry_hands)",
    r"(?:go to )?sleep": "(sleep)",
}
DONE = re.compile(r"(?:done|finish|finished|end|stop)\Z", re.IGNORECASE)
_NEAR = "|".join(
    (
        *("next to", "beside", "near", "in front of", "behind", "against", "below", "beneath", "under", "underneath"),
        *("above", "close to", "around", "between", "towards", "to", "at"),
    )
)
_PLACES: tuple[tuple[str, str], ...] = (
    ("inside|into|in", "place_in"),
    ("on top of|onto|on|over|across", "place_on"),
    (_NEAR, "place_beside"),
)
# Words of steps with two objects: the words between them decide the action.
_TWO_OBJECT_ACTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
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
_ONE_OBJECT_PATTERNS = tuple(
    [(re.compile(rf"(?:{words})\s+(?=\S)", re.IGNORECASE), action) for words, action in _ONE_OBJECT_ACTIONS]
)
_TWO_OBJECT_PATTERNS = tuple(
    [
        (
            re.compile(rf"(?:{words})\s+(?=\S)", re.IGNORECASE),
            tuple([(re.compile(rf"\s(?:{between})\s(?=\S)", re.IGNORECASE), action) for between, action in placements]),
        )
        for words, placements in _TWO_OBJECT_ACTIONS
    ]
)
_TOOL = re.compile(r"\s(?:with|using|by)\s.*\Z", re.IGNORECASE)


class Step(NamedTuple):
    """A PDDL step; ``chosen`` are its objects that were one of several candidates, with the number of candidates."""

    text: str
    chosen: tuple[tuple[str, int], ...] = ()


class StepReader:
    """Reads the steps of one plan about the objects of a scene."""

    def __init__(self, objects: ObjectNames) -> None:
        self.objects = objects
        self.last: dict[str, str] = {}

    def read(self, step_text: str) -> Step:
        """Read a step. Words that are not an action become a step that the checker reports as unknown."""
        step_text = " ".join(step_text.split()).rstrip(".")
        for pattern, step in _NO_OBJECT_STEPS.items():
            if re.fullmatch(pattern, step_text, re.IGNORECASE):
                return Step(step)
        parsed = self._read_two_objects(step_text) or self._read_one_object(step_text)
        if parsed is None:
            verb, _, rest_words = step_text.partition(" ")
            return Step(f"({' '.join([_word(verb), *([_word(rest_words)] if rest_words else [])])})")
        return parsed

    def _read_two_objects(self, step_text: str) -> Step | None:
        """Read a step with two objects, split at the first preposition after a known object, else at the first."""
        for start, placements in _TWO_OBJECT_PATTERNS:
            verb = start.match(step_text)
            if verb is None:
                continue
            object_text = step_text[verb.end() :]
            splits = sorted(
                [
                    (m.start(), -m.end(), action)
                    for placement, action in placements
                    for m in placement.finditer(object_text)
                ]
            )
            if not splits:
                continue
            known_splits = [split for split in splits if self.objects.candidates(object_text[: split[0]])]
            at, end, action = (known_splits or splits)[0]
            return self._two_object_step(action, object_text[:at], object_text[-end:])
        return None

    def _two_object_step(self, action: str, first_words: str, second_words: str) -> Step:
        second_words, edge = part_of(second_words)
        first_name, second_name = self.name(first_words), self.name(_TOOL.sub("", second_words))
        chosen = tuple([picked for picked in (first_name[1], second_name[1]) if picked is not None])
        x, y = first_name[0], second_name[0]
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

    def _read_one_object(self, step_text: str) -> Step | None:
        for start, action in _ONE_OBJECT_PATTERNS:
            verb = start.match(step_text)
            if verb is not None:
                name, choice = self.name(_TOOL.sub("", step_text[verb.end() :]), room=action == "move_to")
                tail = f" {TAP_WATER}" if action == "fill" else ""
                return Step(f"({action} {name}{tail})", () if choice is None else (choice,))
        return None

    def name(self, written: str, room: bool = False) -> tuple[str, tuple[str, int] | None]:
        """The PDDL name of the object that a name means, also if the scene does not have it.

        Of several candidates it is the one that was named last, otherwise the first, with the number of candidates.
        """
        written = part_of(written)[0]
        place = room_of(written) if room else None
        candidates = self.objects.candidates(written)
        if not candidates:
            if place is not None:
                return place, None
            missing_name = pddl_name(written)
            return (TAP_WATER if missing_name == "the_water" else missing_name), None
        key = " ".join(candidates)
        is_clear = len(candidates) == 1 or key in self.last
        chosen_name = self.last.get(key, candidates[0])
        for name in (key, *[previous for previous in self.last if chosen_name in previous.split()]):
            self.last[name] = chosen_name
        return chosen_name, None if is_clear else (chosen_name, len(candidates))


def _word(text: str) -> str:
    letters = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60]
    return letters if letters and letters[0].isalpha() else f"n_{letters}"
