"""Safe continuations to the goal that are known for the states of an execution, and proofs that there is none."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.planning.visited_states import compute_state_hash_change, predict_hash_change

Steps = tuple[GroundAction, ...]
ENGINE_LIMIT_ERRORS = (NumberTooLarge, TooManyInstances, LimitReached)
"""What a step raises if it exceeds a limit of the engine."""


class Continuation(NamedTuple):
    """A safe continuation to the goal, if one ``exists``: ``None`` if none was found and none was excluded.

    ``detail`` says why there is none.
    """

    exists: bool | None
    steps: Steps = ()
    detail: str = ""


class KnownContinuations:
    """Continuations by the key of an execution: where keys are equal, the same continuations keep the same rules."""

    def __init__(self) -> None:
        self._shortest: dict[object, Steps] = {}
        self._shortest_length: dict[int, int] = {}
        """By the hash of a state."""
        self._absences: dict[object, tuple[int | None, Continuation]] = {}
        self._unknown: dict[tuple[object, int | None], Continuation] = {}

    def lookup(self, key: object, within: int | None) -> Continuation | None:
        """The known result for continuations of at most ``within`` steps; ``None`` before the first search."""
        steps = self._shortest.get(key)
        if steps is not None and (within is None or len(steps) <= within):
            return Continuation(True, steps)
        if key in self._absences:
            excluded_length, absence = self._absences[key]
            if excluded_length is None or (within is not None and within <= excluded_length):
                return absence
        return self._unknown.get((key, within))

    def add(self, start: Execution, start_hash: int, steps: Steps) -> bool:
        """Add a continuation, if its steps can be taken, keep the rules and reach the goal."""
        trial, visited = start.fork(), [(start.key(), start_hash)]
        state_hash = start_hash
        for step in steps:
            if not _take_safely(trial, step):
                return False
            state_hash ^= compute_state_hash_change(trial.engine, trial.state, trial.changed)
            visited.append((trial.key(), state_hash))
        if not trial.accepted:
            return False
        for place, (key, state_hash) in enumerate(visited):
            self._add_shortest(key, state_hash, steps[place:])
        return True

    def _add_shortest(self, key: object, state_hash: int, steps: Steps) -> None:
        shortest = self._shortest.get(key)
        if shortest is None or len(shortest) > len(steps):
            self._shortest[key] = steps
            self._shortest_length[state_hash] = min(len(steps), self._shortest_length.get(state_hash, len(steps)))

    def add_absence(self, key: object, within: int | None, absence: Continuation) -> Continuation:
        """Add the result of a search without a continuation; returns it."""
        if absence.exists is None:
            self._unknown[key, within] = absence
        elif within is None or key not in self._absences:
            self._absences[key] = within, absence
        else:
            excluded_length, _ = self._absences[key]
            if excluded_length is not None and excluded_length < within:
                self._absences[key] = within, absence
        return absence

    def derive(
        self,
        start: Execution,
        start_hash: int,
        last_known: Steps | None,
        chosen: GroundAction | None,
        within: int | None,
    ) -> bool:
        """Try to make a continuation from known ones, without a search.

        After a ``chosen`` step, tries the ``last_known`` continuation from before it, first without that step, or a
        step that returns to a known continuation. ``start_hash``: the hash of the state at ``start``.
        """
        if chosen is None or last_known is None:
            return False
        candidates = [last_known]
        if chosen in last_known:
            place = last_known.index(chosen)
            candidates.insert(0, (*last_known[:place], *last_known[place + 1 :]))
        for steps in candidates:
            if (within is None or len(steps) <= within) and self.add(start, start_hash, steps):
                return True
        # A step and another one back make the last_known continuation two steps longer: do not search for shorter ones.
        returning_steps = (
            self._find_returning_steps(start, start_hash, within)
            if within is None or within > len(last_known)
            else None
        )
        if returning_steps is None:
            return False
        self._add_shortest(start.key(), start_hash, returning_steps)
        return True

    def _find_returning_steps(self, start: Execution, start_hash: int, within: int | None) -> Steps | None:
        """The shortest continuation that begins with a step to a state of a known continuation."""
        lengths = [length for length in self._shortest_length.values() if within is None or length < within]
        if not lengths:
            return None
        least_length, best = min(lengths), None
        for step in list(start.legal()):
            hash_change = predict_hash_change(start, step)
            if hash_change is not None:
                length = self._shortest_length.get(start_hash ^ hash_change)
                if length is None or (within is not None and length >= within):
                    continue
                if best is not None and length + 1 >= len(best):
                    continue
            after = start.fork()
            if not _take_safely(after, step):
                continue
            remaining = self._shortest.get(after.key())
            if remaining is None or (within is not None and len(remaining) >= within):
                continue
            if best is None or len(remaining) + 1 < len(best):
                best = (step, *remaining)
                if len(remaining) == least_length:
                    break
        return best


def _take_safely(execution: Execution, step: GroundAction) -> bool:
    """Take a step; false if it cannot be taken or breaks a rule."""
    try:
        return execution.take(step) and not execution.broken
    except ENGINE_LIMIT_ERRORS:
        return False
