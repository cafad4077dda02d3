"""Parse option values: weights, costs, step numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import EditKind, Weights

_NUMBER = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?|\.\d{1,9})\Z")


class BadOption(Exception):
    """An option has an invalid value."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_OPTION, message, help=help)


def check_time_limit(seconds: float) -> float:
    """The value of ``--time-limit`` where a search needs a limit above 0. Raises :class:`BadOption`."""
    if not math.isfinite(seconds) or seconds <= 0:
        raise BadOption("--time-limit takes a number of seconds above 0")
    return seconds


def read_weights(text: str) -> Weights:
    """Read ``insert=1,delete=2``. Raises :class:`BadOption`."""
    kinds = [kind.value for kind in EditKind]
    advice = f"such as {','.join(f'{name}=1' for name in kinds)}; the default of each is 1"
    weights: dict[str, Number] = {}
    for part in text.split(","):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or name not in kinds or name in weights:
            raise BadOption(f"--weights takes each of {', '.join(kinds)} once, not {part.strip()!a}", advice)
        weights[name] = read_cost("--weights", value)
    return Weights(**weights)


def read_cost(flag: str, text: str) -> Number:
    """Read a positive number, exactly. Raises :class:`BadOption`."""
    value = Fraction(text) if _NUMBER.match(text) else Fraction(0)
    if value <= 0:
        raise BadOption(f"{flag} takes positive numbers such as 2 or 0.5, not {text!a}")
    return value.numerator if value.denominator == 1 else value


def read_max_cost(text: str | None) -> Number | None:
    """Read the value of ``--max-cost``, if it was given. Raises :class:`BadOption`."""
    return None if text is None else read_cost("--max-cost", text)


def read_slack(text: str) -> tuple[int, int]:
    """Read the maximum plan length as a multiple of the known plan, as a fraction. Raises :class:`BadOption`."""
    value = read_cost("--slack", text)
    if value < 1:
        raise BadOption(f"--slack takes a number of at least 1, not {text!a}", "1: no longer than the known plan")
    return value.numerator, value.denominator


def read_steps(flag: str, texts: Iterable[str]) -> frozenset[int]:
    """Read step numbers: ``3``, ``3,5`` or ``3-5``. Raises :class:`BadOption`."""
    steps: set[int] = set()
    for part in [part.strip() for text in texts for part in text.split(",")]:
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part, re.ASCII)
        first = int(match[1]) if match else 0
        last = int(match[2] or match[1]) if match else 0
        if not 1 <= first <= last:
            raise BadOption(f"{flag} takes steps such as 3,5-7, counted from 1, not {part!a}")
        steps.update(range(first, last + 1))
    return frozenset(steps)
