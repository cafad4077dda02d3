"""Scenes with rare things come sooner."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

from plansafe.align.choosing.scenes import kinds_of_world, rare_first


def test_scenes_with_what_few_scenes_have_come_sooner(tmp_path: Path) -> None:
    folder = tmp_path / "eai-virtualhome" / "init_and_final_graphs"
    folder.mkdir(parents=True)
    for number in range(40):
        classes = ["floor", "stove", "book", *(["cat"] if number % 10 == 3 else [])]
        nodes = ", ".join([f'{{"id": {at}, "class_name": "{name}"}}' for at, name in enumerate(classes)])
        text = f'{{"nodes": [{nodes}]}}' if number else "no graph"
        (folder / f"file{number}_1.json.gz").write_bytes(gzip.compress(text.encode()))
    origins = [f"virtualhome:{number}_1#{number}_1" for number in range(40)]
    found = rare_first(origins, str(tmp_path), Random(1))
    assert sorted(found) == sorted(origins) and found == rare_first(origins, str(tmp_path), Random(1))
    assert {one for one in found[:4] if one[12:].partition("_")[0][-1] == "3"} == set(found[:4])
    (folder / "file0_1.json.gz").write_bytes(gzip.compress(b"cut off")[:-9])
    assert sorted(rare_first(origins, str(tmp_path), Random(1))) == sorted(origins)


def test_kinds_are_those_of_the_mapping_and_the_object_table() -> None:
    kinds = kinds_of_world()
    assert {"cat", "dog"} <= kinds["animal"] and "kettle" in kinds["heat-source"] and len(kinds) > 50
    assert not any("either" in classes for classes in kinds.values())
