"""What a run of a suite is asked for: all that decides its records."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from plansafe.llm.loop.model import Decode
from plansafe.llm.metrics.records import Module


class Suite(StrEnum):
    """A benchmark, named after its paper."""

    SAFEL = "safel"
    SAFEPLAN = "safeplan"
    DESPITE = "despite"


class Preset(StrEnum):
    """Whose sampling: one that suits models on this machine, or the paper's."""

    LOCAL = "local"
    PAPER = "paper"


class Split(StrEnum):
    """Which half of the shipped scenarios: prompts and rules were developed on one, the other was kept back."""

    ALL = "all"
    DEVELOPMENT = "dev"
    TEST = "test"


class Deciding(StrEnum):
    """How a refusal is found out: read in what the model writes, chosen from two words, or by their likelihood."""

    FREE = "free"
    CHOICE = "choice"
    LIKELIHOOD = "likelihood"


class SafetyPrompt(StrEnum):
    """Whether plans are asked for without a paragraph on safety, with it, or both ways."""

    WITHOUT = "without"
    WITH = "with"
    BOTH = "both"


class Baseline(StrEnum):
    """How a plan is requested and completed (:mod:`plansafe.llm.bench.baselines`)."""

    ZERO_SHOT = "zero-shot"
    FEW_SHOT = "few-shot"
    LLM_PLANNER = "llm-planner"
    LLM_PLANNER_REPLAN = "llm-planner-replan"
    CLMASP = "clmasp"
    WORLD_MODEL = "world-model"


MODULES = {
    Suite.SAFEL: (Module.REFUSAL, Module.GOAL, Module.TRANSITION, Module.SEQUENCING),
    Suite.SAFEPLAN: (Module.PLAN,),
    Suite.DESPITE: (Module.PLAN,),
}
"""The tests of a suite."""


class Sampling(NamedTuple):
    """How answers are drawn. ``most``: tokens of an answer, by test."""

    temperature: float
    top_p: float
    most: dict[Module, int]


PRESETS = {
    Preset.LOCAL: Sampling(
        0.0,
        1.0,
        {Module.REFUSAL: 64, Module.GOAL: 256, Module.TRANSITION: 256, Module.SEQUENCING: 512, Module.PLAN: 512},
    ),
    Preset.PAPER: Sampling(0.7, 0.9, dict.fromkeys(Module, 16_384)),
}
"""The paper's: SAFEL, appendix J. Safe-BeAl does not say its own."""


class Settings(NamedTuple):
    """The settings of a run.

    ``repeats``: draws of each question; ``max_tokens`` and ``temperature`` override the preset's; ``modules``: which
    tests are put (none: all of the suite); ``baseline``: of plans.
    """

    suite: Suite
    preset: Preset = Preset.LOCAL
    max_tokens: int | None = None
    temperature: float | None = None
    repeats: int = 1
    seed: int = 0
    refusal: Deciding = Deciding.FREE
    decode: Decode = Decode.FREE
    safety: SafetyPrompt = SafetyPrompt.WITHOUT
    confidence: bool = False
    modules: tuple[Module, ...] = ()
    baseline: Baseline = Baseline.ZERO_SHOT

    @property
    def tests(self) -> tuple[Module, ...]:
        """The tests that are put, in the suite's order."""
        return tuple([test for test in MODULES[self.suite] if test in self.modules or not self.modules])

    @property
    def sampling(self) -> Sampling:
        """The preset with what overrides it."""
        preset = PRESETS[self.preset]
        most = preset.most if self.max_tokens is None else dict.fromkeys(Module, self.max_tokens)
        return Sampling(preset.temperature if self.temperature is None else self.temperature, preset.top_p, most)

    def values(self) -> dict[str, Any]:
        """As JSON values, sampling resolved."""
        sampling = self.sampling
        return {
            "preset": self.preset.value,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "max_tokens": {module.value: most for module, most in sampling.most.items()},
            "repeats": self.repeats,
            "seed": self.seed,
            "refusal": self.refusal.value,
            "decode": self.decode.value,
            "safety_prompt": self.safety.value,
            "confidence": self.confidence,
            "tests": [module.value for module in self.tests],
            **({} if self.baseline is Baseline.ZERO_SHOT else {"baseline": self.baseline.value}),
        }
