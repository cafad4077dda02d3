"""Find the object of a scene for a name of the simulator, by the name alone.

The simulator names an object after its model category and a number: ``bottom_cabinet_2``. Activities name instances of
synsets: ``cabinet.n.01_1``. Prompts list both (:mod:`plansafe.domains.behavior.tokens`); without one, the category is
matched by its words, and numbers by their order. On the prompts of the Embodied Agent Interface that finds the right
object in nine cases of ten (docs/home-worlds.md), so it is reported wherever there was a choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NAME = re.compile(r"(.+?)(?:_(\d+))?\Z", re.DOTALL)
_MODEL = re.compile(r"_[a-z]{6}\Z")
_TYPE = re.compile(r"(.+)_n_\d+\Z", re.DOTALL)
_SENSE = re.compile(r"[._]n[._]\d+\Z")
_FLOOR = "room_floor_"
MAX_CHOICES = 4
MAX_LENGTH = 100

ALIASES: dict[str, tuple[str, ...]] = {
    "axe": ("ax",),
    "bagel": ("bread",),
    "baking_sheet": ("cookie_sheet",),
    "bath_towel": ("towel", "piece_of_cloth"),
    "bottom_cabinet_no_top": ("cabinet",),
    "bracelet": ("jewelry",),
    "burner": ("stove",),
    "car": ("vehicle",),
    "carpet": ("rug",),
    "carton": ("box",),
    "casserole": ("dish",),
    "cauldron": ("caldron",),
    "cell_phone": ("cellular_telephone",),
    "chaise_longue": ("seat", "chair", "sofa"),
    "coffee_grinder": ("coffee_mill",),
    "cologne": ("perfume",),
    "cookie": ("cake",),
    "cruet": ("bottle", "vessel"),
    "cupcake": ("cake",),
    "cutting_board": ("chopping_board",),
    "detergent": ("cleansing_agent",),
    "dishtowel": ("piece_of_cloth",),
    "display_fridge": ("electric_refrigerator",),
    "donut": ("doughnut",),
    "dustpan": ("receptacle",),
    "eyeglasses": ("spectacles",),
    "freezer": ("deep-freeze",),
    "fridge": ("electric_refrigerator",),
    "garlic": ("whole_garlic",),
    "hair_dryer": ("hand_blower",),
    "hamburger": ("sandwich", "snack_food"),
    "hardback": ("book",),
    "headset": ("earphone",),
    "highlighter": ("marker",),
    "instant_pot": ("crock_pot",),
    "jeans": ("apparel",),
    "jug": ("pitcher",),
    "lighter": ("cigar_lighter",),
    "lipstick": ("makeup",),
    "lollipop": ("candy",),
    "muffin": ("bread",),
    "necklace": ("jewelry",),
    "notebook": ("book",),
    "olive_oil": ("vegetable_oil",),
    "ottoman": ("footstool",),
    "outlet": ("wall_socket",),
    "pants": ("long_trousers",),
    "paper_bag": ("sack",),
    "paper_cup": ("dixie_cup",),
    "paper_towel": ("towel", "piece_of_cloth"),
    "pea": ("food",),
    "pear": ("food",),
    "pepper_grinder": ("pepper_mill",),
    "pomelo": ("food",),
    "pop": ("soda", "can__of__soda", "beverage"),
    "power_strip": ("wall_socket",),
    "pretzel": ("cracker", "bread", "snack_food"),
    "prosciutto": ("meat",),
    "radio": ("radio_receiver",),
    "sandal": ("shoe",),
    "shrimp": ("prawn",),
    "soap": ("cleansing_agent",),
    "spray_bottle": ("atomizer",),
    "standing_tv": ("television_receiver",),
    "sticky_note": ("pad",),
    "sugar_jar": ("sugar",),
    "toilet_paper": ("toilet_tissue",),
    "toothpaste": ("cleansing_agent",),
    "toy": ("plaything",),
    "trash_can": ("ashcan", "bin"),
    "walker": ("shoe",),
    "wall_mounted_tv": ("television_receiver",),
    "wine_fridge": ("electric_refrigerator",),
    "wrapped_gift": ("wrapping", "package"),
}
"""Categories of models whose synset is another word; several where activities differ."""


class Guess(NamedTuple):
    """The object for a name; ``other_count`` is the number of other objects of its type."""

    object: str
    other_count: int


def guess(names: Iterable[str], types: dict[str, str], rooms: dict[str, str]) -> dict[str, Guess]:
    """Match names to objects with these types and rooms. A name without a match is left out.

    Two names never get one object. Linear in names and objects, apart from sorting.
    """
    members: dict[str, list[str]] = {}
    for obj, kind in types.items():
        parts_of_type = _TYPE.match(kind)
        if parts_of_type is not None:
            members.setdefault(parts_of_type[1], []).append(obj)
    numbered_names: dict[str, list[tuple[int, str]]] = {}
    guesses: dict[str, Guess] = {}
    for name in dict.fromkeys(names):
        sense = _SENSE.search(name)
        parts = _NAME.match(name if sense is None else name[: sense.start()])  # `rag.n.01`, without a number
        if parts is not None and not _is_floor_of_a_room(name, parts[1], members, rooms, guesses):
            numbered_names.setdefault(parts[1], []).append((int((parts[2] or "0")[:18]), name))
    free = {
        lemma: [obj for obj in parts_of_type if all([g.object != obj for g in guesses.values()])]
        for lemma, parts_of_type in members.items()
    }
    for choice in range(MAX_CHOICES):  # the remaining names of a category go to its next word
        groups: dict[str, list[tuple[int, str]]] = {}
        for category, numbered in numbered_names.items():
            lemmas = _lemmas(category, members)
            if choice < len(lemmas):
                groups.setdefault(lemmas[choice], []).extend([pair for pair in numbered if pair[1] not in guesses])
        for lemma, numbered in groups.items():
            guesses.update(_in_order(sorted(numbered), free[lemma]))
            used = {guess.object for guess in guesses.values()}
            free[lemma] = [obj for obj in free[lemma] if obj not in used]
    return guesses


def nearest(name: str, types: dict[str, str]) -> str | None:
    """An object whose category is spelt almost like an unknown name, if there is one."""
    import difflib  # noqa: PLC0415 - needed for mistakes alone

    parts = _NAME.match(name)
    first: dict[str, str] = {}
    for obj, kind in types.items():
        match = _TYPE.match(kind)
        if match is not None:
            first.setdefault(match[1], obj)
    near = difflib.get_close_matches(parts[1], first, n=1, cutoff=0.8) if parts and len(name) <= MAX_LENGTH else []
    return first[near[0]] if near else None


def _is_floor_of_a_room(
    name: str, category: str, members: dict[str, list[str]], rooms: dict[str, str], guesses: dict[str, Guess]
) -> bool:
    """Match the name of a floor, which contains the name of its room."""
    if not name.startswith(_FLOOR):
        return False
    there = [obj for obj in members.get("floor", ()) if rooms.get(obj) == category.removeprefix(_FLOOR)]
    if len(there) == 1:
        guesses[name] = Guess(there[0], 0)
    return len(there) == 1


def _in_order(numbered: list[tuple[int, str]], free: list[str]) -> dict[str, Guess]:
    """Match numbered names to objects: by number where they may count from 0, else by their order."""
    counted = len(numbered) == len(dict(numbered)) and all([number < len(free) for number, _ in numbered])
    places = [number if counted else rank for rank, (number, _) in enumerate(numbered)]
    return {
        name: Guess(free[place], len(free) - 1)
        for place, (_, name) in zip(places, numbered, strict=True)
        if place < len(free)
    }


def _lemmas(category: str, members: dict[str, list[str]]) -> list[str]:
    """The words of synsets in the scene that a category may mean: itself, its aliases, its head, its first part."""
    if len(category) > MAX_LENGTH:
        return []
    category = "floor" if category.startswith(_FLOOR) else category.replace("-", "_")
    words = category.split("_")
    tails = ["_".join(words[start:]) for start in range(1, len(words))]
    heads = ["_".join(words[:end]) for end in range(len(words) - 1, 0, -1)]
    ends = sorted([lemma for lemma in members if category.endswith(lemma)], key=len, reverse=True)
    alike = [lemma for lemma in members if _letters(lemma) == _letters(category)]
    lemmas = [category, *alike, *ALIASES.get(category, ()), *tails, *heads, *ends]
    model = _MODEL.sub("", category)  # `bottom_cabinet_slgzfc`: OmniGibson also names its models
    if model != category:
        lemmas += [model, *ALIASES.get(model, ()), *_lemmas(model, members)]
    return [lemma for lemma in dict.fromkeys(lemmas) if lemma in members][:MAX_CHOICES]


def _letters(word: str) -> str:
    """A word without what its spellings differ in: ``jar_of_jam`` is ``jar__of__jam``, ``keys`` are a ``key``."""
    return word.replace("_", "").replace("-", "").removesuffix("s")
