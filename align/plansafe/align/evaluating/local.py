"""A model in this process as a writer: compact prompts in, the likeliest plans out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from plansafe.align.evaluating.greedy import greedy
from plansafe.align.evaluating.tasks import Opened
from plansafe.align.evaluating.writers import Written
from plansafe.align.training.models import Tokens
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.request import canonical

MOST_TOKENS = 256


class Local:
    """A causal model of transformers with its tokenizer, both loaded; plans are written in one piece.

    ``identity`` says which weights these are: it is what a run is resumed by. The prompt is given as it is, as in
    training: without a chat template, behind the mark of the beginning where the tokenizer puts one.
    """

    def __init__(
        self, model: Any, tokenizer: Any, label: str, identity: str = "", most_tokens: int = MOST_TOKENS
    ) -> None:
        self.label = label
        self.identity = canonical([identity or label, most_tokens])
        self._model = model
        self._tokenizer = tokenizer
        self._most = most_tokens
        self._ends = ends_of(model, tokenizer)

    def write(self, tasks: Sequence[Opened]) -> list[Written]:
        """See :class:`~plansafe.align.evaluating.writers.Writer`."""
        tokens = Tokens(self._tokenizer)
        prompts = [tokens.prompt(one.prompt) for one in tasks]
        was_training = self._model.training
        self._model.eval()
        try:
            found = greedy(self._model, prompts, self._most, self._ends)
        finally:
            self._model.train(was_training)
        return [
            Written(
                Answer(
                    self._tokenizer.decode(
                        list(one.tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
                    ),
                    one.finish,
                    prompt_tokens=len(prompt),
                    completion_tokens=len(one.tokens),
                    model=self.label,
                )
            )
            for prompt, one in zip(prompts, found, strict=True)
        ]


def ends_of(model: Any, tokenizer: Any) -> Collection[int]:
    """The tokens that end an answer: the tokenizer's, and those that the model names."""
    named = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    found = {*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id}
    return {int(one) for one in found if one is not None}
