"""Continuations that are known, by the moments from which they lead to the goal, and those that were excluded."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.limits import LimitReached

Steps = tuple[GroundAction, ...]
BEYOND = (NumberTooLarge, TooManyInstances, LimitReached)
"""What a step raises that passes a limit of the engine."""
MOST_LOOKED = 40
"""Legal steps up to which each is asked whether it leads back to a continuation that is known."""


class Ahead(NamedTuple):
    """Whether a safe continuation to the goal is known: ``None`` if none was found and none was excluded.

    ``steps`` is the continuation, counted from the state that was asked about; ``detail`` says why there is none.
    """

    answer: bool | None
    steps: Steps = ()
    detail: str = ""


class Ways:
    """What is known of the continuations from moments of one execution.

    A moment is the key of an execution: where keys are equal, the same continuations keep the same rules. So a way that
    was found is known from each moment on it, and a step that leads to one of those makes another.
    """

    def __init__(self) -> None:
        self._ways: dict[object, Steps] = {}
        self._without: dict[object, tuple[int | None, Ahead]] = {}
        self._unknown: dict[tuple[object, int | None], Ahead] = {}

    def known(self, key: object, within: int | None) -> Ahead | None:
        """What is known of continuations from a moment, of at most ``within`` steps; ``None``: nothing yet."""
        steps = self._ways.get(key)
        if steps is not None and (within is None or len(steps) <= within):
            return Ahead(True, steps)
        if key in self._without:
            most, answer = self._without[key]
            if most is None or (within is not None and within <= most):
                return answer
        return self._unknown.get((key, within))

    def add(self, start: Execution, steps: Steps) -> bool:
        """Remember a continuation, if it is one: each step can be taken and breaks nothing, and the goal is reached."""
        trial, keys = start.fork(), [start.key()]
        for step in steps:
            if not _taken(trial, step):
                return False
            keys.append(trial.key())
        if not trial.accepted:
            return False
        for place, key in enumerate(keys):
            known = self._ways.get(key)
            if known is None or len(known) > len(steps) - place:
                self._ways[key] = steps[place:]
        return True

    def without(self, key: object, within: int | None, answer: Ahead) -> Ahead:
        """Remember that a search found none; the answer."""
        if answer.answer is None:
            self._unknown[key, within] = answer
        elif within is None or key not in self._without:
            self._without[key] = within, answer
        else:
            most, _ = self._without[key]
            if most is not None and most < within:
                self._without[key] = within, answer
        return answer

    def nearby(self, start: Execution, kept: Steps | None, chosen: GroundAction | None, within: int | None) -> bool:
        """Make a continuation of those that are known, if one comes of it: no search.

        Behind a ``chosen`` step: the ``kept`` one, without that step if it has it; or a step back to a known one.
        """
        if chosen is None or kept is None:
            return False
        tries = [kept]
        if chosen in kept:
            place = kept.index(chosen)
            tries.insert(0, (*kept[:place], *kept[place + 1 :]))
        for steps in tries:
            if (within is None or len(steps) <= within) and self.add(start, steps):
                return True
        back = self._back(start, within)
        if back is None:
            return False
        self._ways[start.key()] = back
        return True

    def _back(self, start: Execution, within: int | None) -> Steps | None:
        """The shortest continuation by a step that leads to a moment from which one is known."""
        if within is not None and within < 1:
            return None
        legal = list(islice(start.legal(), MOST_LOOKED + 1))
        best: Steps | None = None
        for step in legal if len(legal) <= MOST_LOOKED else ():
            after = start.fork()
            if not _taken(after, step):
                continue
            rest = self._ways.get(after.key())
            if rest is None or (within is not None and len(rest) >= within):
                continue
            if best is None or len(rest) + 1 < len(best):
                best = (step, *rest)
        return best


def _taken(execution: Execution, step: GroundAction) -> bool:
    """Take a step; ``False`` if that cannot be, or breaks a rule."""
    try:
        return execution.take(step) and not execution.broken
    except BEYOND:
        return False
