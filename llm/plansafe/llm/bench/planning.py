"""The suite ``planning``: a model's plans for drawn household tasks, with their verdicts.

A record is about one task under one decoding. It has all data of the tables: the plan, its verdict, the choices, the
repair of the last resort, the model's answers and the cost. The constant part of a prompt comes first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.bench.run_file import run_header
from plansafe.llm.decoding.stepwise import Mode, decode, step_limit
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.loop.feedback import Repairs
from plansafe.llm.loop.last_resort import last_resort
from plansafe.llm.loop.model import PLAN, Decode, PlanOptions, PlanResult, Round, Status, StepAuthor, Style
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.metrics.judged import judge_report, unread_plan
from plansafe.llm.metrics.lines import judged_line
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.port import Model
from plansafe.llm.prompts.examples import BENCHMARK
from plansafe.llm.prompts.planning import Example, Prompt, planning_prompt
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.labels import NoLabel, find_safel_label
from plansafe.verifier.planning.guide import Guide
from plansafe.verifier.reporting.report import Report

VERSION = 1
DEVELOPMENT = ("bring-along", "groceries", "stew", "tidy", "wash-up")
"""The families for the development of prompts and decoding. Examples in prompts come only from them."""


class PlanningSettings(NamedTuple):
    """The settings of a run.

    ``each``: instances of a family; ``split``: ``test``, ``development`` or ``all``; ``examples``: the number of
    examples of :data:`BENCHMARK` in the prompt; ``slack`` as in :class:`~plansafe.llm.loop.model.PlanOptions`;
    ``rounds``: proposals of whole plans; ``resort``: also repair plans that are not safe, and record the repair.
    """

    decode: Decode = Decode.FREE
    each: int = 4
    split: str = "all"
    examples: int = 2
    safety: bool = False
    slack: tuple[int, int] = (3, 2)
    rounds: int = 1
    feedback: Style = Style.FINDING
    max_tokens: int = 200
    max_steps: int = 40
    resort: bool = False
    seed: int = 0


class Item(NamedTuple):
    """One task: its family, and the number of the draw. It is drawn when the run reaches it."""

    family: str
    number: int

    @property
    def name(self) -> str:
        """Its name in records."""
        return f"{self.family}-{self.number}"

    @property
    def split(self) -> str:
        """The split that its family belongs to."""
        return "development" if self.family in DEVELOPMENT else "test"


def items(settings: PlanningSettings) -> tuple[Item, ...]:
    """The tasks, draw by draw, so that the first 15 cover all families."""
    candidates = [Item(family, number) for number in range(settings.each) for family in FAMILIES]
    return tuple([item for item in candidates if settings.split in ("all", item.split)])


def header(settings: PlanningSettings, name: str, model: Model) -> dict[str, Any]:
    """The header of the run file. ``name`` is the model as the user named it."""
    values = {
        **settings._asdict(),
        "decode": settings.decode.value,
        "feedback": settings.feedback.value,
        "slack": list(settings.slack),
    }
    return run_header("planning", VERSION, name, model.identity, settings=values)


Opened = Callable[[Checker, str], Model]
"""Opens the model for a task. A mock is a policy of the task and its reference plan."""


class PlanningSuite:
    """Asks one model for plans of all items under the same settings."""

    def __init__(self, settings: PlanningSettings, opened: Opened, cache: Cache | None = None) -> None:
        self._settings = settings
        self._opened = opened
        self._cache = cache
        self._examples = tuple([_example(draw(family, number)) for family, number in BENCHMARK[: settings.examples]])

    def record(self, item: Item) -> Mapping[str, Any]:
        """Make the record of an item. Raises :class:`plansafe.llm.models.port.ModelError`."""
        settings, instance = self._settings, draw(item.family, item.number)
        checker = instance.checker()
        prompt = planning_prompt(instance.words, checker.compiled, self._examples, safety=settings.safety)
        model = self._opened(checker, instance.reference)
        start = time.process_time()
        attempt = _plan_stepwise if settings.decode.stepwise else _plan_in_rounds
        fields = attempt(_Task(instance, checker, prompt, model, self._cache), settings)
        return {
            "family": item.family,
            "split": item.split,
            "prompt": prompt.sha256,
            "reference": instance.reference.split("\n")[:-1],
            **fields,
            "cpu_s": round(time.process_time() - start, 3),
        }


def _example(instance: Instance) -> Example:
    return Example(instance.words, instance.checker().compiled, instance.reference)


class _Task(NamedTuple):
    instance: Instance
    checker: Checker
    prompt: Prompt
    model: Model
    cache: Cache | None


def _plan_stepwise(task: _Task, settings: PlanningSettings) -> dict[str, Any]:
    guide = Guide(task.checker.compiled)
    longest = step_limit(guide.continuation(), settings.slack, settings.max_steps)
    mode = Mode(settings.decode.value)
    recorder = Recorder(task.model, task.cache)
    decoded = decode(recorder, task.instance.name, task.prompt.messages, guide, mode, longest, seed=settings.seed)
    report = task.checker.check(Source(PLAN, decoded.plan))
    return {
        "plan": list(decoded.steps),
        "end": decoded.end.value,
        "longest": longest,
        **_verdict(task, decoded.plan, report),
        "choices": [choosing.row for choosing in decoded.choices],
        "cost": {
            "calls": decoded.calls,
            "prompt_tokens": decoded.prompt_tokens,
            "completion_tokens": decoded.completion_tokens,
            "searches": decoded.searches,
        },
    }


def _plan_in_rounds(task: _Task, settings: PlanningSettings) -> dict[str, Any]:
    wishes = PlanOptions(
        decode=settings.decode,
        rounds=settings.rounds,
        feedback=settings.feedback,
        max_steps=settings.max_steps,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
        last_resort=False,
    )
    planned = plan_with(task.model, task.instance.name, task.prompt.messages, task.checker, wishes, task.cache)
    rounds = [_round_record(task, proposal) for proposal in planned.rounds]
    answers = planned.answers
    return {
        **{key: rounds[-1][key] for key in ("plan", "headline", "judged")},
        "rounds": rounds,
        **({"resort": _resort(task, planned, wishes)} if settings.resort else {}),
        "cost": {
            "calls": len(answers),
            "prompt_tokens": sum([answer.prompt_tokens or 0 for answer in answers]),
            "completion_tokens": sum([answer.completion_tokens or 0 for answer in answers]),
        },
    }


def _round_record(task: _Task, proposal: Round) -> dict[str, Any]:
    answer = proposal.exchanges[-1].answer
    return {
        "answer": answer.text,
        "finish": answer.finish.value,
        "plan": None if proposal.plan is None else proposal.plan.split("\n")[:-1],
        **_verdict(task, proposal.plan or "", proposal.report),
        "refused": [diagnostic.code for diagnostic in proposal.refused],
        "feedback": proposal.feedback,
    }


def _resort(task: _Task, planned: PlanResult, wishes: PlanOptions) -> dict[str, Any]:
    """The engine's repair of the best proposal, and the number of its steps that are the model's."""
    repaired = planned
    if planned.status is Status.NOT_FOUND:
        repaired = last_resort(task.checker, planned, Repairs(task.checker, wishes.repair))
    return {
        "status": repaired.status.value,
        "plan": [part.step for part in repaired.parts] if repaired.status is Status.FOUND else None,
        "by_model": len([part for part in repaired.parts if part.by is StepAuthor.MODEL]),
        "removed": len(repaired.removed),
    }


def _verdict(task: _Task, plan: str, report: Report | None) -> dict[str, Any]:
    instance = task.instance
    prediction = Prediction(instance.name, Module.PLAN, None, instance.family, prompt=task.prompt.style)
    if report is None or report.headline is None:
        return {"headline": None, "judged": json.loads(judged_line(unread_plan(prediction)))}
    try:
        label = find_safel_label(task.checker, Source(PLAN, plan)).name
    except NoLabel:
        label = None
    return {
        "headline": report.headline.value,
        "judged": json.loads(judged_line(judge_report(prediction, report, label))),
    }
