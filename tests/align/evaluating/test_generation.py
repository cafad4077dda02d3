"""Batches of greedy answers are those of single prompts, and those of transformers."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="batches need the extra `align`")
transformers = pytest.importorskip("transformers", reason="batches need the extra `align`")

from plansafe.align.evaluating.model_writers import Generated, Sampling, generate  # noqa: E402
from plansafe.llm.models.answer import Finish  # noqa: E402

WORDS = 40


def tiny(seed: int, layers: int = 2) -> Any:
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
def test_a_batch_answers_as_its_prompts_do_alone(seed: int) -> None:
    model, prompts = tiny(seed), _prompts(seed)
    ends = {3, 17, 25}
    together = generate(model, prompts, 30, ends)
    assert together == [generate(model, [prompt], 30, ends)[0] for prompt in prompts]
    assert len({len(one.tokens) for one in together}) > 1  # rows end at different times


@pytest.mark.parametrize("seed", range(3))
def test_the_answers_are_those_of_transformers(seed: int) -> None:
    model, end = tiny(seed), 5
    for prompt in _prompts(seed, 4):
        found = generate(model, [prompt], 25, {end})[0]
        wanted = model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
            max_new_tokens=25,
            do_sample=False,
            eos_token_id=end,
            pad_token_id=0,
        )[0, len(prompt) :].tolist()
        assert [*found.tokens, *([end] if found.finish is Finish.STOP else [])] == wanted


def test_an_answer_ends_at_its_end_or_at_the_limit() -> None:
    model, prompt = tiny(0), [1, 2, 3]
    free = generate(model, [prompt], 8, ())[0]
    assert free.finish is Finish.LENGTH and len(free.tokens) == 8
    first = free.tokens[0]
    assert generate(model, [prompt, [4]], 8, {first})[0] == Generated((), Finish.STOP)
    assert generate(model, [], 8, ()) == []
    with pytest.raises(ValueError, match="empty"):
        generate(model, [[1], []], 8, ())


@pytest.mark.parametrize("seed", range(3))
def test_drawn_answers_do_not_depend_on_the_batch(seed: int) -> None:
    model, prompts = tiny(seed), _prompts(seed)
    names = [f"{seed}/{number}" for number in range(len(prompts))]
    together = generate(model, prompts, 20, {3, 17}, Sampling(1.0, names))
    assert together == [
        generate(model, [prompt], 20, {3, 17}, Sampling(1.0, [name]))[0]
        for prompt, name in zip(prompts, names, strict=True)
    ]
    assert together != generate(model, prompts, 20, {3, 17}, Sampling(1.0, [f"else/{name}" for name in names]))
    assert together != generate(model, prompts, 20, {3, 17})


def test_tokens_are_drawn_by_their_probabilities() -> None:
    model, prompt, count = tiny(1), [1, 2, 3], 4000
    drawn = generate(model, [prompt] * count, 1, (), Sampling(0.7, [str(number) for number in range(count)]))
    with torch.inference_mode():
        expected = torch.softmax(model(torch.tensor([prompt])).logits[0, -1] / 0.7, -1)
    shares = torch.bincount(torch.tensor([answer.tokens[0] for answer in drawn]), minlength=WORDS) / count
    assert float((shares - expected).abs().max()) < 0.03
    cold = generate(model, [prompt] * 5, 10, (), Sampling(1e-4, list("abcde")))
    assert cold == generate(model, [prompt] * 5, 10, ())
