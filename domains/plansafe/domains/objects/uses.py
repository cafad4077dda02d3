"""Objects that can do each other's work: of one class, or of classes with the same use in ``uses.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from plansafe.domains.objects.names import resolve_name, split_words
from plansafe.domains.objects.table import BEINGS, letters, load_table

_FILE = Path(__file__).parent / "uses.csv"


@lru_cache(maxsize=1)
def read_uses() -> Mapping[str, tuple[str, ...]]:
    """Return the uses of each class, by the letters of its name."""
    uses: dict[str, list[str]] = {}
    with _FILE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name in row["classes"].split():
                uses.setdefault(letters(name), []).append(row["use"])
    return {name: tuple(names) for name, names in uses.items()}


def group_by_use(objects: Iterable[tuple[str, str]], world: str) -> list[tuple[str, frozenset[str]]]:
    """Group objects, given by name and type, by their uses; each group has at least two objects.

    An object whose type and name the object table does not know has no use. People and animals have none.
    """
    groups: dict[str, set[str]] = {}
    for name, type_name in objects:
        for use in find_uses(name, type_name, world):
            groups.setdefault(use, set()).add(name)
    return [(use, frozenset(names)) for use, names in sorted(groups.items()) if len(names) > 1]


@lru_cache(maxsize=100_000)
def find_uses(name: str, type_name: str, world: str) -> tuple[str, ...]:
    """Return the uses of an object, and its class as the use of its own class."""
    table = load_table()
    resolved = resolve_name(table, name, world)
    if resolved is None and letters(type_name) not in table.kinds:
        resolved = resolve_name(table, type_name, world)
    if resolved is None:
        return ()
    if "in" in split_words(name):  # soup_in_bowl_1 is soup
        return ()
    [class_name, *_] = resolved.class_names
    if any([row.kind in BEINGS for row in table.rows.get(letters(class_name), ())]):
        return ()
    uses = dict.fromkeys([class_name.replace("_", " ")])
    for spelling in (resolved.head_of, class_name):
        uses.update(dict.fromkeys(read_uses().get(letters(spelling), ())))
    return tuple(uses)
