"""Write 10,000 VirtualHome scripts with their scenes as a table for ``safecheck audit --run``.

usage: python -m bench.many_scripts OUT [--count 10000] [--seed 1]

Writes ``OUT/scripts.jsonl`` (id, script, scene, base, executable) and ``OUT/scenes/`` with links to the scene graphs of
the data set ``eai-virtualhome`` (``PLANSAFE_DATA``). Variants of every script that has a scene: each begins with a walk
to a different object, which is executable, so no two texts are the same. Every second one ends with putting back an
object that is not in hand, which is not executable. Then run (S is {scene}):

    safecheck audit OUT/scripts.jsonl --plan-column script --world virtualhome --scene 'OUT/scenes/S.json.gz' --run RUN
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("PLANSAFE_DATA", HERE.parents[1] / "shared" / "data")) / "eai-virtualhome"


def format_node(node: dict[str, Any]) -> str:
    """The reference to a node in a script."""
    return f"<{node['class_name']}> (1.{node['id']})"


def generate_script_variants(name: str, rng: random.Random) -> Iterator[dict[str, Any]]:
    """Variants of the script of this name: one for each object of its scene."""
    compressed = (DATA / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()
    nodes = json.loads(gzip.decompress(compressed))["init_graph"]["nodes"]
    text = (DATA / "programs" / f"file{name}.txt").read_text(encoding="utf-8").rstrip("\n")
    steps_start = text.index("[")
    objects = [node for node in nodes if node["category"] not in ("Rooms", "Characters")]
    rng.shuffle(objects)
    for number, target in enumerate(objects):
        failing_step = "" if number % 2 == 0 else f"\n[PUTBACK] {format_node(objects[0])} {format_node(objects[1])}"
        yield {
            "id": f"{name}-{number}",
            "script": f"{text[:steps_start]}[WALK] {format_node(target)}\n{text[steps_start:]}{failing_step}\n",
            "scene": f"file{name}",
            "base": name,
            "executable": number % 2 == 0,
        }


def main() -> int:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data at {DATA} (set PLANSAFE_DATA)", file=sys.stderr)
        return 2
    rng = random.Random(options.seed)
    names = sorted(json.loads((DATA / "id2task.json").read_text(encoding="utf-8")))
    per_script = -(-options.count // len(names))
    scenes = options.out / "scenes"
    scenes.mkdir(parents=True, exist_ok=True)
    remaining = options.count
    with (options.out / "scripts.jsonl").open("w", encoding="utf-8") as file:
        for name in names:
            for row, _ in zip(generate_script_variants(name, rng), range(min(per_script, remaining)), strict=False):
                file.write(json.dumps(row) + "\n")
                remaining -= 1
            link = scenes / f"file{name}.json.gz"
            if not link.exists():
                link.symlink_to(DATA.resolve() / "init_and_final_graphs" / link.name)
    print(f"{options.count - remaining} scripts in {options.out / 'scripts.jsonl'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
