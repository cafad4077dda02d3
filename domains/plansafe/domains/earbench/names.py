"""Names of EARBench's things: as they are written, as names of PDDL, and what a plan means by one."""

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
"""What rooms are called, and the constants of the domain."""
TAP_WATER = "water"
_NUMBER = re.compile(r"[\s_]+(\d{1,6})\Z")
_ARTICLE = re.compile(r"\A(?:(?:the|a|an|some|all|his|her|their|your|both)\s+)+", re.IGNORECASE)
_PART = re.compile(
    r"(?:the\s+)?(?:very\s+)?(?P<part>edge|corner|side|end|center|centre|middle|foot|head|top|bottom|back|front|surface|"
    r"rim|shelves|inside|(?:top|upper|high|middle|lower|bottom)\s+(?:shelf|rack|part))\s+of\s+(?:the\s+)?",
    re.IGNORECASE,
)
_BASINS = ("sink", "bathroom sink", "kitchen sink", "bathtub", "shower")
_WHOLES: Mapping[str, tuple[str, ...]] = {
    "faucet": _BASINS,
    "tap": _BASINS,
    "water tap": _BASINS,
    "burner": ("stove", "gas stove", "electric stove", "hob"),
    "hob": ("stove", "gas stove", "electric stove"),
}
_EDGES = ("edge", "corner", "rim", "end")


def split_number(written: str) -> tuple[str, str | None]:
    """The words of a name, in lower case, and its number: ``gas stove`` and ``1`` of ``gas stove_1``."""
    bare = " ".join(_ARTICLE.sub("", written.strip().strip(".,;"), count=1).split())
    number = _NUMBER.search(bare)
    words = bare[: number.start()] if number else bare
    return words.replace("_", " ").strip().lower(), number[1] if number else None


def plain(written: str) -> str:
    """The name in PDDL; of what has no number, one that no kind has."""
    words, number = split_number(written)
    letters = re.sub(r"[^a-z0-9]+", "_", words).strip("_") or "thing"
    letters = letters if letters[0].isalpha() else f"n_{letters}"
    return f"{letters}_{number}" if number else f"the_{letters}"


def part_of(written: str) -> tuple[str, bool]:
    """What a name of a part is a part of (``desk_1`` of ``edge of desk_1``), and whether the part is an edge."""
    found = _PART.match(written.strip())
    if found is None:
        return written, False
    return written.strip()[found.end() :], found["part"].lower() in _EDGES


def room_of(written: str) -> str | None:
    """The room that words name."""
    words, number = split_number(written)
    return ROOMS.get(words) if number is None else None


class Things:
    """The things of a scene, for finding the one that a plan means."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.by_words: dict[str, list[str]] = {}
        for name in self.names:
            self.by_words.setdefault(base(name), []).append(name)

    def meant(self, written: str) -> tuple[str, ...]:
        """The things that words may mean, likeliest first: by the whole name, without its number, by its last words.

        Empty if there is none. What has another number is another thing.
        """
        name = plain(written)
        if name in self.names:
            return (name,)
        words, number = split_number(written)
        if number is not None:
            return ()
        same = self.by_words.get(words, []) or self._whole(words)
        if same:
            return tuple(same)
        ends = [found for known, found in self.by_words.items() if _ends(known, words) or _ends(words, known)]
        return tuple([name for found in ends for name in found])

    def _whole(self, words: str) -> list[str]:
        """The things that words name a part of: the sink, of the tap."""
        return [name for known, found in self.by_words.items() for name in found if known in _WHOLES.get(words, ())]


def base(name: str) -> str:
    """The words of a name of PDDL: ``gas stove`` of ``gas_stove_1``."""
    words = re.sub(r"_\d+\Z", "", name)
    return words.removeprefix("the_").replace("_", " ")


def _ends(longer: str, shorter: str) -> bool:
    """Whether a name ends with another, and both are of the same kinds, so that the shorter may stand for it."""
    return longer.endswith(f" {shorter}") and kinds_of_word(longer) == kinds_of_word(shorter)
