"""Names of EARBench's objects: in scenes, in PDDL, and the objects that a plan can mean by a name.

Kinds of the household ontology (specs/plansafe/specs/home.safe) for the words of a scene.

A word has the kinds of its class in the object table. ``words.txt`` adds further words, materials and states.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cache

from plansafe.domains.objects.table import CONFIRMED, EVERYWHERE, NO_KIND, letters, load_table
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path

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


_WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")
_UNKNOWN: frozenset[str] = frozenset()


@cache
def kinds_of_word(words: str) -> frozenset[str]:
    """The kinds of an object by its name (``gas stove``): by the whole name, otherwise by its last words.

    Empty if no word is known. Plural and singular are the same.
    """
    word_list = words.split()
    for start in range(len(word_list)):
        kinds = _lookup("".join(word_list[start:]))
        if kinds is not None:
            return kinds
    return _UNKNOWN


def is_listed(words: str) -> bool:
    """Whether a list contains the whole name."""
    return _lookup("".join(words.split())) is not None


def _lookup(word: str) -> frozenset[str] | None:
    """The kinds of a word or of its singular; ``None`` if no list has it."""
    table = _kinds_by_word()
    for form in (word, *[word.removesuffix(end) + replacement for end, replacement in _PLURALS if word.endswith(end)]):
        if form in table:
            return table[form]
    return None


_PLURALS = (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("es", ""), ("s", ""))


@cache
def phrase_kinds(section: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The phrases of a section of ``words.txt`` (``material``, ``state``), each with its kinds or states."""
    kinds_by_phrase: dict[str, set[str]] = {}
    for row_section, kind, words in _word_list():
        if row_section == section:
            for word in words:
                kinds_by_phrase.setdefault(word.replace("-", " "), set()).add(kind)
    return tuple([(word, frozenset(kind)) for word, kind in kinds_by_phrase.items()])


@cache
def _kinds_by_word() -> dict[str, frozenset[str]]:
    """The kinds of each word; words are reduced to letters and digits."""
    objects = load_table()
    table: dict[str, set[str]] = {}
    for word, rows in objects.rows.items():
        confirmed = [
            objects.kinds[letters(row.kind)] for row in rows if row.status == CONFIRMED and row.kind != NO_KIND
        ]
        table[word] = {name for kind in confirmed for name in (kind.name, *kind.implies)}
    for (world, word), class_name in objects.names.items():
        if world == EVERYWHERE:
            table[word] = set(table.get(letters(class_name), ()))
    for word in _small_tables():
        table.setdefault(word, set()).add("small-table")
    for section, kind, words in _word_list():
        if section == "kind":
            for word in words:
                table.setdefault(letters(word), set()).add(kind)
        elif section == "like":
            for word in words:
                table.setdefault(letters(word), set()).update(table.get(letters(kind), ()))
        elif section == "not":
            for word in words:
                table.setdefault(letters(word), set()).discard(kind)
    return {word: frozenset(kinds) for word, kinds in table.items()}


def _small_tables() -> list[str]:
    """The group ``small-tables`` of VirtualHome's mapping: two objects on one of them are beside each other."""
    top = parse_nodes(Source.from_path(spec_path("home-virtualhome")))
    assert top is not None, "a shipped mapping is well-formed"
    groups = next(section for section in top[0] if isinstance(section, list) and section[0] == ":groups")
    types = next(group[1] for group in groups if isinstance(group, list) and group[0] == "small-tables")
    return [letters(str(name)) for name in types[1:]]


@cache
def _word_list() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The entries of ``words.txt``: section, meaning (a kind, a state or a word), words."""
    entries: list[tuple[str, str, list[str]]] = []
    with open(_WORDS, encoding="utf-8") as file:
        for line in file:
            for word in line.partition("#")[0].split():
                if word.endswith(":"):
                    section, _, meaning = word[:-1].partition("=")
                    entries.append((section, meaning, []))
                else:
                    entries[-1][2].append(word)
    return tuple([(section, meaning, tuple(words)) for section, meaning, words in entries])
