"""A plan executed once, as far as it goes: where it breaks, fails, and might have ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed


class Walk:
    """The reading *halt* of an untimed plan; steps count from 1, 0 is the initial state.

    ``taken``: the steps that could be taken. ``last``: the length of its longest executable prefix that violates
    nothing, -1 if there is none. ``accepted``: the longest such prefix that is a safe plan by itself, else -1.
    ``violated`` is the first violated rule's step, ``inexecutable`` the first step that cannot be taken. ``visit`` is
    called with the execution behind each prefix up to ``last``.
    """

    def __init__(
        self,
        checker: Checker,
        steps: Sequence[GroundAction | IllFormed],
        visit: Callable[[Execution], None] | None = None,
    ) -> None:
        now = Execution.initial(checker.engine, True, checker.options.criteria)
        self.taken: list[GroundAction] = []
        self.inexecutable: int | None = None
        self.last = self.accepted = -1
        intact = True
        for number in range(len(steps) + 1):
            intact = intact and not now.broken
            if intact:
                self.last = number
                if now.accepted:
                    self.accepted = number
                if visit is not None:
                    visit(now)
            if number == len(steps):
                break
            step = steps[number]
            if isinstance(step, IllFormed) or step.action.end is not None or not _taken(now, step):
                self.inexecutable = number + 1
                break
            self.taken.append(step)
        self.violated = now.first_violated_step(self.inexecutable is None)


def _taken(now: Execution, step: GroundAction) -> bool:
    try:
        return now.take(step)
    except (NumberTooLarge, TooManyInstances):
        return False
