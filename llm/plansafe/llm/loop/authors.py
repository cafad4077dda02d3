"""The author of each step of a corrected plan: the original plan or the model, and the steps that it removed."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from plansafe.llm.loop.model import AttributedStep, StepAuthor

_MOST = 1_000
"""Steps of a plan that are compared: the comparison may be quadratic."""


def attributed(
    original: Sequence[str], parts: Sequence[AttributedStep]
) -> tuple[tuple[AttributedStep, ...], tuple[AttributedStep, ...]]:
    """The parts with those marked that the given plan has in the same order; and what the model took out of it."""
    steps = [part.step for part in parts]
    if len(original) > _MOST or len(steps) > _MOST:
        return tuple(parts), ()
    out: list[AttributedStep] = []
    gone: list[AttributedStep] = []
    for kind, i, j, k, n in SequenceMatcher(None, list(original), steps, autojunk=False).get_opcodes():
        if kind == "equal":
            out += [part._replace(by=StepAuthor.GIVEN) for part in parts[k:n]]
        else:
            out += parts[k:n]
            gone += [AttributedStep(step, StepAuthor.MODEL, "not in the model's plan") for step in original[i:j]]
    return tuple(out), tuple(gone)
