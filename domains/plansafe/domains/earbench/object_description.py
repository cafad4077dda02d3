"""Kinds, states and contents of an object, from its name and the phrases of a scene."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from plansafe.domains.earbench.names import is_listed, kinds_of_word, phrase_kinds

STATES = {
    "on": "is_on",
    "plugged": "plugged",
    "open": "is_open",
    "closed": "is_closed",
    "wet": "wet",
    "dirty": "dirty",
    "hot": "hot",
    "frozen": "frozen",
    "broken": "broken",
    "cooked": "cooked",
    "full": "full",
}
"""The states that are facts, with their predicates; the other states are kinds."""
_NO_KIND = frozenset(["off", "empty", "gas", *STATES])
_BULK = "stack|stacks|pile|piles|collection|set|bunch|heap|pair|row|bundle|group|load"
BULK = re.compile(rf"(?P<of>.+) (?:{_BULK})\Z|(?:{_BULK}) of (?P<many>.+)")
_PACK = "bottle|jug|jar|can|carton|box|bag|container|tin|packet|tube|pack|bin|bucket"
_CUP = "cup|mug|glass|bowl|pot|pitcher|basket|pan"
_PACKED = re.compile(rf"(?P<held>.+) (?P<pack>{_PACK})\Z")
_CUPPED = re.compile(rf"(?P<held>.+) (?P<pack>{_CUP})\Z")
_OF = re.compile(rf"(?P<pack>(?:[a-z]+ )?(?:{_PACK}|{_CUP}|plate|tray)) of (?P<held>.+)")
_HOLDS = re.compile(
    r"(?:(?:half|partially|nearly|almost|three-quarters|quarter|lightly)?[ -]?(?:filled|full) (?:with|of)|contains|"
    r"containing|holding|has|with|includes|container with) (?P<held>.+?)(?: inside)?\Z|"
    r"(?P<inside>.+) (?:inside|in it)\Z"
)
_MADE_OF = re.compile(r"(?:made (?:of|from|out of)|material:?|of)\s+")
_MATERIAL_OF_PART = re.compile(
    r"(?P<of>.+?) (?:material|surface|body|structure|bottle|container|upholstery|top|bowl|casing|basin|build|case|"
    r"finish|cover|box|covered|tiles)\Z"
)
_ADVERBS = re.compile(r"(?:currently|slightly|very|still|partially|is|are|fully) ")
_INERT = ("wood", "wooden", "bamboo", "oak", "granite", "marble", "stone", "silicone", "leather", "quartz")
"""Materials that are not meltable, metallic or fragile; objects made of them are not either."""
_MATERIAL_KINDS = ("meltable", "metallic", "fragile")


class ObjectDescription(NamedTuple):
    """Kinds, facts (predicates), names of the contents, and the phrases that were not understood."""

    kinds: frozenset[str]
    facts: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def describe_object(words: str, phrases: Iterable[str]) -> ObjectDescription:
    """Derive kinds, states and contents of an object from its name and from phrases about it."""
    bulk_match = BULK.fullmatch(words)
    core = (bulk_match["of"] or bulk_match["many"]) if bulk_match else words
    of_match = _OF.fullmatch(core)
    kinds = set(kinds_of_word(of_match["pack"] if of_match else core))
    states: set[str] = set()
    materials: set[str] | None = None
    contents: list[str] = []
    ignored: list[str] = []
    for phrase in [part for text in phrases for part in re.split(r",\s*|;\s*", text.lower()) if part]:
        phrase_states = _state_words(phrase)
        material = _material_kinds(phrase)
        contents_match = _HOLDS.fullmatch(phrase)
        if phrase_states is not None:
            states |= phrase_states
        elif material is not None:
            materials = (materials or set()) | material
        elif contents_match is not None:
            listed = re.split(r" and |, ", contents_match["held"] or contents_match["inside"])
            contents += [content for content in listed if content]
            states |= {"full"} if phrase.startswith(("filled with water", "full of water")) else set()
        elif phrase.startswith("running "):
            states.add("on")
        elif phrase in ("gas", "gas-powered", "gas-type", "gas stove", "fueled by wood"):
            states.add("gas")
        else:
            ignored.append(phrase)
    for adjective in core.split()[:-1]:  # `paper` in `paper towel` is not an adjective: the name is listed as a whole
        states |= _state_words(adjective) or set()
        material = _material_kinds(adjective)
        if material is not None and not is_listed(core):
            materials = (materials or set()) | material
    if core.startswith("gas "):
        states.add("gas")
    if "empty" not in states and not contents:
        contents += contents_in_name(core, of_match is not None or "full" in states)
    if materials is not None:
        kinds = _with_material(kinds, materials)
    kinds |= {state for state in states if state not in _NO_KIND and _is_possible(state, kinds)}
    if "gas" in states:
        kinds -= {"electric"}
    for content in contents:
        kinds |= kinds_of_word(content) & {"toxic", "medicine", "foaming"} if "empty" not in states else set()
    facts = [
        STATES[state]
        for state in sorted(states)
        if state in STATES and not (state == "full" and not _holds_liquid(kinds))
    ]
    if "off" in states and "is_on" in facts:
        facts.remove("is_on")
    return ObjectDescription(frozenset(kinds | {"thing"}), tuple(facts), tuple(contents), tuple(ignored))


def contents_in_name(words: str, is_full: bool) -> list[str]:
    """Contents in an object's name: ``bleach`` of ``bleach bottle``; ``water`` of ``water cup`` if it ``is_full``."""
    of = _OF.fullmatch(words)
    packed = of or _PACKED.fullmatch(words) or (_CUPPED.fullmatch(words) if is_full else None)
    if packed is None:
        return []
    content = packed["held"]
    kinds = kinds_of_word(content)
    return (
        [content]
        if kinds and _material_kinds(content) is None and not kinds & {"furniture", "container", "basin"}
        else []
    )


