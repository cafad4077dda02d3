"""A run of the explicit timed engine in one world, which also finds the other worlds with the same results.

Only the order of partners is constrained (see :mod:`.event_schedule`). Events that are not partners may happen in any
order: neither reads what the other changes, and no condition over all and no rule sees both. So if partners have the
same order and the engine's other decisions are the same, every condition, number and rule instance has the same
history, except for repetitions that it does not notice. If a step fails, the trace ends before it; then the events
before that time matter also.

Each comparison of numbers that depend on open durations adds the constraint that decided it to the trail, even if its
result is not used here. The trail groups constraints by *topic*: what the engine was doing, and the number of the
event, step, rule part or happening, as in ``("check", 3)`` or ``("order", 2, 5)``; ``()`` is for all checks. So each
check of the plan is explained by the constraints of its own topics (:meth:`.PlanCheck.iterate_topics`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.action_effects import SnapEffects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import END, ILL_FORMED, START, Event, EventEffects, make_interference_failure
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.outcome import Failure
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.state import Delta
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep, Tolerance
from plansafe.verifier.execution.timed import TimedReplay
from plansafe.verifier.model.footprints import Footprint
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Binding, Formula, Number
from plansafe.verifier.symbolic.durations.affine import Affine, ConstraintTrail, LinearConstraint
from plansafe.verifier.symbolic.durations.duration_monitors import DurationMonitors, OpenEndedLetterTime
from plansafe.verifier.symbolic.durations.event_schedule import Schedule, group_connected_events
from plansafe.verifier.symbolic.durations.fact_spans import EventOrder, EventTime, FactSpans, Span
from plansafe.verifier.symbolic.durations.plan_checks import CheckKind, PlanCheck


class DurationRun(TimedReplay):
    """A run with the reading *halt* in the world in which the open durations have the values of ``trail``.

    ``first_events_at_tie``: events that happen before others of the same time. ``happenings``: the events of each.
    Raises ``NotLinear`` and ``LimitReached``.
    """

    def __init__(
        self,
        engine: Engine,
        schedule: Schedule,
        trail: ConstraintTrail,
        prototype: DurationMonitors | None,
        tolerance: Tolerance,
        deadline: float | None,
        first_events_at_tie: frozenset[int] = frozenset(),
    ) -> None:
        self.schedule = schedule
        self.trail = trail
        self.first_events_at_tie = first_events_at_tie
        self.prototype = prototype
        self.present_events: dict[int, Event] = {}
        self.immediate_ends: set[int] = set()  # ends of actions of duration 0: after all other events of their time
        self.happenings: list[list[int]] = []
        self.happened_events: dict[int, None] = {}
        self.failed_events: list[int] = []  # the events that caused the failure before which the trace ended
        # if a condition over all failed: all events that it depends on
        self.events_of_failed_over_all: frozenset[int] = frozenset()
        self._footprint_by_event: dict[int, Footprint] = {}
        self._interfering_events: list[int] = []
        self._number_of_event: dict[int, int] = {}
        self._effects_by_event: dict[int, SnapEffects] = {}
        super().__init__(engine, HALT, schedule.steps, tolerance, deadline)

    def make_monitors(self) -> Runtime | None:
        """A copy of the monitors that have read S0."""
        return None if self.prototype is None else self.prototype.fork()

    def letter_time(self) -> LetterTime:
        """The present letter."""
        kind = LetterTime if self.schedule.exact else OpenEndedLetterTime
        return kind(self.letter, self.time, True, self._may_share_time)

    def _ends_at_once(self, step: TimedStep) -> bool:
        """Whether the step has duration 0, from ``immediate_ends``: without another comparison of its duration."""
        immediate_steps = [self.schedule.events[number].step for number in self.immediate_ends]
        return any([ended is not None and ended.number == step.number for ended in immediate_steps])

    def record_unmet_literals(
        self, number: int, condition: tuple[Formula, ...], binding: Binding, duration: Number | None = None
    ) -> None:
        """Do nothing: no caller reads the reasons, and finding them would compare more numbers."""

    def _count_preferences(self, action: GroundAction, phase: str = "start") -> None:
        """Do not count preferences: the verdict over all durations does not depend on them."""

    def _count_preferences_over_all(self, running: list[TimedStep]) -> None:
        """Do not count preferences over all."""

    # -- happenings ---------------------------------------------------------------------------------------------------

    def make_agenda(self) -> Iterator[tuple[Number, list[Event]]]:
        """The happenings in order. Partners of one time are one happening; other events follow each other."""
        self._find_present_events()
        groups: dict[EventTime, list[int]] = {}
        for event in self.present_events:
            groups.setdefault(self._find_event_time(event), []).append(event)
        for event_time in sorted(groups):
            simultaneous = group_connected_events(groups[event_time], self.schedule.partners)
            for happening in sorted(simultaneous, key=lambda happening: not self.first_events_at_tie & {*happening}):
                self.happenings.append(happening)
                times = [self.schedule.times[event] for event in happening]
                constant_times = [time for time in times if not isinstance(time, Affine)]
                if isinstance(self.runtime, DurationMonitors):
                    self.runtime.event_times, self.runtime.happening = tuple(times), len(self.happenings) - 1
                yield (constant_times or times)[0], [self.present_events[event] for event in happening]

    def _find_event_time(self, event: int) -> EventTime:
        """The time of an event in this world, and whether it comes after the other events of that time."""
        time = self.schedule.times[event]
        return time.value if isinstance(time, Affine) else time, event in self.immediate_ends

    def _find_present_events(self) -> None:
        """Find the events of this world: a step may be ill-formed, and the plan may end before a timed literal."""
        step_errors: dict[int, IllFormed | None] = {}
        for number, event in enumerate(self.schedule.events):
            step = event.step
            if step is None:
                continue
            self.trail.set_topic(("present", number))
            if event.kind == START:
                error = step_errors[step.number] = self._find_duration_error(step)
                if error is not None:
                    event = Event(ILL_FORMED, step._replace(resolved=error))
            elif event.kind == END:
                if step_errors[step.number] is not None:
                    continue
                if step.duration == 0:
                    self.immediate_ends.add(number)
            self.present_events[number] = event
        action_events = [number for number, event in self.present_events.items() if event.kind != ILL_FORMED]
        for number, event in enumerate(self.schedule.events):
            self.trail.set_topic(("present", number))
            if event.literal is not None and self._plan_lasts_until(action_events, event.literal.time):
                self.present_events[number] = event
        self._number_of_event = {id(event): number for number, event in self.present_events.items()}

    def _find_duration_error(self, step: TimedStep) -> IllFormed | None:
        """The error of an open duration in this world; other durations are known to be valid."""
        if not isinstance(step.duration, Affine) or not isinstance(step.resolved, GroundAction):
            return None
        if step.resolved.action.end is not None:
            return IllFormed(SC.IMPOSSIBLE_TIME, "the duration is negative", 0) if step.duration < 0 else None
        if -self.tolerance.exact <= step.duration <= self.tolerance.exact:
            return None
        return IllFormed(SC.IMPOSSIBLE_TIME, f"`{step.resolved.action.name}` is instantaneous, but has a duration", 0)

    def _plan_lasts_until(self, action_events: list[int], time: Number) -> bool:
        """Whether an action event is at a time or later. Compares closed times first, then the last event, then all."""
        times = self.schedule.times
        if any([times[event] >= time for event in action_events if not isinstance(times[event], Affine)]):
            return True
        last = sorted(action_events, key=self._find_event_time)[-1:]
        return any([times[event] >= time for event in last]) or any([times[event] >= time for event in action_events])

    # -- the topic of each stage of a happening -----------------------------------------------------------------------

    def _find_failure(self, event: Event) -> Failure | None:
        self.trail.set_topic(("check", self._number_of_event[id(event)]))
        return super()._find_failure(event)

    def _compute_effects(self, event: Event) -> SnapEffects | Failure:
        number = self._number_of_event[id(event)]
        self.trail.set_topic(("effect", number))
        effects = super()._compute_effects(event)
        if isinstance(effects, SnapEffects):
            self._effects_by_event[number] = effects
        return effects

    def _execute_happening(self, time: Number, executed: list[EventEffects]) -> bool:
        self.trail.set_topic(("take", len(self.happenings) - 1))
        return super()._execute_happening(time, executed)

    def _predict_over_all_failures(self, time: Number, running: list[TimedStep], delta: Delta) -> list[Failure]:
        self.trail.set_topic(())
        failures = super()._predict_over_all_failures(time, running, delta)
        self.trail.set_topic(("take", len(self.happenings) - 1))
        return failures

    def _find_over_all_failures(self, running: list[TimedStep]) -> list[Failure]:
        failures = []
        for step in running:
            self.trail.set_topic(("over", step.number))
            failures += super()._find_over_all_failures([step])
        return failures

    def _announce_actions(self, events: list[Event]) -> None:
        self.trail.set_topic(("depart", len(self.happenings) - 1))
        super()._announce_actions(events)

    def _enter_state(self, number: int) -> None:
        self.trail.set_topic(())
        super()._enter_state(number)

    # -- failures -----------------------------------------------------------------------------------------------------

    def run_happening(self, time: Number, events: list[Event]) -> bool:
        """Run one happening; False if the trace halts before it."""
        earlier_failures = len(self.failures)
        if super().run_happening(time, events):
            self.happened_events.update(dict.fromkeys(self.happenings[-1]))
            return True
        failure = self.failures[earlier_failures]
        self.failed_events = self._find_failed_events(failure)
        if failure.code == SC.OVER_ALL:
            self.events_of_failed_over_all = self.schedule.over_all_events[failure.step]
        return False

    def _find_failed_events(self, failure: Failure) -> list[int]:
        """The events of the last happening that caused its failure."""
        if failure.code == SC.INTERFERENCE:
            return self._interfering_events
        if failure.code == SC.OVER_ALL:
            return [event for event in self.happenings[-1] if event in self.schedule.over_all_events[failure.step]]
        steps = [(event, self.present_events[event].step) for event in self.happenings[-1]]
        return [event for event, step in steps if step is not None and step.number == failure.step]

    def _find_interference(self, time: Number, executable: list[EventEffects]) -> list[Failure]:  # noqa: ARG002
        """As in any run, but the distance of two events is compared last, and with the own time of each event."""
        times, numbers = self.schedule.times, [self._number_of_event[id(event)] for event, _ in executable]
        failures: list[Failure] = []
        for place, (number, (event, effects)) in enumerate(zip(numbers, executable, strict=True)):
            if not self.schedule.clashing_events[number]:
                continue
            self._footprint_by_event[number] = self.interference.compute_footprint(event, effects)
            self.trail.set_topic(("check", number))
            for neighbour in self.schedule.clashing_events[number]:
                has_happened = neighbour in self.happened_events
                if not has_happened and neighbour not in numbers[:place]:
                    continue
                are_both_literals = event.step is None and self.present_events[neighbour].step is None
                clash = (
                    None
                    if are_both_literals
                    else self.interference.find_clash(
                        self._footprint_by_event[number], self._footprint_by_event[neighbour]
                    )
                )
                if clash is not None and (
                    not has_happened or times[number] - times[neighbour] < self.tolerance.separation
                ):
                    failures.append(
                        make_interference_failure(event, self.present_events[neighbour], clash, is_earlier=has_happened)
                    )
                    self._interfering_events = [number] if has_happened else [number, neighbour]
                    break
        return failures

    # -- the constraints of the run -----------------------------------------------------------------------------------

    def ends_with_tie(self) -> bool:
        """Whether an event happened at the time at which the trace ended: then the failing event must come first."""
        return bool(self.failed_events) and any(
            [
                self._find_event_time(event) == self._find_event_time(self.failed_events[0])
                for event in self.happened_events
            ]
        )

    def constrain_orders(self) -> None:
        """Record the orders of partners and, after a failure, which events came before it, as constraints.

        The comparisons record them; their results matter only where the opposite order must be compared too.
        """
        for first, second in self.schedule.open_pairs:
            if first in self.present_events and second in self.present_events:
                self.trail.set_topic(("order", first, second))
                if not self._is_before(first, second):
                    self._is_before(second, first)
        if not self.failed_events:
            return
        self.trail.set_topic(("stop",))
        failed_event = self.failed_events[0]
        for event in self.present_events:
            if event in self.failed_events:
                continue
            if (
                self.present_events[event].kind == END
                and event not in self.happened_events
                and event - 1 not in self.happened_events
            ):
                continue  # it comes after its start, which has not happened either
            if not self._is_before(event, failed_event) and event in self.events_of_failed_over_all:
                self._is_before(failed_event, event)

    def _is_before(self, first: int, second: int) -> bool:
        """Whether one event happens before another in this world; also records the constraint that decides it."""
        first_time, second_time = self.schedule.times[first], self.schedule.times[second]
        is_first_at_tie = second in self.immediate_ends and first not in self.immediate_ends
        return first_time <= second_time if is_first_at_tie else first_time < second_time

    def is_certain_to_hold(self, check: PlanCheck) -> bool:
        """Whether a check is certain to hold in a run in which a step failed."""
        if any([event.kind == ILL_FORMED for event in self.present_events.values()]):
            return False  # timed literals may be missing
        return check.kind is CheckKind.EVENT and check.number in self.happened_events

    def collect_constraints(self) -> dict[LinearConstraint, None]:
        """All constraints that decided the run; orders only for events that happened or failed."""
        reached = {*self.happened_events, *self.failed_events}
        constraints: dict[LinearConstraint, None] = {}
        for topic, topic_constraints in self.trail.constraints.items():
            if topic[:1] != ("order",) or {*topic[1:]} <= reached:
                constraints |= topic_constraints
        return constraints

    def collect_check_constraints(self, check: PlanCheck, holds: bool | None) -> dict[LinearConstraint, None]:
        """The constraints that decided the result ``holds`` of a check: of its topics, and of orders of events."""
        constraints_by_topic = self.trail.constraints
        constraints: dict[LinearConstraint, None] = {}
        for topic in check.iterate_topics(self.happening_of_event):
            constraints |= constraints_by_topic.get(topic, {})
        orders: list[EventOrder] | None = None  # None: the orders of all pairs of the check count
        if check.forbidden_conjunctions is not None:
            with suppress(LimitReached):
                within = check.within_events and Span(check.within_events[0], check.within_events[1:])
                reason = self.fact_spans.find_reason(check.forbidden_conjunctions, within)
                if reason.is_never_true is not holds:
                    raise AssertionError("the monitors and the spans of facts disagree")
                orders = reason.orders
        for first, second in check.pairs if orders is None else check.opposing_pairs:
            constraints |= constraints_by_topic.get(("order", first, second), {})
        if orders:
            self.trail.set_topic(("why",))
            constraints_by_topic["why",].clear()
            for first, second in orders:
                self._is_before(first, second)
            constraints |= constraints_by_topic["why",]
        return constraints

    @cached_property
    def happening_of_event(self) -> dict[int, int]:
        """The number of each event's happening."""
        return {event: number for number, happening in enumerate(self.happenings) for event in happening}

    @cached_property
    def fact_spans(self) -> FactSpans:
        """The spans of the facts in this run, in which all events have succeeded."""
        event_times = {event: self._find_event_time(event) for event in self.present_events}
        changes = {event: ({*effects.adds}, {*effects.deletes}) for event, effects in self._effects_by_event.items()}
        return FactSpans(event_times, changes, self.schedule.initial_state)
