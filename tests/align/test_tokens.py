"""Test that masks and weights end at the ends of actions, for all tokenizers and plans."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="batches need the extra `align`")

from plansafe.align.tokens import Steps, Tokens, batch_of, pair_of, shared_actions, tokens_of  # noqa: E402

END = 1


class Letters:
    """One token per letter."""

    end = END

    def encode(self, text: str) -> list[int]:
        return [ord(c) + 2 for c in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join([chr(token - 2) for token in tokens])


class Pieces:
    """Tokens of up to three letters that cross word boundaries, as merged tokens do."""

    end = END

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def encode(self, text: str) -> list[int]:
        pieces = [text[start : start + 3] for start in range(0, len(text), 3)]
        return [self._numbers.setdefault(piece, len(self._numbers) + 2) for piece in pieces]

    def decode(self, tokens: Sequence[int]) -> str:
        texts = {number: piece for piece, number in self._numbers.items()}
        return "".join([texts[token] for token in tokens])


ACTIONS = st.lists(st.sampled_from(["(a)", "(go x)", "(take cup table)", "(a b)"]), max_size=6)


def _steps(actions: list[str], start: float) -> Steps:
    return Steps(tuple(actions), tuple([start + number for number in range(len(actions) + 1)]))


@pytest.mark.parametrize("tokenizer", [Letters(), Pieces()], ids=["letters", "pieces"])
@given(
    common=ACTIONS, first_end=ACTIONS, second_end=ACTIONS, prompt=st.lists(st.integers(2, 9), min_size=1, max_size=5)
)
def test_masks_end_at_the_ends_of_actions(
    tokenizer: Letters | Pieces, common: list[str], first_end: list[str], second_end: list[str], prompt: list[int]
) -> None:
    plans = [*common, *first_end], [*common, *second_end]
    pair = pair_of(prompt, _steps(plans[0], 10), _steps(plans[1], 100), tokenizer, 10_000)
    assert pair is not None
    shared = shared_actions(*plans)
    assert plans[0][:shared] == plans[1][:shared] and shared >= len(common)
    batch = batch_of(pair, 0)
    for row, (plan, start) in enumerate(zip(plans, (10, 100), strict=True)):
        tokens = batch.tokens[row, 1:]
        plan_tokens = tokens[batch.completion[row] == 1].tolist()
        assert plan_tokens[-1] == END and tokenizer.decode(plan_tokens[:-1]) == "".join([f"{a}\n" for a in plan])
        assert tokens[: len(prompt) - 1].tolist() == prompt[1:] and not batch.completion[row, : len(prompt) - 1].any()
        prefix_text = tokenizer.decode(tokens[batch.prefix[row] == 1].tolist())
        assert prefix_text == "".join([f"{action}\n" for action in plan[:shared]])
        first = tokens[batch.first[row] == 1].tolist()
        assert first == ([END] if shared == len(plan) else tokenizer.encode(f"{plan[shared]}\n"))
        assert not (batch.prefix[row] * batch.first[row]).any()
        offset = len(prompt) - 1
        for number, action in enumerate(plan):
            size = len(tokenizer.encode(f"{action}\n"))
            assert batch.weight[row, offset : offset + size].tolist() == [start + number] * size
            offset += size
        assert batch.weight[row, offset].item() == start + len(plan)
        assert not batch.weight[row, offset + 1 :].any() and not batch.completion[row, offset + 1 :].any()
        assert batch.attention[row].sum() == offset + 2
    prefixes = [batch.tokens[row, 1:][batch.prefix[row] == 1].tolist() for row in (0, 1)]
    assert prefixes[0] == prefixes[1], "shared actions have the same tokens"


def test_long_pairs_are_skipped_and_not_truncated() -> None:
    short, long = _steps(["(a)"], 0), _steps(["(a)"] * 9, 0)
    assert pair_of([2], short, long, Letters(), 37) is None
    assert pair_of([2], short, long, Letters(), 38) is not None


def test_each_action_has_a_weight() -> None:
    with pytest.raises(ValueError, match="2 actions and the end have 2 weights"):
        tokens_of([2], Steps(("(a)", "(b)"), (1.0, 1.0)), 0, Letters())
    tokens = tokens_of([2, 3], Steps((), (0.5,)), 0, Letters())
    assert tokens == Tokens((2, 3, END), (-1, -1, 0), 0, (0.5,))
