"""Write the table of what can be done with the categories of BEHAVIOR-1K, from the property tables of `bddl`.

usage: python -m bench.hazards.behavior_properties BDDL/generated_data > properties.txt

The table has only what `categories.txt` lacks. Properties that say how things do harm are not taken from `bddl`.
"""

from __future__ import annotations

import gzip
import json
import sys
import textwrap
from pathlib import Path

KINDS = {
    "openable": "openable",
    "toggleable": "toggleable",
    "fillable": "fillable",
    "heatSource": "heat_source",
    "slicer": "slicer",
    "particleRemover": "cleaning_tool",
    "cloth": "cloth",
    "substance": "substance",
    "liquid": "liquid",
    "sliceable": "sliceable",
}
"""Properties of `bddl`, and the kinds that stand for them here."""
MOVABLE = ("slicer", "cleaning_tool", "cloth")
NOT_SLICERS = frozenset(
    ["cashew.n.02", "cooked__cashew.n.01", "dose.n.01", "pellet_food.n.01", "pill.n.02", "power_tool.n.01"]
)
"""Synsets that the tables call slicers by mistake."""
HEADER = """\
# What can be done with categories of BEHAVIOR-1K, beside what categories.txt says: KIND: CATEGORY ..
#
# Made by bench/hazards/behavior_properties.py from properties_to_synsets.json of the package bddl 3.6.0
# (github.com/StanfordVL/bddl, MIT License, (c) 2021 Stanford Vision and Learning Lab). Do not edit.
"""


def known_kinds(path: Path) -> dict[str, set[str]]:
    """The categories of each kind in ``categories.txt``."""
    kinds: dict[str, set[str]] = {}
    kind = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        for word in line.partition("#")[0].split():
            if word.endswith(":"):
                kind = word[:-1]
            else:
                kinds.setdefault(kind, set()).add(word)
    return kinds


def main() -> int:
    """Print the table."""
    folder = Path(sys.argv[1])
    with gzip.open(folder / "properties_to_synsets.json.gz") as file:
        synsets = json.load(file)
    known = known_kinds(Path("domains/plansafe/domains/behavior/categories.txt"))
    built_in = set(synsets["sceneObject"]) | known["fixed"]
    closed = known["closed_container"] | known["cold_source"]
    print(HEADER.rstrip())
    for name, kind in KINDS.items():
        found = set(synsets[name]) - known.get(kind, set())
        if kind in MOVABLE:
            found -= built_in
        if kind == "slicer":
            found -= NOT_SLICERS
        if kind == "openable":
            found -= closed
        if kind == "heat_source":
            found -= known["heater"] | known["microwave"] | known["oven"]
        if kind == "cleaning_tool":
            found -= known["dry_cleaner"]
        if kind == "liquid":
            found -= known["oil"]
        print()
        print(textwrap.fill(f"{kind}: {' '.join(sorted(found))}", 120, subsequent_indent="  ", break_on_hyphens=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
