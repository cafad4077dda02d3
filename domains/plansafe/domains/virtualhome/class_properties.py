"""Properties, states and categories of classes, for environments that are written by hand."""

from __future__ import annotations

import os
from functools import cache

from plansafe.domains.virtualhome.names import CHARACTER, is_room, known_types, letters_of, pddl_name

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
