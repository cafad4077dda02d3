"""The limits at which work stops: what would have come of it is not known then."""

from __future__ import annotations

from enum import Enum
from time import monotonic


class LimitKind(Enum):
    """What there was too much of, in the words of a report."""

    TIME = "the time limit has passed"
    WORK = "the limit of search operations has been reached"
    NODES = "templates, macros or groups grow beyond a million nodes"
    GROUND_TASK = "the task has too many ground actions"
    INSTANCES = "a rule has too many instances"
    OPEN_FACTS = "the specification opens more than two million facts"
    QUESTION = "a question about rules grew too large"


class WorkBudget:
    """Units of work that a search may do: the result does not depend on the speed of the machine."""

    def __init__(self, units: int) -> None:
        self.left = units

    def spend(self, units: int = 1) -> None:
        """Count work. Raises :class:`LimitReached` where the budget is spent."""
        self.left -= units
        if self.left < 0:
            raise LimitReached(LimitKind.WORK)


class LimitReached(Exception):
    """Work stopped at a limit. ``kind`` says at which; whoever can do without the answer catches it."""

    def __init__(self, kind: LimitKind) -> None:
        super().__init__(kind.value)
        self.kind = kind


def check_deadline(deadline: float | None) -> None:
    """Raise :class:`LimitReached` after ``deadline`` (of ``time.monotonic``)."""
    if deadline is not None and monotonic() > deadline:
        raise LimitReached(LimitKind.TIME)
