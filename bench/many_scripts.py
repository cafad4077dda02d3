"""Ten thousand scripts of VirtualHome in their scenes, as a table for ``safecheck audit --run``.

usage: python -m bench.many_scripts OUT [--count 10000] [--seed 1]

Writes ``OUT/scripts.jsonl`` (id, script, scene, base, executable) and ``OUT/scenes/`` with links to graphs, from the
folder ``eai-virtualhome`` of the data sets (``PLANSAFE_DATA``): every script that has a scene, as often as it takes. No
two texts are the same: each begins with a walk to another object, which can be done. Every second one ends with putting
back what is not in hand, which cannot. Then, with S standing for {scene}:

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


def named(node: dict[str, Any]) -> str:
    """A node as scripts name it."""
    return f"<{node['class_name']}> (1.{node['id']})"


def variants(name: str, draw: random.Random) -> Iterator[dict[str, Any]]:
    """Scripts like the one of this name, without end as long as there are objects to walk to."""
    packed = (DATA / "init_and_final_graphs" / f"file{name}.json.gz").read_bytes()
    nodes = json.loads(gzip.decompress(packed))["init_graph"]["nodes"]
    text = (DATA / "programs" / f"file{name}.txt").read_text(encoding="utf-8").rstrip("\n")
    start = text.index("[")
    things = [node for node in nodes if node["category"] not in ("Rooms", "Characters")]
    draw.shuffle(things)
    for number, thing in enumerate(things):
        end = "" if number % 2 == 0 else f"\n[PUTBACK] {named(things[0])} {named(things[1])}"
        yield {
            "id": f"{name}-{number}",
            "script": f"{text[:start]}[WALK] {named(thing)}\n{text[start:]}{end}\n",
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
    draw = random.Random(options.seed)
    names = sorted(json.loads((DATA / "id2task.json").read_text(encoding="utf-8")))
    each = -(-options.count // len(names))
    scenes = options.out / "scenes"
    scenes.mkdir(parents=True, exist_ok=True)
    left = options.count
    with (options.out / "scripts.jsonl").open("w", encoding="utf-8") as file:
        for name in names:
            for row, _ in zip(variants(name, draw), range(min(each, left)), strict=False):
                file.write(json.dumps(row) + "\n")
                left -= 1
            link = scenes / f"file{name}.json.gz"
            if not link.exists():
                link.symlink_to(DATA.resolve() / "init_and_final_graphs" / link.name)
    print(f"{options.count - left} scripts in {options.out / 'scripts.jsonl'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
