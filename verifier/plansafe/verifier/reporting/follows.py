"""Which findings follow from a failed step, and which stand by themselves (docs/language.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, Failure, Outcome
from plansafe.verifier.rules.model import Part, Rule

_AFTER = {SKIP, FORCE}


class Violated(NamedTuple):
    """A violation with the readings it holds in."""

    violation: Violation
    rule: Rule
    part: Part
    binding: tuple[tuple[str, str], ...]
    readings: tuple[str, ...]
    blame: str


class Following:
    """What follows from what in one plan. Without a failed step, nothing does.

    ``failures`` and ``violated`` are merged over the readings; linear in them and the letters.
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome],
        failures: Iterable[tuple[Failure, tuple[str, ...]]],
        violated: Iterable[Violated],
    ) -> None:
        by_name = {outcome.reading: outcome for outcome in outcomes}
        self._stopped = bool(by_name[HALT].failures) and by_name.keys() >= _AFTER
        self.instances: dict[tuple[object, ...], set[str]] = {}
        self.causes: list[int] = []
        if not self._stopped:
            return
        self._unmet = all([by_name[reading].goal is not True for reading in _AFTER])
        self._halted = tuple(sorted({failure.step for failure in by_name[HALT].failures}))
        self._idle = min([step for step in _failed(by_name[FORCE]) if not _happened(by_name[FORCE], step)], default=0)
        for v in violated:
            if HALT not in v.readings or v.violation.at_end:
                self.instances.setdefault((v.rule.name, v.binding), set()).update(v.readings)
        both = _failed(by_name[SKIP]) & _failed(by_name[FORCE])
        ill = {failure.step for failure, _ in failures if failure.ill_formed is not None}
        self.causes = sorted({*self._halted, *ill, *[step for step in both if self._anyhow(step)]})

    def _anyhow(self, step: int) -> bool:
        """Whether what skip and force agree on at a step is there whatever becomes of the failed steps."""
        return not self._idle or step <= self._idle

    def of_failure(self, failure: Failure) -> tuple[int, ...]:
        """What a failed step follows from."""
        return () if not self._stopped or failure.step in self.causes else self._before(failure.step)

    def of_violation(self, v: Violated) -> tuple[int, ...]:
        """What a violation follows from."""
        if not self._stopped or (HALT in v.readings and not v.violation.at_end):
            return ()
        if self._anyhow(v.violation.step) and self.instances[v.rule.name, v.binding] >= _AFTER:
            return () if _AFTER & {*v.readings} else self._halted
        return self._halted if HALT in v.readings else self._before(v.violation.step)

    def of_goal(self) -> tuple[int, ...]:
        """What the unmet goal follows from."""
        return () if not self._stopped or (self._unmet and not self._idle) else self._halted

    def cut_off(self, v: Violated) -> bool:
        """Whether a violation is found at the end of a trace that stopped in the middle."""
        return self._stopped and v.violation.at_end and HALT in v.readings and not {*v.readings} >= _AFTER

    def _before(self, step: int) -> tuple[int, ...]:
        return tuple([cause for cause in self.causes if cause <= step]) or self._halted


def _failed(outcome: Outcome) -> set[int]:
    return {failure.step for failure in outcome.failures}


def _happened(outcome: Outcome, step: int) -> bool:
    """Whether a step had effects: it started (a timed one), or led to a letter."""
    if outcome.events is not None:
        return any([(step, "start") in events for events in outcome.events.values()])
    return outcome.step_of_letter is None or step in outcome.step_of_letter
