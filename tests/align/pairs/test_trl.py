"""Test that Hugging Face's `datasets` reads the files, and trl's DPO trains on them unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="needs the extra `align`")

from random_pairs import random_pairs

from plansafe.align.pairs.dataset import DatasetRequest, make_dataset
from plansafe.align.pairs.selection import Shares


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    make_dataset(str(tmp_path / "pairs"), random_pairs(300), DatasetRequest(40, 1, Shares(1, 1)))
    return str(tmp_path / "pairs")


def tokenizer() -> Any:
    """A tokenizer with a token for each word and an end token."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = {word: number for number, word in enumerate(["<end>", "<unknown>", "(", ")", "go", "take", "robot"])}
    words_tokenizer = Tokenizer(models.WordLevel(words, unk_token="<unknown>"))
    words_tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=words_tokenizer, eos_token="<end>", pad_token="<end>", unk_token="<unknown>"
    )


def test_the_folder_is_a_data_set(folder: str, tmp_path: Path) -> None:
    from datasets import load_dataset
    from trl.data_utils import unpair_preference_dataset

    data = load_dataset(folder, cache_dir=str(tmp_path / "cache"))
    files = {split: f"{folder}/{split}.jsonl" for split in ("train", "test")}
    lines = load_dataset("json", data_files=files, cache_dir=str(tmp_path / "cache"))
    assert data["train"][:] == lines["train"][:]
    assert data["train"].num_rows == 3 * data["test"].num_rows
    unpaired = unpair_preference_dataset(data["test"].select_columns(["prompt", "chosen", "rejected"]))  # for KTO
    assert unpaired.column_names == ["prompt", "completion", "label"]


def test_trl_trains_on_the_data_set(folder: str, tmp_path: Path) -> None:
    import torch
    from datasets import load_dataset
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl import DPOConfig, DPOTrainer

    torch.set_num_threads(1)
    torch.manual_seed(0)
    small = LlamaConfig(vocab_size=8, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2)
    data = load_dataset(folder, cache_dir=str(tmp_path / "cache"))["train"]
    settings = DPOConfig(
        output_dir=str(tmp_path / "run"),
        max_steps=2,
        per_device_train_batch_size=4,
        report_to=[],
        use_cpu=True,
        bf16=False,
    )
    model = str(tmp_path / "model")  # a path: trl loads the reference model from it once more
    LlamaForCausalLM(small).save_pretrained(model)
    trainer = DPOTrainer(model, args=settings, train_dataset=data, processing_class=tokenizer())
    run = trainer.train()
    assert run.global_step == 2
    assert 0 < run.training_loss < 2
