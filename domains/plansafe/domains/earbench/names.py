"""Names of EARBench's objects: in scenes, in PDDL, and the objects that a plan can mean by a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from plansafe.domains.earbench.kinds import kinds_of_word

ROOMS: Mapping[str, str] = {
    "kitchen": "kitchen",
    "bathroom": "bathroom",
    "bedroom": "bedroom",
    "living room": "living_room",
    "study room": "study_room",
    "study": "study_room",
    "hallway": "hallway",
    "corridor": "hallway",
    "outside": "outside",
    "garden": "outside",
    "balcony": "outside",
}
"""Names of rooms, and the constants of the domain."""
TAP_WATER = "water"
_NUMBER = re.compile(r"[\s_]+(\d{1,6})\Z")
_ARTICLE = re.compile(r"\A(?:(?:the|a|an|some|all|his|her|their|your|both)\s+)+", re.IGNORECASE)
_PART = re.compile(
    r"(?:the\s+)?(?:very\s+)?(?P<part>edge|corner|side|end|center|centre|middle|foot|head|top|bottom|back|front|surface|"
    r"rim|shelves|inside|(?:top|upper|high|middle|lower|bottom)\s+(?:shelf|rack|part))\s+of\s+(?:the\s+)?",
    re.IGNORECASE,
)
_BASINS = ("sink", "bathroom sink", "kitchen sink", "bathtub", "shower")
_WHOLES_OF_PARTS: Mapping[str, tuple[str, ...]] = {
    "faucet": _BASINS,
    "tap": _BASINS,
    "water tap": _BASINS,
    "burner": ("stove", "gas stove", "electric stove", "hob"),
    "hob": ("stove", "gas stove", "electric stove"),
}
_EDGES = ("edge", "corner", "rim", "end")


def split_number(written: str) -> tuple[str, str | None]:
    """The words of a name, in lower case, and its number: ``gas stove`` and ``1`` of ``gas stove_1``."""
    name_text = " ".join(_ARTICLE.sub("", written.strip().strip(".,;"), count=1).split())
    number = _NUMBER.search(name_text)
    words = name_text[: number.start()] if number else name_text
    return words.replace("_", " ").strip().lower(), number[1] if number else None


def pddl_name(written: str) -> str:
    """The PDDL name of an object; without a number it starts with ``the_``, so that it is not the name of a kind."""
    words, number = split_number(written)
    letters = re.sub(r"[^a-z0-9]+", "_", words).strip("_") or "thing"
    letters = letters if letters[0].isalpha() else f"n_{letters}"
    return f"{letters}_{number}" if number else f"the_{letters}"


def part_of(written: str) -> tuple[str, bool]:
    """The object of which a name denotes a part (``desk_1`` of ``edge of desk_1``), and whether the part is an edge."""
    match = _PART.match(written.strip())
    if match is None:
        return written, False
    return written.strip()[match.end() :], match["part"].lower() in _EDGES


def room_of(written: str) -> str | None:
    """The room with a name; ``None`` if there is none."""
    words, number = split_number(written)
    return ROOMS.get(words) if number is None else None


class ObjectNames:
    """The objects of a scene by name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.by_words: dict[str, list[str]] = {}
        for name in self.names:
            self.by_words.setdefault(base_words(name), []).append(name)

    def candidates(self, written: str) -> tuple[str, ...]:
        """The objects that a name can mean, likeliest first: by the whole name, without its number, by its last words.

        Empty if there are none. Names with different numbers are different objects.
        """
        name = pddl_name(written)
        if name in self.names:
            return (name,)
        words, number = split_number(written)
        if number is not None:
            return ()
        same = self.by_words.get(words, []) or self._whole_objects(words)
        if same:
            return tuple(same)
        matches = [
            names
            for object_words, names in self.by_words.items()
            if _is_short_name(object_words, words) or _is_short_name(words, object_words)
        ]
        return tuple([name for names in matches for name in names])

    def _whole_objects(self, words: str) -> list[str]:
        """The objects that have the named part: the sink for ``tap``."""
        return [
            name
            for object_words, names in self.by_words.items()
            for name in names
            if object_words in _WHOLES_OF_PARTS.get(words, ())
        ]


def base_words(name: str) -> str:
    """The words of a PDDL name: ``gas stove`` of ``gas_stove_1``."""
    words = re.sub(r"_\d+\Z", "", name)
    return words.removeprefix("the_").replace("_", " ")


def _is_short_name(longer: str, shorter: str) -> bool:
    """Whether ``shorter`` is the end of ``longer`` and both have the same kinds, so that it can be used for it."""
    return longer.endswith(f" {shorter}") and kinds_of_word(longer) == kinds_of_word(shorter)
