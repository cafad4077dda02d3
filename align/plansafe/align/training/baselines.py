"""DPO, SimPO and GRPO on trl's trainers, with our tokens, checkpoints and metrics (sources: docs/alignment.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import datasets
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer
from trl.experimental.cpo import CPOConfig, CPOTrainer

from plansafe.align.config import Config
from plansafe.align.reward import verdict_reward
from plansafe.align.tokens import Tokens
from plansafe.align.training.arguments import arguments
from plansafe.align.training.examples import Example
from plansafe.align.training.models import Base, Trained, require_package
from plansafe.align.training.run_trainer import Run, RunTrainer

EPSILON_LOW, EPSILON_HIGH = 0.2, 0.28
"""Clipping of the ratio: DAPO (Yu et al. 2025), section 3.1."""


class Dpo(RunTrainer, DPOTrainer):  # type: ignore[misc] # trl is not installed where types are checked
    """DPO (Rafailov et al. 2023) of trl; ``sft_weight`` adds its ``sft`` loss."""

    def __init__(self, base: Base, trained: Trained, reference: Any, args: Any, **data: Any) -> None:
        super().__init__(trained.model, reference, args, processing_class=base.tokens.inner, **data)
        for name, weight in self.model.named_parameters():
            if ".ref." in name:
                weight.requires_grad_(False)

    def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
        """The rows have tokens already."""
        return dataset


class SimPo(RunTrainer, CPOTrainer):  # type: ignore[misc] # as above
    """SimPO (Meng et al. 2024) as trl's CPO has it."""

    def __init__(self, base: Base, trained: Trained, args: Any, **data: Any) -> None:
        super().__init__(trained.model, args, processing_class=base.tokens.inner, **data)

    def tokenize_row(self, feature: dict[str, Any], model: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """The rows have tokens already."""
        row: dict[str, Any] = {}
        for side in ("chosen", "rejected"):
            prompt, answer = feature["prompt_ids"], feature[f"{side}_ids"]
            row[f"{side}_input_ids"] = prompt + answer
            row[f"{side}_attention_mask"] = [1] * len(prompt + answer)
            row[f"{side}_labels"] = [-100] * len(prompt) + answer
        return row


class Grpo(RunTrainer, GRPOTrainer):  # type: ignore[misc] # as above
    """GRPO of trl with the verdict as reward."""

    def __init__(self, base: Base, trained: Trained, reward: Any, args: Any, **data: Any) -> None:
        tokenizer = base.tokens.inner
        tokenizer.padding_side = "left"
        super().__init__(trained.model, reward, args, processing_class=tokenizer, **data)

    def step_tokens(self, examples: Sequence[Example], metrics: Mapping[str, float]) -> int:
        """See :meth:`RunTrainer.step_tokens`: prompts and completions."""
        completions = len(examples) * metrics["completions_mean_length"]
        return int(self.num_generations * (super().step_tokens(examples, metrics) + completions))


def baseline(
    run: Run, base: Base, trained: Trained, reference: Any, args: Any, evaluation: Sequence[Example]
) -> RunTrainer:
    """Trl's trainer for a run. ``reference``: a copy of a model whose weights are all trained, for DPO."""
    datasets.disable_progress_bars()
    rows = _prompts if run.config.method == "grpo" else _pairs
    data: dict[str, Any] = {
        "train_dataset": datasets.Dataset.from_list(rows(base, run.examples)),
        "eval_dataset": datasets.Dataset.from_list(rows(base, evaluation)) if evaluation else None,
    }
    trainer: RunTrainer
    match run.config.method:
        case "dpo":
            trainer = Dpo(base, trained, reference, args, **data)
        case "simpo":
            trainer = SimPo(base, trained, args, **data)
        case _:
            trainer = Grpo(base, trained, verdict_reward(), args, **data)
    trainer.train_dataset = trainer.train_dataset.select(run.order)
    return trainer


def baseline_arguments(config: Config) -> Any:
    """Trl's arguments for ``config.method``. Raises :class:`~plansafe.llm.models.port.ModelError`."""
    if config.method == "dpo":
        losses: dict[str, Any] = {}
        if config.sft_weight:
            losses = {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, config.sft_weight]}
        return arguments(config, DPOConfig, beta=config.sharpness, max_length=config.max_length, **losses)
    if config.method == "simpo":
        return arguments(
            config,
            CPOConfig,
            loss_type="simpo",
            beta=config.sharpness,
            simpo_gamma=config.sharpness * config.gamma_beta_ratio,
            cpo_alpha=config.sft_weight,
            max_length=config.max_length,
        )
    if config.vllm:
        require_package("vllm", "`vllm`", "pip install vllm, or remove the key")
    return arguments(
        config,
        GRPOConfig,
        batch=config.bs * config.num_generations,
        evaluation_batch=config.bs * config.num_generations,
        num_generations=config.num_generations,
        max_completion_length=config.max_completion_length,
        temperature=config.temperature,
        beta=config.sharpness,
        epsilon=EPSILON_LOW,
        epsilon_high=EPSILON_HIGH,
        loss_type="dr_grpo",
        scale_rewards="none",
        shuffle_dataset=False,
        use_vllm=config.vllm,
        vllm_mode="colocate",
    )


def _pairs(_base: Base, examples: Sequence[Example]) -> list[dict[str, Any]]:
    """Rows of tokens: the prompt, and both plans with their end."""
    rows = []
    for example in examples:
        chosen, rejected = [_split(row) for row in example.rows]
        rows.append({"prompt_ids": chosen[0], "chosen_ids": chosen[1], "rejected_ids": rejected[1]})
    return rows


def _split(row: Tokens) -> tuple[list[int], list[int]]:
    start = row.action.index(0) if 0 in row.action else len(row.action)
    return list(row.tokens[:start]), list(row.tokens[start:])


def _prompts(base: Base, examples: Sequence[Example]) -> list[dict[str, Any]]:
    """Rows with a prompt, as text or as a conversation, and the task that the reward needs."""
    return [
        {
            "prompt": base.tokens.messages(example.prompt) if base.tokens.chat else example.prompt,
            "origin": example.origin,
        }
        for example in examples
    ]
