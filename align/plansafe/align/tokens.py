"""Pairs of plans as tokens, with masks that end exactly where actions do.

Each action is tokenised as a line of its own, and the end of the sequence is put behind the last: so what two plans
share is the same tokens in both, and a weight belongs to whole actions. A pair that is too long is left out, never cut:
a plan without its end is another plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from plansafe.align.losses import Plans


class Tokenizer(Protocol):
    """What is needed of a tokenizer: tokens without marks for beginning or end, and the token that ends."""

    @property
    def end(self) -> int:
        """The token that ends a sequence."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""


class Steps(NamedTuple):
    """A plan: its actions, and what each of them and the end of the plan weigh (one more than actions)."""

    actions: tuple[str, ...]
    weights: tuple[float, ...]


class Tokens(NamedTuple):
    """A prompt with a plan.

    ``action``: for each token the number of its action from 0, -1 in the prompt; the end of the sequence has the number
    behind the last action. ``shared``: how many actions the pair begins with. ``weights``: as in :class:`Steps`.
    """

    tokens: tuple[int, ...]
    action: tuple[int, ...]
    shared: int
    weights: tuple[float, ...]


def shared_actions(one: Sequence[str], other: Sequence[str]) -> int:
    """How many actions two plans begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
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
    prompt: Sequence[int], chosen: Steps, rejected: Steps, tokenizer: Tokenizer, longest: int
) -> tuple[Tokens, Tokens] | None:
    """Both sides of a pair; ``None`` where one has more than ``longest`` tokens, its prompt included."""
    shared = shared_actions(chosen.actions, rejected.actions)
    both = tokens_of(prompt, chosen, shared, tokenizer), tokens_of(prompt, rejected, shared, tokenizer)
    return None if max([len(side.tokens) for side in both]) > longest else both


class Batch(NamedTuple):
    """Rows of tokens for a model: ``tokens`` and ``attention`` are (B, T), the other masks those of :class:`Plans`.

    Masks are of T - 1: they belong to the tokens that are predicted, all but the first.
    """

    tokens: Any
    attention: Any
    completion: Any
    prefix: Any
    first: Any
    weight: Any

    def plans(self, logps: Any) -> Plans:
        """With log-probabilities of the predicted tokens, (B, T - 1)."""
        return Plans(logps, self.completion, self.prefix, self.first, self.weight)


def batch_of(rows: Sequence[Tokens], padding: int, dtype: Any = None) -> Batch:
    """Rows padded on the right, as tensors; masks as ``dtype`` (32 bits where none is said)."""
    import torch  # noqa: PLC0415 - a second to load, and only where a model is trained

    size = max([len(row.tokens) for row in rows])

    def ints(values: Sequence[Sequence[int]], fill: int) -> Any:
        return torch.tensor([[*one, *[fill] * (size - len(one))] for one in values])

    def floats(values: Sequence[Sequence[float]]) -> Any:
        padded = [[*one, *[0.0] * (size - len(one))][1:] for one in values]
        return torch.tensor(padded, dtype=dtype or torch.float32)

    return Batch(
        ints([row.tokens for row in rows], padding),
        ints([[1] * len(row.tokens) for row in rows], 0),
        floats([[float(at >= 0) for at in row.action] for row in rows]),
        floats([[float(0 <= at < row.shared) for at in row.action] for row in rows]),
        floats([[float(at == row.shared) for at in row.action] for row in rows]),
        floats([[row.weights[at] if at >= 0 else 0.0 for at in row.action] for row in rows]),
    )
