"""Compare complete training steps with trl's trainers: tokens, masks, loss, clipping and updates.

Our trainer is compared by SimPO and DPO as special cases of `safe-align` and `prefix-dpo` (lambda = 1); `simpo` and
`dpo` run on trl, with our tokens and order.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")
trl = pytest.importorskip("trl", reason="parity needs trl")
datasets = pytest.importorskip("datasets", reason="parity needs trl")
transformers = pytest.importorskip("transformers", reason="parity needs trl")

from training_cases import write_base_model, write_pairs_file  # noqa: E402

from plansafe.align.config import config_of  # noqa: E402 - after the skip
from plansafe.align.records import read_pairs  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402

PAIRS, STEPS, RATE = 6, 3, 2e-3
"""All pairs are in each step, so that the order does not matter."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_base_model(tmp_path / "base")
    write_pairs_file(tmp_path / "pairs.jsonl", PAIRS)
    return tmp_path


def _train_ours(place: Path, **keys: Any) -> Any:
    """Train with our trainer; return the model and the losses."""
    table = {
        "model": f"hf/{place / 'base'}", "data": str(place / "pairs.jsonl"), "output": str(place / "run"),
        "max_steps": STEPS, "bs": PAIRS, "lr": RATE, "lora_r": 0, "dtype": "float32", "schedule": "constant",
        "warmup_ratio": 0.0, **keys,
    }  # fmt: skip
    run = train(config_of(table))
    assert run.folder is not None
    return transformers.AutoModelForCausalLM.from_pretrained(run.folder), [record["loss"] for record in run.metrics]


def _settings(place: Path) -> dict[str, Any]:
    return {
        "output_dir": str(place / "theirs"), "per_device_train_batch_size": PAIRS, "max_steps": STEPS,
        "learning_rate": RATE, "lr_scheduler_type": "constant", "warmup_steps": 0, "weight_decay": 0.0,
        "max_grad_norm": 1.0, "optim": "adamw_torch", "use_cpu": True, "bf16": False, "logging_steps": 1,
        "gradient_checkpointing": False, "max_length": 384, "report_to": [], "save_strategy": "no",
    }  # fmt: skip


def _data(place: Path) -> Any:
    """The pairs as a data set for trl."""
    pairs = list(read_pairs(str(place / "pairs.jsonl")))
    return datasets.Dataset.from_list(
        [{"prompt": pair.prompt, "chosen": pair.chosen, "rejected": pair.rejected} for pair in pairs]
    )


def _tokenizer(place: Path) -> Any:
    """A tokenizer without a start token: trl adds it to prompts if the tokenizer has one, our trainer does not."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(place / "base")
    tokenizer.bos_token = None
    return tokenizer


def _largest_difference(first: Any, second: Any) -> float:
    """The largest difference of two weights."""
    theirs = dict(second.named_parameters())
    return max([(value - theirs[name]).abs().max().item() for name, value in first.named_parameters()])


def _model(place: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(place / "base")


def _assert_equal_steps(place: Path, trainer: Any, **keys: Any) -> None:
    """Assert that both trainers reach the same losses and weights, which differ from the initial weights."""
    trainer.train()
    model, losses = _train_ours(place, **keys)
    theirs = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert losses == pytest.approx(theirs, abs=1e-4)
    assert _largest_difference(_model(place), model) > RATE, "the weights changed"
    assert _largest_difference(model, trainer.model) < RATE / 100


@pytest.mark.parametrize("method", ["simpo", "safe-align"])
def test_simpo_with_sft_term_equals_trl(place: Path, method: str) -> None:
    from trl.experimental.cpo import CPOConfig, CPOTrainer

    settings = CPOConfig(**_settings(place), loss_type="simpo", cpo_alpha=0.7, beta=2.0, simpo_gamma=1.0)
    trainer = CPOTrainer(_model(place), settings, train_dataset=_data(place), processing_class=_tokenizer(place))
    constants = {"lambda": 1.0, "beta": 2.0, "gamma_beta_ratio": 0.5, "sft_weight": 0.7}
    _assert_equal_steps(place, trainer, method=method, **constants)


@pytest.mark.parametrize("method", ["dpo", "prefix-dpo"])
def test_dpo_equals_trl(place: Path, method: str) -> None:
    settings = trl.DPOConfig(**_settings(place), beta=0.3)
    trainer = trl.DPOTrainer(
        _model(place), args=settings, train_dataset=_data(place), processing_class=_tokenizer(place)
    )
    _assert_equal_steps(place, trainer, method=method, beta=0.3)
