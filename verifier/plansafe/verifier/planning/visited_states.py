"""Incremental hashes of states, and the visited states of an execution.

The hash of a state is the XOR of a number per changed fact (Zobrist hashing), relative to the state in which the
execution begins. It depends on the state alone: equal states have equal hashes; where hashes are equal, the keys are
compared. So whether a step returns to a visited state is mostly known without taking the step.
"""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.execution.action_effects import Conflict
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number


def compute_state_hash_change(engine: Engine, state: State, changes: Iterable[StateChange]) -> int:
    """The change of the hash by the changes that led to ``state``. Derived facts are ignored."""
    changeable = engine.changeable_symbols
    predicate_count, hash_change = len(state.facts), 0
    old_numbers: dict[tuple[int, int], Number | None] = {}
    for index, code, value in changes:
        if index >= predicate_count:
            old_numbers.setdefault((index, code), value)  # the log has the number before the change
        elif index in changeable:
            hash_change ^= hash((index, code))
    for (index, code), number in old_numbers.items():
        hash_change ^= hash((index, code, number)) ^ hash(
            (index, code, state.fluents[index - predicate_count].get(code))
        )
    return hash_change


def predict_hash_change(execution: Execution, step: GroundAction) -> int | None:
    """The change of the hash by a legal step; ``None`` if it is known only after taking the step."""
    state, changes = execution.state, list[StateChange]()
    try:
        if execution.engine.full_code.compile_step(step.action)(state.facts, state.fluents, changes, *step.objects):
            return compute_state_hash_change(execution.engine, state, changes)
    except (KeyError, ZeroDivisionError, Conflict, NumberTooLarge):
        pass
    finally:
        state.undo(changes)
    return None


class VisitedStates:
    """The visited states of one execution, with the memory of the rules."""

    def __init__(self, start: Execution) -> None:
        self.current_hash = 0
        self._hashes = {0}
        self._keys: set[object] = {start.key()}

    def add(self, execution: Execution) -> None:
        """Add the state after a step that was taken."""
        self.current_hash ^= compute_state_hash_change(execution.engine, execution.state, execution.changed)
        self._hashes.add(self.current_hash)
        self._keys.add(execution.key())

    def is_revisited_by(self, execution: Execution, step: GroundAction) -> bool:
        """Whether a legal step leads to a visited state."""
        hash_change = predict_hash_change(execution, step)
        if hash_change is not None and self.current_hash ^ hash_change not in self._hashes:
            return False
        after = execution.after(step)
        return after is not None and after.key() in self._keys
