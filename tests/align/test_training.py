"""Training as a whole, with a random Llama: each method, what it writes, and that a run goes on where it was."""

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

from training_cases import base_model, pairs_file, sft_file  # noqa: E402

from plansafe.align.config import METHODS, TEXT_METHODS, Config, config_of  # noqa: E402 - behind the skip
from plansafe.align.training.trainer import Result, train  # noqa: E402
from plansafe.llm.models.providers import open_model  # noqa: E402
from plansafe.llm.models.request import Message, Request, Role  # noqa: E402


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, data, and an adapter of SFT."""
    folder = tmp_path_factory.mktemp("training")
    base_model(folder / "base")
    pairs_file(folder / "pairs.jsonl")
    sft_file(folder / "sft.jsonl")
    train(_config(folder, "sft", folder / "sft", data=folder / "sft.jsonl", max_steps=8))
    return folder


def _config(folder: Path, method: str, output: Path, **more: Any) -> Config:
    said = {
        "model": f"hf/{folder / 'base'}", "data": str(more.pop("data", folder / "pairs.jsonl")), "method": method,
        "output": str(output), "max_steps": 6, "bs": 2, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
        **more,
    }  # fmt: skip
    return config_of({key: value for key, value in said.items() if value is not None})


def _losses(result: Result) -> list[float]:
    return [record["loss"] for record in result.metrics]


@pytest.mark.parametrize("method", [method for method in METHODS if method != "grpo"])
def test_each_method_learns_its_pairs_and_writes_an_adapter(kept: Path, tmp_path: Path, method: str) -> None:
    adapter = kept / "sft/adapter"
    found = train(
        _config(kept, method, tmp_path / "run", model=f"hf/{adapter}", lora_r=None, max_steps=30, sft_weight=0.0)
    )
    assert found.finished and found.folder == str(tmp_path / "run/adapter") and found.examples == 12
    losses = _losses(found)
    assert sum(losses[-6:]) < sum(losses[:6]), "twelve pairs in thirty steps of four are learnt"
    if method not in TEXT_METHODS:
        margins = [record["margin"] for record in found.metrics]
        assert sum(margins[-6:]) > sum(margins[:6])
    lines = [json.loads(line) for line in Path(found.metrics_file).read_text(encoding="ascii").splitlines()]
    assert lines == found.metrics and [line["step"] for line in lines] == list(range(1, 31))
    assert all([math.isfinite(value) for line in lines for value in line.values()])
    assert sorted(os.listdir(found.folder)) == ["adapter_config.json", "adapter_model.safetensors", "plansafe.json"]
    told = open_model(f"hf/{found.folder}").score(Request((Message(Role.USER, "Plan:"),)), ["(take cup)\n"])
    assert math.isfinite(told[0].log_probability)


def test_the_front_end_computes_with_the_adapter(kept: Path) -> None:
    """The same log-probabilities as peft gives, and others than the base's."""
    import peft
    import transformers

    request = Request((Message(Role.USER, "task 1\nPlan:\n"),))
    text = "(take cup)\n(open tap)\n"
    folder = kept / "sft/adapter"
    ours = open_model(f"hf/{folder}").score(request, [text])[0].log_probability
    plain = open_model(f"hf/{kept / 'base'}").score(request, [text])[0].log_probability
    base = transformers.AutoModelForCausalLM.from_pretrained(kept / "base", dtype=torch.float32)
    theirs = peft.PeftModel.from_pretrained(base, folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(kept / "base")
    prompt = tokenizer.encode("task 1\nPlan:\n")
    rest = [*tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id]
    row = torch.tensor([prompt + rest])
    with torch.inference_mode():
        logps = torch.log_softmax(theirs(input_ids=row).logits[0], -1)
    said = sum([float(logps[len(prompt) - 1 + at, token]) for at, token in enumerate(rest)])
    assert ours == pytest.approx(said, abs=1e-3) and abs(ours - plain) > 1e-2


def test_all_weights_are_trained_where_there_is_no_rank(kept: Path, tmp_path: Path) -> None:
    found = train(_config(kept, "sft", tmp_path / "run", lora_r=0, max_steps=20))
    assert _losses(found)[-1] < _losses(found)[0] and found.folder == str(tmp_path / "run/model")
    request = Request((Message(Role.USER, "Plan:"),))
    plain = open_model(f"hf/{kept / 'base'}").score(request, ["(take cup)\n"])[0].log_probability
    assert open_model(f"hf/{found.folder}").score(request, ["(take cup)\n"])[0].log_probability > plain


@pytest.mark.parametrize("method", ["simpo", "dpo", "step-dpo"])
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(kept: Path, tmp_path: Path, method: str) -> None:
    whole = train(_config(kept, method, tmp_path / "whole"))
    config = _config(kept, method, tmp_path / "parts")
    parts = train(config, seconds=0)
    assert not parts.finished and parts.step == 0
    for _ in range(3):
        parts = train(config, seconds=0.01)
    parts = train(config)
    assert parts.finished and _losses(parts) == _losses(whole)
    one, other = [Path(str(found.folder), "adapter_model.safetensors").read_bytes() for found in (whole, parts)]
    assert one == other


def test_a_finished_run_is_not_done_again(kept: Path, tmp_path: Path) -> None:
    config = _config(kept, "simpo", tmp_path / "run")
    first = train(config)
    before = os.stat(tmp_path / "run/adapter").st_mtime_ns
    assert train(config) == first and os.stat(tmp_path / "run/adapter").st_mtime_ns == before
    shutil.rmtree(tmp_path / "run/adapter")
    assert _losses(train(config)) == _losses(first), "what was deleted is made again from the last checkpoint"


def test_steps_do_not_depend_on_how_they_are_cut(kept: Path, tmp_path: Path) -> None:
    """Two passes of two pairs are one of four, the mean over tokens included."""
    one = train(_config(kept, "safe-align", tmp_path / "one", bs=4, sft_weight=0.5))
    two = train(_config(kept, "safe-align", tmp_path / "two", bs=2, gradient_accumulation_steps=2, sft_weight=0.5))
    assert _losses(one) == pytest.approx(_losses(two), abs=1e-5)


def test_gradient_checkpointing_changes_nothing(kept: Path, tmp_path: Path) -> None:
    one = train(_config(kept, "step-dpo", tmp_path / "one"))
    two = train(_config(kept, "step-dpo", tmp_path / "two", gradient_checkpointing=True))
    assert _losses(one) == pytest.approx(_losses(two), abs=1e-6)


def test_long_pairs_are_named_and_left_out(kept: Path, tmp_path: Path) -> None:
    found = train(_config(kept, "simpo", tmp_path / "run", max_length=60, max_steps=1))
    assert found.examples + len(found.too_long) == 12 and found.examples and found.too_long
    assert all([name.startswith("case-") for name in found.too_long])
