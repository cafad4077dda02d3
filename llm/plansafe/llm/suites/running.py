"""A run of a suite: each question asked, each answer a record, whatever it says. Nothing is judged here.

Answers in one piece are asked for some at a time, as many as the model takes at once; plans built step by step one
after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.answers.refusals import ACCEPT, REFUSE
from plansafe.llm.decoding.plan_grammar import plan_grammar
from plansafe.llm.decoding.stepwise import Mode, decode
from plansafe.llm.loop.model import Decode
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.metrics.lines import prediction_line
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.models.answer import Answer, Enforced, Finish
from plansafe.llm.models.batch import Failure, ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.plain import unable
from plansafe.llm.models.port import Model, ModelError
from plansafe.llm.models.request import Request, Syntax, address
from plansafe.llm.prompts.despite import sha256 as despite_sha256
from plansafe.llm.prompts.safel import sha256 as prompt_sha256
from plansafe.llm.suites.questions import Question
from plansafe.llm.suites.settings import Deciding, Settings, Suite
from plansafe.llm.suites.task import BenchTask, sha256_of
from plansafe.verifier.planning.guide import Guide

VERSION = 1
SLACK = (3, 2)
MOST_STEPS = 40
"""How long plans may be that are built step by step, as in ``safecheck plan``: times the known way, else so many."""
_WINDOW = 8
_STEP = re.compile(r"\([^\s()]+(?: [^\s()]+)*\)\s*\Z")


def header(
    settings: Settings, name: str, model: Model, tasks: Sequence[BenchTask], source: Mapping[str, Any]
) -> dict[str, Any]:
    """What a run's file begins with: all that decides its records. ``source`` says where the tasks are from."""
    return {
        "suite": settings.suite.value,
        "suite_version": VERSION,
        "model": name,
        "identity": model.identity,
        "settings": settings.values(),
        "prompts": {
            module.value: despite_sha256() if settings.suite is Suite.DESPITE else prompt_sha256(module)
            for module in settings.tests
        },
        "tasks": {**source, "count": len(tasks), "sha256": sha256_of(tasks)},
    }


def possible(settings: Settings, model: Model) -> None:
    """Raise :class:`ModelError` where the model cannot do what is asked; better known before the first question."""
    if Module.REFUSAL in settings.tests and settings.refusal is Deciding.LIKELIHOOD and not model.capabilities.score:
        raise unable("this provider", "compute the likelihood of a given text, which --refusal likelihood needs")
    grammars = model.capabilities.gbnf or model.capabilities.lark
    if settings.decode is Decode.GRAMMAR and model.keeps and not grammars:
        raise unable("this provider", "enforce a grammar for a plan, which --decode grammar needs")


class Made(NamedTuple):
    """An answer: its text (``None``: there is none, for ``failed``), and what it took."""

    text: str | None
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    finish: str
    failed: str = ""
    refused: bool | None = None
    shown: Mapping[str, Any] = {}


