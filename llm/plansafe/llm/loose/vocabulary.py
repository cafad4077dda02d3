"""The words and sentence forms that cannot change a plan, from ``vocabulary.toml``."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

_DATA = tomllib.loads(Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8"))
_CLASSES = {name: frozenset(words.split()) for name, words in _DATA["classes"].items()}
ARTICLES = _CLASSES["articles"]
COPULAS = _CLASSES["copulas"]
PREPOSITIONS = _CLASSES["prepositions"]
PLACES = _CLASSES["places"]
"""The prepositions that stand before a place."""
ADVERBS = _CLASSES["adverbs"]
PARTICLES = _CLASSES["particles"]
THEN = _CLASSES["then"]
FIRST = _CLASSES["first"]
LAST = _CLASSES["last"]
NEEDS = _CLASSES["needs"]
EXPLAINS = _CLASSES["explains"]
ASSURES = _CLASSES["assures"]
BEFORE_NOUNS = _CLASSES["before_nouns"]
PLANS = _CLASSES["plans"]
GOALS = _CLASSES["goals"]
DONE = _CLASSES["done"]
STARTS = _CLASSES["starts"]
ENDS = _CLASSES["ends"]
BOUNDARIES = _CLASSES["boundaries"]
REACHED = _CLASSES["reached"]
ADJECTIVES = _CLASSES["adjectives"]
KNOWN = (
    THEN
    | FIRST
    | LAST
    | NEEDS
    | PARTICLES
    | COPULAS
    | PREPOSITIONS
    | {"before", "after", "step", "action", "can", "left", "has", "have"}
)


class Vocabulary(NamedTuple):
    """Words by class, patterns of sentences, and the forms of verbs with their groups."""

    words: frozenset[str]
    content: frozenset[str]
    things: frozenset[str]
    persons: frozenset[str]
    limits: frozenset[str]
    phrases: re.Pattern[str]
    offers: re.Pattern[str]
    people: re.Pattern[str]
    offered: frozenset[str]
    forms: dict[str, re.Pattern[str]]
    verbs: dict[str, tuple[frozenset[str], frozenset[str]]]
    lemmas: dict[str, frozenset[str]]
    states: dict[str, str]
    synonyms: dict[str, frozenset[str]]


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary, read once."""
    data = _DATA
    slots: dict[str, str] = {}
    pending = dict(data["slots"])
    while pending:  # slots may use one another
        for name, pattern in list(pending.items()):
            filled = _filled(pattern, slots)
            if "{" not in filled:
                slots[name] = filled
                del pending[name]
    forms = {
        place: re.compile("|".join([f"(?:{_filled(form, slots)})" for form in listed]))
        for place, listed in data["forms"].items()
    }
    lemmas: dict[str, frozenset[str]] = {}
    verbs: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for group, listed in data["verbs"].items():
        for lemma in listed.split():
            lemmas[lemma] = lemmas.get(lemma, frozenset()) | {group}
            for form, kind in verb_forms(lemma, data["irregular"].get(lemma)):
                verb_entry = verbs.get(form, (frozenset(), frozenset()))
                verbs[form] = (verb_entry[0] | {group}, verb_entry[1] | {kind})
    persons = frozenset(data["words"]["persons"].split())
    limits = frozenset(data["words"]["limits"].split())
    lists = {name: frozenset(text.split()) for name, text in data["words"].items() if name != "persons"}
    words = frozenset().union(*lists.values())
    content = words - lists["function"]
    synonyms: dict[str, frozenset[str]] = {}
    for word, synonyms_of_word in data["synonyms"].items():
        group_of_names = frozenset((word, *synonyms_of_word.split()))
        synonyms |= dict.fromkeys(group_of_names, group_of_names)
    phrases = re.compile(rf"\b(?:{'|'.join(sorted(data['phrases']['neutral'], key=len, reverse=True))})(?![\w-])")
    talk, owned = ("|".join(data["people"][name].split()) for name in ("talk", "owned"))
    people = re.compile(
        rf"\b(?:(?:i|we|you)(?: (?:have|will|can|would|could|also))*|(?:let|allow) me(?: to)?) (?:{talk})\b"
        rf"(?: (?:you|me|up with))?(?! (?:to|it)\b)|\b(?:my|your) (?=(?:[a-z-]+ )?(?:{owned})\b)"
    )
    offers = re.compile("|".join(data["offers"]["heads"]))
    offered = frozenset(data["offers"]["words"].split()) | lists["function"] | persons
    return Vocabulary(
        words,
        content,
        lists["things"],
        persons,
        limits,
        phrases,
        offers,
        people,
        offered,
        forms,
        verbs,
        lemmas,
        data["states"],
        synonyms,
    )


def _filled(pattern: str, slots: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: slots.get(match[1], match.group()), pattern)


def verb_forms(lemma: str, irregular: str | None = None) -> list[tuple[str, str]]:
    """The forms of a verb, each with its kind: ``base``, ``s``, ``ing`` or ``ed``."""
    if irregular:
        third, gerund, past, participle = irregular.split()
        return [(lemma, "base"), (third, "s"), (gerund, "ing"), (past, "past"), (participle, "ed")]
    stem = lemma[:-1] if lemma.endswith("e") else lemma
    third = f"{lemma}es" if lemma.endswith(("s", "sh", "ch", "x", "o")) else f"{lemma}s"
    third = f"{lemma[:-1]}ies" if re.search(r"[^aeiou]y$", lemma) else third
    past = f"{lemma[:-1]}ied" if re.search(r"[^aeiou]y$", lemma) else f"{stem}ed"
    return [(lemma, "base"), (third, "s"), (f"{stem}ing", "ing"), (past, "ed")]


@cache
def vocabulary_verbs() -> frozenset[str]:
    """The household verbs that are known, in the imperative."""
    return frozenset(form for form, (_, kinds) in vocabulary().verbs.items() if "base" in kinds)
