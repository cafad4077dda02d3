"""Happenings: the execution of a plan (docs/language.md, section 3), under one of the three readings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from .effects import EffectContext, Footprint, Undefined, combine_assignments, interfere, iterate_effect_changes
from .evaluation import evaluate, find_first_value, holds
from .formulas import (
    DURATION_TOLERANCE,
    EMPTY_AND,
    STEP_PREDICATES,
    Binding,
    Connective,
    Fact,
    Node,
    Preference,
    Quantified,
    iterate_ground_reads,
    symbol,
)
from .plan import Step, World
from .task import Action, Phase, Task
from .trace import FALSE, Change, PastState, State, StateChange, StepInterval, Trace, View

START, END, LITERAL = "action", "action-end", "literal"
Event = tuple[str, Step]


class Attempt(NamedTuple):
    """A step, its end or a timed literal at a happening, with the violated preferences of its condition.

    ``allowed``: the condition holds and the effects can be computed. ``footprint`` is ``None`` if they cannot.
    """

    kind: str
    step: Step
    allowed: bool
    footprint: Footprint | None
    unmet: list[str]


class Run(NamedTuple):
    """The trace of a plan under a reading, its last state, the failed steps, and the violated preferences."""

    trace: Trace
    state: State
    failed: tuple[int, ...]
    unmet: list[str]


def schedule_events(steps: list[Step], task: Task) -> list[tuple[Fraction, list[Event]]]:
    """Return the events of each happening. An end at the time of its start is a later happening of its own."""
    events = dict[tuple[Fraction, bool], list[Event]]()
    horizon = Fraction(0)
    for step in steps:
        events.setdefault((step.time, False), []).append((START, step))
        if step.action:
            horizon = max(horizon, step.time + step.duration if step.action.end else step.time)
            if step.action.end:
                events.setdefault((step.time + step.duration, not step.duration), []).append((END, step))
    for time, effect in task.initial:  # S0 contains the literals of time 0; those after the last action do not happen
        if time is not None and 0 < time <= horizon:
            action = Action("", {}, Phase(EMPTY_AND, effect))
            literal = Step(0, time, Fraction(0), (), action, {})
            events.setdefault((time, False), []).append((LITERAL, literal))
    return [(time, happening) for (time, _), happening in sorted(events.items(), key=lambda item: item[0])]


class BoundPreference(NamedTuple):
    """A preference with the objects of the quantifiers around it."""

    preference: Preference
    binding: Binding

    def is_unmet(self, view: View) -> bool:
        """Whether it does not hold at letter 0."""
        return not holds(self.preference.part, self.binding, view)

    def is_violated(self, trace: Trace) -> bool:
        """Whether a constraint is false at letter 0; it is undecided if it depends on an undefined number."""
        return bool(find_first_value(evaluate(self.preference.part, self.binding, trace)) == FALSE)


def bind_preferences(formula: Node, binding: Binding) -> Iterator[BoundPreference]:
    """Yield the preferences of a condition or constraint."""
    match formula:
        case Connective("and", members):
            for part in members:
                yield from bind_preferences(part, binding)
        case Quantified("forall", variable, objects, part):
            for object_ in objects:
                yield from bind_preferences(part, {**binding, variable: object_})
        case Preference():
            yield BoundPreference(formula, binding)


def find_unmet_preferences(formula: Node, binding: Binding, view: View) -> list[str]:
    """Return the names of the preferences of a condition or constraint that do not hold at letter 0."""
    return [bound.preference.name for bound in bind_preferences(formula, binding) if bound.is_unmet(view)]


def bind_durative_step(step: Step) -> Binding:
    """Return the binding of a durative step with its duration."""
    return {**step.binding, "?duration": step.duration, DURATION_TOLERANCE: step.duration_tolerance}


class Execution:
    """Executes the steps of a plan from a state, under the reading "halt", "skip" or "force".

    ``separation`` is the least separation of interfering happenings; ``None`` if the plan has no times.
    """

    def __init__(self, task: Task, state: State, reading: str, separation: Fraction | None, world: World) -> None:
        self.task = task
        self.state = state
        self.reading = reading
        self.world = world
        self.separation = separation
        self.trace = Trace(state)
        self.failed_steps = set[int]()
        self.dropped_steps = set[int]()  # steps that failed at their start: they have no end
        self.unmet = list[str]()
        self.running_steps = dict[int, tuple[Step, int]]()  # with the first letter within the step
        self.over_all_preferences = dict[int, list[BoundPreference]]()  # of running steps, not yet violated
        self.start_letters = dict[int, int]()  # the letter before the start of each durative step
        self.recent_attempts = list[tuple[Fraction, Attempt]]()
        self._reads = dict[tuple[str, Fact], frozenset[Fact]]()

    def run(self, schedule: list[tuple[Fraction, list[Event]]]) -> Run:
        """Execute all happenings, or under *halt* those before the first failure."""
        has_timed_literals = any(kind == LITERAL for _, events in schedule for kind, _ in events)
        self.trace.timed = self.separation is not None or has_timed_literals
        if self.execute_triggered_events():
            for time, events in schedule:
                self.state.work.spend()
                if all(step.number in self.dropped_steps for _, step in events):
                    continue  # the ends of steps that were left out do not happen
                if not (
                    self.pass_time(time) and self._execute_happening(time, events) and self.execute_triggered_events()
                ):
                    break
        for step, first in self.running_steps.values():
            self._record_interval(step, first)
        return Run(self.trace, self.state, tuple(sorted(self.failed_steps)), self.unmet)

    def pass_time(self, until: Fraction) -> bool:  # noqa: ARG002 - ContinuousExecution uses it
        """Let time pass up to the next happening; ``False`` if the reading *halt* ends before."""
        return True

    def execute_triggered_events(self) -> bool:
        """Let the events of this moment happen; ``False`` if the reading *halt* ends here."""
        return True

    def _execute_happening(self, time: Fraction, events: list[Event]) -> bool:
        """Execute one happening; ``False`` if the reading *halt* ends here."""
        halts = self.reading == "halt"
        attempts = [
            self._attempt(kind, step) for kind, step in events if step.action and step.number not in self.dropped_steps
        ]
        interfering = self._find_interfering_steps(time, attempts)
        failing_steps = interfering | {attempt.step.number for attempt in attempts if not attempt.allowed}
        self.failed_steps |= failing_steps
        if halts and (failing_steps or any(step.action is None for _, step in events)):
            return False
        executed, numbers = self._select_executed_attempts(attempts, failing_steps, interfering)
        change = self._change_state(_iterate_changes(executed), numbers)
        skipped_steps = failing_steps - {attempt.step.number for attempt in executed}
        self.dropped_steps |= skipped_steps & {step.number for _, step in events}
        self._update_running_steps(executed)
        broken = self._find_broken_over_all(executed, change)
        self.failed_steps |= broken
        if halts and broken:
            self._undo(change)
            return False
        if executed:
            self._append_letter(time, executed, change)
        return True

    # Before a happening: all conditions are read in the state before it

    def _attempt(self, kind: str, step: Step) -> Attempt:
        """Evaluate the condition and the effect of a step, its end or a timed literal in the current state."""
        assert step.action is not None
        phase = step.action.end if kind == END else step.action.start
        assert phase is not None
        if kind == START and step.action.end:
            self.start_letters[step.number] = self.trace.last
        before_start = PastState(self.trace, self.start_letters[step.number]) if kind == END else None
        choose = partial(self.world.choose, step.number) if self.world.choose else None
        binding = bind_durative_step(step) if step.action.end else step.binding
        context = EffectContext(self.state, before_start, choose)
        allowed, footprint = holds(phase.condition, binding, self.state), None
        try:
            changes = list(iterate_effect_changes(phase.effect, binding, context))
            combine_assignments(changes, self.state.numbers)
            footprint = Footprint(changes, self._find_phase_reads(kind, step, phase, binding))
        except Undefined:
            allowed = False
        return Attempt(kind, step, allowed, footprint, find_unmet_preferences(phase.condition, binding, self.state))

    def _find_phase_reads(self, kind: str, step: Step, phase: Phase, binding: Binding) -> frozenset[Fact]:
        """Return the ground facts and fluents that a condition, a duration constraint or an effect reads.

        A derived fact reads all predicates and functions that it depends on.
        """
        if not self.trace.timed:
            return frozenset()
        key = kind, step.terms
        if key not in self._reads or not step.number:
            reads = {fact for part in phase for fact, _ in iterate_ground_reads(part, binding)}
            reads |= {("*", *name) for fact in reads for name in self.task.axioms.find_dependencies(symbol(fact))}
            self._reads[key] = frozenset(reads)
        return self._reads[key]

    def _find_interfering_steps(self, time: Fraction, attempts: list[Attempt]) -> set[int]:
        """Return the numbers of the steps that fail because they interfere with another attempt.

        Of two interfering attempts, the step with the larger number or the later happening fails, never a timed
        literal, whose number is 0.
        """
        separation = Fraction(0) if self.separation is None else self.separation
        self.recent_attempts = [(at, attempt) for at, attempt in self.recent_attempts if time - at < separation]
        force = self.reading == "force"
        possible = [attempt for attempt in attempts if attempt.footprint is not None and (attempt.allowed or force)]
        failing = {
            max(first.step.number, second.step.number)
            for first, second in _find_interfering_pairs(possible, possible)
            if first is not second
        }
        recent = [attempt for _, attempt in self.recent_attempts]
        for attempt, earlier in _find_interfering_pairs(possible, recent):
            failing.add(attempt.step.number or earlier.step.number)
        return failing - {0}

    # The effects of a happening are united

    def _select_executed_attempts(
        self, attempts: list[Attempt], failing_steps: set[int], interfering: set[int]
    ) -> tuple[list[Attempt], dict[Fact, Fraction]]:
        """Return the executed attempts, and the numbers after them; *force* omits steps whose effects clash."""
        force = self.reading == "force"
        executed = [
            attempt
            for attempt in attempts
            if attempt.footprint is not None and (force or attempt.step.number not in failing_steps)
        ]
        try:
            return executed, combine_assignments(_iterate_changes(executed), self.state.numbers)
        except Undefined:
            executed = [attempt for attempt in executed if attempt.step.number not in interfering]
            return executed, combine_assignments(_iterate_changes(executed), self.state.numbers)

    def _change_state(self, changes: Iterable[Change], numbers: dict[Fact, Fraction]) -> StateChange:
        """Change the state; a fact that is both deleted and added is true afterwards."""
        state, changes = self.state, list(changes)
        added = dict.fromkeys([fact for kind, fact, _ in changes if kind == "add"])
        deleted = dict.fromkeys([fact for kind, fact, _ in changes if kind == "delete" and fact not in added])
        before = {f: state.numbers.get(f) for f, value in numbers.items() if state.numbers.get(f) != value}
        new, lost = [f for f in added if f not in state.facts], [f for f in deleted if f in state.facts]
        for fact in lost:
            state.facts.discard(fact)
        for fact in new:
            state.facts.add(fact)
        state.numbers.update(numbers)
        self.task.axioms.update(state, new, lost, before)
        return StateChange(new, lost, before)

    def _undo(self, change: StateChange) -> None:
        """Restore the state before a change."""
        for fact in change.added:
            self.state.facts.discard(fact)
        for fact in change.removed:
            self.state.facts.add(fact)
        for fluent, value in change.numbers.items():
            if value is None:
                del self.state.numbers[fluent]
            else:
                self.state.numbers[fluent] = value

    # Between start and end of durative actions

    def _update_running_steps(self, executed: list[Attempt]) -> None:
        """Add the durative steps that started, and remove those that ended or were dropped."""
        for attempt in executed:
            step = attempt.step
            if attempt.kind == START and step.action and step.action.end:
                self.running_steps[step.number] = step, self.trace.last + 1
                preferences = bind_preferences(step.action.over_all or EMPTY_AND, bind_durative_step(step))
                self.over_all_preferences[step.number] = list(preferences)
        ended = [attempt.step.number for attempt in executed if attempt.kind == END]
        for number in [*self.dropped_steps & {*self.running_steps}, *ended]:
            if number in self.running_steps:
                self._record_interval(*self.running_steps.pop(number))

    def _record_interval(self, step: Step, first: int) -> None:
        """Record the letters up to now as within a durative step."""
        if first <= self.trace.last:
            interval = StepInterval(first, self.trace.last, step.number)
            self.trace.add_step(STEP_PREDICATES["action-during"], step.terms, interval)

    def _find_broken_over_all(self, executed: list[Attempt], change: StateChange) -> set[int]:
        """Return the running steps whose condition over all fails; it is evaluated again if a fact it reads changed."""
        new = {attempt.step.number for attempt in executed}
        changed_facts = {*change.added, *change.removed, *change.numbers}
        broken = set[int]()
        for number, (step, _) in self.running_steps.items():
            assert step.action is not None
            over_all = step.action.over_all
            if over_all is None:
                continue
            binding = bind_durative_step(step)
            unchanged = number not in new and changed_facts.isdisjoint(
                self._find_over_all_reads(step, over_all, binding)
            )
            if (self.state.literal or not unchanged) and not holds(over_all, binding, self.state):
                broken.add(number)
        return broken

    def _find_over_all_reads(self, step: Step, over_all: Node, binding: Binding) -> frozenset[Fact]:
        """Return the ground facts and fluents that a condition over all reads."""
        key = "over all", step.terms
        if key not in self._reads:
            self._reads[key] = frozenset([fact for fact, _ in iterate_ground_reads(over_all, binding)])
        return self._reads[key]

    # After a happening: a new letter

    def _append_letter(self, time: Fraction, executed: list[Attempt], change: StateChange) -> None:
        """Append the letter after a happening, and record the steps at the letter before it."""
        trace = self.trace
        before = trace.last
        numbers = [attempt.step.number for attempt in executed if attempt.step.number]
        trace.append(time, max(numbers, default=trace.steps[-1]), change, self.state.numbers)
        for attempt in executed:
            self.unmet += attempt.unmet
            number = attempt.step.number
            if number:
                interval = StepInterval(before, before, number)
                trace.add_step(STEP_PREDICATES[attempt.kind], attempt.step.terms, interval)
            if attempt.kind == START and number in self.running_steps and not attempt.step.duration:
                trace.letters_with_same_time_next.add(trace.last)  # its end is a letter of its own, at the same time
        self._check_over_all_preferences(self.running_steps)
        self.recent_attempts += [(time, attempt) for attempt in executed]

    def _check_over_all_preferences(self, numbers: Iterable[int]) -> None:
        """Record the preferences over all of running steps that the current state violates, each once."""
        for number in numbers:
            met = list[BoundPreference]()
            for bound in self.over_all_preferences[number]:
                if bound.is_unmet(self.state):
                    self.unmet.append(bound.preference.name)
                else:
                    met.append(bound)
            self.over_all_preferences[number] = met


def _iterate_changes(attempts: Iterable[Attempt]) -> Iterator[Change]:
    """Yield the changes of attempts whose effects can be computed."""
    return (change for attempt in attempts if attempt.footprint for change in attempt.footprint.changes)


def _find_interfering_pairs(attempts: list[Attempt], earlier: list[Attempt]) -> Iterator[tuple[Attempt, Attempt]]:
    """Yield the pairs that interfere. Only pairs with a common fact or fluent are compared."""
    if not earlier or (len(earlier) == 1 and attempts is earlier):
        return
    positions_by_fact = defaultdict[Fact, list[int]](list)
    for position, candidate in enumerate(earlier):
        for fact in candidate.footprint.find_touched_facts() if candidate.footprint else ():
            positions_by_fact[fact].append(position)
    for attempt in attempts:
        touched_facts = attempt.footprint.find_touched_facts() if attempt.footprint else ()
        for position in sorted({position for fact in touched_facts for position in positions_by_fact.get(fact, ())}):
            candidate = earlier[position]
            if attempt.footprint and candidate.footprint and interfere(attempt.footprint, candidate.footprint):
                yield attempt, candidate
