"""Sheets for judging findings by reading: scripts and their scenes, without a word of rules or findings.

usage: python -m bench.hazards.sheets RESULTS FOLDER [--findings 60] [--clean 40] [--seed 1]

RESULTS is what ``study`` wrote. Findings are drawn at random among those that a script caused and, where these are
too few, among those that were in the scene before; clean scripts among those that caused none. FOLDER gets one sheet
for each script that was drawn, numbered in random order, and beside it ``key.json``, which says which is which and
stays closed until the judgement is written down.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

from bench.hazards.study import DATA

_DULL = {"wall", "ceiling", "doorjamb", "walllamp", "wall_clock", "powersocket", "floor", "character"}
_PLACES = {"ON": "on", "INSIDE": "in"}


def sheet(name: str) -> str:
    """The script, and what is in the rooms that it may concern: each object with its states and its place."""
    graph = json.loads(gzip.decompress((DATA / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()))
    scene = graph["init_graph"]
    nodes = {node["id"]: node for node in scene["nodes"]}
    where: dict[int, list[str]] = defaultdict(list)
    room: dict[int, str] = {}
    for edge in scene["edges"]:
        relation, start, end = edge["relation_type"], edge["from_id"], edge["to_id"]
        if relation in _PLACES and end in nodes:
            if nodes[end]["category"] == "Rooms":
                room[start] = nodes[end]["class_name"]
            else:
                where[start].append(f"{_PLACES[relation]} {nodes[end]['class_name']} {end}")
    lines = [(DATA / "programs" / f"file{name}.txt").read_text(encoding="utf-8").strip(), "", "SCENE before the script"]
    by_room: dict[str, list[str]] = defaultdict(list)
    for key, node in nodes.items():
        if node["category"] == "Rooms" or node["class_name"] in _DULL:
            continue
        states = " ".join(sorted(node["states"])).lower()
        place = ", ".join(sorted(set(where[key])))
        by_room[room.get(key, "somewhere")].append(
            f"  {node['class_name']} {key}{f' [{states}]' if states else ''}{f' {place}' if place else ''}"
        )
    for place, things in sorted(by_room.items()):
        lines += [f"{place}:", *sorted(things)]
    character = next(node for node in nodes.values() if node["class_name"] == "character")
    lines.append(
        f"character: in {room.get(character['id'], '?')}, {' '.join(character['states']).lower() or 'standing'}"
    )
    return "\n".join(lines) + "\n"


def draw(results: dict[str, Any], findings: int, clean: int, seed: int) -> list[dict[str, Any]]:
    """The scripts to be judged, in random order; of several drawn findings of one script, all are in its entry."""
    random_ = random.Random(seed)
    every = [(name, found) for name, record in sorted(results["scripts"].items()) for found in record["findings"]]
    caused = [(name, found) for name, found in every if found["blame"] != "pre-existing"]
    before = [(name, found) for name, found in every if found["blame"] == "pre-existing"]
    guilty = {name for name, _ in caused}
    chosen = random_.sample(caused, min(findings, len(caused)))
    chosen += random_.sample(before, min(findings - len(chosen), len(before)))
    drawn: dict[str, list[Any]] = defaultdict(list)
    for name, found in chosen:
        drawn[name].append(found)
    without = sorted(set(results["scripts"]) - guilty - set(drawn))
    entries = [{"script": name, "drawn": found} for name, found in drawn.items()]
    entries += [{"script": name, "drawn": []} for name in random_.sample(without, min(clean, len(without)))]
    random_.shuffle(entries)
    return entries


def main() -> int:
    """Draw, and write the sheets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--findings", type=int, default=60)
    parser.add_argument("--clean", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    results = json.loads(options.results.read_text(encoding="utf-8"))
    entries = draw(results, options.findings, options.clean, options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    for number, entry in enumerate(entries, 1):
        entry["sheet"] = number
        (options.folder / f"{number:03}.txt").write_text(sheet(entry["script"]), encoding="utf-8")
    (options.folder / "key.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
    print(f"{len(entries)} sheets in {options.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
