"""Timed plans: durative and simultaneous actions, timed initial literals (PDDL 2.1, definitions 10 to 15; PDDL 2.2).

A happening comprises the events of one time; actions without duration end in a second happening of that time. All its
conditions are read in the state before it, its effects are combined, and no two of its events may interfere
(:mod:`.happening`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from plansafe.grammar.codes import SC
from plansafe.verifier.execution.action_effects import (
    Conflict,
    SnapEffects,
    StartConditions,
    Update,
    combine_effects,
    evaluate_start_conditions,
    interpret_effects,
)
from plansafe.verifier.execution.engine import TOO_MANY_INSTANCES, Engine, Limit
from plansafe.verifier.execution.happening import (
    END,
    ILL_FORMED,
    LITERAL,
    START,
    Event,
    EventEffects,
    InterferenceChecker,
)
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.outcome import Failure, Outcome
from plansafe.verifier.execution.replay import FORCE, HALT, Observer, Replay
from plansafe.verifier.execution.state import Delta, NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep, Tolerance
from plansafe.verifier.execution.timed_action_facts import TimedActionFacts
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.model.nodes import Number, Task, TimedLiteral

_BOUND_TESTS = {
    "=": lambda duration, bound, tolerance: abs(duration - bound) <= tolerance,
    "<=": lambda duration, bound, tolerance: duration <= bound + tolerance,
    ">=": lambda duration, bound, tolerance: duration >= bound - tolerance,
    "<": lambda duration, bound, tolerance: duration < bound + tolerance,
    ">": lambda duration, bound, tolerance: duration > bound - tolerance,
}
"""By operator: whether a duration satisfies a bound within the tolerance."""


class TimedReplay(Replay):
    """One reading of a timed plan."""

    def __init__(
        self,
        engine: Engine,
        reading: str,
        steps: list[TimedStep],
        tolerance: Tolerance,
        deadline: float | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.plan_steps = steps
        self.tolerance = tolerance
        self.rounded_steps: set[int] = set()
        """The steps that would fail under the exact tolerance."""
        super().__init__(engine, reading, timed=True, deadline=deadline, observer=observer)
        self.running: list[TimedStep] = []
        """The steps of the durative actions under way."""
        self.dropped_steps: set[int] = set()
        """The numbers of steps with an event that could not happen: their later events are left out."""
        self.stopping_steps: list[TimedStep] = []
        """The dropped steps that are under way until the next happening that is executed."""
        self.interference = InterferenceChecker(engine, tolerance, self.rounded_steps)
        self._may_share_time = False
        """Whether the next letter may have the same time as the present letter (see :class:`LetterTime`)."""
        self._violated_preferences: set[tuple[int, ...]] = set()
        """The violated instances of preferences over all, each counted once.

        Each is a step's number, the position of the preference in the step's action, and objects."""
        self._start_conditions: dict[int, StartConditions] = {}
        """By step under way: the start conditions of its end's effects, evaluated before the step's start."""
        self.action_facts = TimedActionFacts(engine)
        self.events = {}
        self.effects: list[tuple[int, SnapEffects]] = []
        """The effects of each event of the present happening, with the number of its step (0: a timed literal)."""

    @cached_property
    def literals(self) -> list[TimedLiteral]:
        """The timed literals that happen after S0."""
        return list_literals(self.task, self.plan_steps)

    def run(self) -> None:
        """Run all happenings."""
        try:
            self.run_happenings()
        except NumberTooLarge:
            self.limit = Limit(SC.NUMBER_TOO_LARGE, f"a number grew beyond 65,536 bits at time {self.time}")
        except TooManyInstances:
            self.limit = TOO_MANY_INSTANCES

    def run_happenings(self) -> None:
        """Run all happenings, until one halts the trace. Raises :class:`LimitReached` past the deadline."""
        for time, events in self.make_agenda():
            check_deadline(self.deadline)
            if not self.run_happening(time, events):
                return

    def make_agenda(self) -> Iterator[tuple[Number, list[Event]]]:
        """Yield the happenings in order, each with its time and events."""
        return list_happenings(self.plan_steps, self.literals)

    def run_happening(self, time: Number, events: list[Event]) -> bool:
        """Run one happening; return ``False`` if the trace halts before it."""
        failures: list[Failure] = []
        executable: list[EventEffects] = []
        for event in events:
            if event.step is not None and event.step.number in self.dropped_steps:
                continue
            failure = self._find_failure(event)
            is_forced = self.reading == FORCE and failure is not None and failure.ill_formed is None
            effects = self._compute_effects(event) if failure is None or is_forced else failure
            if isinstance(effects, Failure):
                failures.append(failure or effects)
                self._drop_step(event)
            else:
                executable.append((event, effects))
                if failure is not None:
                    failures.append(failure)
        interference_failures = self._find_interference(time, executable)
        failures += interference_failures
        failed_steps = {failure.step for failure in interference_failures}
        if self.reading == FORCE:
            executable = self._drop_conflicting(executable, failed_steps)
        else:
            executable = self._drop_failed(executable, failed_steps)
        if failures:
            self.failures += sorted(failures)
            if self.reading == HALT:
                return False
        return self._execute_happening(time, executable) if executable else True

    def _drop_conflicting(self, executable: list[EventEffects], failed_steps: set[int]) -> list[EventEffects]:
        """Return the events to execute in the reading *force*: all, or no failed ones if numeric effects conflict."""
        try:
            combine_effects(self.state.fluents, [effects for _, effects in executable])
        except Conflict:
            return self._drop_failed(executable, failed_steps)
        return executable

    def _drop_failed(self, executable: list[EventEffects], failed_steps: set[int]) -> list[EventEffects]:
        """Drop the steps that failed; return the events of the other steps."""
        for event, _ in executable:
            if event.step is not None and event.step.number in failed_steps:
                self._drop_step(event)
        return [
            (event, effects)
            for event, effects in executable
            if event.step is None or event.step.number not in failed_steps
        ]

    def _drop_step(self, event: Event) -> None:
        """Leave out the later events of a step whose ``event`` cannot happen; a literal has no step."""
        step = event.step
        if step is None:
            return
        self.dropped_steps.add(step.number)
        if any([s.number == step.number for s in self.running]):
            self.stopping_steps.append(step)

    def _execute_happening(self, time: Number, executed: list[EventEffects]) -> bool:
        """Apply the effects of the events of a happening; return ``False`` if the trace halts before it."""
        state = self.state
        events = [event for event, _ in executed]
        delta = combine_effects(state.fluents, [effects for _, effects in executed])
        stop_events = [Event(END, step) for step in self.stopping_steps]
        self.stopping_steps = []
        ended_numbers = {e.step_number for e in (*events, *stop_events) if e.kind == END}
        started_steps = [e.step for e in events if e.kind == START and e.step is not None and _is_durative(e.step)]
        running = [s for s in self.running if s.number not in ended_numbers] + started_steps
        if self.reading == HALT:
            failures = self._predict_over_all_failures(time, running, delta)
            if failures:
                self.failures += failures
                return False
        self._evaluate_start_conditions(started_steps)
        for event in events:
            if event.step is not None and isinstance(event.step.resolved, GroundAction):
                self._count_preferences(event.step.resolved, event.kind)
        self._may_share_time = self._may_share_time and time == self.time
        self._announce_actions(events)
        self.interference.record_executed(events)
        state.apply(delta, self.log)
        self.action_facts.update_state(state, self.log, self.running, [*events, *stop_events])
        self.time = time
        self._may_share_time = any([self._ends_at_once(step) for step in started_steps])
        self.running = running
        assert self.events is not None
        self.events[self.letter + 1] = tuple([(e.step_number, e.kind) for e in events if e.step is not None])
        self.effects = [(event.step_number, effects) for event, effects in executed]
        self.executed_count += sum([e.kind == START for e in events])
        self._enter_state(max([e.step_number for e in events]))
        if self.reading != HALT:
            self.failures += self._find_over_all_failures(self.running)
        self._count_preferences_over_all(self.running)
        return True

    def _evaluate_start_conditions(self, started: list[TimedStep]) -> None:
        """Evaluate and keep, in the state before steps start, the start conditions of their ends' effects."""
        for step in started:
            evaluator, binding = self._make_evaluator(step)
            assert isinstance(step.resolved, GroundAction)
            end = step.resolved.action.end
            assert end is not None
            self._start_conditions[step.number] = evaluate_start_conditions(evaluator, end, binding)

    def _count_preferences_over_all(self, running: list[TimedStep]) -> None:
        """Count the violated preferences over all of actions under way, each once."""
        for step in running:
            assert isinstance(step.resolved, GroundAction)
            for position, preference in enumerate(step.resolved.action.preferences):
                if preference.moment != "all":
                    continue
                self.preference_violations.setdefault(preference.name, 0)
                evaluator, binding = self._make_evaluator(step)
                for full_binding in self.task.bindings(preference.variables, binding):
                    key = (step.number, position, *[full_binding[v.slot] for v in preference.variables])
                    is_counted = key in self._violated_preferences
                    if not is_counted and evaluator.holds(preference.body, full_binding) is not True:
                        self._violated_preferences.add(key)
                        self.preference_violations[preference.name] += 1

    def enter_isolated_state(self, time: Number, number: int, kind: str) -> None:
        """Update the monitors after the only event of its time, of step ``number``, has changed the state."""
        assert self.events is not None
        self.time, self._may_share_time = time, False
        self.events[self.letter + 1] = ((number, kind),)
        if kind == START:
            self.executed_count += 1
        self._enter_state(number)

    # -- conditions ---------------------------------------------------------------------------------------------------

    def _make_evaluator(self, step: TimedStep) -> tuple[Evaluator, dict[int, int]]:
        """Return an interpreter for the step's duration in the present state, and the step's binding."""
        assert isinstance(step.resolved, GroundAction)
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents, step.duration)
        return evaluator, step.resolved.binding

    def _find_failure(self, event: Event) -> Failure | None:
        """Return why an event cannot happen in the present state, apart from other events; ``None`` if it can."""
        step = event.step
        if step is None:
            return None
        if isinstance(step.resolved, IllFormed):
            return Failure(step.number, step.resolved.code, "", step.resolved)
        evaluator, binding = self._make_evaluator(step)
        condition = model.And(event.snap.condition)
        holds = evaluator.holds(condition, binding)
        if holds is not True:
            detail = evaluator.describe_undefined(condition, binding) if holds is None else None
            if self.observer is None:
                self.record_unmet_literals(step.number, event.snap.condition, binding, step.duration)
            return Failure(step.number, SC.UNDEFINED_NUMBER if detail else SC.PRECONDITION, detail or event.kind)
        for constraint in step.resolved.action.durations:
            if constraint.at_end != (event.kind == END):
                continue
            assert step.duration is not None
            try:
                bound = evaluator.evaluate(constraint.value, binding)
            except UndefinedNumber as problem:
                return Failure(step.number, SC.UNDEFINED_NUMBER, problem.text)
            if not _BOUND_TESTS[constraint.operator](step.duration, bound, self.tolerance.duration):
                return Failure(step.number, SC.DURATION, f"must be {constraint.operator} {bound}, is {step.duration}")
            if not _BOUND_TESTS[constraint.operator](step.duration, bound, self.tolerance.exact):
                self.rounded_steps.add(step.number)
        return None

    def _compute_effects(self, event: Event) -> SnapEffects | Failure:
        """Return the effects of an event in the present state, or why they are undefined or conflict."""
        if event.literal is not None:
            literal = event.literal
            code = self.task.encode(literal.arguments)
            if literal.fluent:
                return SnapEffects([], [], [Update("assign", literal.predicate, code, literal.value)])
            fact = [(literal.predicate, code)]
            return SnapEffects(fact, [], []) if literal.value else SnapEffects([], fact, [])
        assert event.step is not None
        number = event.step.number
        evaluator, binding = self._make_evaluator(event.step)
        try:
            effects = interpret_effects(evaluator, event.snap, binding, self._start_conditions.get(number))
            combine_effects(self.state.fluents, [effects])
        except UndefinedNumber as problem:
            return Failure(number, SC.UNDEFINED_NUMBER, problem.text)
        except Conflict as conflict:
            return Failure(number, SC.CONFLICTING_EFFECTS, self.task.fluent_text(conflict.function, conflict.code))
        return effects

    def _find_over_all_failures(self, running: list[TimedStep]) -> list[Failure]:
        """Return the failures of actions under way whose conditions over all do not hold in the present state."""
        failures = []
        for step in running:
            if not self._is_over_all_true(step):
                if self.observer is None:
                    assert isinstance(step.resolved, GroundAction)
                    condition, binding = step.resolved.action.over_all, step.resolved.binding
                    self.record_unmet_literals(step.number, condition, binding, step.duration)
                failures.append(Failure(step.number, SC.OVER_ALL, self.moment_text()))
        return failures

    def _is_over_all_true(self, step: TimedStep) -> bool:
        """Whether the condition over all of a step under way holds in the present state."""
        evaluator, binding = self._make_evaluator(step)
        assert isinstance(step.resolved, GroundAction)
        return evaluator.holds(model.And(step.resolved.action.over_all), binding) is True

    def has_false_over_all(self) -> bool:
        """Whether a condition over all of an action under way does not hold in the present state."""
        return not all(self._is_over_all_true(step) for step in self.running)

    def _predict_over_all_failures(self, time: Number, running: list[TimedStep], delta: Delta) -> list[Failure]:
        """Return the failures of conditions over all in the state after a happening, which is undone again."""
        if not any([isinstance(s.resolved, GroundAction) and s.resolved.action.over_all for s in running]):
            return []
        log: list[StateChange] = []
        self.state.apply(delta, log)
        if self.engine.axioms is not None:
            self.engine.axioms.update(self.state.facts, self.state.fluents, log)
        present_time, self.time = self.time, time  # failures name the time of the happening
        failures = self._find_over_all_failures(running)
        self.time = present_time
        self.state.undo(log)
        return failures

    def _find_interference(self, time: Number, executable: list[EventEffects]) -> list[Failure]:
        """Return the failures of steps that interfere within the happening, or with a recent one."""
        return self.interference.find_failures(time, executable)

    def moment_text(self) -> str:
        """Return the present time for messages."""
        return f"at time {self.time}"

    # -- letters ------------------------------------------------------------------------------------------------------

    def letter_time(self) -> LetterTime:
        """Return the number and time of the present letter."""
        return LetterTime(self.letter, self.time, True, self._may_share_time)

    def _ends_at_once(self, step: TimedStep) -> bool:
        return step.duration == 0

    def finish(self, step_count: int) -> Outcome:
        """Finish the monitors and return the result; actions may be under way in the last letter."""
        self._may_share_time = False
        if self.runtime is not None and self.engine.action_predicates:
            self.action_facts.record_last_letter(self.runtime, self.running, self.letter)
        return super().finish(step_count)

    def _announce_actions(self, events: list[Event]) -> None:
        """Let the monitors read the happening's actions, and record the step of each action fact."""
        if self.runtime is not None and self.engine.action_predicates:
            self.action_facts.announce(self.runtime, self.state, self.running, events, self.letter_time())

    def _find_matching_steps(self, violation: Violation) -> list[int]:
        """Return the numbers of the steps whose action facts match the step pattern of a violated part."""
        return self.action_facts.find_matching_steps(violation)


