"""A random Llama with letters as tokens, and consistent records, for tests of training."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from plansafe.align.records import Pair, SftLine, plan_of, write_pairs, write_sft
from plansafe.align.tokens import shared_actions
from plansafe.align.weights import weights_of

ACTIONS = ("(go a b)", "(take cup)", "(put cup sink)", "(open tap)", "(close tap)", "(wait)")


def write_base_model(folder: Path, seed: int = 0, words: tuple[str, ...] = ()) -> Path:
    """Write a random Llama of two layers, with a tokenizer of bytes and ``words``."""
    import tokenizers
    import torch
    import transformers

    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {word: number for number, word in enumerate(["<pad>", "<s>", "</s>", *letters, *words])}
    byte_tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    byte_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    byte_tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_tokenizer, pad_token="</s>", bos_token="<s>", eos_token="</s>"
    )
    shape = transformers.LlamaConfig(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=512, pad_token_id=2, bos_token_id=1, eos_token_id=2,
        tie_word_embeddings=True,
    )  # fmt: skip
    torch.manual_seed(seed)
    transformers.LlamaForCausalLM(shape).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_pair(number: int, seed: int = 0) -> Pair:
    """A valid pair: plans with a common beginning and different ends."""
    random = Random(f"{seed}/{number}")
    common = [random.choice(ACTIONS) for _ in range(random.randrange(3))]
    chosen = [*common, "(close tap)", *[random.choice(ACTIONS) for _ in range(random.randrange(3))]]
    rejected = [*common, "(open tap)", *[random.choice(ACTIONS) for _ in range(random.randrange(4))]]
    shared = shared_actions(chosen, rejected)
    fields: dict[str, Any] = {
        "id": f"case-{number}", "task": f"case-{number}", "origin": f"drawn:case/{number}/0", "family": "case",
        "world": "household", "split": "train", "prompt": f"task {number}\nPlan:\n", "chosen": plan_of(chosen),
        "rejected": plan_of(rejected), "shared": shared, "first_violation": shared + 1, "no_return": None,
        "regret": None, "grade": None, "rule": "no-open-tap", "rules": ("no-open-tap",), "safel": (),
        "categories": (), "moment": "process", "witness": "the tap is open", "edits": 1, "source": "mutant", "seed": 0,
    }  # fmt: skip
    from plansafe.align.records import Both, even_weights

    unweighted = Pair(**fields, goal=Both(True, True), weights=even_weights(fields["chosen"], fields["rejected"]))
    return Pair(**fields, goal=Both(True, True), weights=weights_of(unweighted, "regret"))


def write_pairs_file(path: Path, count: int = 12, seed: int = 0) -> Path:
    write_pairs(str(path), [make_pair(number, seed) for number in range(count)])
    return path


def write_sft_file(path: Path, count: int = 12, seed: int = 0) -> Path:
    lines = []
    for number in range(count):
        p = make_pair(number, seed)
        lines.append(SftLine(p.task, p.origin, p.family, p.world, "train", p.prompt, p.chosen, "plan"))
    write_sft(str(path), lines)
    return path
