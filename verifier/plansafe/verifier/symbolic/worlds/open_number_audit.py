"""The verdict on a plan in continuous time over all values of one open number.

The plan is run with a sample of the number. The comparisons of the run give the range of values around the sample for
which it takes the same decisions (:mod:`plansafe.verifier.execution.continuous.open_number`). The ends of the range,
and the values beyond them, are tried until all values are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, TypeVar

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.continuous.open_number import OpenNumber, SampleIsBoundary
from plansafe.verifier.execution.continuous.roots import find_rational_between, find_simplest_between
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.readings import replay_reading
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.model.limits import Undecided, check_deadline
from plansafe.verifier.model.nodes import Interval, Number, Task, normal_number
from plansafe.verifier.reporting.report import Headline
from plansafe.verifier.reporting.summary import count_rules
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.worlds.open_parts import find_open_durations
from plansafe.verifier.symbolic.worlds.verdict import (
    RuleCounts,
    WorldsVerdict,
    WorldVerdict,
    choose_headline,
    decide_in_world,
    mark_undecided,
    merge_rule_counts,
    merge_verdicts,
    summarise_world,
)
from plansafe.verifier.symbolic.worlds.world_replay import close_task_and_plan

T = TypeVar("T")
MAX_RUNS = 200
"""Maximum number of runs, each with one value of the open number."""
MIN_WIDTH = Fraction(1, 10**9)
"""Minimum width of a gap that is examined: an irrational value at which a comparison changes is never reached."""


class OpenFluent(NamedTuple):
    """A fluent with an interval instead of a value."""

    function: int
    code: int
    interval: Interval


class OpenDuration(NamedTuple):
    """A step whose duration has a tolerance."""

    step: int
    interval: Interval


def list_open_numbers(task: Task, resolved: ResolvedPlan) -> list[OpenFluent | OpenDuration]:
    """The open numbers of a task and a plan."""
    intervals = [] if task.unknowns is None else task.unknowns.intervals
    numbers: list[OpenFluent | OpenDuration] = [
        OpenFluent(f, code, interval) for f, codes in enumerate(intervals) for code, interval in codes.items()
    ]
    durations = find_open_durations(resolved)
    return [*numbers, *[OpenDuration(step, Interval(low, high)) for step, (low, high) in durations.items()]]


class ValueRange(NamedTuple):
    """The values between two bounds with one verdict (``None``: unbounded). A single value has itself as bounds.

    ``sample``: a rational value of the range; ``None`` if the range is one irrational value, or nothing is open.
    """

    low: Number | None
    high: Number | None
    low_open: bool
    high_open: bool
    sample: Number | None
    verdict: WorldVerdict
    headline: Headline
    replayed: bool = False
    """Whether the kernel has the same headline for all values."""


class _Direction(NamedTuple):
    """The values ``origin + sign * x`` for all positive ``x`` below ``length`` (``None``: for all positive ``x``)."""

    origin: Number
    sign: int
    length: Number | None

    def value_at(self, distance: Number) -> Number:
        return normal_number(self.origin + self.sign * distance)

    def order_ends(self, near: T, far: T) -> tuple[T, T]:
        """The lower and the upper value of a range whose nearer end from the origin is ``near``."""
        return (near, far) if self.sign > 0 else (far, near)


class OpenNumberAudit:
    """Runs a plan with one value after the other of the open number: a fluent, or the duration of a step.

    ``ranges``: the values that were examined, in the order of the runs. ``limits``: why some values are not decided.
    """

    def __init__(
        self,
        compiled: CompiledTask,
        resolved: ResolvedPlan,
        world: Completion,
        deadline: float | None = None,
    ) -> None:
        """``world``: the values of everything else that is open."""
        self.compiled, self.resolved, self.world, self.deadline = compiled, resolved, world, deadline
        self.number = next(iter(list_open_numbers(compiled.task, resolved)), None)
        self.ranges: list[ValueRange] = []
        self.limits: dict[str, None] = {}
        self.counts: RuleCounts = ()
        criteria = compiled.options.criteria
        self._deciding_rules = {rule.name for rule in compiled.rules if criteria.can_be_decisive(rule)}
        self._runs = 0

    def run(self) -> None:
        """Examine all values of the open number, or the only world. Raises :class:`LimitReached`."""
        if self.number is None:
            self.ranges.append(ValueRange(None, None, True, True, None, *self._decide_in_world(self.world)))
            return
        interval = self.number.interval
        low, high = interval.low, interval.high
        if low is not None and low == high:
            self._examine_value(low)
            return
        for value, is_open in ((low, interval.low_open), (high, interval.high_open)):
            if value is not None and not is_open:
                self._examine_value(value)
        if low is not None:
            directions = [_Direction(low, 1, None if high is None else high - low)]
        elif high is not None:
            directions = [_Direction(high, -1, None)]
        else:
            self._examine_value(0)
            directions = [_Direction(0, 1, None), _Direction(0, -1, None)]
        for direction in directions:
            self._examine_direction(direction)

    def _examine_direction(self, direction: _Direction) -> None:
        """Examine all values of a direction: a sample of each gap between the distances that were examined."""
        gaps: list[tuple[Number, Number | None]] = [(0, direction.length)]
        while gaps:
            low, high = gaps.pop(0)
            if self._runs >= MAX_RUNS:
                self.limits[f"the verdict changes at more than {MAX_RUNS:,} values of the open number"] = None
                return
            if high is not None and high - low < MIN_WIDTH:
                self._add_undecided_range(direction, low, high)
                continue
            sample = choose_simple_number(low, high, direction)
            variable = OpenNumber(Fraction(sample), low, high)
            try:
                decision = self._decide_in_world(
                    self.complete_world(direction.origin + direction.sign * variable.number)
                )
            except SampleIsBoundary:
                gaps += [(low, sample), (sample, high)]
                self._examine_value(direction.value_at(sample))
                continue
            self._add_range(direction, variable, decision)
            if low < variable.low:
                gaps.append((low, variable.low))
                self._examine_value(direction.value_at(variable.low))
            if variable.high is not None and (high is None or variable.high < high):
                gaps.append((variable.high, high))
                self._examine_value(direction.value_at(variable.high))

    def _add_undecided_range(self, direction: _Direction, low: Number, high: Number) -> None:
        """Leave the values between two distances undecided."""
        lower, upper = direction.order_ends(direction.value_at(low), direction.value_at(high))
        self.limits[f"not decided for values near {float(lower):.9f}"] = None
        sample = direction.value_at(find_rational_between(low, high))
        self.ranges.append(ValueRange(lower, upper, True, True, sample, *_UNDECIDED))

    def _add_range(self, direction: _Direction, variable: OpenNumber, decision: _Decision) -> None:
        """Store a decision for the values between the bounds that a run found."""
        far = None if variable.high is None else direction.value_at(variable.high)
        low, high = direction.order_ends(direction.value_at(variable.low), far)
        self.ranges.append(ValueRange(low, high, True, True, direction.value_at(variable.sample), *decision))

    def _examine_value(self, value: Number) -> None:
        """Run the plan with a value. A failure with an irrational value has no witness that can be replayed."""
        decision = self._decide_in_world(self.complete_world(value))
        is_rational = isinstance(value, int | Fraction)
        verdict = decision.verdict
        if not is_rational and not (verdict.executable and verdict.goal and verdict.safe):
            self.limits[f"not decided for the irrational value {value}"] = None
            decision = _UNDECIDED
        self.ranges.append(ValueRange(value, value, False, False, value if is_rational else None, *decision))

    def complete_world(self, value: Number | None) -> Completion:
        """The world in which the open number has a value, which may be a function of the open number."""
        if self.number is None or value is None:
            return self.world
        if isinstance(self.number, OpenDuration):
            return self.world._replace(durations=((self.number.step, value),))
        return self.world._replace(values={(self.number.function, self.number.code): value})

    def _decide_in_world(self, world: Completion) -> _Decision:
        """Run the plan in a world."""
        check_deadline(self.deadline)
        self._runs += 1
        try:
            compiled, plan = close_task_and_plan(self.compiled, self.resolved, world)
            outcome = replay_reading(compiled, plan, HALT, self.deadline)
            verdict = decide_in_world(compiled, outcome)
            counts = count_rules(compiled, outcome)
        except Undecided as reason:
            self.limits[str(reason)] = None
            return _UNDECIDED
        if outcome.limit is not None:
            self.limits[outcome.limit.message] = None
            counts = mark_undecided(counts)
        self.counts = merge_rule_counts([self.counts, counts])
        has_instances = any([count.instances for count in counts if count.name in self._deciding_rules])
        worlds_verdict = summarise_world(verdict, self.world, self.compiled.rules)
        return _Decision(verdict, choose_headline(worlds_verdict, has_instances))

    def make_verdict(self) -> WorldsVerdict:
        """The verdict over all values that were examined."""
        verdicts = [
            summarise_world(part.verdict, self.complete_world(part.sample), self.compiled.rules) for part in self.ranges
        ]
        return merge_verdicts(verdicts, self.limits, self.counts)


class _Decision(NamedTuple):
    """The verdict in one world, and its headline."""

    verdict: WorldVerdict
    headline: Headline


_UNDECIDED = _Decision(WorldVerdict(None, None, None), Headline.UNKNOWN)


def merge_ranges(ranges: list[ValueRange]) -> Iterator[ValueRange]:
    """Yield the ranges in order; neighbours with the same headline are one range."""
    merged_range: ValueRange | None = None
    for part in sorted(ranges, key=_choose_value):
        if merged_range is not None and part.headline is merged_range.headline and _are_adjacent(merged_range, part):
            replayed = merged_range.replayed and part.replayed
            merged_range = merged_range._replace(high=part.high, high_open=part.high_open, replayed=replayed)
        else:
            if merged_range is not None:
                yield merged_range
            merged_range = part
    if merged_range is not None:
        yield merged_range


def _choose_value(part: ValueRange) -> Number:
    """A value of a range."""
    if part.sample is not None:
        return part.sample
    assert part.low is not None
    return part.low


def _are_adjacent(left: ValueRange, right: ValueRange) -> bool:
    """Whether no value is missing between a range and a later one."""
    return left.high == right.low and not (left.high_open and right.low_open)


def choose_simple_number(low: Number, high: Number | None, direction: _Direction) -> Number:
    """Choose a distance between two others whose value has a small denominator."""
    if high is None:
        high = 2 * find_rational_between(low, low + 1) + 1
    middle = find_rational_between(low, high)
    ends = [
        low if isinstance(low, int | Fraction) else find_rational_between(low, middle),
        high if isinstance(high, int | Fraction) else find_rational_between(middle, high),
    ]
    values = sorted([Fraction(direction.value_at(end)) for end in ends])
    return normal_number(direction.sign * (find_simplest_between(*values) - direction.origin))
