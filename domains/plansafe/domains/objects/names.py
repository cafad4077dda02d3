"""Find the class of the object table that a world's name of an object means.

A name is a type or an object of a world: ``coffeecup``, ``StoveBurner_3``, ``bag__of__flour.n.01``, ``Hair dryer``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.domains.objects.table import EVERYWHERE, NO_KIND, ObjectTable, letters
from plansafe.grammar.named_tuple import NamedTuple

_SENSE = re.compile(r"[._][a-z][._]\d+\Z")
_NUMBER = re.compile(r"[\s_-]*\d+\Z")
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATORS = re.compile(r"[^A-Za-z0-9]+")
_PACKAGES = frozenset(
    ("bag", "bottle", "box", "can", "carton", "jar", "pack", "package", "packet", "sack", "tin", "tube")
)
"""A compound that ends in one of these names its content: a bleach bottle, unlike a wine glass."""
_CONTENTS = frozenset(("food", "liquid", "toxic", "medicine"))
"""Kinds of which a class must have one to be what is in a package."""
_MIN_LETTERS = 3
"""The words of a compound that is written as one word have at least this many letters."""
_PLURALS = (("ves", "f"), ("ves", "fe"), ("ies", "y"), ("es", ""), ("s", ""))


class ResolvedName(NamedTuple):
    """The class that a name means.

    ``class_names`` are several for ``bag of flour``, which is a bag and flour. With ``head_of`` the name is an unknown
    compound, and the class is only what its last words mean; it is a kind if the table has no class of this name.
    """

    class_names: tuple[str, ...]
    head_of: str = ""


def resolve_name(
    table: ObjectTable, name: str, world: str = EVERYWHERE, *, with_proposals: bool = True
) -> ResolvedName | None:
    """Return the class that a name means in a world; ``None`` if the table does not have it.

    Without ``with_proposals``, classes and compounds that only have proposed kinds are not found.
    """
    for spelling in _spellings(name):
        class_name = find_class(table, spelling, world, with_proposals=with_proposals)
        if class_name is not None:
            return ResolvedName((class_name,))
    words = split_words(name)
    if "of" in words[1:-1]:
        position = words.index("of", 1)
        container = resolve_name(table, "_".join(words[:position]), world, with_proposals=with_proposals)
        substance = resolve_name(table, "_".join(words[position + 1 :]), world, with_proposals=with_proposals)
        if container is not None and substance is not None and not (container.head_of or substance.head_of):
            return ResolvedName((*container.class_names, *substance.class_names))
        words = words[:position]
        if container is not None and not container.head_of:
            return ResolvedName(container.class_names, " ".join(words))
    if not with_proposals:
        return None
    is_one_word = len(words) == 1
    if is_one_word:
        words = split_compound(table, words[0], world)
    if len(words) > 1 and words[-1] in _PACKAGES:  # before its head: `liquid soap bottle` is no unknown soap bottle
        package = find_class(table, words[-1], world)
        content = find_class(table, "_".join(words[:-1]), world)
        if package is not None and content is not None and _can_be_packed(table, content):
            return ResolvedName((package, content), " ".join(words) if is_one_word else "")
    for start in range(1, len(words)):
        class_name = _find_head(table, "_".join(words[start:]), world)
        if class_name is not None:
            return ResolvedName((class_name,), " ".join(words))
    return None


def find_class(table: ObjectTable, name: str, world: str = EVERYWHERE, *, with_proposals: bool = True) -> str | None:
    """Return the class of the table with a name, in the singular or the plural; ``None`` if there is none."""
    key = letters(name)
    for form in (key, *[key.removesuffix(end) + singular for end, singular in _PLURALS if key.endswith(end)]):
        class_name = table.names.get((world, form)) or table.names.get((EVERYWHERE, form))
        if class_name is not None:
            return class_name
        rows = table.rows.get(form)
        if rows:  # none, if no row of the class can be used
            return rows[0].class_name
        if with_proposals and form in table.proposals:
            return table.proposals[form][0].class_name
    return None


def split_compound(table: ObjectTable, word: str, world: str = EVERYWHERE) -> list[str]:
    """Split a word whose end is a known class and whose start is a known word: ``stoveburner`` is a stove burner."""
    for start in range(_MIN_LETTERS, len(word) - _MIN_LETTERS + 1):
        first, last = word[:start], word[start:]
        if _find_head(table, last, world, with_proposals=False) is not None and (
            first in table.rows.words or find_class(table, first, world) is not None
        ):
            return [first, last]
    return [word]


def _find_head(table: ObjectTable, name: str, world: str, *, with_proposals: bool = True) -> str | None:
    """Return the class, or else the kind, that the last words of a compound name."""
    class_name = find_class(table, name, world, with_proposals=with_proposals)
    if class_name is None and table.find_kind(name) is not None:
        return name
    return class_name


def _can_be_packed(table: ObjectTable, class_name: str) -> bool:
    """Whether a class is a content: a bleach bottle holds bleach, and a glass jar holds no glass."""
    rows = table.rows.get(letters(class_name), ())
    return any([not _CONTENTS.isdisjoint(_close(table, row.kind)) for row in rows if row.kind != NO_KIND])


def _close(table: ObjectTable, kind: str) -> tuple[str, ...]:
    return (kind, *table.kinds[letters(kind)].implies)


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without the sense and the number at its end."""
    *_, plain = _spellings(name)
    return [word.lower() for word in _SEPARATORS.split(_WORD_START.sub("_", plain)) if word]


def _spellings(name: str) -> Iterator[str]:
    """Yield a name, then the name without its number and its sense."""
    plain = name.partition("|")[0]
    yield plain
    if not _SENSE.search(plain):
        plain = _NUMBER.sub("", plain)
        yield plain
    yield _SENSE.sub("", plain)
