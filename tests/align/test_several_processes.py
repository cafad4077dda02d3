"""Test that two processes of torch's launcher train like one process with as many pairs per step."""

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

from training_cases import write_base_model, write_pairs_file

_PROGRAM = """
import sys
from plansafe.align.config import read_config
from plansafe.align.training.trainer import train
train(read_config(sys.argv[1]))
"""


def _train(folder: Path, name: str, method: str, bs: int, processes: int) -> list[dict[str, float]]:
    """Train six steps in ``processes`` processes; return the metrics."""
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
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert process.returncode == 0, process.stderr[-3000:]
    return _lines(folder / name / "metrics.jsonl")


def _lines(path: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


@pytest.mark.parametrize("method", ["prefix-dpo", "dpo"])
def test_two_processes_equal_one_process(tmp_path: Path, method: str) -> None:
    """Compare steps and evaluations of our trainer (reference model, cross-entropy) and of trl's."""
    write_base_model(tmp_path / "base")
    write_pairs_file(tmp_path / "pairs.jsonl", 12)
    write_pairs_file(tmp_path / "test.jsonl", 5, seed=1)
    one_process, two_processes = _train(tmp_path, "one", method, 4, 1), _train(tmp_path, "two", method, 2, 2)
    assert len(one_process) == len(two_processes) == 6
    for name in ("loss", "margin", "accuracy", "tokens", *(["sft"] if method != "dpo" else [])):
        assert [step[name] for step in two_processes] == pytest.approx(
            [step[name] for step in one_process], rel=1e-4, abs=1e-5
        ), name
    evaluations = [_lines(tmp_path / name / "evaluations.jsonl") for name in ("one", "two")]
    assert [line["step"] for line in evaluations[0]] == [3, 6] == [line["step"] for line in evaluations[1]]
    if method != "dpo":  # trl counts repeated pairs of the last batch
        for name in ("eval_loss", "eval_margin", "eval_accuracy"):
            first, second = [[line[name] for line in lines] for lines in evaluations]
            assert first == pytest.approx(second, rel=1e-4, abs=1e-5), name
    assert one_process[0]["loss"] != pytest.approx(one_process[-1]["loss"], rel=1e-6), "the loss did not change"
    assert (tmp_path / "two" / "adapter" / "adapter_model.safetensors").stat().st_size > 0
