"""The report on a plan in continuous time in which facts, outcomes or one number are open (docs/continuous.md)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.report import Headline, Report
from plansafe.verifier.reporting.worlds import Completion, ShownRange, ShownValue
from plansafe.verifier.symbolic.worlds.open_number_audit import (
    OpenNumberAudit,
    ValueRange,
    list_open_numbers,
    merge_ranges,
)
from plansafe.verifier.symbolic.worlds.reporter import EngineContradiction
from plansafe.verifier.symbolic.worlds.timed_report import TimedReporter, audit_each_world
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict

MAX_KERNEL_AUDITS = 20
"""Maximum number of ranges of values of one plan that the kernel confirms."""
_GOOD_HEADLINES = {Headline.SAFE, Headline.VALID}
_BAD_HEADLINES = {Headline.UNSAFE, Headline.INVALID}


def find_refusal(compiled: CompiledTask, resolved: ResolvedPlan) -> Diagnostic | None:
    """Why a plan in continuous time is not checked over all worlds; ``None`` if it can be checked."""
    choices = () if compiled.task.unknowns is None else compiled.task.unknowns.choices
    literals = [literal for choice in choices for literals in choice.alternatives for literal in literals]
    numbers = list_open_numbers(compiled.task, resolved)
    if resolved.ordering is not None:
        reason, help = "an open order of steps", "give each step a time"
    elif len(numbers) > 1:
        reason, help = "several open numbers", "give values for all of them but one"
    elif any([literal.fluent for literal in literals]):
        reason, help = "a choice between values of a number", "give the number an interval, or check each value alone"
    elif numbers and compiled.invariants:
        reason, help = "an invariant together with an open number", "remove the invariant, or give the number a value"
    else:
        return None
    return Diagnostic(SC.CONTINUOUS_TIME, f"continuous time does not support {reason}", help=help)


class ContinuousReporter(TimedReporter):
    """Reports on one plan in continuous time, over all values of at most one open number."""

    _ranges: Sequence[ValueRange] = ()
    """The values of the open number, if nothing else is open."""

    def decide_verdict(self) -> WorldsVerdict:
        """Decide the verdict over all values of the number, in one world after the other if more is open."""
        self.decision_method = "all values of the number" if self._is_only_number_open else "one world after the other"
        return audit_each_world(self.open_parts, self._audit_world, self.deadline)

    @property
    def _is_only_number_open(self) -> bool:
        parts = self.open_parts
        return bool(parts.open_numbers or self.durations) and not (parts.open_fact_count or parts.choices)

    def _audit_world(self, world: Completion) -> WorldsVerdict:
        """The verdict on one completion of the facts with its outcomes, over all values of the number."""
        audit = OpenNumberAudit(self.compiled, self.resolved, world, self.deadline)
        audit.run()
        if self._is_only_number_open:
            confirmed_ranges = [self._confirm_range(part, audit) for part in audit.ranges[:MAX_KERNEL_AUDITS]]
            self._ranges = list(merge_ranges([*confirmed_ranges, *audit.ranges[MAX_KERNEL_AUDITS:]]))
        return audit.make_verdict()

    def _confirm_range(self, part: ValueRange, audit: OpenNumberAudit) -> ValueRange:
        """Ask the kernel about all values of a range. Raises :class:`EngineContradiction`."""
        is_decided = None not in (part.verdict.executable, part.verdict.goal, part.verdict.safe)
        if not is_decided or _is_irrational(part.low) or _is_irrational(part.high):
            return part
        low, high = [None if end is None else Fraction(end) for end in (part.low, part.high)]
        steps, bounds = len(self.resolved.steps), (low, high)
        number = next(iter(self.durations), None) or self.open_parts.open_numbers[0]
        headlines = self.confirmer.find_headlines(self.plan, steps, audit.world, number, bounds)
        if headlines is None or "UNKNOWN" in headlines:
            return part
        if headlines != {part.headline.value}:
            place = f"{self._format_number_name()} near {part.sample}"
            message = f"{part.headline.value} for {place}, the kernel has {' and '.join(sorted(headlines))}"
            raise EngineContradiction(message)
        return part._replace(replayed=True)

    def _make_report(self, sample: Report) -> Report:
        """The report, with the ranges of the open number if nothing else is open."""
        report = super()._make_report(sample)
        if not self._ranges or report.worlds is None:
            return report
        name = self._format_number_name()
        worlds = report.worlds._replace(ranges=tuple([_make_shown_range(name, part) for part in self._ranges]))
        headlines = {part.headline for part in self._ranges}
        if headlines & _BAD_HEADLINES and self.open_parts.open_numbers:
            value = self.failing_worlds[0].world.values[self.open_parts.open_numbers[0]]
            worlds = worlds._replace(
                question=(name,) if headlines & _GOOD_HEADLINES else None,
                cause=() if headlines <= _BAD_HEADLINES else (ShownValue(name, str(value)),),
            )
        return report._replace(worlds=worlds)

    def _format_number_name(self) -> str:
        """The name of the open number in a report."""
        step = next(iter(self.durations), None)
        if step is not None:
            return f"duration of {self._format_step(step)}"
        return self.task.fluent_text(*self.open_parts.open_numbers[0])


def _make_shown_range(name: str, part: ValueRange) -> ShownRange:
    low, high = [None if end is None else str(end) for end in (part.low, part.high)]
    return ShownRange(name, low, high, part.low_open, part.high_open, part.headline.value, part.replayed)


def _is_irrational(end: Number | None) -> bool:
    return end is not None and not isinstance(end, int | Fraction)
