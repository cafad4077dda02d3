"""Continuations that are known, by the moments from which they lead to the goal, and those that were excluded."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.planning.visited_states import state_hash_change, step_hash_change

Steps = tuple[GroundAction, ...]
ENGINE_LIMIT_ERRORS = (NumberTooLarge, TooManyInstances, LimitReached)
"""What a step raises that passes a limit of the engine."""


class Continuation(NamedTuple):
    """Whether a safe continuation to the goal is known: ``None`` if none was found and none was excluded.

    ``steps`` is the continuation, counted from the state that was asked about; ``detail`` says why there is none.
    """

    exists: bool | None
    steps: Steps = ()
    detail: str = ""


class KnownContinuations:
    """What is known of the continuations from moments of one execution.

    A moment is the key of an execution: where keys are equal, the same continuations keep the same rules. So a way that
    was found is known from each moment on it, and a step that leads to one of those makes another.
    """

    def __init__(self) -> None:
        self._ways: dict[object, Steps] = {}
        self._nearest: dict[int, int] = {}
        """By the sums of states, how long the shortest way from one of them is."""
        self._without: dict[object, tuple[int | None, Continuation]] = {}
        self._unknown: dict[tuple[object, int | None], Continuation] = {}

    def lookup(self, key: object, within: int | None) -> Continuation | None:
        """What is known of continuations from a moment, of at most ``within`` steps; ``None``: nothing yet."""
        steps = self._ways.get(key)
        if steps is not None and (within is None or len(steps) <= within):
            return Continuation(True, steps)
        if key in self._without:
            most, answer = self._without[key]
            if most is None or (within is not None and within <= most):
                return answer
        return self._unknown.get((key, within))

    def add(self, start: Execution, sum_: int, steps: Steps) -> bool:
        """Remember a continuation, if it is one: each step can be taken and breaks nothing, and the goal is reached."""
        trial, moments = start.fork(), [(start.key(), sum_)]
        for step in steps:
            if not _taken(trial, step):
                return False
            sum_ ^= state_hash_change(trial.engine, trial.state, trial.changed)
            moments.append((trial.key(), sum_))
        if not trial.accepted:
            return False
        for place, (key, sum_) in enumerate(moments):
            self._remember(key, sum_, steps[place:])
        return True

    def _remember(self, key: object, sum_: int, steps: Steps) -> None:
        known = self._ways.get(key)
        if known is None or len(known) > len(steps):
            self._ways[key] = steps
            self._nearest[sum_] = min(len(steps), self._nearest.get(sum_, len(steps)))

    def add_absence(self, key: object, within: int | None, answer: Continuation) -> Continuation:
        """Remember that a search found none; the answer."""
        if answer.exists is None:
            self._unknown[key, within] = answer
        elif within is None or key not in self._without:
            self._without[key] = within, answer
        else:
            most, _ = self._without[key]
            if most is not None and most < within:
                self._without[key] = within, answer
        return answer

    def derive(
        self, start: Execution, sum_: int, kept: Steps | None, chosen: GroundAction | None, within: int | None
    ) -> bool:
        """Make a continuation of those that are known, if one comes of it: no search.

        Behind a ``chosen`` step: the ``kept`` one, without that step if it has it; or a step back to a known one.
        ``sum_`` is that of the state at ``start``.
        """
        if chosen is None or kept is None:
            return False
        tries = [kept]
        if chosen in kept:
            place = kept.index(chosen)
            tries.insert(0, (*kept[:place], *kept[place + 1 :]))
        for steps in tries:
            if (within is None or len(steps) <= within) and self.add(start, sum_, steps):
                return True
        # A step and another one back make the kept way two longer: nothing shorter is worth looking at each step.
        back = self._back(start, sum_, within) if within is None or within > len(kept) else None
        if back is None:
            return False
        self._remember(start.key(), sum_, back)
        return True

    def _back(self, start: Execution, sum_: int, within: int | None) -> Steps | None:
        """The shortest continuation by a step that leads to a moment from which one is known."""
        lengths = [length for length in self._nearest.values() if within is None or length < within]
        if not lengths:
            return None
        least, best = min(lengths), None
        for step in list(start.legal()):
            moved = step_hash_change(start, step)
            if moved is not None:
                length = self._nearest.get(sum_ ^ moved)
                if length is None or (within is not None and length >= within):
                    continue
                if best is not None and length + 1 >= len(best):
                    continue
            after = start.fork()
            if not _taken(after, step):
                continue
            rest = self._ways.get(after.key())
            if rest is None or (within is not None and len(rest) >= within):
                continue
            if best is None or len(rest) + 1 < len(best):
                best = (step, *rest)
                if len(rest) == least:
                    break
        return best


def _taken(execution: Execution, step: GroundAction) -> bool:
    """Take a step; ``False`` if that cannot be, or breaks a rule."""
    try:
        return execution.take(step) and not execution.broken
    except ENGINE_LIMIT_ERRORS:
        return False
