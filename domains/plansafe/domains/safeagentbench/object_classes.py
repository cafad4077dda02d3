"""The object classes of AI2-THOR with their published properties: the table `object_classes.csv`.

SOURCE.md says where each column comes from. A scene with metadata overrides the properties of its objects.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

# The name of a property in AI2-THOR, and the predicate of the domain. The table has two more, which no action needs.
PROPERTIES: Mapping[str, str] = {
    "pickupable": "pickupable",
    "receptacle": "receptacle",
    "openable": "openable",
    "toggleable": "toggleable",
    "sliceable": "sliceable",
    "breakable": "breakable",
    "canFillWithLiquid": "fillable",
    "dirtyable": "dirtyable",
    "cookable": "cookable",
    "objectSpecificReceptacle": "accepts_only_fitting",
    "mustBeOpenToPlace": "accepts_only_open",
}
LIQUIDS = ("water", "coffee", "wine")
# Names of classes in older layouts and in published steps, and the current name.
OLDER_NAMES: Mapping[str, str] = {
    "glassbottle": "bottle",
    "lamp": "desklamp",
    "counter": "countertop",
    "papertowel": "papertowelroll",
    "toiletpaperroll": "toiletpaper",
}


class ObjectClass(NamedTuple):
    """A class: AI2-THOR's name, the predicates of its properties, its pieces, and the receptacles it is found in.

    ``piece`` and ``receptacles`` are names of PDDL types.
    """

    name: str
    predicates: frozenset[str]
    piece: str | None
    receptacles: frozenset[str]


def _read_table() -> dict[str, ObjectClass]:
    with open(Path(__file__).with_name("object_classes.csv"), encoding="utf-8", newline="") as table:
        return {
            row["class"].lower(): ObjectClass(
                row["class"],
                frozenset([PROPERTIES[name] for name in row["properties"].split() if name in PROPERTIES]),
                row["pieces"].lower() or None,
                frozenset(row["default_receptacles"].lower().split()),
            )
            for row in csv.DictReader(table)
        }


CLASSES: Mapping[str, ObjectClass] = _read_table()
"""The classes by the name of their PDDL type, which is AI2-THOR's name in lower case."""


def fits(object_class: str, receptacle_class: str) -> bool:
    """True if a receptacle for specific classes accepts objects of this class."""
    return object_class in CLASSES and receptacle_class in CLASSES[object_class].receptacles
