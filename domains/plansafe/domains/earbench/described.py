"""What the words of a scene make of a thing: its kinds, its states, and what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from plansafe.domains.earbench.kinds import kinds_of_word, knows, sayings

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
"""The states that are facts, and their predicates; the others are kinds."""
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
_MADE = re.compile(r"(?:made (?:of|from|out of)|material:?|of)\s+")
_GROUNDS = re.compile(
    r"(?P<of>.+?) (?:material|surface|body|structure|bottle|container|upholstery|top|bowl|casing|basin|build|case|"
    r"finish|cover|box|covered|tiles)\Z"
)
_LOOSE = re.compile(r"(?:currently|slightly|very|still|partially|is|are|fully) ")
_INERT = ("wood", "wooden", "bamboo", "oak", "granite", "marble", "stone", "silicone", "leather", "quartz")
"""Materials that are none of the kinds, which a thing that is made of them is not either."""
_MATTER = ("meltable", "metallic", "fragile")


class Described(NamedTuple):
    """Kinds, facts (predicates), the words for what is in it, and the phrases that mean nothing here."""

    kinds: frozenset[str]
    facts: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()


def described(words: str, said: Iterable[str]) -> Described:
    """What a name and the phrases that are said of the thing make of it."""
    bulk = BULK.fullmatch(words)
    core = (bulk["of"] or bulk["many"]) if bulk else words
    of = _OF.fullmatch(core)
    kinds = set(kinds_of_word(of["pack"] if of else core))
    states: set[str] = set()
    matters: set[str] | None = None
    contents: list[str] = []
    idle: list[str] = []
    for phrase in [part for whole in said for part in re.split(r",\s*|;\s*", whole.lower()) if part]:
        meant = _states(phrase)
        matter = _matter(phrase)
        holds = _HOLDS.fullmatch(phrase)
        if meant is not None:
            states |= meant
        elif matter is not None:
            matters = (matters or set()) | matter
        elif holds is not None:
            contents += [held for held in re.split(r" and |, ", holds["held"] or holds["inside"]) if held]
            states |= {"full"} if phrase.startswith(("filled with water", "full of water")) else set()
        elif phrase.startswith("running "):
            states.add("on")
        elif phrase in ("gas", "gas-powered", "gas-type", "gas stove", "fueled by wood"):
            states.add("gas")
        else:
            idle.append(phrase)
    for before in core.split()[:-1]:  # adjectives of the name; `paper towel` is a name of its own
        states |= _states(before) or set()
        adjective = _matter(before)
        if adjective is not None and not knows(core):
            matters = (matters or set()) | adjective
    if core.startswith("gas "):
        states.add("gas")
    if "empty" not in states and not contents:
        contents += contents_in_name(core, of is not None or "full" in states)
    if matters is not None:
        kinds = _of_matter(kinds, matters)
    kinds |= {state for state in states if state not in _NO_KIND and _may_be(state, kinds)}
    if "gas" in states:
        kinds -= {"electric"}
    for content in contents:
        kinds |= kinds_of_word(content) & {"toxic", "medicine", "foaming"} if "empty" not in states else set()
    facts = [
        STATES[state] for state in sorted(states) if state in STATES and not (state == "full" and not _holds(kinds))
    ]
    if "off" in states and "is_on" in facts:
        facts.remove("is_on")
    return Described(frozenset(kinds | {"thing"}), tuple(facts), tuple(contents), tuple(idle))


def contents_in_name(words: str, told: bool) -> list[str]:
    """What a name says is in the thing: of ``bleach bottle``; of ``water cup`` only where it is told to be full."""
    of = _OF.fullmatch(words)
    packed = of or _PACKED.fullmatch(words) or (_CUPPED.fullmatch(words) if told else None)
    if packed is None:
        return []
    held = packed["held"]
    kinds = kinds_of_word(held)
    return [held] if kinds and _matter(held) is None and not kinds & {"furniture", "container", "basin"} else []


def _states(phrase: str) -> set[str] | None:
    """What a phrase says of the state of a thing; ``None`` if it says nothing of it."""
    known = dict(sayings("state"))
    for form in (phrase, phrase.replace("-", " "), _LOOSE.sub("", phrase), phrase.removeprefix("switched ")):
        if form in known:
            return set(known[form])
    return None


def _matter(phrase: str) -> set[str] | None:
    """The kinds of what a thing is made of; empty for wood and stone, ``None`` if a phrase says no material."""
    made = _MADE.match(phrase)
    rest = phrase[made.end() :] if made else phrase
    grounds = _GROUNDS.fullmatch(rest)
    known = dict(sayings("material"))
    found: set[str] = set()
    told = False
    for part in re.split(r" and |/| with ", grounds["of"] if grounds else rest):
        words = part.replace("-", " ").split()
        for start in range(len(words)) if made else range(min(1, len(words))):
            name = " ".join(words[start:])
            if name in known:
                found |= known[name]
                told = True
                break
            if words[start] in _INERT:
                told = True
                break
    return found if told else None


def _of_matter(kinds: set[str], matters: set[str]) -> set[str]:
    """The kinds of a thing that is made of something: of what it is by its name, only that which this allows."""
    if kinds & {"basin", "structure", "floor", "water-source"}:
        return kinds
    if kinds & {"electric", "furniture", "heat-source", "electronics"}:
        return kinds | (matters & {"flammable", "fragile"} if "furniture" in kinds else set())
    kinds = kinds - {"vessel", "tableware"} if "paper" in matters else kinds  # it soaks through
    return (kinds - set(_MATTER)) | matters


def _may_be(kind: str, kinds: set[str]) -> bool:
    """Whether a thing of these kinds may be of one that a state names: a wall is high and no place to put things."""
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


def _holds(kinds: set[str]) -> bool:
    """Whether something of these kinds holds liquid."""
    return bool(kinds & {"vessel", "basin", "takes-water", "tableware", "cookware"})
