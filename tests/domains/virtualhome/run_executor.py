"""Changed gold scripts, executed by the public simulator and by ours.

usage: python tests/domains/virtualhome/run_executor.py [--count N] [--seed S]

Needs the data and the package ``eai-eval`` (``pip install eai-eval``), which has the simulator. Each gold script is
changed in up to four places: a step left out, two exchanged, one inserted. Both sides must stop at the same step, or
both execute all. Prints the differences by the action at which they show; exit code 1 if there are other ones than
docs/home-worlds.md lists.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from vh_gold import Case, cases

from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import SCENE, Request, Scene
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Worlds

ROOT = Path(__file__).resolve().parents[3]
CHANGES_PER_SCRIPT = 8
TOLERATED = 0.02


class Theirs:
    """The simulator of ``eai-eval``."""

    def __init__(self) -> None:
        logging.disable(logging.CRITICAL)
        from virtualhome_eval.simulation.evolving_graph import environment, execution, scripts  # type: ignore

        self.environment, self.execution, self.scripts = environment, execution, scripts
        self.arity = {action.name: action.value[1] for action in scripts.Action if "SHORT" not in action.name}
        del self.arity["LOOKAT_LONG"]

    def stops(self, graph: Any, lines: list[str]) -> int | None:
        """The number of the first step that it does not take."""
        state = self.environment.EnvironmentState(graph, {}, instance_selection=True)
        executor = self.execution.ScriptExecutor(graph, {})
        for number, line in enumerate(lines, 1):
            executor.info = self.execution.ExecutionInfo(eval_mode=True)
            try:
                script = self.scripts.Script([self.scripts.parse_script_line(line, number)])
                is_taken, state = executor.execute_one_step(script, state)
            except Exception:  # raised for steps that make no sense
                return number
            if not is_taken:
                return number
        return None


def ours(checker: Checker, scene: Scene, lines: list[str]) -> int | None:
    """The number of the first step that we do not take."""
    plan = WORLD.read_plan(Source("script.txt", "\n".join(lines).replace("(", "(1.")), scene)
    assert plan.plan is not None, plan.diagnostics
    report = checker.check(plan.plan)
    return None if report.executable is Worlds.ALL else report.readings[0].executed + 1


def changed(lines: list[str], nodes: list[dict[str, Any]], arity: dict[str, int], draw: random.Random) -> list[str]:
    """A script with up to four changes."""
    lines = list(lines)
    for _ in range(draw.randint(1, 4)):
        kind, place = draw.random(), draw.randrange(len(lines)) if lines else 0
        if kind < 0.3 and lines:
            del lines[place]
        elif kind < 0.45 and len(lines) > 1:
            second_line = draw.randrange(len(lines))
            lines[place], lines[second_line] = lines[second_line], lines[place]
        else:
            action = draw.choice(sorted(arity))
            objects = [match for line in lines for match in re.findall(r"<.+?> \(\d+\)", line)]
            if draw.random() < 0.3 or not objects:
                node = draw.choice(nodes)
                objects = [f"<{node['class_name']}> ({node['id']})"]
            lines.insert(place, " ".join([f"[{action}]", *[draw.choice(objects) for _ in range(arity[action])]]))
    return lines


def compare(case: Case, theirs: Theirs, draw: random.Random, tally: Counter[str]) -> None:
    text = case.graph
    graph = json.loads(text)["init_graph"]
    scene = WORLD.read_scene(Request({SCENE: Source("graph.json", text)}))
    checker = Checker(scene.domain, scene.problem, (), Options(replay="never"))
    environment = theirs.environment.EnvironmentGraph(graph)
    script = [re.sub(r"\(\d+\.", "(", line.strip()) for line in case.script.splitlines() if line.startswith("[")]
    for _ in range(CHANGES_PER_SCRIPT):
        lines = changed(script, graph["nodes"], theirs.arity, draw)
        ours_at, theirs_at = ours(checker, scene, lines), theirs.stops(environment, lines)
        tally["scripts"] += 1
        tally["of them, both execute"] += ours_at is None and theirs_at is None
        if ours_at == theirs_at:
            tally["same step"] += 1
            continue
        step = min([number for number in (ours_at, theirs_at) if number is not None])
        who = "only ours" if ours_at == step else "only theirs"
        tally[f"differ at {lines[step - 1].partition(']')[0]}], {who} stops"] += 1
        print(f"{case.name}, {who} stops at {step}: {'; '.join(lines[:step])}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument(
        "--count", type=int, default=150, help=f"Number of gold scripts; each is changed {CHANGES_PER_SCRIPT} times."
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data")) / "eai-virtualhome"
    if not folder.is_dir():
        print(f"no {folder} (set PLANSAFE_DATA)")
        return 2
    try:
        theirs = Theirs()
    except ImportError:
        print("no package eai-eval (pip install eai-eval)")
        return 2
    draw = random.Random(options.seed)
    gold_cases = cases(folder)
    tally: Counter[str] = Counter()
    for _ in range(options.count):
        compare(draw.choice(gold_cases), theirs, draw, tally)
    for row, number in tally.items():
        print(f"{row:50} {number:6}")
    return 0 if tally["same step"] >= (1 - TOLERATED) * tally["scripts"] else 1


if __name__ == "__main__":
    sys.exit(main())
