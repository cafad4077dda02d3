"""Write the table of the affordances of BEHAVIOR-1K's categories, from the property tables of `bddl`.

usage: python -m bench.hazards.behavior_properties [DATA] > properties.txt

DATA is the folder `generated_data` of the package `bddl` (default: in ``PLANSAFE_DATA``).
The table has only what `categories.txt` lacks. Properties that say how things do harm are not taken from `bddl`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import textwrap
from pathlib import Path

from bench.data_sets import DATA_SETS

ROOT = Path(__file__).resolve().parents[2]
CATEGORIES = ROOT / "domains" / "plansafe" / "domains" / "behavior" / "categories.txt"
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
NOT_SLICERS = frozenset(
    ["cashew.n.02", "cooked__cashew.n.01", "dose.n.01", "pellet_food.n.01", "pill.n.02", "power_tool.n.01"]
)
"""Synsets that the tables call slicers by mistake."""
HEADER = """\
# Affordances of categories of BEHAVIOR-1K that categories.txt does not state: KIND: CATEGORY ..
#
# Made by bench/hazards/behavior_properties.py from properties_to_synsets.json of the package bddl 3.6.0
# (github.com/StanfordVL/bddl, MIT License, (c) 2021 Stanford Vision and Learning Lab). Do not edit.
"""


def read_listed_kinds(path: Path) -> dict[str, set[str]]:
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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path, default=DATA_SETS / "bddl-behavior1k" / "generated_data")
    with gzip.open(parser.parse_args().data / "properties_to_synsets.json.gz") as file:
        synsets = json.load(file)
    listed = read_listed_kinds(CATEGORIES)
    built_in = set(synsets["sceneObject"]) | listed["fixed"]
    excluded = {
        "slicer": built_in | NOT_SLICERS,
        "cloth": built_in,
        "cleaning_tool": built_in | listed["dry_cleaner"],
        "openable": listed["closed_container"] | listed["cold_source"],
        "heat_source": listed["heater"] | listed["microwave"] | listed["oven"],
        "liquid": listed["oil"],
    }
    print(HEADER.rstrip())
    for name, kind in KINDS.items():
        categories = set(synsets[name]) - listed.get(kind, set()) - excluded.get(kind, set())
        if not categories:
            continue
        line = f"{kind}: {' '.join(sorted(categories))}"
        print("\n" + textwrap.fill(line, 120, subsequent_indent="  ", break_on_hyphens=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
