"""A step of a plan as written."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span


class Step(NamedTuple):
    """One step as written: its tokens in lower case, its time and duration, and its place.

    ``tolerance``: how much shorter or longer than ``duration`` it may be. ``label``: its name in an ordering.
    """

    tokens: tuple[str, ...]
    time: int | Fraction | None
    duration: int | Fraction | None
    span: Span
    label: str | None = None
    tolerance: int | Fraction | None = None
