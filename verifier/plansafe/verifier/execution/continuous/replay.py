"""The replay of a plan in continuous time (docs/language.md, section 7).

Between two moments the fluents follow polynomials; the moments are the happenings of the plan and the roots at which a
comparison changes. Each moment and each interval between two moments is a letter, so that the monitors read every state
of the trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise
from typing import NamedTuple, cast

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.action_effects import Conflict, SnapEffects, combine_effects, interpret_effects
from plansafe.verifier.execution.continuous.courses import Courses
from plansafe.verifier.execution.continuous.exogenous_changes import Instance, get_exogenous_changes, name_instances
from plansafe.verifier.execution.continuous.just_after import JustAfter
from plansafe.verifier.execution.continuous.roots import find_rational_between
from plansafe.verifier.execution.engine import Limit
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.outcome import LetterCause, Outcome
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.state import Delta, StateChange
from plansafe.verifier.execution.timed import TimedReplay
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.footprints import Footprint, find_interference
from plansafe.verifier.model.limits import Undecided, check_deadline
from plansafe.verifier.model.nodes import Action, Number

MAX_ROUNDS = 10_000
"""The most rounds of events at one moment."""
MAX_SWITCHES = 10_000
"""The most moments between two happenings of the plan."""
_SHOWN_ROUNDS = 3
"""If rounds of events do not repeat until ``MAX_ROUNDS``, the events of this many last rounds are named."""


class EndlessCascade(Exception):
    """Events that cause each other at one moment without end; the text is the reason."""


class LazyNumbers:
    """A sequence of numbers that are computed when they are first read."""

    def __init__(self, numbers: Iterator[Number]) -> None:
        self._numbers = numbers
        self._computed: list[Number] = []

    @property
    def first(self) -> Number:
        """The first number."""
        return next(iter(self))

    def __iter__(self) -> Iterator[Number]:
        yield from self._computed
        for number in self._numbers:
            self._computed.append(number)
            yield number


class Flow(NamedTuple):
    """The courses from a moment on, with the ``running`` processes.

    ``switches``: the times since the moment at which a comparison changes. ``length``: the time to the next happening.
    """

    courses: Courses
    running: frozenset[int]
    switches: LazyNumbers
    length: Number


class ContinuousReplay(TimedReplay):
    """One reading of a timed plan in continuous time. ``moment``: the present moment; in an interval, its beginning."""

    moment: Number = 0
    _disarmed_events: frozenset[int] = frozenset()
    """The events that do not happen again yet: they have happened, and their precondition has held since."""
    _held_events: frozenset[int] = frozenset()
    """The disarmed events that stay disarmed at this moment: they happened because of the time just after it."""

    def run_happenings(self) -> None:
        """Run all happenings, and what happens between them."""
        self.causes: dict[int, LetterCause] = {}
        """By letter that no step led to."""
        try:
            self.exogenous_changes = get_exogenous_changes(self.engine)
            self._run_all()
        except Undecided as reason:
            self._stop(reason)
        except EndlessCascade as reason:
            self.limit = Limit(SC.ENDLESS_CASCADE, str(reason))

    def _run_all(self) -> None:
        """Run all happenings, and the events before, between and at them, until the trace halts."""
        if not self._cause_events():
            return
        for time, events in self.make_agenda():
            if all([event.step is not None and event.step.number in self.dropped_steps for event in events]):
                continue
            if not (self._pass_time(time) and self.run_happening(time, events) and self._cause_events()):
                return

    # -- time passes --------------------------------------------------------------------------------------------------

    def _pass_time(self, until: Number) -> bool:
        """Let time pass until a happening; return ``False`` if the trace halts before it."""
        flow_count = 0
        while self.moment < until:
            flow_count += 1
            if flow_count > MAX_SWITCHES:
                raise Undecided(f"more than {MAX_SWITCHES:,} changes before time {until}")
            flow = self._find_flow(until)
            due_events = self._find_due_events(flow, find_rational_between(0, flow.switches.first))
            if due_events:
                self._held_events |= due_events
                if not (self._execute_events(due_events) and self._cause_events()):
                    return False
            elif not self._follow(flow, until):
                return False
        return True

    def _find_flow(self, until: Number) -> Flow:
        """Return the flow from the present moment on: exactly the preconditions of its processes hold just after it."""
        processes = self.exogenous_changes.processes
        running = self.exogenous_changes.find_satisfied(processes, self.state)
        tried_processes: list[frozenset[int]] = []
        while running not in tried_processes:
            tried_processes.append(running)
            steps = [step for step in self.running if step.number not in self.dropped_steps]
            courses = Courses(self.state, self.exogenous_changes.list_rates(sorted(running), steps))
            length = until - self.moment
            flow = Flow(courses, running, self._find_switches(courses, length), length)
            running = self._find_satisfied(processes, courses, find_rational_between(0, flow.switches.first))
            if running == flow.running:
                return flow
        changing = frozenset.union(*tried_processes) - frozenset.intersection(*tried_processes)
        names = name_instances([processes[number] for number in sorted(changing)])
        raise Undecided(f"{names} cannot run, because its precondition then fails, and cannot stop")

    def _find_switches(self, courses: Courses, length: Number) -> LazyNumbers:
        """Return the times before ``length`` at which a comparison changes, in order, and ``length``."""
        if not courses.changing:
            return LazyNumbers(iter([length]))
        comparisons = [*self.exogenous_changes.comparisons]
        for step in self.running:
            comparisons += self.exogenous_changes.list_step_comparisons(step)
        return LazyNumbers(courses.list_switches(comparisons, length))

    def _find_satisfied(self, instances: list[Instance], courses: Courses, time: Number) -> frozenset[int]:
        """Return the instances whose precondition holds at a time since the beginning of the courses."""
        log: list[StateChange] = []
        self.state.apply(Delta([], [], courses.find_values_at(time)), log)
        if self.engine.axioms is not None:
            self.engine.axioms.update(self.state.facts, self.state.fluents, log)
        satisfied_numbers = self.exogenous_changes.find_satisfied(instances, self.state)
        self.state.undo(log)
        return satisfied_numbers

    def _find_due_events(self, flow: Flow, time: Number) -> frozenset[int]:
        """Return the armed events whose precondition holds at a time of a flow."""
        events = self.exogenous_changes.events
        return self._find_satisfied(events, flow.courses, time) - self._disarmed_events if events else frozenset()

    def _follow(self, flow: Flow, until: Number) -> bool:
        """Follow a flow to the next event, change of the running processes, or happening.

        Return ``False`` if the trace halts.
        """
        start = self.moment
        for before, after in pairwise(chain([0], flow.switches)):
            check_deadline(self.deadline)
            between = find_rational_between(before, after)
            if before != 0 and not self._holds_further(flow, between):
                return True
            self._held_events = frozenset()
            interval = Delta([], [], flow.courses.find_values_at(between))
            if not self._enter_letter(interval, self.moment, is_interval=True):
                return False
            moment = until if after is flow.length else start + after
            arrival = Delta([], [], flow.courses.find_values_at(after))
            if not self._enter_letter(arrival, moment):
                return False
            letter_before = self.letter
            if not self._cause_events():
                return False
            if self.letter != letter_before:  # events have happened
                return True
        return True

    def _holds_further(self, flow: Flow, time: Number) -> bool:
        """Whether a flow also holds after the present moment, in an interval that contains ``time``."""
        processes = self.exogenous_changes.processes
        if self.exogenous_changes.find_satisfied(processes, self.state) != flow.running:
            return False
        if self._find_satisfied(processes, flow.courses, time) != flow.running:
            return False
        return not self._find_due_events(flow, time)

    # -- events -------------------------------------------------------------------------------------------------------

    def _cause_events(self) -> bool:
        """Let events happen until no armed event is due; return ``False`` if the trace halts."""
        events = self.exogenous_changes.events
        rounds: list[frozenset[int]] = []
        first_rounds: dict[object, int] = {}  # by state, the round of events that began in it
        while due_events := self.exogenous_changes.find_satisfied(events, self.state) - self._disarmed_events:
            key = (self.state.key(), self._disarmed_events)
            if key in first_rounds or len(rounds) == MAX_ROUNDS:
                cycle = rounds[first_rounds.get(key, -_SHOWN_ROUNDS) :]
                numbers = dict.fromkeys([number for round_events in cycle for number in sorted(round_events)])
                names = name_instances([events[number] for number in numbers])
                raise EndlessCascade(f"events cause each other without end at time {self.moment}: {names}")
            first_rounds[key] = len(rounds)
            rounds.append(due_events)
            if not self._execute_events(due_events):
                return False
        return True

    def _execute_events(self, due_events: frozenset[int]) -> bool:
        """Let events happen together; return ``False`` if the trace halts before them."""
        events = [self.exogenous_changes.events[number] for number in sorted(due_events)]
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents)
        effects: list[SnapEffects] = []
        for event in events:
            assert isinstance(event.schema, Action)
            try:
                effects.append(interpret_effects(evaluator, event.schema.start, event.binding))
            except UndefinedNumber as problem:
                raise Undecided(f"event `{event.text}`: {problem.text}") from None
        self._check_interference(events, effects)
        try:
            delta = combine_effects(self.state.fluents, effects)
        except Conflict as conflict:
            text = self.task.fluent_text(conflict.function, conflict.code)
            raise Undecided(f"the effects of {name_instances(events)} on `{text}` conflict") from None
        self._disarmed_events |= due_events
        return self._enter_letter(delta, self.moment, f"event{'s' if len(events) > 1 else ''} {name_instances(events)}")

    def _check_interference(self, events: list[Instance], effects: list[SnapEffects]) -> None:
        """Raise :class:`Undecided` if the order of events would matter."""
        if len(events) == 1:
            return
        footprints = []
        for event, event_effects in zip(events, effects, strict=True):
            assert isinstance(event.schema, Action)
            footprint = Footprint(set(), set(), {*event_effects.adds}, {*event_effects.deletes}, {})
            for update in event_effects.updates:
                self.engine.footprints.add_assignment(update.function, update.code, update.operator, footprint)
            self.engine.footprints.add_action_reads(event.schema, event.binding, False, footprint)
            footprints.append(footprint)
        for (first, first_event), (second, second_event) in combinations(zip(footprints, events, strict=True), 2):
            clash = find_interference(first, second)
            if clash is not None:
                names, text = name_instances([first_event, second_event]), self.task.key_text(*clash)
                raise Undecided(f"the events {names} interfere on `{text}`")

    # -- letters ------------------------------------------------------------------------------------------------------

    def _enter_letter(self, delta: Delta, moment: Number, event: str = "", *, is_interval: bool = False) -> bool:
        """Enter a letter that no step leads to; return ``False`` if the trace halts before it."""
        under_way = [step for step in self.running if step.time + (step.duration or 0) > moment]
        time = cast("Number", JustAfter(moment)) if is_interval else moment
        if self.reading == HALT:
            failures = self._predict_over_all_failures(time, under_way, delta)
            if failures:
                self.failures += failures
                return False
        self._announce_actions([])
        self.state.apply(delta, self.log)
        self.moment, self.time, self.effects = moment, time, []
        assert self.events is not None
        self.events[self.letter + 1] = ()
        self.causes[self.letter + 1] = LetterCause(self.moment_text(), event, is_interval)
        self._enter_state(0)
        if self.reading != HALT:
            self.failures += self._find_over_all_failures(under_way)
        self._count_preferences_over_all(under_way)
        return True

    def _enter_state(self, number: int) -> None:
        """Update derived facts and monitors, and arm the events whose precondition does not hold."""
        super()._enter_state(number)
        events = self.exogenous_changes.events
        self._disarmed_events = frozenset(
            [n for n in self._disarmed_events if n in self._held_events or events[n].is_satisfied(self.state)]
        )

    def moment_text(self) -> str:
        """Return the present time for messages."""
        return f"just after time {self.moment}" if isinstance(self.time, JustAfter) else super().moment_text()

    def letter_time(self) -> LetterTime:
        """Return the number and time of the present letter; later letters may have the same moment."""
        return LetterTime(self.letter, self.time, True, not isinstance(self.time, JustAfter))

    def _stop(self, reason: Undecided) -> None:
        """Record why the trace is not decided beyond the present moment."""
        self.limit = Limit(SC.UNDECIDED_COURSE, f"not decided after time {self.moment}: {reason}")

    def _evaluate_goal(self) -> bool | None:
        """Evaluate the goal in the present state; ``None`` if that is not decided."""
        try:
            return super()._evaluate_goal()
        except Undecided as reason:
            self._stop(reason)
            return None

    def finish(self, step_count: int) -> Outcome:
        """Finish the monitors and return the result; a trace that was not decided has no violations at its end."""
        try:
            outcome = super().finish(step_count)
        except Undecided as reason:
            self._stop(reason)
            self.runtime = None
            outcome = super().finish(step_count)
        violations = outcome.violations
        if self.limit is not None:
            violations = tuple([violation for violation in violations if not violation.at_end])
        return outcome._replace(violations=violations, end_time=self.moment, causes=self.causes)
