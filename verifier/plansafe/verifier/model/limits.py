"""Limits at which work stops without a result."""

from __future__ import annotations

from enum import Enum
from time import monotonic


class LimitKind(Enum):
    """The limits, with their texts in reports."""

    TIME = "the time limit has passed"
    WORK = "the limit of search operations has been reached"
    NODES = "templates, macros or groups grow beyond a million nodes"
    GROUND_TASK = "the task has too many ground actions"
    INSTANCES = "a rule has too many instances"
    OPEN_FACTS = "the specification opens more than two million facts"
    QUESTION = "a question about rules grew too large"


class WorkBudget:
    """A limit in units of work: the result does not depend on the speed of the machine."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int = 1) -> None:
        """Count work. Raises :class:`LimitReached` if the budget is spent."""
        self.left -= units
        if self.left < 0:
            raise LimitReached(LimitKind.WORK)


class LimitReached(Exception):
    """Work stopped at a limit of the given kind; callers that do not need the result catch it."""

    def __init__(self, kind: LimitKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


def check_deadline(deadline: float | None) -> None:
    """Raise :class:`LimitReached` after ``deadline`` (of ``time.monotonic``)."""
    if deadline is not None and monotonic() > deadline:
        raise LimitReached(LimitKind.TIME)


class Undecided(Exception):
    """The course of the numbers cannot be decided exactly; the text is the reason."""
