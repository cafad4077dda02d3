"""Test that batched answers equal answers to single prompts and the answers of transformers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="batches need the extra `align`")
transformers = pytest.importorskip("transformers", reason="batches need the extra `align`")

from plansafe.align.evaluating.model_writers import Generated, Sampling, generate  # noqa: E402
from plansafe.llm.models.answer import Finish  # noqa: E402

WORDS = 40


def tiny_model(seed: int, layers: int = 2) -> Any:
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    config = transformers.LlamaConfig(
        vocab_size=WORDS,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.4,
    )
    return transformers.LlamaForCausalLM(config).eval()


def _prompts(seed: int, count: int = 9) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(1, 40, (count,), generator=generator).tolist()
    return [torch.randint(0, WORDS, (size,), generator=generator).tolist() for size in sizes]


@pytest.mark.parametrize("seed", range(6))
def test_batch_equals_single_prompts(seed: int) -> None:
    model, prompts = tiny_model(seed), _prompts(seed)
    ends = {3, 17, 25}
    together = generate(model, prompts, 30, ends)
    assert together == [generate(model, [prompt], 30, ends)[0] for prompt in prompts]
    assert len({len(answer.tokens) for answer in together}) > 1  # rows end at different times


@pytest.mark.parametrize("seed", range(3))
def test_answers_equal_those_of_transformers(seed: int) -> None:
    model, end = tiny_model(seed), 5
    for prompt in _prompts(seed, 4):
        answer = generate(model, [prompt], 25, {end})[0]
        expected = model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=25,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=0,
        )[0, len(prompt) :].tolist()
        assert [*answer.tokens, *([end] if answer.finish is Finish.STOP else [])] == expected


def test_answer_ends_at_the_end_token_or_the_limit() -> None:
    model, prompt = tiny_model(0), [1, 2, 3]
    free = generate(model, [prompt], 8, ())[0]
    assert free.finish is Finish.LENGTH and len(free.tokens) == 8
    first = free.tokens[0]
    assert generate(model, [prompt, [4]], 8, {first})[0] == Generated((), Finish.STOP)
    assert generate(model, [], 8, ()) == []
    with pytest.raises(ValueError, match="empty"):
        generate(model, [[1], []], 8, ())


@pytest.mark.parametrize("seed", range(3))
def test_sampled_answers_do_not_depend_on_the_batch(seed: int) -> None:
    model, prompts = tiny_model(seed), _prompts(seed)
    names = [f"{seed}/{number}" for number in range(len(prompts))]
    together = generate(model, prompts, 20, {3, 17}, Sampling(1.0, names))
    assert together == [
        generate(model, [prompt], 20, {3, 17}, Sampling(1.0, [name]))[0]
        for prompt, name in zip(prompts, names, strict=True)
    ]
    assert together != generate(model, prompts, 20, {3, 17}, Sampling(1.0, [f"else/{name}" for name in names]))
    assert together != generate(model, prompts, 20, {3, 17})


def test_tokens_are_sampled_by_their_probabilities() -> None:
    model, prompt, count = tiny_model(1), [1, 2, 3], 4000
    answers = generate(model, [prompt] * count, 1, (), Sampling(0.7, [str(number) for number in range(count)]))
    with torch.inference_mode():
        expected = torch.softmax(model(torch.tensor([prompt])).logits[0, -1] / 0.7, -1)
    shares = torch.bincount(torch.tensor([answer.tokens[0] for answer in answers]), minlength=WORDS) / count
    assert float((shares - expected).abs().max()) < 0.03
    cold = generate(model, [prompt] * 5, 10, (), Sampling(1e-4, list("abcde")))
    assert cold == generate(model, [prompt] * 5, 10, ())
