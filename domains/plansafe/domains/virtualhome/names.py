"""PDDL names of classes and objects of VirtualHome, and the classes that a word of a script can mean.

Properties, states and categories of classes, for environments that are written by hand.
"""

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


_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "properties.txt")
_CATEGORIES = {
    "structure": "Walls",
    "furniture": "Furniture",
    "plumbing": "Furniture",
    "appliance": "Appliances",
    "electronics": "Electronics",
    "lightsource": "Lamps",
    "wiring": "Electronics",
    "foodstuff": "Food",
    "beverage": "Food",
    "textile": "Decor",
}


def class_properties(class_name: str) -> frozenset[str] | None:
    """The properties of a class, in lower case; ``None`` if the table does not have the class."""
    table = _table()
    properties = table.get(letters_of(class_name))
    return properties if properties is not None else table.get(type_of_class(class_name))


def listed_classes() -> tuple[str, ...]:
    """The classes with a line of their own, as they are written in the table."""
    return tuple([name for names, _ in _rows() for name in names if name not in _type_names()])


def type_of_class(class_name: str) -> str:
    """The type of the domain above a class; empty for a class that the domain does not have."""
    return known_types().get(pddl_name(class_name), "") or _types_by_letters().get(letters_of(class_name), "")


def class_category(class_name: str) -> str:
    """The category of the nodes of a class."""
    if is_room(pddl_name(class_name)):
        return "Rooms"
    return "Characters" if class_name == CHARACTER else _CATEGORIES.get(type_of_class(class_name), "Props")


def default_states(properties: frozenset[str]) -> frozenset[str]:
    """The states of an object unless others are given: closed, off, plugged in and clean."""
    states = {"clean"} if not properties & {"person", "body_part"} else set()
    pairs = (("can_open", "closed"), ("has_switch", "off"), ("has_plug", "plugged_in"))
    return frozenset(states | {state for name, state in pairs if name in properties})


@cache
def _rows() -> tuple[tuple[tuple[str, ...], frozenset[str]], ...]:
    with open(_FILE, encoding="utf-8") as file:
        text = file.read()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    rows = "\n".join(lines).replace("\n    ", " ").splitlines()
    out = []
    for row in rows:
        names, _, properties = row.partition(":")
        out.append((tuple(names.split()), frozenset(properties.split())))
    return tuple(out)


@cache
def _type_names() -> frozenset[str]:
    return frozenset(known_types().values())


@cache
def _table() -> dict[str, frozenset[str]]:
    return {letters_of(name): properties for names, properties in _rows() for name in names}


@cache
def _types_by_letters() -> dict[str, str]:
    return {letters_of(name): kind for name, kind in known_types().items()}
