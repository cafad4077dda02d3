"""Names and numbers that the readers of planners take."""

from __future__ import annotations

import re

from plansafe.verifier.model.nodes import (
    Number,
)

_WORDS = (
    "define domain problem requirements types constants predicates functions constraints action durative-action derived"
    " process event objects init goal metric length parameters precondition effect condition duration control"
    " and or not imply implies forall exists when either object number at over start end all = < > <= >= + - * /"
    " always sometime within at-most-once sometime-after sometime-before always-within hold-during hold-after"
    " preference is-violated increase decrease assign scale-up scale-down minimize maximize total-time"
    " undefined unknown oneof true false"
)
KEYWORDS = frozenset(_WORDS.split())
"""Of PDDL, and of the readers of planners."""


class Unprintable(Exception):
    """Something that PDDL has no text for, or that no planner here reads; the text says what."""


class Names:
    """Plain names, unique over all name spaces."""

    def __init__(self) -> None:
        self._taken: set[str] = set(KEYWORDS)

    def new(self, name: str) -> str:
        """A name like ``name`` that nothing has yet."""
        plain = re.sub(r"[^a-z0-9_-]", "_", name.lower())
        if not plain or not plain[0].isalpha():
            plain = "n" + plain
        found, number = plain, 2
        while found in self._taken:
            found = f"{plain}_{number}"
            number += 1
        self._taken.add(found)
        return found


def decimal(value: Number) -> str:
    """A number as an exact decimal. Raises :class:`Unprintable` if it has none."""
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
