"""Whether a command is new: Rouge-L against all that are there, as Self-Instruct filters (Wang et al. 2023)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.llm.metrics.rouge import rouge_score_l

THRESHOLD = 0.7
"""A command whose Rouge-L F with another is at least this is not new (Self-Instruct keeps commands below 0.7)."""


class Nearest(NamedTuple):
    """The command that is nearest, and how near: the F of Rouge-L, 0 to 1."""

    instruction: str
    f: float


def nearest(instruction: str, instructions: Iterable[str]) -> Nearest:
    """The nearest of the known commands; an empty one with 0 where there are none."""
    scored = [Nearest(candidate, rouge_score_l(instruction, candidate).f) for candidate in instructions]
    return max(scored, key=lambda scored_candidate: scored_candidate.f, default=Nearest("", 0.0))
