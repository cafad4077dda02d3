"""Plans built step by step, under a shield or a guide, by a model that was trained on compact prompts.

The model is asked for the next line behind its prompt and the lines so far, as in training, and its choice is the one
that greedy decoding comes to among the lines that may stand there. What it is asked first, and what is then left out,
is the front-end's (``llm/decoding/stepwise.py``): so the share of its first choices that were kept is comparable.
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
MOST_STEPS = 40
"""How long plans may be: times the known way, else so many; as in ``safecheck bench plan``."""
_MOST_LINE = 64


class Stepwise:
    """Writes plans step by step. ``model`` gives what is asked about a task; see :class:`Lines` and ``Mock.model``."""

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
        self.identity = canonical([identity, mode.value, list(slack), MOST_STEPS, seed])
        self._model = model
        self._mode = mode
        self._slack = slack
        self._seed = seed

    def write(self, tasks: Sequence[Opened]) -> list[Written]:
        """See :class:`~plansafe.align.evaluating.writers.Writer`. A task that no guide takes has an empty answer."""
        return [self._written(one) for one in tasks]

    def _written(self, one: Opened) -> Written:
        try:
            guide = Guide(one.bench.checker.compiled)
        except ValueError as error:
            return Written(Answer("", Finish.OTHER, notes=(str(error),)), end="no guide")
        longest = step_limit(guide.continuation(), self._slack, MOST_STEPS)
        prompt = (Message(Role.USER, one.prompt),)
        made = decode(self._model(one), one.task.id, prompt, guide, self._mode, longest, seed=self._seed)
        return _of(made)


def local_steps(model: Any, tokenizer: Any, mode: Mode, label: str, identity: str = "") -> Stepwise:
    """A causal model of transformers with its tokenizer, both loaded, that builds its plans step by step.

    The model is put into evaluation mode. Raises :class:`~plansafe.llm.models.port.ModelError` without torch.
    """
    held = TorchModel(model.eval(), tokenizer, label, identity or label, libraries(1, None))
    return Stepwise(lambda one: Lines(held, one), mode, held.label, held.identity)


def _of(made: Decoded) -> Written:
    finish = Finish.STOP if made.end is End.DONE else Finish.LENGTH if made.end is End.LENGTH else Finish.OTHER
    answer = Answer(made.plan, finish, prompt_tokens=made.prompt_tokens, completion_tokens=made.completion_tokens)
    cost = {"calls": made.calls, "searches": made.searches}
    return Written(answer, tuple([one.row for one in made.choices]), made.end.value, cost)


class Lines(PlainModel):
    """A model in this process that is asked for the next line of the plan of one task, among lines that may follow."""

    def __init__(self, model: TorchModel, one: Opened) -> None:
        super().__init__(model.label, model.identity, Capabilities(choice=True))
        self._model = model
        self._tokens = ModelTokenizer(model.loaded[1])
        self._prompt = self._tokens.prompt(one.prompt)
        self._table = TokenTable(model.vocabulary, end="\n")

    def answer(self, request: Request, mask: LogitsMask | None = None) -> Answer:
        """The likeliest of the choices, token by token. Raises ``ValueError`` for a request that is no such choice."""
        self.refuse(mask)
        if not isinstance(request.constraint, Choice) or request.situation is None:
            raise ValueError("the next line is chosen among steps")
        texts = request.constraint.texts
        so_far = [token for step in request.situation.taken for token in self._tokens.encode(f"{step}\n")]
        asked = [*self._prompt, *so_far]
        tokens, _ = self._model.continued(asked, _MOST_LINE, self._among(texts))
        text = self._model.vocabulary.decode(tokens).strip() if tokens else DONE
        return Answer(
            text,
            enforced=Enforced.AS_TOKENS,
            prompt_tokens=len(asked),
            completion_tokens=len(tokens) + 1,
            model=self.label,
        )

    def _among(self, texts: Sequence[str]) -> LogitsMask:
        numbers = self._table.numbers([text for text in texts if text != DONE])
        end = [self._model.vocabulary.end] if DONE in texts else []

        def following(tokens: Sequence[int]) -> Sequence[int]:
            found = self._table.following(numbers, tuple(tokens))
            return [*found, *end] if not tokens else found

        return following
