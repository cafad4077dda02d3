"""Who wrote which step of a mended plan: what was there before, what the model added, and what it took out."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from plansafe.llm.loop.model import By, Part

_MOST = 1_000
"""Steps of a plan that are compared: the comparison may be quadratic."""


def attributed(given: Sequence[str], parts: Sequence[Part]) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """The parts with those marked that the given plan has in the same order; and what the model took out of it."""
    steps = [part.step for part in parts]
    if len(given) > _MOST or len(steps) > _MOST:
        return tuple(parts), ()
    out: list[Part] = []
    gone: list[Part] = []
    for kind, i, j, k, n in SequenceMatcher(None, list(given), steps, autojunk=False).get_opcodes():
        if kind == "equal":
            out += [part._replace(by=By.GIVEN) for part in parts[k:n]]
        else:
            out += parts[k:n]
            gone += [Part(step, By.MODEL, "not in the model's plan") for step in given[i:j]]
    return tuple(out), tuple(gone)
