"""Which findings follow from a failed step, and which stand by themselves (docs/language.md, section 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP, Failure, Outcome
from plansafe.verifier.rules.model import Rule, RulePart

_AFTER = {SKIP, FORCE}


class MergedViolation(NamedTuple):
    """A violation with the readings it holds in."""

    violation: Violation
    rule: Rule
    part: RulePart
    binding: tuple[tuple[str, str], ...]
    readings: tuple[str, ...]
    blame: str


class Consequences:
    """What follows from what in one plan. Without a failed step, nothing does.

    ``failures`` and ``violated`` are merged over the readings; linear in them and the letters.
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome],
        failures: Iterable[tuple[Failure, tuple[str, ...]]],
        violated: Iterable[MergedViolation],
    ) -> None:
        by_name = {outcome.reading: outcome for outcome in outcomes}
        self._stopped = bool(by_name[HALT].failures) and by_name.keys() >= _AFTER
        self.instances: dict[tuple[object, ...], set[str]] = {}
        self.causes: list[int] = []
        self._causing: set[int] = set()
        if not self._stopped:
            return
        self._unmet = all([by_name[reading].goal is not True for reading in _AFTER])
        self._halted = tuple(sorted({failure.step for failure in by_name[HALT].failures}))
        self._idle = min(_failed(by_name[FORCE]) - _happened(by_name[FORCE]), default=0)
        for v in violated:
            if HALT not in v.readings or v.violation.at_end:
                self.instances.setdefault((v.rule.name, v.binding), set()).update(v.readings)
        both = _failed(by_name[SKIP]) & _failed(by_name[FORCE])
        ill = {failure.step for failure, _ in failures if failure.ill_formed is not None}
        self._causing = {*self._halted, *ill, *[step for step in both if self._anyhow(step)]}
        self.causes = sorted(self._causing)

    def _anyhow(self, step: int) -> bool:
        """Whether what skip and force agree on at a step is there whatever becomes of the failed steps."""
        return not self._idle or step <= self._idle

    def of_failure(self, failure: Failure) -> tuple[int, ...]:
        """What a failed step follows from."""
        return self._before(failure.step) if self.is_following(failure) else ()

    def is_following(self, failure: Failure) -> bool:
        """Whether a failed step follows from something: of very many, what they follow from is not listed."""
        return self._stopped and failure.step not in self._causing

    def of_violation(self, v: MergedViolation) -> tuple[int, ...]:
        """What a violation follows from."""
        if not self._stopped or (HALT in v.readings and not v.violation.at_end):
            return ()
        if self._anyhow(v.violation.step) and self.instances[v.rule.name, v.binding] >= _AFTER:
            return () if _AFTER & {*v.readings} else self._halted
        return self._halted if HALT in v.readings else self._before(v.violation.step)

    def of_goal(self) -> tuple[int, ...]:
        """What the unmet goal follows from."""
        return () if not self._stopped or (self._unmet and not self._idle) else self._halted

    def cut_off(self, v: MergedViolation) -> bool:
        """Whether a violation is found at the end of a trace that stopped in the middle."""
        return self._stopped and v.violation.at_end and HALT in v.readings and not {*v.readings} >= _AFTER

    def _before(self, step: int) -> tuple[int, ...]:
        return tuple(self.causes[: bisect_right(self.causes, step)]) or self._halted


def _failed(outcome: Outcome) -> set[int]:
    return {failure.step for failure in outcome.failures}


def _happened(outcome: Outcome) -> set[int]:
    """The failed steps that had effects all the same: they started (timed ones), or led to a letter."""
    failed = _failed(outcome)
    if outcome.events is not None:
        starts = {(step, "start") for step in failed}
        return {step for events in outcome.events.values() for step, _ in starts.intersection(events)}
    return failed if outcome.step_of_letter is None else failed.intersection(outcome.step_of_letter)
