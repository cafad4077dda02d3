"""Kinds of the household ontology (specs/plansafe/specs/home.safe) for the words of a scene.

A word has the kinds that other worlds give it: their mappings bind kinds to classes of AI2-THOR and VirtualHome and
to synsets of iGibson and OmniGibson. ``words.txt`` adds further words, materials and states.
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
    """The kinds of an object by its name (``gas stove``): by the whole name, otherwise by its last words.

    Empty if no word is known. Plural and singular are the same.
    """
    word_list = words.split()
    for start in range(len(word_list)):
        kinds = _lookup("".join(word_list[start:]))
        if kinds is not None:
            return kinds
    return _UNKNOWN


def is_listed(words: str) -> bool:
    """Whether a list contains the whole name."""
    return _lookup("".join(words.split())) is not None


def _lookup(word: str) -> frozenset[str] | None:
    """The kinds of a word or of its singular; ``None`` if no list has it."""
    table = _kinds_by_word()
    for form in (word, *[word.removesuffix(end) + replacement for end, replacement in _PLURALS if word.endswith(end)]):
        if form in table:
            return table[form]
    return None


_PLURALS = (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("es", ""), ("s", ""))


@cache
def phrase_kinds(section: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The phrases of a section of ``words.txt`` (``material``, ``state``), each with its kinds or states."""
    kinds_by_phrase: dict[str, set[str]] = {}
    for row_section, kind, words in _word_list():
        if row_section == section:
            for word in words:
                kinds_by_phrase.setdefault(word.replace("-", " "), set()).add(kind)
    return tuple([(word, frozenset(kind)) for word, kind in kinds_by_phrase.items()])


@cache
def _kinds_by_word() -> dict[str, frozenset[str]]:
    """The kinds of each word; words are reduced to letters and digits."""
    table: dict[str, set[str]] = {}
    for world in _WORLDS:
        loose = {
            kind
            for section, of_world, words in _word_list()
            if (section, of_world) == ("loose", world)
            for kind in words
        }
        bound = {kind: types for kind, types in _bindings(world).items() if kind not in loose}
        for name, above in _classes(world).items():
            kinds = {kind for kind, types in bound.items() if not types.isdisjoint(above)}
            for word in {_letters(name), _letters(_PREFIX.sub("", name))}:
                table.setdefault(word, set()).update(kinds)
    for section, kind, words in _word_list():
        if section == "kind":
            for word in words:
                table.setdefault(_letters(word), set()).add(kind)
        elif section == "like":
            for word in words:
                table.setdefault(_letters(word), set()).update(table.get(_letters(kind), ()))
        elif section == "not":
            for word in words:
                table.setdefault(_letters(word), set()).discard(kind)
    return {word: frozenset(kinds) for word, kinds in table.items()}


def _letters(name: str) -> str:
    """The letters of a class or synset: ``coffee_table.n.01`` and ``coffeetable`` are the same word."""
    return re.sub(r"[^a-z0-9]", "", _SENSE.sub("", name))


def _classes(world: str) -> dict[str, frozenset[str]]:
    """The classes of a world, each with all types above it."""
    shipped = vocabulary(world)
    types_above = dict(shipped.kinds)
    if world == "omnigibson":
        for category in categories():
            above = [shipped.kinds.get(kind, frozenset([kind])) for kind in kinds_of(category)]
            types_above.setdefault(category.replace(".", "_"), frozenset().union(*above))
    return types_above


def _bindings(world: str) -> dict[str, frozenset[str]]:
    """The types of a world to which its mapping binds each kind."""
    domain = Source.from_path(domain_path(world))
    mapping = Source.from_path(spec_path(f"home-{world}"))
    groups: dict[str, frozenset[str]] = {}
    types_by_kind: dict[str, frozenset[str]] = {}
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
            types_by_kind[str(entry[0])] = types_by_kind.get(str(entry[0]), frozenset()) | _types(entry[1:], groups)
    return types_by_kind | {"small-table": groups.get("small-tables", frozenset())}


def _types(nodes: list[Node], groups: dict[str, frozenset[str]]) -> frozenset[str]:
    """The types of ``TYPE``, ``GROUP`` or ``(either ..)``."""
    names = [str(name) for node in nodes for name in (node[1:] if isinstance(node, list) else [node])]
    return frozenset([kind for name in names for kind in groups.get(name, frozenset([name]))])


@cache
def _word_list() -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The entries of ``words.txt``: section, meaning (a kind, a state or a word), words."""
    entries: list[tuple[str, str, list[str]]] = []
    with open(_WORDS, encoding="utf-8") as file:
        for line in file:
            for word in line.partition("#")[0].split():
                if word.endswith(":"):
                    section, _, meaning = word[:-1].partition("=")
                    entries.append((section, meaning, []))
                else:
                    entries[-1][2].append(word)
    return tuple([(section, meaning, tuple(words)) for section, meaning, words in entries])
