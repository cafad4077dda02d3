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


def _trained(folder: Path, name: str, method: str, bs: int, processes: int) -> list[dict[str, float]]:
    """The metrics of a run of six steps in so many processes."""
    keys = {
        "model": f"hf/{folder / 'base'}", "data": [str(folder / "pairs.jsonl")], "output": str(folder / name),
        "method": method, "max_steps": 6, "bs": bs, "lr": 1e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
        "sft_weight": 0.0 if method == "dpo" else 0.3, "eval_data": [str(folder / "test.jsonl")], "eval_steps": 3,
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
    return _lines(folder / name / "metrics.jsonl")


def _lines(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


@pytest.mark.parametrize("method", ["prefix-dpo", "dpo"])
def test_two_processes_are_one_with_as_many_pairs(tmp_path: Path, method: str) -> None:
    """Our trainer with a reference and the cross-entropy, and trl's: steps and evaluations."""
    base_model(tmp_path / "base")
    pairs_file(tmp_path / "pairs.jsonl", 12)
    pairs_file(tmp_path / "test.jsonl", 5, seed=1)
    one, two = _trained(tmp_path, "one", method, 4, 1), _trained(tmp_path, "two", method, 2, 2)
    assert len(one) == len(two) == 6
    for name in ("loss", "margin", "accuracy", "tokens", *(["sft"] if method != "dpo" else [])):
        assert [step[name] for step in two] == pytest.approx([step[name] for step in one], rel=1e-4, abs=1e-5), name
    evaluations = [_lines(tmp_path / name / "evaluations.jsonl") for name in ("one", "two")]
    assert [line["step"] for line in evaluations[0]] == [3, 6] == [line["step"] for line in evaluations[1]]
    if method != "dpo":  # trl counts repeated pairs of the last batch
        for name in ("eval_loss", "eval_margin", "eval_accuracy"):
            first, second = [[line[name] for line in lines] for lines in evaluations]
            assert first == pytest.approx(second, rel=1e-4, abs=1e-5), name
    assert one[0]["loss"] != pytest.approx(one[-1]["loss"], rel=1e-6), "nothing was learnt, so that nothing is compared"
    assert (tmp_path / "two" / "adapter" / "adapter_model.safetensors").stat().st_size > 0
