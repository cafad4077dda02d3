"""Which scenes of VirtualHome have what: those with things that few have, and that rules speak of, come sooner.

Half of the types of hazard need a thing that most homes lack, such as an animal. A graph is looked at for its classes
alone, which takes two milliseconds; a task is made in half a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from plansafe.align.tasks import BadOrigin, graph_text
from plansafe.grammar.sexpr import Node, read_all
from plansafe.grammar.source import Source
from plansafe.specs import spec_path

RARE = 3
"""A kind is rare that is in less than one of so many scenes."""
_MAPPING = "home-virtualhome"
_CLASS = re.compile(r'"class_name":\s*"([a-z0-9_ -]{1,60})"', re.ASCII)


def rare_first(origins: Sequence[str], data: str, random: Random) -> list[str]:
    """In an order that is drawn: the rarer the kinds in a scene, the sooner it comes. Raises ``OSError``."""
    kinds = kinds_of(Source.from_path(spec_path(_MAPPING)))
    there = {origin: _there(origin, data, kinds) for origin in origins}
    scenes = Counter([kind for found in there.values() for kind in found])
    weights = {
        origin: sum([1 / scenes[kind] for kind in found if scenes[kind] * RARE < len(origins)])
        for origin, found in there.items()
    }
    # Efraimidis and Spirakis 2006: drawn one by one without replacement, each time in proportion to the weights.
    keys = {origin: random.random() ** (1 / weight) if weight else 0.0 for origin, weight in weights.items()}
    return sorted(origins, key=lambda origin: (-keys[origin], origin))


def kinds_of(mapping: Source) -> dict[str, frozenset[str]]:
    """The classes of each kind that a mapping binds."""
    groups: dict[str, frozenset[str]] = {}
    out: dict[str, frozenset[str]] = {}
    for name, entries in _sections((read_all(mapping) or [[]])[0]):
        for entry in entries:
            if name in (":groups", ":types") and isinstance(entry, list) and isinstance(entry[0], str):
                found = _classes(entry[1:], groups)
                (groups if name == ":groups" else out)[entry[0]] = found
    return out


def _sections(form: Node) -> Iterable[tuple[Node, list[Node]]]:
    return [(part[0], part[1:]) for part in form if isinstance(part, list) and part]


def _classes(nodes: Iterable[Node], groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    out: set[str] = set()
    for node in nodes:
        if isinstance(node, list):
            out |= _classes(node, groups)
        else:
            out |= groups.get(node, {node} - {"either"})
    return frozenset(out)


def _there(origin: str, data: str, kinds: Mapping[str, frozenset[str]]) -> list[str]:
    try:
        return _kinds_in(graph_text(origin, data), kinds)
    except BadOrigin:
        return []  # whoever makes the task says what is wrong with it


def _kinds_in(graph: str, kinds: Mapping[str, frozenset[str]]) -> list[str]:
    classes = {found.replace(" ", "_") for found in _CLASS.findall(graph)}
    return [kind for kind, members in kinds.items() if not members.isdisjoint(classes)]