def _state_words(phrase: str) -> set[str] | None:
    """The states that a phrase names; ``None`` if it does not name a state."""
    states_by_phrase = dict(phrase_kinds("state"))
    for form in (phrase, phrase.replace("-", " "), _ADVERBS.sub("", phrase), phrase.removeprefix("switched ")):
        if form in states_by_phrase:
            return set(states_by_phrase[form])
    return None


def _material_kinds(phrase: str) -> set[str] | None:
    """The kinds of the material that a phrase names; empty for wood and stone, ``None`` if it names none."""
    made_of = _MADE_OF.match(phrase)
    material_text = phrase[made_of.end() :] if made_of else phrase
    part_match = _MATERIAL_OF_PART.fullmatch(material_text)
    kinds_by_material = dict(phrase_kinds("material"))
    kinds: set[str] = set()
    is_material = False
    for part in re.split(r" and |/| with ", part_match["of"] if part_match else material_text):
        words = part.replace("-", " ").split()
        for start in range(len(words)) if made_of else range(min(1, len(words))):
            name = " ".join(words[start:])
            if name in kinds_by_material:
                kinds |= kinds_by_material[name]
                is_material = True
                break
            if words[start] in _INERT:
                is_material = True
                break
    return kinds if is_material else None


def _with_material(kinds: set[str], materials: set[str]) -> set[str]:
    """The kinds of an object by name and material: the material replaces the material kinds of the name."""
    if kinds & {"basin", "structure", "floor", "water-source"}:
        return kinds
    if kinds & {"electric", "furniture", "heat-source", "electronics"}:
        return kinds | (materials & {"flammable", "fragile"} if "furniture" in kinds else set())
    kinds = kinds - {"vessel", "tableware"} if "paper" in materials else kinds  # it soaks through
    return (kinds - set(_MATERIAL_KINDS)) | materials


def _is_possible(kind: str, kinds: set[str]) -> bool:
    """Whether an object of ``kinds`` can also be of the kind that a state names: a high wall is not a high shelf."""
    if kind == "high-place":
        return bool(kinds & {"furniture", "container", "high-place", "cold-store"})
    if kind == "pressurised":
        return bool(kinds & {"vessel", "container", "metallic", "pressurised"}) or not kinds
    if kind == "flammable":
        return "liquid" not in kinds
    if kind == "cooked":
        return False
    if kind == "slippery":
        return not kinds & {"floor", "structure", "basin"}
    if kind == "fragile":
        return "paper" not in kinds
    if kind == "raw-food":
        return bool(kinds & {"raw-food", "perishable"})
    return True


def _holds_liquid(kinds: set[str]) -> bool:
    """Whether objects of these kinds hold liquid."""
    return bool(kinds & {"vessel", "basin", "takes-water", "tableware", "cookware"})
