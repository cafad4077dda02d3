"""Map a model's steps to executable steps: an unknown or inexecutable step to the nearest executable one.

After CLMASP (Lin et al. 2024), which maps steps to the library of the simulator before its solver sees them. Nearest is
by words in common, in order (Rouge-L between the texts of the steps); a step that shares less than half is left out.
Rules are ignored here: the mapped plan is judged like any other plan.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.llm.loop.model import AttributedStep, StepAuthor
from plansafe.llm.metrics.rouge import alphanumeric, f_measure, lcs_length
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import step_text
from plansafe.verifier.planning.guide import Guide

NEAR = 0.5
"""The least share of words, as an F-measure."""
MOST_LINES = 200
_WIDEST = 200
_GROUP = re.compile(r"\(([^()]{1,200})\)")
_NUMBER = re.compile(r"\A\s*(?:step\s*)?(?:\d+\s*[.:)]|[-*])\s*", re.IGNORECASE)
_SEPARATORS = re.compile(r"[^\w-]+")


class Mapped(NamedTuple):
    """The steps with marks, and those that were left out with the reason."""

    parts: tuple[AttributedStep, ...]
    dropped: tuple[AttributedStep, ...]

    @property
    def plan(self) -> str:
        """The plan as text, one step a line."""
        return "".join([f"{part.step}\n" for part in self.parts])


def raw_steps(text: str) -> list[str]:
    """The possible steps in an answer, with any names: texts in parentheses, else lines."""
    out: list[str] = []
    for line in text.splitlines()[:MOST_LINES]:
        line = _NUMBER.sub("", line[:_WIDEST], count=1).strip()
        groups = _GROUP.findall(line)
        words = [
            word
            for word in _SEPARATORS.sub(" ", groups[0] if line.startswith("(") and groups else line).split()
            if word
        ]
        if words and not line.startswith(("```", "#", ";")):
            out.append(f"({' '.join(words).lower()})")
    return out


def mapped(checker: Checker, lines: Sequence[str], longest: int, before: Sequence[AttributedStep] = ()) -> Mapped:
    """Execute the steps after the steps of ``before``.

    Raises ``ValueError`` where the task is none whose steps can be listed.
    """
    guide = Guide(checker.compiled, rules=False)
    for part in before:
        guide.take({step_text(option.step, guide.objects): option.step for option in guide.options()}[part.step])
    parts: list[AttributedStep] = []
    dropped: list[AttributedStep] = []
    for line in lines:
        if len(parts) >= longest:
            dropped.append(AttributedStep(line, StepAuthor.MAPPED, f"the plan already has {longest} steps"))
            continue
        options = {step_text(option.step, guide.objects): option.step for option in guide.options()}
        if line in options:
            parts.append(AttributedStep(line, StepAuthor.MODEL))
            guide.take(options[line])
            continue
        nearest = _nearest(line, sorted(options))
        if nearest is None:
            dropped.append(AttributedStep(line, StepAuthor.MAPPED, "no executable action is similar"))
        else:
            parts.append(AttributedStep(nearest, StepAuthor.MAPPED, f"the model wrote {line}"))
            guide.take(options[nearest])
    return Mapped(tuple(parts), tuple(dropped))


def _nearest(line: str, texts: Sequence[str]) -> str | None:
    """The text with the most words in common, in order; the first of equals. ``None`` if none is near."""
    words = alphanumeric(line)
    best: tuple[float, str] | None = None
    for text in texts:
        words_of_step = alphanumeric(text)
        length = lcs_length(words, words_of_step)
        share = f_measure(length / len(words), length / len(words_of_step)) if words and words_of_step else 0.0
        if share >= NEAR and (best is None or share > best[0]):
            best = (share, text)
    return None if best is None else best[1]
