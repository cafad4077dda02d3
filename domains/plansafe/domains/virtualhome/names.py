"""PDDL names of classes and objects of VirtualHome, and the classes that a word of a script can mean."""

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
UNKNOWN_TYPE = "thing"


def pddl_name(name: str) -> str:
    """A name as a PDDL name: ``living_room`` for ``Living Room``."""
    return _FOREIGN.sub("_", name.strip().lower()) or "_"


@cache
def letters_of(name: str) -> str:
    """A class name without ``_`` and ``-``: ``coffee_table`` and ``coffeetable`` are the same class."""
    return pddl_name(name).replace("_", "").replace("-", "")


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
    """The types of the shipped domain, each with its supertype."""
    match = _TYPES.search(_COMMENT.sub("", domain_text()))
    assert match is not None, "the shipped domain has types"
    words = match[1].split()
    parents: dict[str, str] = {}
    names: list[str] = []
    for number, word in enumerate(words):
        if word == "-":
            parents.update(dict.fromkeys(names, words[number + 1]))
            names = []
        elif number == 0 or words[number - 1] != "-":
            names.append(word)
    return parents


def is_room(of_type: str) -> bool:
    """Whether objects of a type are rooms."""
    return of_type == ROOM or known_types().get(of_type) == ROOM


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """The classes that each word can also mean, the nearest first (``synonyms.txt``); all as letters."""
    table = {}
    with open(os.path.join(_FOLDER, "synonyms.txt"), encoding="utf-8") as file:
        for line in file:
            word, colon, classes = line.partition("#")[0].partition(":")
            if colon:
                table[letters_of(word)] = tuple([letters_of(class_name) for class_name in classes.split(",")])
    return table


def may_mean(word: str, of_class: str) -> bool:
    """Whether a script can call an object of a class ``word``."""
    word, of_class = letters_of(word), letters_of(of_class)
    table = synonyms()
    return word == of_class or of_class in table.get(word, ()) or word in table.get(of_class, ())
