"""Test the tokenizer and the weights of the model that is trained from scratch."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.align.reproducing import tiny_model as tiny

PLAN = "(go robot kitchen living-room)\n(take robot pan stove kitchen)\n"
PROMPT = "hard-wired heats: stove\non stove: pan\npower stove = 3500\nTask: Warm up the pie, Ben's, now.\nPlan:\n"


def test_pieces_keep_the_text_and_end_with_actions() -> None:
    assert "".join(tiny.pieces(PROMPT + PLAN)) == PROMPT + PLAN
    assert tiny.pieces(PLAN)[:6] == ["(go", " robot", " kitchen", " living-room", ")\n", "(take"]


def test_tokenizer_round_trips(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = tiny.vocabulary([PROMPT, PLAN])
    folder = str(tmp_path / "model")
    tiny.make(folder, words, 0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    tokens = tokenizer.encode(PROMPT + PLAN, add_special_tokens=False)
    assert [words[token] for token in tokens] == tiny.pieces(PROMPT + PLAN)
    assert tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False) == PROMPT + PLAN
    assert words[tokenizer.eos_token_id] == tiny.END
    assert tokenizer.encode("(never", add_special_tokens=False) == [words.index(tiny.UNKNOWN)]


def test_seed_determines_the_weights(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    words = tiny.vocabulary([PLAN])
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        tiny.make(str(tmp_path / name), words, seed)
    weights, same, other_seed = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    assert weights == same
    assert weights != other_seed
