"""Test that training and inference put prompts of instruct models into their chat template."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
transformers = pytest.importorskip("transformers", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import write_base_model, write_pairs_file  # noqa: E402 - after the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.tokens import ModelTokenizer  # noqa: E402
from plansafe.align.training import baselines, models  # noqa: E402
from plansafe.align.training.examples import read_examples  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402
from plansafe.llm.models.providers import open_model  # noqa: E402
from plansafe.llm.models.request import Message, Request, Role  # noqa: E402

TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<plan>{% endif %}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chat")
    write_base_model(folder / "base")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "base")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder / "base")
    write_pairs_file(folder / "pairs.jsonl")
    return folder


def _config(folder: Path, output: Path, **extra_keys: Any) -> Config:
    keys = {"method": "ours", "lora_r": 4, "max_steps": 2, "bs": 4, "lr": 5e-3, "dtype": "float32"}
    files = {"model": f"hf/{folder / 'base'}", "data": str(folder / "pairs.jsonl"), "output": str(output)}
    return config_of({**keys, **files, **extra_keys})


def _prompt(folder: Path, **extra_keys: Any) -> str:
    config = _config(folder, folder / "run", **extra_keys)
    base = models.opened(config, {})
    row = read_examples(config, base.tokens).examples[0].rows[0]
    tokens = [token for token, action in zip(row.tokens, row.action, strict=True) if action < 0]
    return str(base.tokens.inner.decode(tokens, clean_up_tokenization_spaces=False))


def test_prompt_is_the_user_message(folder: Path) -> None:
    assert _prompt(folder) == "<user>task 0\nPlan:\n</s><plan>" == _prompt(folder, chat_template=True)
    assert _prompt(folder, chat_template=False) == "task 0\nPlan:\n"


@pytest.mark.parametrize("chat", [True, False])
def test_adapter_is_used_with_the_template_of_its_training(folder: Path, tmp_path: Path, chat: bool) -> None:
    adapter = train(_config(folder, tmp_path / "run", chat_template=chat)).folder
    assert json.loads(Path(str(adapter), "plansafe.json").read_text())["chat_template"] is chat
    model = open_model(f"hf/{adapter}")
    _, tokenizer = model.loaded
    assert bool(tokenizer.chat_template) is chat and ModelTokenizer(tokenizer).chat is chat
    prompt = "<user>task 0\nPlan:\n</s><plan>" if chat else "task 0\nPlan:\n"
    tokens = model._prompt(Request((Message(Role.USER, "task 0\nPlan:\n"),)), 0)
    assert tokenizer.decode(tokens, clean_up_tokenization_spaces=False) == prompt
    run = train(_second_run_config(folder, tmp_path, adapter))
    assert json.loads(Path(str(run.folder), "plansafe.json").read_text())["chat_template"] is chat


def _second_run_config(folder: Path, tmp_path: Path, adapter: Any) -> Config:
    keys = {"method": "sft", "max_steps": 1, "bs": 4, "dtype": "float32", "data": str(folder / "pairs.jsonl")}
    return config_of({**keys, "model": f"hf/{adapter}", "output": str(tmp_path / "more")})


def test_grpo_gets_a_conversation(folder: Path) -> None:
    pytest.importorskip("trl", reason="GRPO runs on trl")
    for chat, expected in ((None, [{"role": "user", "content": "task 0\nPlan:\n"}]), (False, "task 0\nPlan:\n")):
        keys = {} if chat is None else {"chat_template": chat}
        config = _config(folder, folder / "run", method="grpo", max_completion_length=8, **keys)
        base = models.opened(config, {})
        rows = baselines._prompts(base, read_examples(config, base.tokens).examples)
        assert rows[0] == {"prompt": expected, "origin": "drawn:case/0/0"}
