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


class _ProvedAbsence(NamedTuple):
    """The result of a proof that no continuation has at most ``excluded_length`` steps (``None``: that none exists)."""

    excluded_length: int | None
    result: Continuation


class KnownContinuations:
    """Continuations by the key of an execution: where keys are equal, the same continuations keep the same rules.

    ``within`` in the methods: the maximum length of a continuation; ``None``: any length.
    """

    def __init__(self) -> None:
        self._shortest_steps: dict[object, Steps] = {}
        self._shortest_length_by_hash: dict[int, int] = {}
        """The length of the shortest known continuation, by the hash of a state."""
        self._absences: dict[object, _ProvedAbsence] = {}
        self._undecided_results: dict[tuple[object, int | None], Continuation] = {}
        """The results of searches that neither found nor excluded a continuation, by key and maximum length."""

    def find_known(self, key: object, within: int | None) -> Continuation | None:
        """Return the known result for continuations of at most ``within`` steps; ``None`` before the first search."""
        steps = self._shortest_steps.get(key)
        if steps is not None and (within is None or len(steps) <= within):
            return Continuation(True, steps)
        if key in self._absences:
            excluded_length, result = self._absences[key]
            if excluded_length is None or (within is not None and within <= excluded_length):
                return result
        return self._undecided_results.get((key, within))

    def add(self, start: Execution, start_hash: int, steps: Steps) -> bool:
        """Add a continuation, if its steps can be taken, keep the rules and reach the goal."""
        replay, reached_states = start.fork(), [(start.key(), start_hash)]
        state_hash = start_hash
        for step in steps:
            if not _take_safely(replay, step):
                return False
            state_hash ^= compute_state_hash_change(replay.engine, replay.state, replay.changed)
            reached_states.append((replay.key(), state_hash))
        if not replay.accepted:
            return False
        for place, (key, state_hash) in enumerate(reached_states):
            self._add_shortest(key, state_hash, steps[place:])
        return True

    def _add_shortest(self, key: object, state_hash: int, steps: Steps) -> None:
        shortest = self._shortest_steps.get(key)
        if shortest is None or len(shortest) > len(steps):
            self._shortest_steps[key] = steps
            known_length = self._shortest_length_by_hash.get(state_hash, len(steps))
            self._shortest_length_by_hash[state_hash] = min(len(steps), known_length)

    def add_unsuccessful_result(self, key: object, within: int | None, result: Continuation) -> Continuation:
        """Add the result of a search that found no continuation; returns it."""
        if result.exists is None:
            self._undecided_results[key, within] = result
        elif within is None or key not in self._absences:
            self._absences[key] = _ProvedAbsence(within, result)
        else:
            excluded_length = self._absences[key].excluded_length
            if excluded_length is not None and excluded_length < within:
                self._absences[key] = _ProvedAbsence(within, result)
        return result

    def derive(
        self,
        start: Execution,
        start_hash: int,
        last_continuation: Steps | None,
        chosen: GroundAction | None,
        within: int | None,
    ) -> bool:
        """Try to make a continuation from known continuations, without a search; return whether there is one.

        After a ``chosen`` step, tries the ``last_continuation`` from before it, first without that step, or a step that
        returns to a known continuation. ``start_hash``: the hash of the state at ``start``.
        """
        if chosen is None or last_continuation is None:
            return False
        candidates = [last_continuation]
        if chosen in last_continuation:
            place = last_continuation.index(chosen)
            candidates.insert(0, (*last_continuation[:place], *last_continuation[place + 1 :]))
        for steps in candidates:
            if (within is None or len(steps) <= within) and self.add(start, start_hash, steps):
                return True
        # A step and another step back make the last continuation two steps longer: do not search for shorter ones.
        if within is not None and within <= len(last_continuation):
            return False
        returning_steps = self._find_returning_steps(start, start_hash, within)
        if returning_steps is None:
            return False
        self._add_shortest(start.key(), start_hash, returning_steps)
        return True

    def _find_returning_steps(self, start: Execution, start_hash: int, within: int | None) -> Steps | None:
        """Find the shortest continuation that begins with a step to a state of a known continuation."""
        lengths = [length for length in self._shortest_length_by_hash.values() if within is None or length < within]
        if not lengths:
            return None
        least_length = min(lengths)
        best: Steps | None = None
        for step in list(start.legal()):
            hash_change = predict_hash_change(start, step)
            if hash_change is not None:
                length = self._shortest_length_by_hash.get(start_hash ^ hash_change)
                if length is None or (within is not None and length >= within):
                    continue
                if best is not None and length + 1 >= len(best):
                    continue
            after = start.fork()
            if not _take_safely(after, step):
                continue
            later_steps = self._shortest_steps.get(after.key())
            if later_steps is None or (within is not None and len(later_steps) >= within):
                continue
            if best is None or len(later_steps) + 1 < len(best):
                best = (step, *later_steps)
                if len(later_steps) == least_length:
                    break
        return best


def _take_safely(execution: Execution, step: GroundAction) -> bool:
    """Take a step; false if it cannot be taken or breaks a rule."""
    try:
        return execution.take(step) and not execution.broken
    except ENGINE_LIMIT_ERRORS:
        return False
