"""What was unpacked trains where there is neither trl nor a command line, and its adapter comes back and is taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import base_model, pairs_file

from plansafe.align.packing import contents
from plansafe.align.packing.pack import pack
from plansafe.align.packing.unpack import SCRIPT, unpack
from plansafe.llm.models.adapter import base_of, read_adapter

PROGRAM = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("trl", "typer", "lark", "rouge_score", "datasets", "gguf", "llguidance"):
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
sys.path.insert(0, "code")
from plansafe.align.config import config_of
from plansafe.align.training.trainer import train
shape = dict(lora_r=2, max_steps=2, bs=2, dtype="float32")
made = train(config_of(dict(model="hf/weights/base", data=["data/pairs.jsonl"], output="run", method="ours", **shape)))
assert made.finished and len(made.metrics) == 2
import os
import plansafe.align
assert os.path.abspath(plansafe.align.__path__[0]) == os.path.abspath("code/plansafe/align"), plansafe.align.__path__
"""


def test_a_pack_trains_elsewhere_and_its_adapter_comes_back(tmp_path: Path) -> None:
    base_model(tmp_path / "base")
    pairs_file(tmp_path / "pairs.jsonl")
    members = contents.code() + contents.data(str(tmp_path / "pairs.jsonl")) + contents.weights(str(tmp_path / "base"))
    pack(members, str(tmp_path / "pack"), 1 << 20)
    there = tmp_path / "there"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["OMP_NUM_THREADS"] = "1"
    for command in (
        [sys.executable, "-I", "-S", str(tmp_path / "pack" / SCRIPT), str(there)],
        [sys.executable, "-c", PROGRAM],
        [sys.executable, "-m", "plansafe.align.packing", "run", "-o", "back"],
    ):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=there if there.exists() else tmp_path,
            env={**environment, "PYTHONPATH": "code"} if "-m" in command else environment,
        )
        assert done.returncode == 0, done.stderr
    unpack(str(there / "back"), str(tmp_path / "home"))
    adapter = read_adapter(str(tmp_path / "home" / "results" / "run" / "adapter"))
    assert adapter.method == "ours" and base_of(adapter, {"SAFECHECK_BASE": ""}) == adapter.base
    assert os.path.getsize(adapter.weights) < os.path.getsize(there / "run" / "adapter" / "adapter_model.safetensors")
