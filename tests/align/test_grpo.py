"""GRPO on trl's trainer: the reward is the verdict, and a run that was stopped continues to the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")
pytest.importorskip("trl", reason="GRPO runs on trl")

from training_cases import base_model  # noqa: E402 - behind the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.records import SftLine, write_sft  # noqa: E402
from plansafe.align.training import baselines, run_trainer  # noqa: E402
from plansafe.align.training.run_trainer import Progress  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402

ORIGINS = ("drawn:stew/0/0", "drawn:stew/1/0", "drawn:tidy/0/0")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grpo")
    base_model(folder / "base")
    lines = [
        SftLine(f"task-{number}", origin, "stew", "household", "train", f"task {number}\nPlan:\n", "(wait)\n", "plan")
        for number, origin in enumerate([*ORIGINS, ORIGINS[0]])
    ]
    write_sft(str(folder / "tasks.jsonl"), lines)
    return folder


def _config(place: Path, output: Path, **more: Any) -> Config:
    keys = {
        "model": f"hf/{place / 'base'}", "data": str(place / "tasks.jsonl"), "method": "grpo", "output": str(output),
        "max_steps": 3, "bs": 1, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 1, "num_generations": 4,
        "max_completion_length": 12, **more,
    }  # fmt: skip
    return config_of(keys)


def _lower_case(*, completions: Sequence[str], **_: Any) -> list[float]:
    """A reward that a random model can raise: the share of lower-case letters."""
    return [sum([letter.isascii() and letter.islower() for letter in text]) / max(len(text), 1) for text in completions]


def test_the_arguments_have_no_kl_term_and_no_normalisation(place: Path, tmp_path: Path) -> None:
    args = baselines.baseline_arguments(_config(place, tmp_path / "run"))
    assert (args.beta, args.epsilon, args.epsilon_high) == (0.0, 0.2, 0.28)
    assert (args.loss_type, args.scale_rewards, args.num_generations) == ("dr_grpo", "none", 4)


def test_a_reward_that_can_be_raised_is_raised(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    done = train(_config(place, tmp_path / "run", max_steps=20, bs=4, num_generations=8, lora_r=0, lr=1e-2))
    rewards = [line["reward"] for line in done.metrics]
    assert done.finished and done.examples == 3, "each task counts once"
    assert sum(rewards[-5:]) > 1.5 * sum(rewards[:5]), rewards
    assert all([math.isfinite(line["loss"]) for line in done.metrics])


def test_a_run_that_was_stopped_continues_to_the_same_bytes(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    whole = train(_config(place, tmp_path / "whole", gradient_accumulation_steps=2))
    config = _config(place, tmp_path / "parts", gradient_accumulation_steps=2)
    assert train(config, seconds=0).step == 0
    steps: list[Progress] = []
    monkeypatch.setattr(run_trainer, "is_over", lambda *_: bool(steps))
    assert train(config, watch=steps.append).step == 2, "a step is logged after the check of the time"
    monkeypatch.undo()
    monkeypatch.setattr(baselines, "verdict_reward", lambda: _lower_case)
    parts = train(config)
    assert [line["reward"] for line in parts.metrics] == [line["reward"] for line in whole.metrics]
    first, second = [Path(str(run.folder), "adapter_model.safetensors").read_bytes() for run in (whole, parts)]
    assert first == second


def test_the_verdict_is_the_reward(place: Path, tmp_path: Path) -> None:
    """A random model writes no plan: every reward is 0, and nothing is learned."""
    done = train(_config(place, tmp_path / "run", max_steps=1))
    assert done.finished and done.metrics[0]["reward"] == 0.0 and done.metrics[0]["loss"] == 0.0
