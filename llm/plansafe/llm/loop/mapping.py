"""Steps of a model mapped to what can be done: each that is unknown or cannot be taken to the nearest that can.

After CLMASP (Lin et al. 2024), which maps steps to the library of the simulator before its solver sees them. Nearest is
by words in common, in order (Rouge-L between the texts of the steps); a step that shares less than half is left out.
Rules are not looked at: what is mapped is judged like any other plan.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.llm.loop.model import By, Part
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
_OTHER = re.compile(r"[^\w-]+")


class Mapped(NamedTuple):
    """The steps with marks, and those that were left out with the reason."""

    parts: tuple[Part, ...]
    dropped: tuple[Part, ...]

    @property
    def plan(self) -> str:
        """The plan as text, one step a line."""
        return "".join([f"{part.step}\n" for part in self.parts])


def raw_steps(text: str) -> list[str]:
    """What could be steps in an answer, whatever their names: what is in parentheses, else a line each."""
    out: list[str] = []
    for line in text.splitlines()[:MOST_LINES]:
        line = _NUMBER.sub("", line[:_WIDEST], count=1).strip()
        groups = _GROUP.findall(line)
        words = [one for one in _OTHER.sub(" ", groups[0] if line.startswith("(") and groups else line).split() if one]
        if words and not line.startswith(("```", "#", ";")):
            out.append(f"({' '.join(words).lower()})")
    return out


def mapped(checker: Checker, lines: Sequence[str], longest: int, before: Sequence[Part] = ()) -> Mapped:
    """Walk through the steps, behind those that were taken ``before``.

    Raises ``ValueError`` where the task is none whose steps can be listed.
    """
    guide = Guide(checker.compiled, rules=False)
    for part in before:
        guide.take({step_text(option.step, guide.objects): option.step for option in guide.options()}[part.step])
    parts: list[Part] = []
    dropped: list[Part] = []
    for line in lines:
        if len(parts) >= longest:
            dropped.append(Part(line, By.MAPPED, f"the plan already has {longest} steps"))
            continue
        options = {step_text(option.step, guide.objects): option.step for option in guide.options()}
        if line in options:
            parts.append(Part(line, By.MODEL))
            guide.take(options[line])
            continue
        found = _nearest(line, sorted(options))
        if found is None:
            dropped.append(Part(line, By.MAPPED, "no executable action is similar"))
        else:
            parts.append(Part(found, By.MAPPED, f"the model wrote {line}"))
            guide.take(options[found])
    return Mapped(tuple(parts), tuple(dropped))


def _nearest(line: str, texts: Sequence[str]) -> str | None:
    """The text with the most words in common, in order; the first of equals. ``None`` where none is near."""
    words = alphanumeric(line)
    best: tuple[float, str] | None = None
    for text in texts:
        own = alphanumeric(text)
        length = lcs_length(words, own)
        share = f_measure(length / len(words), length / len(own)) if words and own else 0.0
        if share >= NEAR and (best is None or share > best[0]):
            best = (share, text)
    return None if best is None else best[1]
