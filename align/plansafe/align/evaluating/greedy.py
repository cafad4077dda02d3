"""Greedy answers of a model in this process, many prompts at once: padded on the left, with a cache of the past.

The loop is ours and not ``generate``, which takes penalties and limits from a file beside the weights. An answer is
the one that its prompt has alone, up to the rounding of sums, which depends on the sizes of matrices: where two tokens
are as likely within that, a batch may choose the other.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from plansafe.llm.models.answer import Finish

_WORTH = 4
"""Rows that are finished are taken out of the batch once they are one of so many: that copies the cache."""


class Generated(NamedTuple):
    """The tokens of an answer without its end, and why it ends."""

    tokens: tuple[int, ...]
    finish: Finish


def greedy(model: Any, prompts: Sequence[Sequence[int]], most: int, ends: Collection[int]) -> list[Generated]:
    """The likeliest token after the other behind each prompt, until one of ``ends`` or ``most`` tokens.

    ``model`` is a causal model of transformers, in evaluation mode. Raises ``ValueError`` for an empty prompt.
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
    places = (mask.cumsum(-1) - 1).clamp(min=0)
    last = torch.tensor(sorted(set(ends)), device=device)
    cache = DynamicCache(config=model.config)
    live = list(range(len(prompts)))  # the rows of the batch, by their prompts
    tokens: list[list[int]] = [[] for _ in prompts]
    done = [False] * len(prompts)
    with torch.inference_mode():
        for _ in range(most):
            logits = model(
                input_ids=feed,
                attention_mask=mask,
                position_ids=places,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            ).logits[:, -1]
            best = logits.float().argmax(-1)
            ended = torch.isin(best, last).tolist()
            for row, token, ends_here in zip(live, best.tolist(), ended, strict=True):
                done[row] = done[row] or ends_here
                if not done[row]:
                    tokens[row].append(token)
            left = [at for at, row in enumerate(live) if not done[row]]
            if not left:
                break
            feed, places = best[:, None], places[:, -1:] + 1
            if len(live) - len(left) > len(live) // _WORTH:
                kept = torch.tensor(left, device=device)
                cache.batch_select_indices(kept)
                feed, places, mask = feed[kept], places[kept], mask[kept]
                live = [live[at] for at in left]
            mask = torch.cat([mask, mask.new_ones(len(live), 1)], -1)
    return [
        Generated(tuple(row), Finish.STOP if ended else Finish.LENGTH) for row, ended in zip(tokens, done, strict=True)
    ]