class Asking:
    """Asks a model the questions of a run. ``model`` is asked nothing twice as long as ``cache`` keeps its answers."""

    def __init__(
        self, questions: Sequence[Question], settings: Settings, name: str, model: Model, cache: Cache | None
    ) -> None:
        self._questions = questions
        self._settings = settings
        self._name = name
        self._model = model
        self._cache = cache
        self._ready: dict[int, Answer | Failure] = {}

    def record(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The record of a question, and the sample behind it. Raises :class:`ModelError` where a run cannot go on."""
        question = self._questions[number]
        if question.plan and self._settings.decode.stepwise:
            made = self._stepwise(question)
        elif question.module is Module.REFUSAL and self._settings.refusal is Deciding.LIKELIHOOD:
            made = self._likelier(question)
        else:
            made = self._whole(number)
        one = Prediction(
            question.task.name,
            question.module,
            made.text,
            question.task.family,
            self._name,
            question.style,
            question.sample,
            question.asked.name if question.asked is not None else "",
            made.refused,
        )
        cost = {
            "calls": made.calls,
            "prompt_tokens": made.prompt_tokens,
            "completion_tokens": made.completion_tokens,
            "finish": made.finish,
            "failed": made.failed,
        }
        return {**json.loads(prediction_line(one)), "cost": cost}, dict(made.shown)

    # -- in one piece -------------------------------------------------------------------------------------------------

    def _whole(self, number: int) -> Made:
        if number not in self._ready:
            self._ready = self._asked(number)
        question, answer = self._questions[number], self._ready.pop(number)
        request = self._request(question)
        if isinstance(answer, Failure):
            return Made(None, 1, None, None, "", answer.diagnostic.code, shown=_shown(request, None))
        if question.plan and self._settings.decode is Decode.GRAMMAR:
            self._held(answer)
        return Made(
            answer.text,
            1,
            answer.prompt_tokens,
            answer.completion_tokens,
            answer.finish.value,
            shown=_shown(request, answer),
        )

    def _asked(self, number: int) -> dict[int, Answer | Failure]:
        """The answers to some questions from here on, so that a server has something to do while others wait."""
        busy = self._model.connections
        size = _WINDOW * busy if busy > 1 else 1  # a record each, where nothing is gained by waiting for more
        numbers = [at for at in range(number, min(number + size, len(self._questions))) if self._in_one_piece(at)]
        found = ask_all(self._model, [self._request(self._questions[at]) for at in numbers], self._cache)
        first = found[0]
        if isinstance(first, Failure) and all([isinstance(one, Failure) for one in found]) and len(found) > 1:
            raise ModelError(first.diagnostic, fatal=True)  # nobody answers: what was kept is kept
        return dict(zip(numbers, found, strict=True))

    def _in_one_piece(self, number: int) -> bool:
        question, settings = self._questions[number], self._settings
        if question.module is Module.REFUSAL:
            return settings.refusal is not Deciding.LIKELIHOOD
        return not (question.plan and settings.decode.stepwise)

    def _request(self, question: Question) -> Request:
        request = question.request(self._settings)
        if not question.plan or self._settings.decode is not Decode.GRAMMAR:
            return request
        known = self._model.capabilities
        syntax = Syntax.LARK if known.lark and not known.gbnf else Syntax.GBNF
        grammar = plan_grammar(question.task.checker.engine.task, syntax, MOST_STEPS)
        return replace(request, constraint=grammar)

    def _held(self, answer: Answer) -> None:
        """Raise :class:`ModelError` where a server did not hold a plan to the grammar: its figures would be others."""
        if not self._model.keeps:
            return
        lines = [line for line in answer.text.split("\n") if line.strip()]
        if answer.finish is Finish.LENGTH:
            lines = lines[:-1]
        if answer.enforced is Enforced.NOT or not all([_STEP.match(line) for line in lines]):
            message = "the model's server ignored the grammar of plans"
            help = "use a provider that enforces grammars (`safecheck models`), or remove --decode grammar"
            raise ModelError(Diagnostic(SC.MODEL_UNABLE, message, notes=answer.notes, help=help), fatal=True)

    # -- otherwise ----------------------------------------------------------------------------------------------------

    def _stepwise(self, question: Question) -> Made:
        guide = Guide(question.task.checker.compiled)
        ahead = guide.continuation()
        above, below = SLACK
        longest = -(-above * len(ahead.steps) // below) if ahead.exists else MOST_STEPS
        recorder = Recorder(self._model, self._cache)
        seed = question.request(self._settings).seed
        mode = Mode(self._settings.decode.value)
        found = decode(recorder, question.name, question.messages, guide, mode, longest, seed=seed)
        shown = {"messages": _messages(question), "answer": found.plan, "end": found.end.value}
        return Made(found.plan, found.calls, found.prompt_tokens, found.completion_tokens, found.end.value, shown=shown)

    def _likelier(self, question: Question) -> Made:
        request = question.request(self._settings)
        first, second = self._model.score(request, (ACCEPT, REFUSE))
        text = ACCEPT if first.log_probability > second.log_probability else REFUSE
        likely = {one.text: round(one.log_probability, 6) for one in (first, second)}
        shown = {"messages": _messages(question), "answer": text, "log_probabilities": likely}
        return Made(text, 1, None, None, "likelihood", refused=text == REFUSE, shown=shown)


def _messages(question: Question) -> list[list[str]]:
    return [[message.role.value, message.text] for message in question.messages]


def _shown(request: Request, answer: Answer | None) -> dict[str, Any]:
    """What a log of samples has of a question in one piece."""
    said = {
        "messages": [[message.role.value, message.text] for message in request.messages],
        "request": address(request),
    }
    if answer is None:
        return {**said, "answer": None}
    return {
        **said,
        "answer": answer.text,
        "finish": answer.finish.value,
        "form": answer.enforced.value,
        "met": answer.met,
        "reasoning": answer.reasoning,
        "notes": list(answer.notes),
    }
