"""Tokenise pairs of plans, with masks that end exactly at the ends of actions.

Each action is tokenised as its own line, and the end-of-sequence token follows the last. So the common first actions of
two plans are the same tokens in both, and a weight belongs to whole actions. A pair that is too long is left out, never
cut: a plan without its end is another plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from plansafe.align.losses import Plans

_SHORT, _MOST_CACHED = 400, 200_000


class Tokenizer(Protocol):
    """Encodes texts without special tokens, and names the token that ends a sequence."""

    @property
    def end(self) -> int:
        """The token that ends a sequence."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""


class ModelTokenizer:
    """A tokenizer of transformers. Lines that are encoded again come from a cache.

    If the tokenizer has a chat template, a prompt becomes the user's message in it, as in ``hf/FOLDER``
    (``llm/models/torch_model.py``). Otherwise it is raw text after the beginning-of-sequence token, if the tokenizer
    writes one.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.inner = tokenizer
        self.chat = bool(getattr(tokenizer, "chat_template", None))
        self._cache: dict[str, list[int]] = {}
        first = tokenizer.encode("a")[:1]
        self._begin = first if first == [tokenizer.bos_token_id] else []

    @property
    def end(self) -> int:
        """The token that ends a sequence."""
        return int(self.inner.eos_token_id)

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without special tokens."""
        tokens = self._cache.get(text)
        if tokens is None:
            tokens = list(self.inner.encode(text, add_special_tokens=False))
            if len(text) <= _SHORT and len(self._cache) < _MOST_CACHED:
                self._cache[text] = tokens
        return list(tokens)

    def prompt(self, text: str) -> list[int]:
        """The tokens of a prompt, in the chat template or after the beginning-of-sequence token."""
        if not self.chat:
            return self._begin + self.encode(text)
        return list(
            self.inner.apply_chat_template(
                self.messages(text), add_generation_prompt=True, tokenize=True, return_dict=False
            )
        )

    def messages(self, text: str) -> list[dict[str, str]]:
        """The prompt as a conversation."""
        return [{"role": "user", "content": text}]


class Steps(NamedTuple):
    """A plan: its actions, and the weights of the actions and of the end (one more than actions)."""

    actions: tuple[str, ...]
    weights: tuple[float, ...]


class Tokens(NamedTuple):
    """A prompt with a plan.

    ``action``: for each token the number of its action from 0, -1 in the prompt; the end of the sequence has the number
    after the last action. ``shared``: number of common first actions of the pair. ``weights``: as in :class:`Steps`.
    """

    tokens: tuple[int, ...]
    action: tuple[int, ...]
    shared: int
    weights: tuple[float, ...]


def shared_actions(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of common first actions of two plans."""
    count = 0
    for left, right in zip(first, second, strict=False):
        if left != right:
            break
        count += 1
    return count


def tokens_of(prompt: Sequence[int], plan: Steps, shared: int, tokenizer: Tokenizer) -> Tokens:
    """The tokens of a prompt and a plan. Raises ``ValueError`` unless each action and the end have a weight."""
    if len(plan.weights) != len(plan.actions) + 1:
        raise ValueError(f"{len(plan.actions)} actions and the end have {len(plan.weights)} weights")
    tokens, action = list(prompt), [-1] * len(prompt)
    for number, text in enumerate(plan.actions):
        line = tokenizer.encode(f"{text}\n")
        tokens += line
        action += [number] * len(line)
    return Tokens((*tokens, tokenizer.end), (*action, len(plan.actions)), shared, plan.weights)


def pair_of(
    prompt: Sequence[int], chosen: Steps, rejected: Steps, tokenizer: Tokenizer, most_tokens: int
) -> tuple[Tokens, Tokens] | None:
    """Both sides of a pair; ``None`` if a side has more than ``most_tokens`` tokens, including the prompt."""
    shared = shared_actions(chosen.actions, rejected.actions)
    sides = tokens_of(prompt, chosen, shared, tokenizer), tokens_of(prompt, rejected, shared, tokenizer)
    return None if max([len(side.tokens) for side in sides]) > most_tokens else sides


class Batch(NamedTuple):
    """Rows of tokens for a model: ``tokens`` and ``attention`` are (B, T), the other masks as in :class:`Plans`.

    The masks have T - 1 columns: they belong to the predicted tokens, all but the first.
    """

    tokens: Any
    attention: Any
    completion: Any
    prefix: Any
    first: Any
    weight: Any

    def plans(self, logps: Any) -> Plans:
        """The masks with log-probabilities of the predicted tokens, (B, T - 1)."""
        return Plans(logps, self.completion, self.prefix, self.first, self.weight)


def batch_of(rows: Sequence[Tokens], padding: int, dtype: Any = None) -> Batch:
    """Rows padded on the right, as tensors; masks as ``dtype`` (default 32 bits)."""
    import torch  # noqa: PLC0415 - takes a second to load

    size = max([len(row.tokens) for row in rows])

    def ints(values: Sequence[Sequence[int]], fill: int) -> Any:
        return torch.tensor([[*row, *[fill] * (size - len(row))] for row in values])

    def floats(values: Sequence[Sequence[float]]) -> Any:
        padded = [[*row, *[0.0] * (size - len(row))][1:] for row in values]
        return torch.tensor(padded, dtype=dtype or torch.float32)

    return Batch(
        ints([row.tokens for row in rows], padding),
        ints([[1] * len(row.tokens) for row in rows], 0),
        floats([[float(step >= 0) for step in row.action] for row in rows]),
        floats([[float(0 <= step < row.shared) for step in row.action] for row in rows]),
        floats([[float(step == row.shared) for step in row.action] for row in rows]),
        floats([[row.weights[step] if step >= 0 else 0.0 for step in row.action] for row in rows]),
    )
