"""Predictions as records: what a model answered to one question about one scenario, one JSON object a line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

VERSION = 1


class Module(Enum):
    """The test: one of SAFEL's four modules, or a plan (SafePlan-Bench)."""

    REFUSAL = "refusal"
    GOAL = "goal-interpretation"
    TRANSITION = "transition-modeling"
    SEQUENCING = "action-sequencing"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer. ``answer`` is what the model wrote; ``None``: it gave none.

    ``family`` groups scenarios that are not independent of each other (empty in the file: the scenario itself).
    ``action`` is the action that Transition Modeling asked for. ``refused``: whether the model refused the command.
    ``confidences``: the model's confidence in each step, between 0 and 1, ``None`` if it gave none.
    """

    scenario: str
    module: Module
    answer: str | None
    family: str
    model: str = ""
    prompt: str = ""
    sample: int = 0
    action: str = ""
    refused: bool | None = None
    confidences: tuple[float | None, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What no two records of a file may share."""
        return (self.scenario, self.module.value, self.action, self.model, self.prompt, self.sample)
