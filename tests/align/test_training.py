"""Test complete training runs with a random Llama: each method, its files, and resumed runs."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import write_base_model, write_pairs_file, write_sft_file  # noqa: E402

from plansafe.align.config import METHODS, TEXT_METHODS, Config, config_of  # noqa: E402 - after the skip
from plansafe.align.training.trainer import Result, train  # noqa: E402
from plansafe.llm.models.providers import open_model  # noqa: E402
from plansafe.llm.models.request import Message, Request, Role  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base, data, and an adapter trained by SFT."""
    folder = tmp_path_factory.mktemp("training")
    write_base_model(folder / "base")
    write_pairs_file(folder / "pairs.jsonl")
    write_sft_file(folder / "sft.jsonl")
    train(_config(folder, "sft", folder / "sft", data=folder / "sft.jsonl", max_steps=8))
    return folder


def _config(folder: Path, method: str, output: Path, **keys: Any) -> Config:
    table = {
        "model": f"hf/{folder / 'base'}", "data": str(keys.pop("data", folder / "pairs.jsonl")), "method": method,
        "output": str(output), "max_steps": 6, "bs": 2, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
        **keys,
    }  # fmt: skip
    return config_of({key: value for key, value in table.items() if value is not None})


def _losses(result: Result) -> list[float]:
    return [record["loss"] for record in result.metrics]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "grpo"])
def test_methods_learn_pairs_and_write_an_adapter(trained: Path, tmp_path: Path, method: str) -> None:
    adapter = trained / "sft/adapter"
    run = train(
        _config(trained, method, tmp_path / "run", model=f"hf/{adapter}", lora_r=None, max_steps=30, sft_weight=0.0)
    )
    assert run.finished and run.folder == str(tmp_path / "run/adapter") and run.examples == 12
    losses = _losses(run)
    assert sum(losses[-6:]) < sum(losses[:6]), "twelve pairs in thirty steps of four are learnt"
    if method not in TEXT_METHODS:
        margins = [record["margin"] for record in run.metrics]
        assert sum(margins[-6:]) > sum(margins[:6])
    lines = [json.loads(line) for line in Path(run.metrics_file).read_text(encoding="ascii").splitlines()]
    assert lines == run.metrics and [line["step"] for line in lines] == list(range(1, 31))
    assert all([math.isfinite(value) for line in lines for value in line.values()])
    assert sorted(os.listdir(run.folder)) == ["adapter_config.json", "adapter_model.safetensors", "plansafe.json"]
    scores = open_model(f"hf/{run.folder}").score(Request((Message(Role.USER, "Plan:"),)), ["(take cup)\n"])
    assert math.isfinite(scores[0].log_probability)


def test_loaded_model_uses_the_adapter(trained: Path) -> None:
    """The log-probabilities are equal to the results of peft, and the base model has different ones."""
    import peft
    import transformers

    request = Request((Message(Role.USER, "task 1\nPlan:\n"),))
    text = "(take cup)\n(open tap)\n"
    folder = trained / "sft/adapter"
    with_adapter = open_model(f"hf/{folder}").score(request, [text])[0].log_probability
    without_adapter = open_model(f"hf/{trained / 'base'}").score(request, [text])[0].log_probability
    base = transformers.AutoModelForCausalLM.from_pretrained(trained / "base", dtype=torch.float32)
    peft_model = peft.PeftModel.from_pretrained(base, folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(trained / "base")
    prompt = tokenizer.encode("task 1\nPlan:\n")
    plan_tokens = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    row = torch.tensor([prompt + plan_tokens])
    with torch.inference_mode():
        logps = torch.log_softmax(peft_model(input_ids=row).logits[0], -1)
    expected = sum([float(logps[len(prompt) - 1 + offset, token]) for offset, token in enumerate(plan_tokens)])
    assert with_adapter == pytest.approx(expected, abs=1e-3) and abs(with_adapter - without_adapter) > 1e-2


def test_all_weights_are_trained_with_rank_zero(trained: Path, tmp_path: Path) -> None:
    run = train(_config(trained, "sft", tmp_path / "run", lora_r=0, max_steps=20))
    assert _losses(run)[-1] < _losses(run)[0] and run.folder == str(tmp_path / "run/model")
    request = Request((Message(Role.USER, "Plan:"),))
    before = open_model(f"hf/{trained / 'base'}").score(request, ["(take cup)\n"])[0].log_probability
    assert open_model(f"hf/{run.folder}").score(request, ["(take cup)\n"])[0].log_probability > before


@pytest.mark.parametrize("method", ["simpo", "dpo", "step-dpo"])
def test_resumed_run_equals_an_uninterrupted_run(trained: Path, tmp_path: Path, method: str) -> None:
    uninterrupted = train(_config(trained, method, tmp_path / "whole"))
    config = _config(trained, method, tmp_path / "parts")
    resumed = train(config, seconds=0)
    assert not resumed.finished and resumed.step == 0
    for _ in range(3):
        resumed = train(config, seconds=0.01)
    resumed = train(config)
    assert resumed.finished and _losses(resumed) == _losses(uninterrupted)
    adapters = [Path(str(run.folder), "adapter_model.safetensors") for run in (uninterrupted, resumed)]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()


def test_finished_run_is_not_repeated(trained: Path, tmp_path: Path) -> None:
    config = _config(trained, "simpo", tmp_path / "run")
    first = train(config)
    before = os.stat(tmp_path / "run/adapter").st_mtime_ns
    assert train(config) == first and os.stat(tmp_path / "run/adapter").st_mtime_ns == before
    shutil.rmtree(tmp_path / "run/adapter")
    assert _losses(train(config)) == _losses(first), "the deleted adapter is written again from the last checkpoint"


def test_gradient_accumulation_equals_a_larger_batch(trained: Path, tmp_path: Path) -> None:
    """Two passes over two pairs equal one over four, also for the mean over tokens."""
    one_pass = train(_config(trained, "safe-align", tmp_path / "one", bs=4, sft_weight=0.5))
    two_passes = train(
        _config(trained, "safe-align", tmp_path / "two", bs=2, gradient_accumulation_steps=2, sft_weight=0.5)
    )
    assert _losses(one_pass) == pytest.approx(_losses(two_passes), abs=1e-5)


def test_gradient_checkpointing_keeps_the_losses(trained: Path, tmp_path: Path) -> None:
    plain = train(_config(trained, "step-dpo", tmp_path / "one"))
    checkpointed = train(_config(trained, "step-dpo", tmp_path / "two", gradient_checkpointing=True))
    assert _losses(plain) == pytest.approx(_losses(checkpointed), abs=1e-6)


def test_long_pairs_are_reported_and_skipped(trained: Path, tmp_path: Path) -> None:
    run = train(_config(trained, "simpo", tmp_path / "run", max_length=60, max_steps=1))
    assert run.examples + len(run.too_long) == 12 and run.examples and run.too_long
    assert all([name.startswith("case-") for name in run.too_long])
