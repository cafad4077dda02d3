"""A random Llama with letters as tokens, and records that agree with themselves: what tests of training run on."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from plansafe.align.records import Pair, SftLine, plan_of, write_pairs, write_sft
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import weights_of

ACTIONS = ("(go a b)", "(take cup)", "(put cup sink)", "(open tap)", "(close tap)", "(wait)")


def base_model(folder: Path, seed: int = 0, words: tuple[str, ...] = ()) -> Path:
    """Write a random Llama of two layers, with a tokenizer of bytes and ``words``."""
    import tokenizers
    import torch
    import transformers

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    known = {word: number for number, word in enumerate(["<pad>", "<s>", "</s>", *letters, *words])}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=known, merges=[]))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="</s>", bos_token="<s>", eos_token="</s>"
    )
    shape = transformers.LlamaConfig(
        vocab_size=len(known), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=512, pad_token_id=2, bos_token_id=1, eos_token_id=2,
        tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(seed)
    transformers.LlamaForCausalLM(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def pair(number: int, seed: int = 0) -> Pair:
    """A pair that a reader takes: plans that begin alike and differ behind."""
    drawn = Random(f"{seed}/{number}")
    common = [drawn.choice(ACTIONS) for _ in range(drawn.randrange(3))]
    chosen = [*common, "(close tap)", *[drawn.choice(ACTIONS) for _ in range(drawn.randrange(3))]]
    rejected = [*common, "(open tap)", *[drawn.choice(ACTIONS) for _ in range(drawn.randrange(4))]]
    shared = shared_actions(chosen, rejected)
    made: dict[str, Any] = {
        "id": f"case-{number}", "task": f"case-{number}", "origin": f"drawn:case/{number}/0", "family": "case",
        "world": "household", "split": "train", "prompt": f"task {number}\nPlan:\n", "chosen": plan_of(chosen),
        "rejected": plan_of(rejected), "shared": shared, "first_violation": shared + 1, "no_return": None,
        "regret": None, "grade": None, "rule": "no-open-tap", "rules": ("no-open-tap",), "safel": (),
        "categories": (), "moment": "process", "witness": "the tap is open", "edits": 1, "source": "mutant", "seed": 0,
    }  # fmt: skip
    from plansafe.align.records import Both, even_weights

    first = Pair(**made, goal=Both(True, True), weights=even_weights(made["chosen"], made["rejected"]))
    return Pair(**made, goal=Both(True, True), weights=weights_of(first, "regret"))


def pairs_file(path: Path, count: int = 12, seed: int = 0) -> Path:
    write_pairs(str(path), [pair(number, seed) for number in range(count)])
    return path


def sft_file(path: Path, count: int = 12, seed: int = 0) -> Path:
    lines = []
    for number in range(count):
        one = pair(number, seed)
        lines.append(SftLine(one.task, one.origin, one.family, one.world, "train", one.prompt, one.chosen, "plan"))
    write_sft(str(path), lines)
    return path
