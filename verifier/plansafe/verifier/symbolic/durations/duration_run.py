"""A run of the explicit timed engine in one world, which also says in what other worlds it would go alike.

Only the order of partners is noted (see :mod:`.events`). Events that are no partners may be taken in any order: neither
reads what the other changes, and no condition over all and no rule sees both. So wherever partners stand in the same
order and the engine's other decisions come out the same, every condition, number and rule instance meets the same
history, apart from repetitions that it does not notice. If a step fails, the trace ends before it; then it matters,
too, what has happened by that time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.actions import SnapEffects
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.replay import HALT, Failure
from plansafe.verifier.execution.state import Delta
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep, Tolerance
from plansafe.verifier.execution.timed import END, START, Event, TimedReplay, interference_failure
from plansafe.verifier.model.footprints import Footprint
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Binding, Formula, Number
from plansafe.verifier.symbolic.durations.affine import Affine, ConstraintTrail, LinearConstraint
from plansafe.verifier.symbolic.durations.duration_monitors import DurationMonitors, NeverRuledOut
from plansafe.verifier.symbolic.durations.event_schedule import ILL_FORMED, Schedule, connected_events
from plansafe.verifier.symbolic.durations.fact_spans import FactSpans, Span
from plansafe.verifier.symbolic.durations.plan_checks import EVENT, PlanCheck


class DurationRun(TimedReplay):
    """The reading *halt* in the world of the trail that the schedule's times belong to.

    ``first``: events that are taken before others of the same time. Raises ``NotLinear`` and ``LimitReached``.
    """

    def __init__(
        self,
        engine: Engine,
        schedule: Schedule,
        trail: ConstraintTrail,
        prototype: DurationMonitors | None,
        tolerance: Tolerance,
        deadline: float | None,
        first: frozenset[int] = frozenset(),
    ) -> None:
        self.schedule = schedule
        self.trail = trail
        self.first = first
        self.prototype = prototype
        self.present: dict[int, Event] = {}
        self.late: set[int] = set()  # ends of actions without duration: after all else of their time
        self.batches: list[list[int]] = []
        self.taken: dict[int, None] = {}
        self.failed: list[int] = []  # events of the happening before which the trace ended, without which it would not
        self.watched: frozenset[int] = frozenset()  # if it was a condition over all: what that depends on
        self._prints: dict[int, Footprint] = {}
        self._clashing: list[int] = []
        self._numbers: dict[int, int] = {}
        self._found: dict[int, SnapEffects] = {}
        super().__init__(engine, HALT, schedule.steps, tolerance, deadline)

    def before_start(self) -> None:
        """The literals are among the events of the schedule."""

    def monitors(self) -> Runtime | None:
        """A copy of the monitors that have read S0."""
        if self.prototype is None:
            return None
        return self.prototype.fork()

    def moment(self) -> LetterTime:
        """The present letter."""
        kind = LetterTime if self.schedule.exact else NeverRuledOut
        return kind(self.letter, self.time, True, self._shared)

    def _ends_at_once(self, step: TimedStep) -> bool:
        """As the end's place among the events, which has been asked already."""
        ending = [self.schedule.events[number].step for number in self.late]
        return any([own is not None and own.number == step.number for own in ending])

    def note_reasons(
        self, number: int, condition: tuple[Formula, ...], binding: Binding, duration: Number | None = None
    ) -> None:
        """Nobody asks for reasons here, and finding them would compare more numbers."""

    def _preferences(self, taken: GroundAction, moment: str = "start") -> None:
        """Do not count preferences: the verdict over all durations does not depend on them."""

    def _preferences_over_all(self) -> None:
        """As for other preferences."""

    # -- happenings ---------------------------------------------------------------------------------------------------

    def agenda(self) -> Iterator[tuple[Number, list[Event]]]:
        """Partners of one time are one happening; others follow each other."""
        times = self.schedule.times
        self._attend()
        groups: dict[tuple[Number, bool], list[int]] = {}
        for event in self.present:
            groups.setdefault(self._place(event), []).append(event)
        for place in sorted(groups):
            found = connected_events(groups[place], self.schedule.partners)
            for batch in sorted(found, key=lambda batch: not self.first & {*batch}):
                self.batches.append(batch)
                when = [times[e] for e in batch]
                fixed = [time for time in when if not isinstance(time, Affine)]
                if isinstance(self.runtime, DurationMonitors):
                    self.runtime.together, self.runtime.batch = tuple(when), len(self.batches) - 1
                yield (fixed or when)[0], [self.present[e] for e in batch]

    def _place(self, event: int) -> tuple[Number, bool]:
        """Where an event comes in the world of this run."""
        time = self.schedule.times[event]
        return time.value if isinstance(time, Affine) else time, event in self.late

    def _attend(self) -> None:
        """Which events there are in this world."""
        wrong: dict[int, IllFormed | None] = {}
        for number, event in enumerate(self.schedule.events):
            step = event.step
            if step is None:
                continue
            self.trail.turn(("present", number))
            if event.kind == START:
                wrong[step.number] = self._ill_formed(step)
                found = wrong[step.number]
                if found is not None:
                    event = Event(ILL_FORMED, step._replace(resolved=found))
            elif event.kind == END:
                if wrong[step.number] is not None:
                    continue
                if step.duration == 0:
                    self.late.add(number)
            self.present[number] = event
        acting = [e for e, event in self.present.items() if event.kind != ILL_FORMED]
        for number, event in enumerate(self.schedule.events):
            self.trail.turn(("present", number))
            if event.literal is not None and self._lasts_until(acting, event.literal.time):
                self.present[number] = event
        self._numbers = {id(event): number for number, event in self.present.items()}

    def _ill_formed(self, step: TimedStep) -> IllFormed | None:
        """What is wrong with an open duration in this world; that of others is known to be right."""
        if not isinstance(step.duration, Affine) or not isinstance(step.taken, GroundAction):
            return None
        if step.taken.action.end is not None:
            return IllFormed(SC.IMPOSSIBLE_TIME, "the duration is negative", 0) if step.duration < 0 else None
        if -self.tolerance.given <= step.duration <= self.tolerance.given:
            return None
        return IllFormed(SC.IMPOSSIBLE_TIME, f"`{step.taken.action.name}` is instantaneous, but has a duration", 0)

    def _lasts_until(self, acting: list[int], time: Number) -> bool:
        """Whether an action ends or happens at a time or later: one that does so anyway, or the last in this world."""
        times = self.schedule.times
        if any([times[e] >= time for e in acting if not isinstance(times[e], Affine)]):
            return True
        last = sorted(acting, key=self._place)[-1:]
        if any([times[e] >= time for e in last]):
            return True
        return any([times[e] >= time for e in acting])

    # -- topics -------------------------------------------------------------------------------------------------------

    def _failure(self, event: Event) -> Failure | None:
        self.trail.turn(("check", self._numbers[id(event)]))
        return super()._failure(event)

    def _effects(self, event: Event) -> SnapEffects | Failure:
        number = self._numbers[id(event)]
        self.trail.turn(("effect", number))
        found = super()._effects(event)
        if isinstance(found, SnapEffects):
            self._found[number] = found
        return found

    def _take_together(self, time: Number, happenings: list[tuple[Event, SnapEffects]]) -> bool:
        self.trail.turn(("take", len(self.batches) - 1))
        return super()._take_together(time, happenings)

    def _breaks_over_all(self, time: Number, running: list[TimedStep], delta: Delta) -> list[Failure]:
        self.trail.turn(())
        broken = super()._breaks_over_all(time, running, delta)
        self.trail.turn(("take", len(self.batches) - 1))
        return broken

    def _over_all(self, running: list[TimedStep]) -> list[Failure]:
        broken = []
        for step in running:
            self.trail.turn(("over", step.number))
            broken += super()._over_all([step])
        return broken

    def _depart(self, taking: list[Event]) -> None:
        self.trail.turn(("depart", len(self.batches) - 1))
        super()._depart(taking)

    def _arrive(self, number: int) -> None:
        self.trail.turn(())
        super()._arrive(number)

    # -- failures -----------------------------------------------------------------------------------------------------

    def happening(self, time: Number, events: list[Event]) -> bool:
        """One happening; False if the trace halts before it."""
        known = len(self.failures)
        if super().happening(time, events):
            self.taken.update(dict.fromkeys(self.batches[-1]))
            return True
        failure = self.failures[known]
        self.failed = self._to_blame(failure)
        if failure.code == SC.OVER_ALL:
            self.watched = self.schedule.under_way[failure.step]
        return False

    def _to_blame(self, failure: Failure) -> list[int]:
        """The events of the present happening without which this failure would not be."""
        if failure.code == SC.INTERFERENCE:
            return self._clashing
        if failure.code == SC.OVER_ALL:
            return [e for e in self.batches[-1] if e in self.schedule.under_way[failure.step]]
        return [
            e for e in self.batches[-1] if (step := self.present[e].step) is not None and step.number == failure.step
        ]

    def _interference(self, time: Number, taking: list[tuple[Event, SnapEffects]]) -> list[Failure]:  # noqa: ARG002
        """As for any run; but how close two events are is asked last, and of each event's own time."""
        times, now = self.schedule.times, [self._numbers[id(event)] for event, _ in taking]
        out: list[Failure] = []
        for place, (own, (event, effects)) in enumerate(zip(now, taking, strict=True)):
            if not self.schedule.close[own]:
                continue
            self._prints[own] = self._footprint(event, effects)
            self.trail.turn(("check", own))
            for other in self.schedule.close[own]:
                if other not in self.taken and other not in now[:place]:
                    continue
                literals = event.step is None and self.present[other].step is None
                what = None if literals else self._clash(self._prints[own], self._prints[other])
                if what is not None and (
                    other not in self.taken or times[own] - times[other] < self.tolerance.separation
                ):
                    out.append(interference_failure(self.present[own], self.present[other], what, other in self.taken))
                    self._clashing = [own] if other in self.taken else [own, other]
                    break
        return out

    # -- what has been decided ----------------------------------------------------------------------------------------

    def tied(self) -> bool:
        """Whether something was taken at the time at which the trace ended: the failure must come first."""
        return bool(self.failed) and any([self._place(e) == self._place(self.failed[0]) for e in self.taken])

    def note_order(self) -> None:
        """Note on the trail the orders that there are, and, after a failure, what came before it."""
        for one, other in self.schedule.open_pairs:
            if one in self.present and other in self.present:
                self.trail.turn(("order", one, other))
                if not self._before(one, other):
                    self._before(other, one)
        if not self.failed:
            return
        self.trail.turn(("stop",))
        first = self.failed[0]
        for event in self.present:
            if event in self.failed:
                continue
            if self.present[event].kind == END and event not in self.taken and event - 1 not in self.taken:
                continue  # it comes after its start, which has not been taken either
            if not self._before(event, first) and event in self.watched:
                self._before(first, event)

    def succeeded(self, item: PlanCheck) -> bool:
        """Whether an item has surely succeeded in a run in which a step failed."""
        ill_formed = any([event.kind == ILL_FORMED for event in self.present.values()])  # literals may then be missing
        return item.kind == EVENT and item.number in self.taken and not ill_formed

    def marks(self) -> dict[LinearConstraint, None]:
        """All that the run rested on: orders only of what was taken or failed."""
        seen = {*self.taken, *self.failed}
        out: dict[LinearConstraint, None] = {}
        for topic, marks in self.trail.marks.items():
            if topic[:1] != ("order",) or {*topic[1:]} <= seen:
                out |= marks
        return out

    def marks_of(self, item: PlanCheck, kept: bool | None) -> dict[LinearConstraint, None]:
        """What the run has decided for an item, of which it has found ``kept``."""
        known = self.trail.marks
        out: dict[LinearConstraint, None] = {}
        for topic in item.topics(self.batch_of):
            out |= known.get(topic, {})
        orders: list[tuple[int, int]] | None = None
        if item.never is not None:
            with suppress(LimitReached):
                found = self.spans.reason(item.never, item.within and Span(item.within[0], item.within[1:]))
                if found.kept is not kept:
                    raise AssertionError("the monitors and the spans of facts say the same")
                orders = found.orders
        for one, other in item.pairs if orders is None else item.turning:
            out |= known.get(("order", one, other), {})
        if orders:
            self.trail.turn(("why",))
            self.trail.marks["why",].clear()
            for one, other in orders:
                self._before(one, other)
            out |= self.trail.marks["why",]
        return out

    @cached_property
    def batch_of(self) -> dict[int, int]:
        """The number of each event's happening."""
        return {event: number for number, batch in enumerate(self.batches) for event in batch}

    @cached_property
    def spans(self) -> FactSpans:
        """When facts are true in this run, in which all events have succeeded."""
        places = {event: self._place(event) for event in self.present}
        changes = {event: ({*found.adds}, {*found.deletes}) for event, found in self._found.items()}
        return FactSpans(places, changes, self.schedule.initially)

    def _before(self, one: int, other: int) -> bool:
        a, b = self.schedule.times[one], self.schedule.times[other]
        return a <= b if other in self.late and one not in self.late else a < b
