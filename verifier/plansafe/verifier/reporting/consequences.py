"""Decide which findings are consequences of a failed step (docs/language.md, section 6)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.outcome import Failure, Outcome
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP
from plansafe.verifier.rules.model import Rule, RulePart

_CONTINUING_READINGS = {SKIP, FORCE}
"""The readings that continue after a failed step."""


class ExecutedPlan(NamedTuple):
    """A plan with the outcomes of its readings (``halt`` first).

    ``resolved`` may be ``None`` if the plan has no failure: then its steps were not read with source positions.
    """

    compiled: CompiledTask
    plan: Source
    resolved: ResolvedPlan | None
    outcomes: list[Outcome]


class MergedFailure(NamedTuple):
    """A failed step with the readings in which it fails."""

    failure: Failure
    readings: tuple[str, ...]


class MergedViolation(NamedTuple):
    """A violation with the readings in which it occurs."""

    violation: Violation
    rule: Rule
    part: RulePart
    binding: tuple[tuple[str, str], ...]
    readings: tuple[str, ...]
    blame: str


class Consequences:
    """The causes of the findings of one plan, as numbers of failed steps; without a failed step there are none.

    ``failures`` and ``violations`` are merged over the readings. The constructor takes time linear in their number and
    in the number of letters.
    """

    def __init__(
        self,
        outcomes: Sequence[Outcome],
        failures: Iterable[MergedFailure],
        violations: Iterable[MergedViolation],
    ) -> None:
        outcome_by_reading = {outcome.reading: outcome for outcome in outcomes}
        # Whether a failed step stopped the plan, and the plan was also run beyond it.
        self._is_stopped = bool(outcome_by_reading[HALT].failures) and outcome_by_reading.keys() >= _CONTINUING_READINGS
        self._readings_of_instances: dict[tuple[object, ...], set[str]] = {}
        self.causes: list[int] = []
        """The failed steps that are not consequences of other failed steps, in order."""
        self._cause_set: set[int] = set()
        if not self._is_stopped:
            return
        self._is_goal_unmet = all([outcome_by_reading[reading].goal is not True for reading in _CONTINUING_READINGS])
        self._halting_steps = tuple(sorted(_list_failed_steps(outcome_by_reading[HALT])))
        forced = outcome_by_reading[FORCE]
        self._first_step_without_effect = min(
            _list_failed_steps(forced) - _find_failed_steps_with_effects(forced), default=0
        )
        for merged in violations:
            if HALT not in merged.readings or merged.violation.at_end:
                self._readings_of_instances.setdefault((merged.rule.name, merged.binding), set()).update(
                    merged.readings
                )
        steps_failed_in_both = _list_failed_steps(outcome_by_reading[SKIP]) & _list_failed_steps(forced)
        ill_formed_steps = {failure.step for failure, _ in failures if failure.ill_formed is not None}
        independent_steps = [step for step in steps_failed_in_both if self._is_independent(step)]
        self._cause_set = {*self._halting_steps, *ill_formed_steps, *independent_steps}
        self.causes = sorted(self._cause_set)

    def _is_independent(self, step: int) -> bool:
        """Whether an agreement of skip and force at a step does not depend on the effects of failed steps."""
        return not self._first_step_without_effect or step <= self._first_step_without_effect

    def is_consequence(self, failure: Failure) -> bool:
        """Whether a failed step is a consequence of another failed step."""
        return self._is_stopped and failure.step not in self._cause_set

    def find_causes_of_failure(self, failure: Failure) -> tuple[int, ...]:
        """Return the causes of a failed step."""
        return self._find_causes_before(failure.step) if self.is_consequence(failure) else ()

    def find_causes_of_violation(self, merged: MergedViolation) -> tuple[int, ...]:
        """Return the causes of a violation."""
        if not self._is_stopped or (HALT in merged.readings and not merged.violation.at_end):
            return ()
        is_independent = self._is_independent(merged.violation.step)
        if is_independent and self._readings_of_instances[merged.rule.name, merged.binding] >= _CONTINUING_READINGS:
            return () if _CONTINUING_READINGS & {*merged.readings} else self._halting_steps
        return self._halting_steps if HALT in merged.readings else self._find_causes_before(merged.violation.step)

    def find_causes_of_unmet_goal(self) -> tuple[int, ...]:
        """Return the causes of the unmet goal."""
        is_independent = self._is_stopped and self._is_goal_unmet and not self._first_step_without_effect
        return () if not self._is_stopped or is_independent else self._halting_steps

    def is_cut_off(self, v: MergedViolation) -> bool:
        """Whether a violation occurs only at the end of the trace that a failed step stopped."""
        is_at_stop = self._is_stopped and v.violation.at_end and HALT in v.readings
        return is_at_stop and not {*v.readings} >= _CONTINUING_READINGS

    def _find_causes_before(self, step: int) -> tuple[int, ...]:
        """Return the causes up to a step; if there are none, the steps at which the plan halts."""
        return tuple(self.causes[: bisect_right(self.causes, step)]) or self._halting_steps


def _list_failed_steps(outcome: Outcome) -> set[int]:
    return {failure.step for failure in outcome.failures}


def _find_failed_steps_with_effects(outcome: Outcome) -> set[int]:
    """Return the failed steps that had effects: they started (timed steps), or led to a letter."""
    failed = _list_failed_steps(outcome)
    if outcome.events is not None:
        starts = {(step, "start") for step in failed}
        return {step for events in outcome.events.values() for step, _ in starts.intersection(events)}
    return failed if outcome.step_of_letter is None else failed.intersection(outcome.step_of_letter)
