"""The suite ``planning``: drawn household tasks, what a model plans for each, and how the verifier judges it.

A record has all that the tables are made of: the plan, its verdict, who chose what, what the last resort added, the
model's words, and the cost. One record is one task in one mode; the constant part of the prompts comes first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.decoding.stepwise import Mode, decode
from plansafe.llm.instances.drawn import Instance, draw
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.loop.last_resort import last_resort
from plansafe.llm.loop.model import PLAN, By, Decode, Planned, Round, Status, Style, Wishes
from plansafe.llm.loop.recorder import Recorder
from plansafe.llm.loop.repairs import Repairs
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.metrics.judged import judged, unread
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
"""The families that prompts and decoding are chosen on; examples in prompts are drawn from them alone."""


class Settings(NamedTuple):
    """What is run.

    ``each``: instances of a family; ``split``: ``test``, ``development`` or ``all``; ``examples``: how many of
    :data:`BENCHMARK` the prompt shows; ``slack`` as in :class:`~plansafe.llm.loop.model.Wishes`; ``rounds``: of whole
    plans; ``resort``: also repair what is not safe, and say what that added.
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
    """One task: the family, and which draw of it. Drawn only when its turn comes."""

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


def items(settings: Settings) -> tuple[Item, ...]:
    """The tasks, draw by draw, so that the first of them are of all families."""
    every = [Item(family, number) for number in range(settings.each) for family in FAMILIES]
    return tuple([item for item in every if settings.split in ("all", item.split)])


def header(settings: Settings, name: str, model: Model) -> dict[str, Any]:
    """What a run's file begins with. ``name``: the model as it was asked for."""
    chosen = {
        **settings._asdict(),
        "decode": settings.decode.value,
        "feedback": settings.feedback.value,
        "slack": list(settings.slack),
    }
    known = {"model": name, "identity": model.identity}
    return {"suite": "planning", "suite_version": VERSION, **known, "settings": chosen}


Opened = Callable[[Checker, str], Model]
"""The model for a task; mocks are policies of the task and its reference plan."""


class Suite:
    """Asks one model all items under the same settings."""

    def __init__(self, settings: Settings, opened: Opened, cache: Cache | None = None) -> None:
        self._settings = settings
        self._opened = opened
        self._cache = cache
        self._examples = tuple([_example(draw(family, number)) for family, number in BENCHMARK[: settings.examples]])

    def record(self, item: Item) -> Mapping[str, Any]:
        """The record of an item. Raises :class:`plansafe.llm.models.port.ModelError`."""
        settings, instance = self._settings, draw(item.family, item.number)
        checker = instance.checker()
        prompt = planning_prompt(instance.words, checker.compiled, self._examples, safety=settings.safety)
        model = self._opened(checker, instance.reference)
        begun = time.process_time()
        attempt = _stepwise if settings.decode.stepwise else _whole
        found = attempt(_Task(instance, checker, prompt, model, self._cache), settings)
        return {
            "family": item.family,
            "split": item.split,
            "prompt": prompt.sha256,
            "reference": instance.reference.split("\n")[:-1],
            **found,
            "cpu_s": round(time.process_time() - begun, 3),
        }


def _example(instance: Instance) -> Example:
    return Example(instance.words, instance.checker().compiled, instance.reference)


class _Task(NamedTuple):
    instance: Instance
    checker: Checker
    prompt: Prompt
    model: Model
    cache: Cache | None


def _stepwise(task: _Task, settings: Settings) -> dict[str, Any]:
    guide = Guide(task.checker.compiled)
    ahead = guide.continuation()
    above, below = settings.slack
    longest = -(-above * len(ahead.steps) // below) if ahead.exists else settings.max_steps
    mode = Mode(settings.decode.value)
    recorder = Recorder(task.model, task.cache)
    made = decode(recorder, task.instance.name, task.prompt.messages, guide, mode, longest, seed=settings.seed)
    report = task.checker.check(Source(PLAN, made.plan))
    return {
        "plan": list(made.steps),
        "end": made.end.value,
        "longest": longest,
        **_verdict(task, made.plan, report),
        "choices": [choosing.row for choosing in made.choices],
        "cost": {
            "calls": made.calls,
            "prompt_tokens": made.prompt_tokens,
            "completion_tokens": made.completion_tokens,
            "searches": made.searches,
        },
    }


def _whole(task: _Task, settings: Settings) -> dict[str, Any]:
    wishes = Wishes(
        decode=settings.decode,
        rounds=settings.rounds,
        feedback=settings.feedback,
        max_steps=settings.max_steps,
        max_tokens=settings.max_tokens,
        seed=settings.seed,
        last_resort=False,
    )
    planned = plan_with(task.model, task.instance.name, task.prompt.messages, task.checker, wishes, task.cache)
    rounds = [_round(task, one) for one in planned.rounds]
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


def _round(task: _Task, one: Round) -> dict[str, Any]:
    answer = one.exchanges[-1].answer
    return {
        "answer": answer.text,
        "finish": answer.finish.value,
        "plan": None if one.plan is None else one.plan.split("\n")[:-1],
        **_verdict(task, one.plan or "", one.report),
        "refused": [said.code for said in one.refused],
        "feedback": one.feedback,
    }


def _resort(task: _Task, planned: Planned, wishes: Wishes) -> dict[str, Any]:
    """What the engine makes of the best proposal, and how many of its steps are the model's."""
    found = planned
    if planned.status is Status.NOT_FOUND:
        found = last_resort(task.checker, planned, Repairs(task.checker, wishes.repair))
    return {
        "status": found.status.value,
        "plan": [part.step for part in found.parts] if found.status is Status.FOUND else None,
        "by_model": len([part for part in found.parts if part.by is By.MODEL]),
        "removed": len(found.removed),
    }


def _verdict(task: _Task, plan: str, report: Report | None) -> dict[str, Any]:
    instance = task.instance
    prediction = Prediction(instance.name, Module.PLAN, None, instance.family, prompt=task.prompt.style)
    if report is None or report.headline is None:
        return {"headline": None, "judged": json.loads(judged_line(unread(prediction)))}
    try:
        label = find_safel_label(task.checker, Source(PLAN, plan)).name
    except NoLabel:
        label = None
    return {
        "headline": report.headline.value,
        "judged": json.loads(judged_line(judged(prediction, report, label))),
    }
