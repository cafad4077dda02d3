"""What kind of thing a name means, in the words of the household ontology (specs/plansafe/specs/home.safe).

A scene of names says no kinds. They are what other worlds say of the same word: the mappings of the hazard library bind
each kind to classes of AI2-THOR and VirtualHome and to synsets of iGibson and OmniGibson. ``words.txt`` adds words that
none of these has, and what a material or a state in words makes of a thing.
"""

from __future__ import annotations

import os
import re
from functools import cache

from plansafe.domains import domain_path
from plansafe.domains.behavior.vocabulary import categories, kinds_of, vocabulary
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path

_WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")
_WORLDS = ("igibson", "omnigibson", "safeagentbench", "virtualhome")
_SENSE = re.compile(r"[._][a-z][._]\d+\Z")
_PREFIX = re.compile(r"(?:food|clothes)_(?=[a-z])")
_UNKNOWN: frozenset[str] = frozenset()


@cache
def kinds_of_word(words: str) -> frozenset[str]:
    """The kinds of what words name (``gas stove``): by all of them, else by the last ones, which name the thing.

    Empty if no word is known. Plural and singular are the same.
    """
    parts = words.split()
    for start in range(len(parts)):
        found = _lookup("".join(parts[start:]))
        if found is not None:
            return found
    return _UNKNOWN


def knows(words: str) -> bool:
    """Whether all of the words together are in some list."""
    return _lookup("".join(words.split())) is not None


def _lookup(word: str) -> frozenset[str] | None:
    """The kinds of a word as it is, or of its singular."""
    table = _table()
    for form in (word, *[word.removesuffix(end) + put for end, put in _PLURALS if word.endswith(end)]):
        if form in table:
            return table[form]
    return None


_PLURALS = (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("es", ""), ("s", ""))


@cache
def sayings(what: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Of ``words.txt``, the sayings of a section (``material``, ``state``) with what each means."""
    found: dict[str, set[str]] = {}
    for section, means, words in _entries():
        if section == what:
            for word in words:
                found.setdefault(word.replace("-", " "), set()).add(means)
    return tuple([(word, frozenset(means)) for word, means in found.items()])


@cache
def _table() -> dict[str, frozenset[str]]:
    """Kinds by word, letters alone."""
    found: dict[str, set[str]] = {}
    for world in _WORLDS:
        loose = {kind for section, told, kinds in _entries() if (section, told) == ("loose", world) for kind in kinds}
        bound = {kind: types for kind, types in _bindings(world).items() if kind not in loose}
        for name, above in _classes(world).items():
            kinds = {kind for kind, types in bound.items() if not types.isdisjoint(above)}
            for word in {_plain(name), _plain(_PREFIX.sub("", name))}:
                found.setdefault(word, set()).update(kinds)
    for section, kind, words in _entries():
        if section == "kind":
            for word in words:
                found.setdefault(_plain(word), set()).add(kind)
        elif section == "like":
            for word in words:
                found.setdefault(_plain(word), set()).update(found.get(_plain(kind), ()))
        elif section == "not":
            for word in words:
                found.setdefault(_plain(word), set()).discard(kind)
    return {word: frozenset(kinds) for word, kinds in found.items()}


def _plain(name: str) -> str:
    """The letters of a class or synset: ``coffee_table.n.01`` and ``coffeetable`` are one."""
    return re.sub(r"[^a-z0-9]", "", _SENSE.sub("", name))


def _classes(world: str) -> dict[str, frozenset[str]]:
    """The classes of a world with all types above each."""
    shipped = vocabulary(world)
    found = dict(shipped.kinds)
    if world == "omnigibson":
        for category in categories():
            above = [shipped.kinds.get(kind, frozenset([kind])) for kind in kinds_of(category)]
            found.setdefault(category.replace(".", "_"), frozenset().union(*above))
    return found


def _bindings(world: str) -> dict[str, frozenset[str]]:
    """The types of a world that each kind is bound to, as the mapping says."""
    domain = Source.from_path(domain_path(world))
    mapping = Source.from_path(spec_path(f"home-{world}"))
    groups: dict[str, frozenset[str]] = {}
    found: dict[str, frozenset[str]] = {}
    for source in add_kinds(domain, Source("empty problem", ""), [mapping]):
        top = parse_nodes(source)
        assert top is not None, "a shipped mapping is well-formed"
        assert isinstance(top[0], list)
        sections = {str(section[0]): section for section in top[0] if isinstance(section, list)}
        for entry in sections.get(":groups", [""])[1:]:
            assert isinstance(entry, list)
            groups[str(entry[0])] = _types(entry[1:], groups)
        for entry in sections.get(":types", [""])[1:]:
            assert isinstance(entry, list)
            found[str(entry[0])] = found.get(str(entry[0]), frozenset()) | _types(entry[1:], groups)
    return found | {"small-table": groups.get("small-tables", frozenset())}


def _types(nodes: list[Node], groups: dict[str, frozenset[str]]) -> frozenset[str]:
    """The types of ``TYPE``, ``GROUP`` or ``(either ..)``."""
    names = [str(name) for node in nodes for name in (node[1:] if isinstance(node, list) else [node])]
    return frozenset([kind for name in names for kind in groups.get(name, frozenset([name]))])


@cache
def _entries() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The lines of ``words.txt``: section, what its words mean, the words."""
    found: list[tuple[str, str, list[str]]] = []
    with open(_WORDS, encoding="utf-8") as file:
        for line in file:
            for word in line.partition("#")[0].split():
                if word.endswith(":"):
                    section, _, means = word[:-1].partition("=")
                    found.append((section, means, []))
                else:
                    found[-1][2].append(word)
    return tuple([(section, means, tuple(words)) for section, means, words in found])
