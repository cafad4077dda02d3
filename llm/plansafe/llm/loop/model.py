"""What a run of the loop is asked for and what comes of it. Data only."""

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
    """How much a model is told of its plan: nothing, the verdict, what is wrong, also why, or also what to change."""

    NONE = "none"
    VERDICT = "verdict"
    FINDING = "finding"
    CAUSE = "cause"
    REPAIR = "repair"


class Refusal(NamedTuple):
    """A model's refusal, beside what the engine knows.

    ``right`` is ``True`` where no safe plan exists (proved), ``False`` where one of ``steps`` steps is known, ``None``
    where neither is; ``detail`` says how that was found.
    """

    reason: str
    right: bool | None
    steps: int = 0
    detail: str = ""


class By(StrEnum):
    """Who contributed a step.

    ``GIVEN``: it is of the plan that was to be mended. ``MAPPED``: the nearest that could be done to what the model
    wrote. ``GUIDE``: the model wanted another one, or was not asked since one alone was left.
    """

    GIVEN = "given"
    MODEL = "model"
    MAPPED = "mapped"
    GUIDE = "guide"
    REPAIR = "repair"
    PLANNER = "planner"


class Part(NamedTuple):
    """A step, who contributed it, and why it is not the model's own choice."""

    step: str
    by: By
    note: str = ""


class Exchange(NamedTuple):
    """One call of the model."""

    request: Request
    answer: Answer


class Round(NamedTuple):
    """One proposal. ``plan`` and ``report`` are ``None`` where no plan was read; ``refused`` then says why.

    ``end`` is how a plan that was built step by step ended. ``feedback`` is what the model was told of it. ``dropped``
    are steps of the answer that are not in the plan, with the reason. ``declined`` is the reason of an answer that
    refuses the task. A plan that was given to be mended is a round without calls.
    """

    exchanges: tuple[Exchange, ...]
    plan: str | None
    parts: tuple[Part, ...]
    report: Report | None
    refused: tuple[Diagnostic, ...] = ()
    end: str = ""
    feedback: str = ""
    dropped: tuple[Part, ...] = ()
    declined: str | None = None

    @property
    def safe(self) -> bool:
        """Whether the plan is SAFE or VALID; what is unknown is not."""
        return self.report is not None and is_safe(self.report)


RETRY_TEMPERATURE = 0.7
"""The temperature of a retry where none is given: a greedy retry mostly repeats its last plan."""


class Sampling(NamedTuple):
    """How an answer is drawn: temperature 0 is greedy."""

    temperature: float = 0.0
    seed: int | None = None


class Wishes(NamedTuple):
    """What is asked for.

    ``rounds``: how often a whole plan is asked for at most. ``slack``: how many times as long as the known continuation
    a plan built step by step may be, as a pair (numerator, denominator); ``max_steps`` where none is known, and under
    the grammar. ``last_resort``: repair the best proposal, else plan, where no round is safe; ``repair`` bounds that.
    Of whole plans: ``replan``: go on from the first step that fails; ``mapping``: map steps to what can be done;
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


class Planned(NamedTuple):
    """What came of it. Unless ``FOUND``, ``parts`` and ``report`` are those of the best proposal, if there was any.

    ``removed``: steps of the model that are not in the plan, with the reason. ``refusal``: the model's, beside what the
    engine knows. ``steps_within``: how long a plan
    built step by step could be, 0 for whole plans. ``searches``: questions put to the planner while it was built.
    """

    status: Status
    parts: tuple[Part, ...]
    report: Report | None
    rounds: tuple[Round, ...]
    detail: str = ""
    removed: tuple[Part, ...] = ()
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
        return [exchange.answer for one in self.rounds for exchange in one.exchanges]


def is_safe(report: Report) -> bool:
    """Whether a plan is good enough to be handed out."""
    return report.headline in (Headline.SAFE, Headline.VALID)
