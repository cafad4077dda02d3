"""How long do ten thousand VirtualHome scripts take against one graph and the whole hazard library?

usage: python -m bench.hazards.speed [--count 10000] [--seed 1] [--graph NAME] [--kind executable|any]

Half of the scripts are the real ones of the data set (``PLANSAFE_DATA``), over and over, each with its objects replaced
by objects of the one graph that have the same class, else the same properties; half are random errands in that graph.
Most of these cannot be executed to the end; then three readings are judged. ``--kind executable`` keeps those that can.
One process of the command judges the folder, without the kernel; its CPU time is printed. Target: 60 s on one core.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

from bench.hazards.study import DATA, LIBRARY, scripts
from bench.measure import run_once

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.plan_text import plain_chunks
from plansafe.grammar.source import Source
from plansafe.verifier.execution.replay import HALT, Run

SAFECHECK = str(Path(sys.executable).parent / "safecheck")
SPECS = [word for name in LIBRARY for word in ("--spec", name)]
TARGET_S = 60.0
_THING = re.compile(r"<([^>]+)> \([\d.]+\)")


class Town:
    """The objects of a graph by class and by property."""

    def __init__(self, graph: dict[str, list[dict[str, object]]]) -> None:
        self.by_class: dict[str, list[str]] = defaultdict(list)
        self.by_property: dict[str, list[str]] = defaultdict(list)
        for node in graph["nodes"]:
            written = f"<{node['class_name']}> (1.{node['id']})"
            self.by_class[str(node["class_name"])].append(written)
            properties = node["properties"]
            assert isinstance(properties, list)
            for name in properties:
                self.by_property[name].append(written)
        self.rooms = [self.by_class[str(n["class_name"])][0] for n in graph["nodes"] if n["category"] == "Rooms"]

    def moved(self, script: str, chance: random.Random) -> str:
        """A real script with its objects replaced by those of this graph."""
        chosen: dict[str, str] = {}

        def replace(match: re.Match[str]) -> str:
            known = self.by_class.get(match[1]) or self.by_property["GRABBABLE"]
            return chosen.setdefault(match[0], chance.choice(known))

        return _THING.sub(replace, script)

    def errand(self, chance: random.Random) -> str:
        """Fetch something, put it somewhere, use a few switches and doors."""
        lines = ["Errand", "", ""]
        for _ in range(chance.randint(1, 4)):
            thing, place = chance.choice(self.by_property["GRABBABLE"]), chance.choice(self.by_property["SURFACES"])
            device = chance.choice(self.by_property["HAS_SWITCH"])
            box = chance.choice(self.by_property["CAN_OPEN"])
            lines += [f"[WALK] {thing}", f"[GRAB] {thing}", f"[WALK] {place}", f"[PUTBACK] {thing} {place}"]
            lines += [f"[WALK] {box}", chance.choice((f"[OPEN] {box}", f"[CLOSE] {box}"))]
            lines += [f"[WALK] {device}", chance.choice((f"[SWITCHON] {device}", f"[SWITCHOFF] {device}"))]
        return "\n".join(lines) + "\n"


def executable(texts: Iterator[str], scene: Path) -> Iterator[str]:
    """Those of the scripts whose every step can be taken: without rules, and up to the first step that fails."""
    session = Session(Settings(world="virtualhome", scene=str(scene), default_spec=False))
    for text in texts:
        prepared = session.prepare(Source("script.txt", text))
        if isinstance(prepared, Prepared):
            run = Run(prepared.checker.engine, HALT)
            blocks = plain_chunks(prepared.plan.text)
            if blocks is not None and run.chunks(blocks) >= 0 and not run.failures and run.limit is None:
                yield text


def main() -> int:
    """Write the scripts, judge them, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--graph", default="850_1")
    parser.add_argument("--kind", choices=("executable", "any"), default="executable")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    graph = json.loads(gzip.decompress((DATA / "init_and_final_graphs" / f"file{options.graph}.json.gz").read_bytes()))
    town = Town(graph["init_graph"])
    real = [(DATA / "programs" / f"file{name}.txt").read_text(encoding="utf-8") for name in scripts()]
    with tempfile.TemporaryDirectory() as folder:
        scene, plans, report = Path(folder) / "graph.json", Path(folder) / "scripts", Path(folder) / "report.txt"
        scene.write_text(json.dumps(graph), encoding="utf-8")
        plans.mkdir()
        texts: Iterator[str] = (
            town.errand(chance) if number % 2 else town.moved(real[number // 2 % len(real)], chance)
            for number in count()
        )
        if options.kind == "executable":
            texts = executable(texts, scene)
        steps = 0
        for number, text in enumerate(islice(texts, options.count)):
            steps += text.count("\n[")
            (plans / f"{number:05}.txt").write_text(text, encoding="utf-8")
        command = [SAFECHECK, "--world", "virtualhome", str(plans), "--graph", str(scene), *SPECS]
        sample = run_once([*command, "--replay", "never", "--format", "json", "--output", str(report)])
        headlines: Counter[str] = Counter()
        with report.open(encoding="utf-8") as lines:
            for line in lines:
                headlines[str(json.loads(line).get("headline"))] += 1
    print(f"{options.count} scripts, {steps} steps: {sample.cpu:.1f} s CPU, {sample.wall:.1f} s by the clock")
    print(f"{1000 * sample.cpu / options.count:.2f} ms a script; {dict(headlines)}")
    print(f"target {TARGET_S:g} s: {'met' if sample.cpu <= TARGET_S else 'MISSED'}")
    return 0 if sample.cpu <= TARGET_S and sum(headlines.values()) == options.count else 1


if __name__ == "__main__":
    raise SystemExit(main())
