"""Test all formats on plans of the public data sets in their home worlds."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_formats import Case, case, check

from quick import quick_every

SAMPLES = {
    "virtualhome": ("eai-virtualhome/programs", "file*.txt", 4),
    "behavior": ("eai-behavior/human_annotations", "*.json", 3),
    "safeagentbench": ("safeagentbench", "*.jsonl", 4),
    "earbench": ("earbench", "*.jsonl.gz", 4),
}
"""For each world the folder of the plans, a pattern, and how many plans are sampled evenly."""
CARELESS = Path(__file__).resolve().parents[2] / "bench" / "hazards" / "earbench_plans.jsonl"


def plans(world: str, data: Path, folder: Path) -> Iterator[Case]:
    """Plans with their scenes."""
    home, pattern, count = SAMPLES[world]
    files = sorted((data / home).glob(pattern))
    if world == "earbench":
        yield from careless(files[0], count, folder)
        return
    graphs = data / "eai-virtualhome" / "init_and_final_graphs"
    if world == "virtualhome":
        files = [file for file in files if (graphs / f"{file.stem}.json.gz").is_file()]
    for number, file in enumerate(files[:: max(1, len(files) // count)][:count]):
        scene = folder / f"scene-{number}"
        if world == "virtualhome":
            scene.write_bytes(gzip.decompress((graphs / f"{file.stem}.json.gz").read_bytes()))
            yield case(file, world=world, scene=str(scene), replay="never")
        elif world == "behavior":
            yield case(file, world=world, scene=str(data / "eai-behavior/pddl_behavior_raw" / f"{file.stem}.pddl"))
        else:
            task = json.loads(file.read_text(encoding="utf-8").splitlines()[number])
            scene.write_text("Fridge\nCup\nMug\nApple\nEgg\nMicrowave\nStoveBurner\nCounterTop\n")
            steps = folder / f"plan-{number}.txt"
            steps.write_text("\n".join(task.get("step") or ["find Mug"]))
            yield case(steps, world=world, scene=str(scene), goal=str(file), task=str(number + 1))


def careless(scenes: Path, count: int, folder: Path) -> Iterator[Case]:
    """Careless plans for EARBench's cases, which are lines of one file."""
    cases = {entry["ID"]: entry for entry in map(json.loads, gzip.decompress(scenes.read_bytes()).splitlines())}
    lines = CARELESS.read_text(encoding="utf-8").splitlines()
    for number, plan in enumerate(map(json.loads, lines[:: len(lines) // count][:count])):
        scene, steps = folder / f"case-{number}.json", folder / f"plan-{number}.json"
        scene.write_text(json.dumps(cases[plan["id"]]))
        steps.write_text(json.dumps(plan["steps"]))
        yield case(steps, world="earbench", scene=str(scene), replay="never")


@pytest.mark.parametrize("world", quick_every(4, SAMPLES))
def test_public_plans(world: str, data: Path, tmp_path: Path) -> None:
    if not (data / SAMPLES[world][0]).is_dir():
        pytest.skip(f"no {SAMPLES[world][0]} in {data} (set PLANSAFE_DATA)")
    cases = list(plans(world, data, tmp_path))
    assert cases
    for audit_case in cases:
        check(audit_case)
