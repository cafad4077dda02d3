"""Two processes of accelerate, placed by torch's own launcher, train as one process that sees as many pairs a step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")
pytest.importorskip("accelerate", reason="training needs the extra `align`")

from training_cases import base_model, pairs_file

_PROGRAM = """
import sys
from plansafe.align.config import read_config
from plansafe.align.training.trainer import train
train(read_config(sys.argv[1]))
"""


def _trained(folder: Path, name: str, bs: int, processes: int) -> list[dict[str, float]]:
    """The metrics of a run of six steps in so many processes."""
    keys = {
        "model": f"hf/{folder / 'base'}", "data": [str(folder / "pairs.jsonl")], "output": str(folder / name),
        "method": "dpo", "max_steps": 6, "bs": bs, "lr": 1e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
        "sft_weight": 0.3,
    }  # fmt: skip
    config = folder / f"{name}.toml"
    config.write_text("".join([f"{key} = {json.dumps(value)}\n" for key, value in keys.items()]), encoding="utf-8")
    program = folder / "program.py"
    program.write_text(_PROGRAM, encoding="utf-8")
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([path for path in sys.path if path]),
    }
    command = [sys.executable, *(launcher if processes > 1 else []), str(program), str(config)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = (folder / name / "metrics.jsonl").read_text(encoding="ascii").splitlines()
    return [json.loads(line) for line in lines]


def test_two_processes_are_one_with_as_many_pairs(tmp_path: Path) -> None:
    base_model(tmp_path / "base")
    pairs_file(tmp_path / "pairs.jsonl", 12)
    one, two = _trained(tmp_path, "one", 4, 1), _trained(tmp_path, "two", 2, 2)
    assert len(one) == len(two) == 6
    for name in ("loss", "margin", "sft", "accuracy", "tokens"):
        assert [step[name] for step in two] == pytest.approx([step[name] for step in one], rel=1e-4, abs=1e-5), name
    assert one[0]["loss"] != pytest.approx(one[-1]["loss"], rel=1e-6), "nothing was learnt, so that nothing is compared"
    assert (tmp_path / "two" / "adapter" / "adapter_model.safetensors").stat().st_size > 0
