"""Names and numbers of printed PDDL that the parsers of planners accept."""

from __future__ import annotations

import re

from plansafe.verifier.model.nodes import Number

TOTAL_COST = "total-cost"
_WORDS = (
    "define domain problem requirements types constants predicates functions constraints action durative-action derived"
    " process event objects init goal metric length parameters precondition effect condition duration control"
    " and or not imply implies forall exists when either object number at over start end all = < > <= >= + - * /"
    " always sometime within at-most-once sometime-after sometime-before always-within hold-during hold-after"
    " preference is-violated increase decrease assign scale-up scale-down minimize maximize total-time"
    " undefined unknown oneof true false"
)
KEYWORDS = frozenset(_WORDS.split())
"""Keywords of PDDL and of the parsers of planners."""


class Unprintable(Exception):
    """A feature, named in the text, that PDDL cannot express or no supported planner parses."""


class PddlNames:
    """Makes simple names that are unique over all name spaces and no keywords."""

    def __init__(self) -> None:
        self._names: set[str] = set(KEYWORDS)

    def make_unique(self, name: str) -> str:
        """Return a name similar to ``name`` that was not returned before."""
        simple = re.sub(r"[^a-z0-9_-]", "_", name.lower())
        if not simple or not simple[0].isalpha():
            simple = "n" + simple
        unique_name, number = simple, 2
        while unique_name in self._names:
            unique_name = f"{simple}_{number}"
            number += 1
        self._names.add(unique_name)
        return unique_name


def decimal_text(value: Number) -> str:
    """Print a number as an exact decimal. Raises :class:`Unprintable` if it has none."""
    if value.denominator == 1:
        return str(value.numerator)
    digits, denominator = 0, value.denominator
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        digits = max(digits, power)
    if denominator != 1:
        raise Unprintable(f"the number {value} has no exact decimal")
    scaled = abs(value) * 10**digits
    text = str(int(scaled)).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"
