"""Kinds of the household ontology (specs/plansafe/specs/home.safe) for the words of a scene.

A word has the kinds of its class in the object table. ``words.txt`` adds further words, materials and states.
"""

from __future__ import annotations

import os
from functools import cache

from plansafe.domains.objects.table import CONFIRMED, EVERYWHERE, NO_KIND, letters, load_table
from plansafe.grammar.sexpr import parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path

_WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.txt")
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
    objects = load_table()
    table: dict[str, set[str]] = {}
    for word, rows in objects.rows.items():
        confirmed = [
            objects.kinds[letters(row.kind)] for row in rows if row.status == CONFIRMED and row.kind != NO_KIND
        ]
        table[word] = {name for kind in confirmed for name in (kind.name, *kind.implies)}
    for (world, word), class_name in objects.names.items():
        if world == EVERYWHERE:
            table[word] = set(table.get(letters(class_name), ()))
    for word in _small_tables():
        table.setdefault(word, set()).add("small-table")
    for section, kind, words in _word_list():
        if section == "kind":
            for word in words:
                table.setdefault(letters(word), set()).add(kind)
        elif section == "like":
            for word in words:
                table.setdefault(letters(word), set()).update(table.get(letters(kind), ()))
        elif section == "not":
            for word in words:
                table.setdefault(letters(word), set()).discard(kind)
    return {word: frozenset(kinds) for word, kinds in table.items()}


def _small_tables() -> list[str]:
    """The group ``small-tables`` of VirtualHome's mapping: two objects on one of them are beside each other."""
    top = parse_nodes(Source.from_path(spec_path("home-virtualhome")))
    assert top is not None, "a shipped mapping is well-formed"
    groups = next(section for section in top[0] if isinstance(section, list) and section[0] == ":groups")
    types = next(group[1] for group in groups if isinstance(group, list) and group[0] == "small-tables")
    return [letters(str(name)) for name in types[1:]]


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
