"""What a model is asked for one sentence: so many draws of the same question, each another request."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from plansafe.llm.formalise.rule_grammar import answer_grammar
from plansafe.llm.models.request import Message, Request, Role, Situation
from plansafe.llm.prompts.formalising import Language, formalising_prompt, one_line
from plansafe.verifier.execution.compiled import CompiledTask

_SHOWN = 2_000
"""Characters of an answer as it stands in what is asked next."""


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
    """How to ask. ``rounds``: an answer that is no rule is asked for again with what is wrong, up to so many times.

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
    """The same question with an answer and what was wrong with it; a task of its own for mocks and records."""
    said = (
        Message(Role.ASSISTANT, answer[:_SHOWN]),
        Message(Role.USER, f"This cannot be used: {wrong}\nWrite it once more."),
    )
    task = request.situation.task if request.situation is not None else ""
    return replace(request, messages=(*request.messages, *said), situation=Situation(f"{task}, once more"))
