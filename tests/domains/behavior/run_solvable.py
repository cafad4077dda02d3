"""Run a planner on activities in our domains: a check of the domains, not of the planner.

    python tests/domains/behavior/run_solvable.py --domain omnigibson --count 60 --seed 5 --limit 6

Needs kairos-planner. Each plan is replayed. An activity may be proved unsolvable only if it needs a recipe, or a knife
or a heat source that it does not declare; otherwise the domain has a fault.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from behavior_data import UNCONFIRMED, activities, data_folder

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request, Scene
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.kairos import find_executable

OUTCOMES = {10: "proved unsolvable", 11: "out of time"}


def outcome(scene: Scene, program: str, limit: float) -> str:
    with TemporaryDirectory() as name:
        folder = Path(name)
        domain, problem = folder / "domain.pddl", folder / "problem.pddl"
        domain.write_text(scene.domain.text)
        problem.write_text(scene.problem.text)
        command = [program, "solve", str(domain), str(problem), "--output", str(folder / "plan")]
        command += ["--timeout", f"{limit:g}", "--threads", "1", "--no-anytime"]
        try:
            code = subprocess.run(command, capture_output=True, timeout=3 * limit + 5, check=False).returncode
        except subprocess.TimeoutExpired:
            return OUTCOMES[11]
        if code:
            return OUTCOMES.get(code, f"exit {code}")
        steps = next(folder.glob("plan*")).read_text()
    report = Checker(scene.domain, scene.problem, options=UNCONFIRMED).check(Source("plan", steps))
    return f"solved, {report.headline.value}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", choices=("igibson", "omnigibson"), default="omnigibson")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--limit", type=float, default=6.0, help="seconds for each")
    options = parser.parse_args()
    program = find_executable()
    if program is None:
        print("kairos-planner is not installed")
        return 2
    sources = [source for source in activities(data_folder()) if f"(:domain {options.domain})" in source.text]
    outcomes: Counter[str] = Counter()
    for source in random.Random(options.seed).sample(sources, options.count):
        outcome_name = outcome(WORLD.read_scene(Request({"scene": source})), program, options.limit)
        outcomes[outcome_name] += 1
        if outcome_name != "solved, VALID":
            print(f"{outcome_name}: {source.name}")
    print(", ".join(f"{count} {outcome_name}" for outcome_name, count in outcomes.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
