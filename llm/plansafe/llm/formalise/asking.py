"""The requests for one sentence: several draws of the same question, each another request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plansafe.llm.formalise.rule_grammar import answer_grammar
from plansafe.llm.models.request import Message, Request, Role, Situation
from plansafe.llm.prompts.formalising import Language, formalising_prompt, one_line
from plansafe.verifier.execution.compiled import CompiledTask

_MAX_EXCERPT = 2_000
"""The maximum number of characters of an answer in the next request."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is tried to tell rules apart, and to find plans; seconds of wall-clock time.

    ``walks`` random executions of ``steps`` steps; ``planner_s`` for one question to the planners.
    """

    walks: int = 200
    steps: int = 12
    planner_s: float = 3.0
    lint_s: float = 5.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class FormaliseOptions:
    """How to ask. ``rounds``: how often an answer without a rule is requested again, with its error.

    ``grammar``: hold the answer to the grammar of rules where the provider can. ``check``: refuse sentences that the
    domain has no words for without asking (:mod:`plansafe.llm.formalise.expressible`).
    """

    language: Language = Language.RULES
    samples: int = 5
    temperature: float = 0.5
    max_tokens: int = 400
    seed: int = 0
    rounds: int = 1
    grammar: bool = True
    check: bool = True
    limits: Limits = field(default_factory=Limits)


def question(sentence: str, compiled: CompiledTask, wishes: FormaliseOptions, sample: int) -> Request:
    """One draw. Samples differ in their seeds; a mock or a record knows the sentence as the task's name."""
    return Request(
        formalising_prompt(sentence, compiled, wishes.language).messages,
        wishes.max_tokens,
        wishes.temperature,
        seed=wishes.seed + sample,
        constraint=answer_grammar(compiled, wishes.language, sentence) if wishes.grammar else None,
        situation=Situation(one_line(sentence)),
        sample=sample,
    )


def once_more(request: Request, answer: str, wrong: str) -> Request:
    """The same question with an answer and its error; a task of its own for mocks and records."""
    feedback = (
        Message(Role.ASSISTANT, answer[:_MAX_EXCERPT]),
        Message(Role.USER, f"This cannot be used: {wrong}\nWrite it once more."),
    )
    task = request.situation.task if request.situation is not None else ""
    return replace(request, messages=(*request.messages, *feedback), situation=Situation(f"{task}, once more"))
