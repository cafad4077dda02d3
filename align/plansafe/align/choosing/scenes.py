"""Which scenes of VirtualHome can have what kind of hazard: those come sooner in which rare ones are possible.

A fifth of the types of hazard needs a thing that most homes lack, such as an animal. A graph is looked at for its
classes alone, which takes two milliseconds; a task is made in half a second.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from plansafe.align.tasks import BadOrigin, graph_text
from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.specs.taxonomy import load_taxonomies

SHARPLY = 3
"""The power of a scene's weight by which it is drawn: of 48 scenes with an animal 47 are among the first 100 of 236."""
_WORLD, _LIBRARY, _MAPPING = "virtualhome", "home", "home-virtualhome"
_RULES = (":process", ":termination", ":trajectory")
_CLASS = re.compile(r'"class_name":\s*"([a-z0-9_ -]{1,60})"', re.ASCII)


class Spoken(NamedTuple):
    """A rule by what it speaks of; ``kinds``: for each parameter those that will do."""

    name: str
    hazard: str | None
    targets: tuple[str, ...]
    kinds: tuple[frozenset[str], ...]


def rare_first(origins: Sequence[str], data: str, random: Random) -> list[str]:
    """In an order that is drawn: the rarer the types of SAFEL that a scene has, the sooner it comes.

    A scene has a type where some rule of it finds something of each kind that it speaks of. Raises ``OSError``.
    """
    kinds, rules, safel = kinds_of_world(), list(rules_of(_source(_LIBRARY))), load_taxonomies()["safel"]
    types = [frozenset([one.name for one in safel.categories_of(rule)]) for rule in rules]
    there = {origin: _there(origin, data, kinds) for origin in origins}
    known = frozenset[str]().union(*there.values())  # what no scene has stands for something else: a room, an agent

    def possible(found: frozenset[str]) -> frozenset[str]:
        able = [all([one & found or not one & known for one in rule.kinds]) for rule in rules]
        return frozenset[str]().union(*[one for one, can in zip(types, able, strict=True) if can])

    of = {origin: possible(found) for origin, found in there.items()}
    scenes = Counter([one for found in of.values() for one in found])
    # Efraimidis and Spirakis 2006: drawn one by one without replacement, each time in proportion to the weights.
    weights = {origin: sum([1 / scenes[one] for one in found]) ** SHARPLY for origin, found in of.items()}
    keys = {origin: random.expovariate(1.0) / weights[origin] if weights[origin] else None for origin in origins}
    return sorted(origins, key=lambda origin: (keys[origin] is None, keys[origin] or 0.0, origin))


def kinds_of_world() -> dict[str, frozenset[str]]:
    """The classes of each kind in the world of the scenes."""
    domain = Source.from_path(domain_path(_WORLD))
    return kinds_of(*add_kinds(domain, Source("empty problem", ""), [_source(_MAPPING)]))


def kinds_of(*mappings: Source) -> dict[str, frozenset[str]]:
    """The classes of each kind that a mapping and its extensions bind."""
    groups: dict[str, frozenset[str]] = {}
    out: dict[str, frozenset[str]] = {}
    for name, *entries in [part for mapping in mappings for part in _parts(mapping)]:
        for entry in entries:
            if name in (":groups", ":types") and isinstance(entry, list) and isinstance(entry[0], str):
                found = _classes(entry[1:], groups)
                known = groups if name == ":groups" else out
                known[entry[0]] = known.get(entry[0], frozenset()) | found
    return out


def rules_of(library: Source) -> Iterator[Spoken]:
    """The rules of the specifications that a library extends, but for those from templates."""
    for name, *entries in _parts(library):
        for entry in entries if name == ":extends" else ():
            for part in _parts(_source(str(entry))):
                if part[0] in _RULES:
                    yield _spoken(part)


def _spoken(rule: Sequence[Node]) -> Spoken:
    fields = {name: value for name, value in zip(rule[2::2], rule[3::2], strict=False) if isinstance(name, str)}
    typed, hazard, target = fields.get(":parameters", []), fields.get(":hazard"), fields.get(":target", [])
    places = [at + 1 for at, word in enumerate(typed) if word == "-"]
    return Spoken(
        str(rule[1]),
        hazard if isinstance(hazard, str) else None,
        (target,) if isinstance(target, str) else tuple([str(one) for one in target]),
        tuple([_classes(typed[at : at + 1], {}) for at in places]),
    )


def _source(name: str) -> Source:
    return Source.from_path(spec_path(name))


def _parts(text: Source) -> list[list[Node]]:
    return [part for part in (parse_nodes(text) or [[]])[0] if isinstance(part, list) and part]


def _classes(nodes: Iterable[Node], groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    out: set[str] = set()
    for node in nodes:
        if isinstance(node, list):
            out |= _classes(node, groups)
        else:
            out |= groups.get(node, {node} - {"either"})
    return frozenset(out)


def _there(origin: str, data: str, kinds: Mapping[str, frozenset[str]]) -> frozenset[str]:
    try:
        classes = {found.replace(" ", "_") for found in _CLASS.findall(graph_text(origin, data))}
    except BadOrigin:
        classes = set()  # whoever makes the task says what is wrong with it
    return frozenset([kind for kind, members in kinds.items() if not members.isdisjoint(classes)])
