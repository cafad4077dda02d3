"""The options and the result of a run of the loop. Data only."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.models.answer import Answer
from plansafe.llm.models.request import Request
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions
from plansafe.verifier.reporting.report import Headline, Report

PLAN = "<plan>"
"""What the plan is called in reports: it is in no file yet."""


class Decode(StrEnum):
    """How a model's plan is held to the task: not at all, to its grammar, or step by step."""

    FREE = "free"
    GRAMMAR = "grammar"
    SHIELD = "shield"
    GUIDED = "guided"
    SOFT = "soft"

    @property
    def stepwise(self) -> bool:
        """Whether the model is asked for one step at a time."""
        return self not in (Decode.FREE, Decode.GRAMMAR)


class Style(StrEnum):
    """The feedback on a plan: none, the verdict, the findings, also their causes, or also the repair."""

    NONE = "none"
    VERDICT = "verdict"
    FINDING = "finding"
    CAUSE = "cause"
    REPAIR = "repair"


class Refusal(NamedTuple):
    """A model's refusal, with the engine's result.

    ``right`` is ``True`` where no safe plan exists (proved), ``False`` where one of ``steps`` steps is known, ``None``
    where neither is; ``detail`` says how that was found.
    """

    reason: str
    right: bool | None
    steps: int = 0
    detail: str = ""


class StepAuthor(StrEnum):
    """Who contributed a step.

    ``GIVEN``: it belongs to the plan to be corrected. ``MAPPED``: the nearest that could be done to what the model
    wrote. ``GUIDE``: the model wanted another one, or was not asked since one alone was left.
    """

    GIVEN = "given"
    MODEL = "model"
    MAPPED = "mapped"
    GUIDE = "guide"
    REPAIR = "repair"
    PLANNER = "planner"


class AttributedStep(NamedTuple):
    """A step, who contributed it, and why it is not the model's own choice."""

    step: str
    by: StepAuthor
    note: str = ""


class Exchange(NamedTuple):
    """One call of the model."""

    request: Request
    answer: Answer


class Round(NamedTuple):
    """One proposal. ``plan`` and ``report`` are ``None`` where no plan was read; ``refused`` then says why.

    ``end`` is how a plan that was built step by step ended. ``feedback`` is the feedback that the model got.
    ``dropped`` are steps of the answer that are not in the plan, with the reason. ``declined`` is the reason of an
    answer that refuses the task. A plan to be corrected is a round without calls.
    """

    exchanges: tuple[Exchange, ...]
    plan: str | None
    parts: tuple[AttributedStep, ...]
    report: Report | None
    refused: tuple[Diagnostic, ...] = ()
    end: str = ""
    feedback: str = ""
    dropped: tuple[AttributedStep, ...] = ()
    declined: str | None = None

    @property
    def safe(self) -> bool:
        """Whether the plan is SAFE or VALID; UNKNOWN is not."""
        return self.report is not None and is_safe(self.report)


RETRY_TEMPERATURE = 0.7
"""The default temperature of a retry: a greedy retry mostly repeats its last plan."""


class Sampling(NamedTuple):
    """How an answer is drawn: temperature 0 is greedy."""

    temperature: float = 0.0
    seed: int | None = None


class PlanOptions(NamedTuple):
    """The options of a run.

    ``rounds``: how often a whole plan is asked for at most. ``slack``: how many times as long as the known continuation
    a plan built step by step may be, as a pair (numerator, denominator); ``max_steps`` if none is known, and under
    the grammar. ``last_resort``: repair the best proposal, else plan, where no round is safe; ``repair`` bounds that.
    Of whole plans: ``replan``: go on from the first step that fails; ``mapping``: map steps to executable steps;
    ``refusal``: the model may refuse. ``temperature`` is for all calls; ``None``: see :meth:`sampling`.
    ``accept_remarks``: text next to a plan that is not understood is harmless.
    """

    decode: Decode = Decode.FREE
    rounds: int = 3
    feedback: Style = Style.FINDING
    slack: tuple[int, int] = (3, 2)
    max_steps: int = 60
    max_tokens: int = 1024
    seed: int | None = None
    last_resort: bool = True
    repair: RepairOptions = RepairOptions(max_work=BOUNDED_WORK)
    replan: bool = False
    mapping: bool = False
    refusal: bool = False
    temperature: float | None = None
    accept_remarks: bool = False

    def sampling(self, retry: int = 0) -> Sampling:
        """How the first answer (``retry`` 0) is drawn, and each retry: with a seed of its own, and not greedily."""
        usual = RETRY_TEMPERATURE if retry else 0.0
        temperature = usual if self.temperature is None else self.temperature
        return Sampling(temperature, (self.seed or 0) + retry if retry else self.seed)


class Status(StrEnum):
    """How it ended: with a safe plan, with a proof that there is none, without either, or with a refusal."""

    FOUND = "found"
    UNSOLVABLE = "proved impossible"
    NOT_FOUND = "not found"
    REFUSED = "refused"


class PlanResult(NamedTuple):
    """The result of a run. Unless ``FOUND``, ``parts`` and ``report`` are from the best proposal, if any.

    ``removed``: steps of the model that are not in the plan, with the reason. ``refusal``: the model's, with the
    engine's result. ``steps_within``: how long a plan
    built step by step could be, 0 for whole plans. ``searches``: questions put to the planner while it was built.
    """

    status: Status
    parts: tuple[AttributedStep, ...]
    report: Report | None
    rounds: tuple[Round, ...]
    detail: str = ""
    removed: tuple[AttributedStep, ...] = ()
    steps_within: int = 0
    searches: int = 0
    refusal: Refusal | None = None

    @property
    def plan(self) -> str:
        """The plan as text, one step a line."""
        return "".join([f"{part.step}\n" for part in self.parts])

    @property
    def answers(self) -> list[Answer]:
        """All answers of the model, in order."""
        return [exchange.answer for proposal in self.rounds for exchange in proposal.exchanges]


def is_safe(report: Report) -> bool:
    """Whether a plan is good enough to be handed out."""
    return report.headline in (Headline.SAFE, Headline.VALID)
