"""Where a plan was: which steps lead back there, asked without taking each."""

from __future__ import annotations

from plansafe.verifier.execution.actions import Conflict
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number


class Been:
    """The moments of one execution, up to now.

    A sum of the state (one number that each change shifts in its own way, and back) tells nearly every step that leads
    elsewhere; the others are taken from a copy, and the keys compared.
    """

    def __init__(self, start: Execution) -> None:
        self._sum = 0
        self._sums = {0}
        self._keys: set[object] = {start.key()}

    def arrived(self, now: Execution) -> None:
        """A step was taken."""
        self._sum ^= _shift(now, now.changed)
        self._sums.add(self._sum)
        self._keys.add(now.key())

    def returns(self, now: Execution, step: GroundAction) -> bool:
        """Whether a legal step leads to a moment where the execution was."""
        state, log = now.state, list[StateChange]()
        try:
            if not now.engine.full_code.run(step.action)(state.facts, state.fluents, log, *step.objects):
                log = []
            elif self._sum ^ _shift(now, log) not in self._sums:
                return False
        except (KeyError, ZeroDivisionError, Conflict, NumberTooLarge):
            pass  # the copy says what comes of it
        finally:
            state.undo(log)
        after = now.after(step)
        return after is not None and after.key() in self._keys


def _shift(now: Execution, log: list[StateChange]) -> int:
    """What changes add to the sum of a state: the same for the way back. Derived facts follow from the others."""
    state, changeable = now.state, now.engine.changeable
    base, out = len(state.facts), 0
    before: dict[tuple[int, int], Number | None] = {}
    for index, code, value in log:
        if index >= base:
            before.setdefault((index, code), value)  # the log has the number that was there before
        elif index in changeable:
            out ^= hash((index, code))
    for (index, code), number in before.items():
        out ^= hash((index, code, number)) ^ hash((index, code, state.fluents[index - base].get(code)))
    return out
