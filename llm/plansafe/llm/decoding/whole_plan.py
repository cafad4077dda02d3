"""Plans in one answer: free, or held to a grammar or a schema of the task's steps; then read as loose text."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.decoding.plan_grammar import plan_constraint
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.models.request import Message, Request, Situation
from plansafe.verifier.api import Checker


class Written(NamedTuple):
    """An answer and the result of reading it; ``read.plan`` is ``None`` if it has no plan."""

    answer: Answer
    read: LooseResult

    @property
    def plan(self) -> str | None:
        """The plan as text, if one was read."""
        return None if self.read.plan is None else self.read.plan.text


def write_plan(
    model: Model,
    name: str,
    messages: tuple[Message, ...],
    checker: Checker,
    *,
    grammar: bool = False,
    longest: int = 60,
    max_tokens: int = 1024,
    cache: Cache | None = None,
    seed: int | None = None,
    temperature: float = 0.0,
    refusal: bool = False,
) -> Written:
    """Ask for a whole plan, under the task's grammar (or schema) if asked to. Raises ``ModelError``.

    ``longest`` bounds the number of steps under a grammar, ``max_tokens`` all answers; ``seed`` is for
    providers that draw by it; ``refusal``: the grammar has room for one.
    """
    constraint = None
    if grammar:
        constraint = plan_constraint(checker.engine.task, model.capabilities, longest, refusal)
    request = Request(
        messages,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
        constraint=constraint,
        situation=Situation(name),
    )
    answer = ask(model, request, cache)
    return Written(answer, read_loose(Source("answer.txt", answer.text), checker))
