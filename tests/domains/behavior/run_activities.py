"""Read all activities of BEHAVIOR-1K and BEHAVIOR-100, and check the tasks they become, in one process.

python tests/domains/behavior/run_activities.py [--count N]
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter, process_time

from behavior_data import activities, data_folder

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request
from plansafe.verifier.api import Checker


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, help="read only this number of activities, the first by name")
    options = parser.parse_args()
    sources = activities(data_folder())[: options.count]
    began, cpu = perf_counter(), process_time()
    scenes = [WORLD.read_scene(Request({"scene": source})) for source in sources]
    read, read_cpu = perf_counter() - began, process_time() - cpu
    wrong = [source.name for source, scene in zip(sources, scenes, strict=True) if not scene.ok]
    began, cpu = perf_counter(), process_time()
    wrong += [scene.problem.name for scene in scenes if scene.ok and not Checker(scene.domain, scene.problem).ok]
    checked, checked_cpu = perf_counter() - began, process_time() - cpu
    print(f"{len(sources)} activities, {len(wrong)} not read: {wrong[:5]}")
    print(f"read {read:.2f} s (CPU {read_cpu:.2f}), tasks checked {checked:.2f} s (CPU {checked_cpu:.2f})")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
