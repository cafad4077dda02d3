"""Names: how classes and objects of VirtualHome are called in PDDL, and which classes a word of a script may mean."""

from __future__ import annotations

import os
import re
from functools import cache

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_FOREIGN = re.compile(r"[^0-9a-z_-]+")
_TYPES = re.compile(r"\(:types(.*?)\)", re.DOTALL)
_COMMENT = re.compile(r";[^\n]*")

CHARACTER = "character"
ROOM = "room"
THING = "thing"


def plain(name: str) -> str:
    """A name in the letters that a PDDL name may have: ``Living Room`` is ``living_room``."""
    return _FOREIGN.sub("_", name.strip().lower()) or "_"


@cache
def squeezed(name: str) -> str:
    """What is left of a class name without ``_`` and ``-``: ``coffee_table`` and ``coffeetable`` are one class."""
    return plain(name).replace("_", "").replace("-", "")


@cache
def domain_text() -> str:
    """The text of the shipped domain."""
    with open(domain_file(), encoding="utf-8") as file:
        return file.read()


def domain_file() -> str:
    """The path of the shipped domain."""
    return os.path.join(_FOLDER, "domain.pddl")


@cache
def known_types() -> dict[str, str]:
    """The types of the shipped domain, each with the type above it."""
    match = _TYPES.search(_COMMENT.sub("", domain_text()))
    assert match is not None, "the shipped domain has types"
    words = match[1].split()
    out: dict[str, str] = {}
    waiting: list[str] = []
    for number, word in enumerate(words):
        if word == "-":
            out.update(dict.fromkeys(waiting, words[number + 1]))
            waiting = []
        elif number == 0 or words[number - 1] != "-":
            waiting.append(word)
    return out


def is_room(of_type: str) -> bool:
    """Whether objects of a type are rooms."""
    return of_type == ROOM or known_types().get(of_type) == ROOM


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """For each word, squeezed, the squeezed classes that it may also mean, the nearest first (``synonyms.txt``)."""
    out = {}
    with open(os.path.join(_FOLDER, "synonyms.txt"), encoding="utf-8") as file:
        for line in file:
            word, colon, others = line.partition("#")[0].partition(":")
            if colon:
                out[squeezed(word)] = tuple([squeezed(other) for other in others.split(",")])
    return out


def may_mean(word: str, of_class: str) -> bool:
    """Whether a script that names the object of this class by ``word`` can be taken at its word."""
    word, of_class = squeezed(word), squeezed(of_class)
    table = synonyms()
    return word == of_class or of_class in table.get(word, ()) or word in table.get(of_class, ())
