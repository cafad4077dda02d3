"""Where an execution was, and which steps lead to such a moment: told by sums of states, without taking each step.

The sum of a state is one number, counted from where the execution begins, that each change shifts in its own way, and
back. It follows from the state alone: equal states have equal sums, and where sums are equal the keys are compared.
"""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.execution.actions import Conflict
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number


def state_hash_change(engine: Engine, state: State, log: Iterable[StateChange]) -> int:
    """What the changes that led to a state add to its sum. Derived facts follow from the others."""
    changeable = engine.changeable_indexes
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


def step_hash_change(now: Execution, step: GroundAction) -> int | None:
    """What a legal step would add to the sum; ``None`` where only taking it says what it does."""
    state, log = now.state, list[StateChange]()
    try:
        if now.engine.full_code.step_function(step.action)(state.facts, state.fluents, log, *step.objects):
            return state_hash_change(now.engine, state, log)
    except (KeyError, ZeroDivisionError, Conflict, NumberTooLarge):
        pass
    finally:
        state.undo(log)
    return None


class VisitedStates:
    """The moments of one execution, up to now."""

    def __init__(self, start: Execution) -> None:
        self.sum = 0
        """That of the present state."""
        self._sums = {0}
        self._keys: set[object] = {start.key()}

    def arrived(self, now: Execution) -> None:
        """A step was taken."""
        self.sum ^= state_hash_change(now.engine, now.state, now.changed)
        self._sums.add(self.sum)
        self._keys.add(now.key())

    def returns(self, now: Execution, step: GroundAction) -> bool:
        """Whether a legal step leads to a moment where the execution was."""
        moved = step_hash_change(now, step)
        if moved is not None and self.sum ^ moved not in self._sums:
            return False
        after = now.after(step)
        return after is not None and after.key() in self._keys