def _is_durative(step: TimedStep) -> bool:
    return isinstance(step.resolved, GroundAction) and step.resolved.action.end is not None


def list_literals(task: Task, steps: Sequence[TimedStep]) -> list[TimedLiteral]:
    """Return the timed literals that happen after time 0 (S0 has the others) and not after the plan's end."""
    if not task.timed_literals:
        return []
    plan_end: Number = 0
    for step in steps:
        if isinstance(step.resolved, GroundAction):
            end = step.time + (step.duration or 0) if step.resolved.action.end is not None else step.time
            plan_end = max(plan_end, end)
    return [literal for literal in task.timed_literals if 0 < literal.time <= plan_end]


def list_happenings(
    steps: Sequence[TimedStep], literals: Sequence[TimedLiteral]
) -> Iterator[tuple[Number, list[Event]]]:
    """Yield the happenings of a timed plan in order, each with its time and events."""
    agenda: dict[Number, list[Event]] = {}
    for step in steps:
        if isinstance(step.resolved, IllFormed):
            agenda.setdefault(step.time, []).append(Event(ILL_FORMED, step))
            continue
        agenda.setdefault(step.time, []).append(Event(START, step))
        if step.resolved.action.end is not None:
            agenda.setdefault(step.time + (step.duration or 0), []).append(Event(END, step))
    for literal in literals:
        agenda.setdefault(literal.time, []).append(Event(LITERAL, None, literal))
    for time in sorted(agenda):
        for batch in split_by_immediate_ends(time, agenda[time]):
            yield time, batch


def split_by_immediate_ends(time: Number, events: list[Event]) -> list[list[Event]]:
    """Return the events of each happening of one time: actions without duration end in a second happening."""
    immediate_ends = [e for e in events if e.kind == END and e.step is not None and e.step.time == time]
    return [batch for batch in ([e for e in events if e not in immediate_ends], immediate_ends) if batch]
