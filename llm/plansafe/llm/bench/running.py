"""Ask a model the questions of a run. Each answer becomes a record; no answer is judged here.

Answers in one piece are requested in batches, as many as the model accepts at once; plans that are built step by step
are requested one after the other.
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
from plansafe.llm.bench.baselines import REPLANNING_ROUNDS, complete_skeleton, without_rules
from plansafe.llm.bench.questions import Question
from plansafe.llm.bench.run_file import run_header
from plansafe.llm.bench.settings import Baseline, Deciding, Settings, Suite
from plansafe.llm.bench.task import BenchTask, sha256_of
from plansafe.llm.decoding.plan_grammar import plan_grammar
from plansafe.llm.decoding.stepwise import Mode, decode, step_limit
from plansafe.llm.loop.model import Decode, PlanOptions
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.metrics.lines import prediction_line
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.models.answer import Answer, Enforced, Finish
from plansafe.llm.models.batch import Failure, ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model, ModelError, unable
from plansafe.llm.models.request import Request, Syntax, address
from plansafe.llm.prompts.despite import sha256 as despite_sha256
from plansafe.llm.prompts.safel import sha256 as prompt_sha256
from plansafe.verifier.planning.guide import Guide

VERSION = 1
SLACK = (3, 2)
MOST_STEPS = 40
"""The length limit of plans that are built step by step, as in ``safecheck plan``: ``SLACK`` times the shortest known
continuation, ``MOST_STEPS`` if none is known."""
_WINDOW = 8
_STEP = re.compile(r"\([^\s()]+(?: [^\s()]+)*\)\s*\Z")


def header(
    settings: Settings, name: str, model: Model, tasks: Sequence[BenchTask], source: Mapping[str, Any]
) -> dict[str, Any]:
    """The header of the run file, with all values that determine its records. ``source`` describes the task source."""
    prompts = {
        module.value: despite_sha256() if settings.suite is Suite.DESPITE else prompt_sha256(module)
        for module in settings.tests
    }
    return run_header(
        settings.suite.value,
        VERSION,
        name,
        model.identity,
        settings=settings.values(),
        prompts=prompts,
        tasks={**source, "count": len(tasks), "sha256": sha256_of(tasks)},
    )


def require_capabilities(settings: Settings, model: Model) -> None:
    """Raise :class:`ModelError` before the first question if the model lacks a capability that the settings need."""
    if Module.REFUSAL in settings.tests and settings.refusal is Deciding.LIKELIHOOD and not model.capabilities.score:
        raise unable("this provider", "compute the likelihood of a given text, which --refusal likelihood needs")
    grammars = model.capabilities.gbnf or model.capabilities.lark
    if settings.decode is Decode.GRAMMAR and model.keeps and not grammars:
        raise unable("this provider", "enforce a grammar for a plan, which --decode grammar needs")


class RawAnswer(NamedTuple):
    """An answer: its text (``None`` if the model gave none, then ``failed`` is the error code), and its cost.

    ``sample`` is the entry for the log of samples; ``skeleton`` is the model's own text if a planner completed it.
    """

    text: str | None
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    finish: str
    failed: str = ""
    refused: bool | None = None
    sample: Mapping[str, Any] = {}
    skeleton: str | None = None


class Asking:
    """Asks a model the questions of a run. With a ``cache`` no request is sent twice."""

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
        """Make the record of a question, and its sample. Raises :class:`ModelError` if the run cannot continue."""
        question = self._questions[number]
        if question.plan and self._settings.decode.stepwise:
            answer_made = self._stepwise(question)
        elif question.plan and question.baseline is Baseline.LLM_PLANNER_REPLAN:
            answer_made = self._replanned(question)
        elif question.module is Module.REFUSAL and self._settings.refusal is Deciding.LIKELIHOOD:
            answer_made = self._by_likelihood(question)
        else:
            answer_made = self._in_one_piece(number)
        prediction = Prediction(
            question.task.name,
            question.module,
            answer_made.text,
            question.task.family,
            self._name,
            question.style,
            question.sample,
            question.action.name if question.action is not None else "",
            answer_made.refused,
        )
        cost = {
            "calls": answer_made.calls,
            "prompt_tokens": answer_made.prompt_tokens,
            "completion_tokens": answer_made.completion_tokens,
            "finish": answer_made.finish,
            "failed": answer_made.failed,
        }
        record = {**json.loads(prediction_line(prediction)), "cost": cost}
        if answer_made.skeleton is not None:
            record["skeleton"] = answer_made.skeleton
        return record, dict(answer_made.sample)

    # -- answers in one piece ------------------------------------------------------------------------------------------

    def _in_one_piece(self, number: int) -> RawAnswer:
        if number not in self._ready:
            self._ready = self._next_answers(number)
        question, answer = self._questions[number], self._ready.pop(number)
        request = self._request(question)
        if isinstance(answer, Failure):
            return RawAnswer(None, 1, None, None, "", answer.diagnostic.code, sample=_sample(request, None))
        if question.plan and self._settings.decode is Decode.GRAMMAR:
            self._require_grammar(answer)
        text, skeleton = answer.text, None
        if question.plan and question.baseline is Baseline.CLMASP:
            skeleton = answer.text
            text = complete_skeleton(skeleton, without_rules(question.task.checker), MOST_STEPS)
        return RawAnswer(
            text,
            1,
            answer.prompt_tokens,
            answer.completion_tokens,
            answer.finish.value,
            sample=_sample(request, answer),
            skeleton=skeleton,
        )

    def _next_answers(self, number: int) -> dict[int, Answer | Failure]:
        """The answers to the next questions: a batch, so that a server works on several requests at once."""
        busy = self._model.connections
        size = _WINDOW * busy if busy > 1 else 1  # without parallel requests, write each record at once
        numbers = [at for at in range(number, min(number + size, len(self._questions))) if self._is_in_one_piece(at)]
        answers = ask_all(self._model, [self._request(self._questions[at]) for at in numbers], self._cache)
        first = answers[0]
        if isinstance(first, Failure) and all([isinstance(answer, Failure) for answer in answers]) and len(answers) > 1:
            raise ModelError(first.diagnostic, fatal=True)  # the run file keeps the earlier answers
        return dict(zip(numbers, answers, strict=True))

    def _is_in_one_piece(self, number: int) -> bool:
        question, settings = self._questions[number], self._settings
        if question.module is Module.REFUSAL:
            return settings.refusal is not Deciding.LIKELIHOOD
        return not (question.plan and (settings.decode.stepwise or question.baseline is Baseline.LLM_PLANNER_REPLAN))

    def _request(self, question: Question) -> Request:
        request = question.request(self._settings)
        if not question.plan or self._settings.decode is not Decode.GRAMMAR:
            return request
        capabilities = self._model.capabilities
        syntax = Syntax.LARK if capabilities.lark and not capabilities.gbnf else Syntax.GBNF
        grammar = plan_grammar(question.task.checker.engine.task, syntax, MOST_STEPS)
        return replace(request, constraint=grammar)

    def _require_grammar(self, answer: Answer) -> None:
        """Raise :class:`ModelError` if a server did not enforce the grammar, because the figures would be wrong."""
        if not self._model.keeps:
            return
        lines = [line for line in answer.text.split("\n") if line.strip()]
        if answer.finish is Finish.LENGTH:
            lines = lines[:-1]
        if answer.enforced is Enforced.NOT or not all([_STEP.match(line) for line in lines]):
            message = "the model's server ignored the grammar of plans"
            help = "use a provider that enforces grammars (`safecheck models`), or remove --decode grammar"
            raise ModelError(Diagnostic(SC.MODEL_UNABLE, message, notes=answer.notes, help=help), fatal=True)

    # -- plans step by step, refusals by likelihood -------------------------------------------------------------------

    def _stepwise(self, question: Question) -> RawAnswer:
        guide = Guide(question.task.checker.compiled)
        longest = step_limit(guide.continuation(), SLACK, MOST_STEPS)
        recorder = Recorder(self._model, self._cache)
        seed = question.request(self._settings).seed
        mode = Mode(self._settings.decode.value)
        decoded = decode(recorder, question.name, question.messages, guide, mode, longest, seed=seed)
        sample = {"messages": _messages(question), "answer": decoded.plan, "end": decoded.end.value}
        return RawAnswer(
            decoded.plan,
            decoded.calls,
            decoded.prompt_tokens,
            decoded.completion_tokens,
            decoded.end.value,
            sample=sample,
        )

    def _replanned(self, question: Question) -> RawAnswer:
        """A plan that is continued from its first step that cannot be executed; the rules are not used."""
        sampling = self._settings.sampling
        options = PlanOptions(
            rounds=REPLANNING_ROUNDS,
            max_steps=MOST_STEPS,
            max_tokens=sampling.most[question.module],
            seed=question.request(self._settings).seed,
            last_resort=False,
            replan=True,
            temperature=sampling.temperature,
        )
        checker = without_rules(question.task.checker)
        result = plan_with(self._model, question.name, question.messages, checker, options, self._cache)
        answers = result.answers
        sample = {"messages": _messages(question), "answers": [answer.text for answer in answers]}
        return RawAnswer(
            result.plan,
            len(answers),
            sum([answer.prompt_tokens or 0 for answer in answers]),
            sum([answer.completion_tokens or 0 for answer in answers]),
            answers[-1].finish.value if answers else "",
            sample=sample,
        )

    def _by_likelihood(self, question: Question) -> RawAnswer:
        request = question.request(self._settings)
        first, second = self._model.score(request, (ACCEPT, REFUSE))
        text = ACCEPT if first.log_probability > second.log_probability else REFUSE
        likely = {scored.text: round(scored.log_probability, 6) for scored in (first, second)}
        sample = {"messages": _messages(question), "answer": text, "log_probabilities": likely}
        return RawAnswer(text, 1, None, None, "likelihood", refused=text == REFUSE, sample=sample)


def _messages(question: Question) -> list[list[str]]:
    return [[message.role.value, message.text] for message in question.messages]


def _sample(request: Request, answer: Answer | None) -> dict[str, Any]:
    """The entry of a question in the log of samples."""
    sample = {
        "messages": [[message.role.value, message.text] for message in request.messages],
        "request": address(request),
    }
    if answer is None:
        return {**sample, "answer": None}
    return {
        **sample,
        "answer": answer.text,
        "finish": answer.finish.value,
        "form": answer.enforced.value,
        "met": answer.met,
        "reasoning": answer.reasoning,
        "notes": list(answer.notes),
    }
