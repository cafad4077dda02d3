"""Every format over plans of the public data sets, in their own worlds: what people and benchmarks wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_formats import Case, case, check

SAMPLES = {
    "virtualhome": ("eai-virtualhome/programs", "file*.txt", 4),
    "behavior": ("eai-behavior/human_annotations", "*.json", 3),
    "safeagentbench": ("safeagentbench", "*.jsonl", 4),
}
"""Where the plans of a world are, and how many are drawn, evenly."""


def plans(world: str, data: Path, folder: Path) -> Iterator[Case]:
    """Plans with their scenes."""
    home, pattern, count = SAMPLES[world]
    files = sorted((data / home).glob(pattern))
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


@pytest.mark.parametrize("world", SAMPLES)
def test_public_plans(world: str, data: Path, tmp_path: Path) -> None:
    if not (data / SAMPLES[world][0]).is_dir():
        pytest.skip(f"no {SAMPLES[world][0]} in {data} (set PLANSAFE_DATA)")
    drawn = list(plans(world, data, tmp_path))
    assert drawn
    for one in drawn:
        check(one)
