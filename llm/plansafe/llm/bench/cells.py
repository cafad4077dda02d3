"""The cells of the papers' tables: test, baseline and prompt, in a fixed order of priority, with estimated times.

A cell is one run file. Cells that matter most come first, so that a run that is stopped has the most important figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.llm.bench.questions import Question, questions
from plansafe.llm.bench.settings import Baseline, SafetyPrompt, Settings, Suite
from plansafe.llm.bench.task import BenchTask
from plansafe.llm.metrics.records import Module
from plansafe.llm.models.request import Role
from plansafe.llm.prompts.prompt_options import tokens_of

MANY, FEW = 100, 30
"""The number of scenarios of a main cell, and of a further baseline."""
TYPICAL_TOKENS = {Module.REFUSAL: 8, Module.GOAL: 60, Module.TRANSITION: 60, Module.SEQUENCING: 120, Module.PLAN: 120}
"""The usual length of an answer, for estimates."""


class Cell(NamedTuple):
    """One cell. ``limit`` is the number of scenarios."""

    suite: Suite
    limit: int
    test: Module | None = None
    baseline: Baseline = Baseline.ZERO_SHOT
    safety: SafetyPrompt = SafetyPrompt.WITHOUT
    confidence: bool = False

    @property
    def name(self) -> str:
        """The name of the cell, used for its file."""
        parts = [self.suite.value]
        if self.test is not None:
            parts.append(self.test.value)
        if self.test in (None, Module.SEQUENCING):
            parts.append(self.baseline.value)
        if self.safety is not SafetyPrompt.WITHOUT:
            parts.append("safety-prompt")
        if self.confidence:
            parts.append("confidence")
        return "-".join(parts)

    @property
    def needs_trained_model(self) -> bool:
        """Whether the cell is only meaningful for a model trained on embodied experience."""
        return self.baseline is Baseline.WORLD_MODEL

    def settings(self, seed: int) -> Settings:
        """The settings of its run."""
        return Settings(
            self.suite,
            seed=seed,
            safety=self.safety,
            confidence=self.confidence,
            modules=() if self.test is None else (self.test,),
            baseline=self.baseline,
        )

    def command(self, model: str) -> str:
        """The command that runs this cell alone."""
        words = [f"safecheck bench {self.suite.value} --model {model} --limit {self.limit}"]
        if self.test is not None:
            words.append(f"--test {self.test.value}")
        if self.baseline is not Baseline.ZERO_SHOT:
            words.append(f"--baseline {self.baseline.value}")
        if self.safety is not SafetyPrompt.WITHOUT:
            words.append(f"--safety-prompt {self.safety.value}")
        if self.confidence:
            words.append("--confidence")
        return " ".join([*words, "--mocks"])


def _plans(
    baseline: Baseline, limit: int = FEW, safety: SafetyPrompt = SafetyPrompt.BOTH, confidence: bool = False
) -> Cell:
    return Cell(Suite.SAFEPLAN, limit, None, baseline, safety, confidence)


CELLS: tuple[Cell, ...] = (
    *[Cell(Suite.SAFEL, MANY, test) for test in (Module.REFUSAL, Module.SEQUENCING, Module.GOAL, Module.TRANSITION)],
    _plans(Baseline.FEW_SHOT, MANY),
    Cell(Suite.SAFEL, MANY, Module.SEQUENCING, Baseline.FEW_SHOT),
    _plans(Baseline.LLM_PLANNER),
    _plans(Baseline.FEW_SHOT, FEW, SafetyPrompt.BOTH, confidence=True),
    _plans(Baseline.LLM_PLANNER, FEW, SafetyPrompt.BOTH, confidence=True),
    _plans(Baseline.CLMASP),
    _plans(Baseline.LLM_PLANNER_REPLAN),
    _plans(Baseline.ZERO_SHOT),
    Cell(Suite.SAFEL, FEW, Module.SEQUENCING, Baseline.LLM_PLANNER),
    Cell(Suite.SAFEL, FEW, Module.SEQUENCING, Baseline.CLMASP),
    _plans(Baseline.WORLD_MODEL),
)
"""All cells, the most important first: SAFEL's four tests, then Safe-BeAl's table 1, then its appendix A."""


class Speed(NamedTuple):
    """The speed of a model: tokens of prompts and of answers per second.

    Default: 1.5B parameters on two CPU threads.
    """

    prompt: float = 75.0
    answer: float = 15.0


def estimate_seconds(cell: Cell, tasks: Sequence[BenchTask], speed: Speed, seed: int = 0) -> tuple[int, float]:
    """The number of questions of a cell, and the estimated seconds.

    The system message of a test is read once, because providers keep the common beginning of prompts; with an example
    in it, it is read for each question.
    """
    cell_questions = questions(tasks, cell.settings(seed))
    seconds = 0.0
    read: set[str] = set()
    for question in cell_questions:
        tokens = 0
        for message in question.messages:
            if message.role is Role.SYSTEM and message.text in read:
                continue
            read.add(message.text)
            tokens += tokens_of(message.text)
        seconds += (tokens / speed.prompt + _answer_tokens(question) / speed.answer) * _rounds(question)
    return len(cell_questions), seconds


def _answer_tokens(question: Question) -> int:
    return TYPICAL_TOKENS[question.module]


def _rounds(question: Question) -> int:
    return 2 if question.baseline is Baseline.LLM_PLANNER_REPLAN else 1
