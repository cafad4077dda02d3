"""Plans built step by step, under a shield or a guide, by a model that was trained on the prompts of `prompts.py`.

The model is asked for the next line after the prompt and the previous lines, as in training; greedy decoding chooses
among the allowed lines. ``llm/decoding/stepwise.py`` decides which lines are allowed and which choices are excluded, as
for other models, so that the share of first choices that are kept is comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plansafe.align.evaluating.tasks import Opened
from plansafe.align.evaluating.writers import Written
from plansafe.align.tokens import ModelTokenizer
from plansafe.llm.decoding.stepwise import DONE, Decoded, End, Mode, decode, step_limit
from plansafe.llm.models.answer import Answer, Enforced, Finish
from plansafe.llm.models.plain import PlainModel
from plansafe.llm.models.port import Capabilities, LogitsMask, Model
from plansafe.llm.models.request import Choice, Message, Request, Role, canonical
from plansafe.llm.models.token_table import TokenTable
from plansafe.llm.models.torch_model import TorchModel, libraries
from plansafe.verifier.planning.guide import Guide

SLACK = (3, 2)
MAX_STEPS = 40
"""Maximum plan length: a multiple of a known plan, else ``MAX_STEPS``; as in ``safecheck bench plan``."""
_MAX_LINE_TOKENS = 64


class Stepwise:
    """Writes plans step by step. ``model`` makes the model for a task; see :class:`Lines` and ``Mock.model``."""

    def __init__(
        self,
        model: Callable[[Opened], Model],
        mode: Mode,
        label: str,
        identity: str,
        slack: tuple[int, int] = SLACK,
        seed: int = 0,
    ) -> None:
        self.label = label
        self.identity = canonical([identity, mode.value, list(slack), MAX_STEPS, seed])
        self._model = model
        self._mode = mode
        self._slack = slack
        self._seed = seed

    def write(self, tasks: Sequence[Opened]) -> list[Written]:
        """See :class:`~plansafe.align.evaluating.writers.Writer`. A task that no guide accepts has an empty answer."""
        return [self._written(opened) for opened in tasks]

    def _written(self, opened: Opened) -> Written:
        try:
            guide = Guide(opened.bench.checker.compiled)
        except ValueError as error:
            return Written(Answer("", Finish.OTHER, notes=(str(error),)), end="no guide")
        longest = step_limit(guide.continuation(), self._slack, MAX_STEPS)
        prompt = (Message(Role.USER, opened.prompt),)
        model = self._model(opened)
        return _written(decode(model, opened.task.id, prompt, guide, self._mode, longest, seed=self._seed))


def local_steps(model: Any, tokenizer: Any, mode: Mode, label: str, identity: str = "") -> Stepwise:
    """A causal model of transformers with its tokenizer, both loaded, that builds its plans step by step.

    The model is put into evaluation mode. Raises :class:`~plansafe.llm.models.port.ModelError` without torch.
    """
    loaded = TorchModel(model.eval(), tokenizer, label, identity or label, libraries(1, None))
    return Stepwise(lambda opened: Lines(loaded, opened), mode, loaded.label, loaded.identity)


def _written(plan: Decoded) -> Written:
    finish = Finish.STOP if plan.end is End.DONE else Finish.LENGTH if plan.end is End.LENGTH else Finish.OTHER
    answer = Answer(plan.plan, finish, prompt_tokens=plan.prompt_tokens, completion_tokens=plan.completion_tokens)
    cost = {"calls": plan.calls, "searches": plan.searches}
    return Written(answer, tuple([choice.row for choice in plan.choices]), plan.end.value, cost)


class Lines(PlainModel):
    """A model in this process that chooses the next line of the plan of one task among the allowed lines."""

    def __init__(self, model: TorchModel, opened: Opened) -> None:
        super().__init__(model.label, model.identity, Capabilities(choice=True))
        self._model = model
        self._tokens = ModelTokenizer(model.loaded[1])
        self._prompt = self._tokens.prompt(opened.prompt)
        self._table = TokenTable(model.vocabulary, end="\n")

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The likeliest of the choices, token by token. Raises ``ValueError`` for a request without choices."""
        self.refuse(mask)
        if not isinstance(request.constraint, Choice) or request.situation is None:
            raise ValueError("the next line is a choice among steps")
        texts = request.constraint.texts
        steps = [token for step in request.situation.taken for token in self._tokens.encode(f"{step}\n")]
        prompt = [*self._prompt, *steps]
        tokens, _ = self._model.continued(prompt, _MAX_LINE_TOKENS, self._among(texts))
        text = self._model.vocabulary.decode(tokens).strip() if tokens else DONE
        return Answer(
            text,
            enforced=Enforced.AS_TOKENS,
            prompt_tokens=len(prompt),
            completion_tokens=len(tokens) + 1,
            model=self.label,
        )

    def _among(self, texts: Sequence[str]) -> LogitsMask:
        numbers = self._table.numbers([text for text in texts if text != DONE])
        end = [self._model.vocabulary.end] if DONE in texts else []

        def following(tokens: Sequence[int]) -> Sequence[int]:
            allowed = self._table.following(numbers, tuple(tokens))
            return [*allowed, *end] if not tokens else allowed

        return following
