"""Answers of a model in this process, many prompts at once: padded on the left, with a key-value cache.

The loop does not use ``generate`` of transformers, which takes penalties and limits from a file next to the weights.
The answer to a prompt does not depend on its batch, up to the rounding of sums: where two tokens have the same
probability within that rounding, another batch may choose the other token.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import Any, NamedTuple

from plansafe.llm.models.answer import Finish

_COMPACTION_SHARE = 4
"""Drop finished rows from the batch when they are more than this fraction of it: dropping copies the cache."""


class Generated(NamedTuple):
    """The tokens of an answer without its end, and why it ends."""

    tokens: tuple[int, ...]
    finish: Finish


class Sampling(NamedTuple):
    """Draw tokens at ``temperature``; ``seeds`` has one seed per prompt, so that draws do not depend on the batch."""

    temperature: float
    seeds: Sequence[str]


def generate(
    model: Any,
    prompts: Sequence[Sequence[int]],
    max_tokens: int,
    ends: Collection[int],
    sampling: Sampling | None = None,
) -> list[Generated]:
    """Continue each prompt until a token of ``ends`` or ``max_tokens`` tokens; without ``sampling`` greedily.

    ``model`` is a causal model of transformers, in evaluation mode; tensors are made on its device.
    Raises ``ValueError`` for an empty prompt.
    """
    import torch  # noqa: PLC0415 - a second to load, and only where a model runs in this process
    from transformers import DynamicCache  # noqa: PLC0415

    if not all(prompts):
        raise ValueError("an empty prompt")
    if not prompts:
        return []
    width, device = max(map(len, prompts)), model.device
    padded = [[0] * (width - len(row)) + list(row) for row in prompts]
    real = [[0] * (width - len(row)) + [1] * len(row) for row in prompts]
    feed, mask = torch.tensor(padded, device=device), torch.tensor(real, device=device)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    end_tokens = torch.tensor(sorted(set(ends)), device=device)
    draws = [Random(seed) for seed in sampling.seeds] if sampling is not None else []
    cache = DynamicCache(config=model.config)
    live = list(range(len(prompts)))  # the prompts of the rows of the batch
    tokens: list[list[int]] = [[] for _ in prompts]
    done = [False] * len(prompts)
    with torch.inference_mode():
        for _ in range(max_tokens):
            logits = model(
                input_ids=feed,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            if sampling is None:
                chosen = logits.float().argmax(-1)
            else:
                chosen = _sampled(torch, logits, sampling.temperature, [draws[prompt].random() for prompt in live])
            ended = torch.isin(chosen, end_tokens).tolist()
            for prompt, token, ends_here in zip(live, chosen.tolist(), ended, strict=True):
                done[prompt] = done[prompt] or ends_here
                if not done[prompt]:
                    tokens[prompt].append(token)
            unfinished = [row for row, prompt in enumerate(live) if not done[prompt]]
            if not unfinished:
                break
            feed, positions = chosen[:, None], positions[:, -1:] + 1
            if len(live) - len(unfinished) > len(live) // _COMPACTION_SHARE:
                rows = torch.tensor(unfinished, device=device)
                cache.batch_select_indices(rows)
                feed, positions, mask = feed[rows], positions[rows], mask[rows]
                live = [live[row] for row in unfinished]
            mask = torch.cat([mask, mask.new_ones(len(live), 1)], -1)
    return [
        Generated(tuple(row), Finish.STOP if ended else Finish.LENGTH) for row, ended in zip(tokens, done, strict=True)
    ]


def _sampled(torch: Any, logits: Any, temperature: float, draws: Sequence[float]) -> Any:
    """One token per row by inversion of the cumulative probabilities, in 64 bits: rounding seldom changes a token."""
    sums = torch.softmax(logits.double() / temperature, -1).cumsum(-1)
    thresholds = torch.tensor(draws, dtype=sums.dtype, device=sums.device)[:, None] * sums[:, -1:]
    return torch.searchsorted(sums, thresholds, right=True)[:, 0].clamp(max=sums.shape[-1] - 1)
