"""Test GRPO on trl's trainer: the reward is the verdict, and a resumed run writes the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")
pytest.importorskip("trl", reason="GRPO runs on trl")

from training_cases import write_base_model  # noqa: E402 - after the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.records import SftLine, write_sft  # noqa: E402
from plansafe.align.training import baselines, run_trainer  # noqa: E402
from plansafe.align.training.run_trainer import Progress  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402

ORIGINS = ("drawn:stew/0/0", "drawn:stew/1/0", "drawn:tidy/0/0")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grpo")
    write_base_model(folder / "base")
    lines = [
        SftLine(f"task-{number}", origin, "stew", "household", "train", f"task {number}\nPlan:\n", "(wait)\n", "plan")
        for number, origin in enumerate([*ORIGINS, ORIGINS[0]])
    ]
    write_sft(str(folder / "tasks.jsonl"), lines)
    return folder


def _config(folder: Path, output: Path, **extra_keys: Any) -> Config:
    keys = {
        "model": f"hf/{folder / 'base'}", "data": str(folder / "tasks.jsonl"), "method": "grpo", "output": str(output),
        "max_steps": 3, "bs": 1, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 1, "num_generations": 4,
        "max_completion_length": 12, **extra_keys,
    }  # fmt: skip
    return config_of(keys)


def _lower_case(*, completions: Sequence[str], **_: Any) -> list[float]:
    """A reward that a random model can raise: the share of lower-case letters."""
    return [sum([letter.isascii() and letter.islower() for letter in text]) / max(len(text), 1) for text in completions]


def test_the_arguments_have_no_kl_term_and_no_normalisation(folder: Path, tmp_path: Path) -> None:
    args = baselines.baseline_arguments(_config(folder, tmp_path / "run"))
    assert (args.beta, args.epsilon, args.epsilon_high) == (0.0, 0.2, 0.28)
    assert (args.loss_type, args.scale_rewards, args.num_generations) == ("dr_grpo", "none", 4)


def test_training_raises_the_reward(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    run = train(_config(folder, tmp_path / "run", max_steps=20, bs=4, num_generations=8, lora_r=0, lr=1e-2))
    rewards = [line["reward"] for line in run.metrics]
    assert run.finished and run.examples == 3, "each task counts once"
    assert sum(rewards[-5:]) > 1.5 * sum(rewards[:5]), rewards
    assert all([math.isfinite(line["loss"]) for line in run.metrics])


def test_resumed_run_writes_the_same_bytes(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    uninterrupted = train(_config(folder, tmp_path / "whole", gradient_accumulation_steps=2))
    config = _config(folder, tmp_path / "parts", gradient_accumulation_steps=2)
    assert train(config, seconds=0).step == 0
    steps: list[Progress] = []
    monkeypatch.setattr(run_trainer, "is_over", lambda *_: bool(steps))
    assert train(config, watch=steps.append).step == 2, "a step is logged after the check of the time"
    monkeypatch.undo()
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    resumed = train(config)
    assert [line["reward"] for line in resumed.metrics] == [line["reward"] for line in uninterrupted.metrics]
    first, second = [
        Path(str(run.folder), "adapter_model.safetensors").read_bytes() for run in (uninterrupted, resumed)
    ]
    assert first == second


def test_reward_is_the_verdict(folder: Path, tmp_path: Path) -> None:
    """A random model writes no plan: all rewards are 0, and the loss is 0."""
    run = train(_config(folder, tmp_path / "run", max_steps=1))
    assert run.finished and run.metrics[0]["reward"] == 0.0 and run.metrics[0]["loss"] == 0.0
