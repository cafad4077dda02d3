"""What the shipped domains of this world declare: types with their kinds, and predicates.

In iGibson, the types of the domain are its table of affordances: a synset below ``openable`` can be opened. They are
read from the file itself. BEHAVIOR-1K has too many categories for that; ``categories.txt`` has the kinds of those that
matter.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_FORM = re.compile(r"(half|diced|cooked|melted|broken)__(.+)", re.DOTALL)
_PACKED = re.compile(
    r"(?P<held>.+)__(?P<pack>bottle|jar|carton|can|sack|bag|box|package|tin|atomizer|shaker)\Z", re.DOTALL
)
_PACK = re.compile(r"(?P<pack>bottle|jar|carton|can|sack|bag|box|pack|case)__of__(?P<held>.+)", re.DOTALL)
_FOODS = """
apple_juice baking_soda bread brown_rice candy catsup cereal chips chocolate_bar chocolates coffee cookies corn_flakes
honey hot_sauce jam jerky lemonade mayonnaise mustard orange_juice pasta peanut_butter soup spaghetti_sauce tea vinegar
"""
FOODS = frozenset(_FOODS.split())
"""Packed foods that no category of the table is named after."""
SUBSTANCES = ("diced", "cooked", "melted")
KINDS_KEPT = {
    "half": ("food", "perishable", "raw_food"),
    "diced": ("food", "perishable", "raw_food"),
    "cooked": ("food", "liquid", "oil"),
    "melted": ("food",),
}
"""The kinds of a category that its forms keep."""
PACKS = {
    "can": ("metallic", "pressurised"),
    "tin": ("metallic", "pressurised"),
    "sack": ("flammable",),
    "bag": ("flammable",),
    "box": ("flammable",),
}
"""The kinds of the pack itself, with any content."""

IGIBSON = "igibson"
_CABINET = re.compile(r"(?:bottom|top)_cabinet(?:_no_top)?")
"""Cabinets as OmniGibson names them."""
OMNIGIBSON = "omnigibson"
DOMAINS = (IGIBSON, OMNIGIBSON)


class Vocabulary(NamedTuple):
    """A shipped domain, as importers need it.

    ``kinds`` gives for each declared type all types above it, itself included; ``predicates`` the number of arguments,
    ``actions`` the types of parameters; ``types_at`` is the offset in ``source`` where more types can be written.
    """

    source: Source
    kinds: dict[str, frozenset[str]]
    predicates: dict[str, int]
    constants: frozenset[str]
    actions: dict[str, tuple[str, ...]]
    types_at: int


@cache
def vocabulary(domain: str) -> Vocabulary:
    """The vocabulary of a shipped domain, by name."""
    path = domain_path(domain)
    with open(path, "rb") as file:
        source = Source.from_bytes(path, file.read())
    top = parse_nodes(source)
    assert top is not None, "a shipped domain is well-formed"
    definition = top[0]
    assert isinstance(definition, list)
    sections = {str(section[0]): section for section in definition if isinstance(section, list)}
    predicates = {
        str(atom[0]): sum([isinstance(token, str) and token[0] == "?" for token in atom])
        for atom in sections[":predicates"]
        if isinstance(atom, list)
    }
    constants = frozenset(_typed(sections.get(":constants", [""])))
    actions = {
        str(section[1]): tuple([kinds[0] for kinds in _typed(["", *section[3]]).values()])
        for section in definition
        if isinstance(section, list) and section[0] == ":action" and isinstance(section[3], list)
    }
    opening = source.text.index("(:types") + len("(:types")
    return Vocabulary(source, _closure(_typed(sections[":types"])), predicates, constants, actions, opening)


@cache
def _categories(table: str = "categories.txt") -> dict[str, frozenset[str]]:
    """The kinds of categories, from a table of this folder."""
    kinds: dict[str, set[str]] = {}
    kind = ""
    with open(os.path.join(_FOLDER, table), encoding="utf-8") as file:
        for line in file:
            for word in line.partition("#")[0].split():
                if word.endswith(":"):
                    kind = word[:-1]
                else:
                    kinds.setdefault(word, set()).add(kind)
    return {category: frozenset(members) for category, members in kinds.items()}


def categories() -> tuple[str, ...]:
    """The categories of the table."""
    return tuple(_categories())


@cache
def _lemmas(kind: str) -> frozenset[str]:
    """The words of the categories of a kind, without their sense."""
    return frozenset([category.partition(".")[0] for category, kinds in _categories().items() if kind in kinds])


def kinds_of(category: str) -> frozenset[str]:
    """The kinds of a category of BEHAVIOR-1K, from the table and from its name."""
    lemma = category.partition(".")[0]
    if _CABINET.fullmatch(lemma):
        category = "cabinet.n.01"
    return _categories().get(category, frozenset()) | _kinds_by_name(lemma)


def abilities_of(category: str) -> frozenset[str]:
    """The kinds of a category of BEHAVIOR-1K in the property tables of ``bddl``; see ``properties.txt``."""
    return _categories("properties.txt").get(category, frozenset())


def _kinds_by_name(lemma: str) -> frozenset[str]:
    """The kinds that a name implies: of forms (cut, cooked, broken) and of packed goods."""
    form = _FORM.match(lemma)
    if form is not None:
        kinds = {"substance"} if form[1] in SUBSTANCES else {"shards"} if form[1] == "broken" else set()
        kinds |= {"liquid"} if form[1] == "melted" else set()
        base = form[2].rpartition("__")[2]
        return frozenset(kinds | {kind for kind in KINDS_KEPT.get(form[1], ()) if base in _lemmas(kind)})
    packed = _PACKED.match(lemma) or _PACK.match(lemma)
    if packed is None:
        return frozenset()
    kinds = {"fillable"} if packed.re is _PACKED else set()
    kinds |= set(PACKS.get(packed["pack"], ()))
    kinds |= {"food"} if packed["held"] in FOODS else set()
    return frozenset(kinds | {kind for kind in ("toxic", "food", "perishable") if packed["held"] in _lemmas(kind)})


def _typed(section: list[Node]) -> dict[str, list[str]]:
    """Read a typed list: the names with their types."""
    parents: dict[str, list[str]] = {}
    pending: list[str] = []
    position = 1
    while position < len(section):
        token = section[position]
        if token == "-":
            position += 1
            kind = section[position]
            above = [kind] if isinstance(kind, str) else [str(child) for child in kind[1:]]
            for name in pending:
                parents.setdefault(name, []).extend(above)
            pending = []
        else:
            pending.append(str(token))
        position += 1
    for name in pending:
        parents.setdefault(name, [])
    return parents


def _closure(parents: dict[str, list[str]]) -> dict[str, frozenset[str]]:
    kinds: dict[str, frozenset[str]] = {"object": frozenset(["object"])}
    for name in parents:
        above: set[str] = set()
        waiting = [name]
        while waiting:
            at = waiting.pop()
            if at not in above:
                above.add(at)
                waiting.extend(parents.get(at, ()))
        kinds[name] = frozenset(above | {"object"})
    return kinds
