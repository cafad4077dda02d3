"""Continuous change: processes, continuous effects and events between the happenings of a plan (language.md, 3)."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

from .courses import (
    Courses,
    choose_number_between,
    find_zeros,
    ground_comparisons,
    iterate_switch_functions,
)
from .effects import EffectContext, Footprint, Undefined, combine_assignments, interfere, iterate_effect_changes
from .evaluation import holds
from .exponential_polynomials import Course, evaluate_at, is_constant, make_constant
from .formulas import (
    Binding,
    Compare,
    Fact,
    Flow,
    Node,
    Quantified,
    ground,
    iterate_bindings,
    iterate_ground_reads,
    symbol,
)
from .happenings import Attempt, Execution, bind_durative_step
from .linear_rates import solve_rates
from .open_range import depends_on_range
from .plan import World
from .polynomials import Real
from .reader import KernelLimit, require
from .real_numbers import enclose
from .rules import Rule
from .task import Process, Task
from .trace import State, StateChange

Places = frozenset[int]
"""Processes or events, by their places in the list of all."""
MAX_ROUNDS = 10_000
"""Maximum number of rounds of events at one time."""
MAX_SWITCHES = 2_000
"""Maximum number of rounds of events and switches of processes between two happenings."""
NEAR = Fraction(1, 2**20)
"""Only numbers that are not farther apart are compared, to find a situation that occurs again."""
EXPONENTIAL_WORK = 300
"""Units of work counted for the zeros of a function with exponentials."""


class Instance(NamedTuple):
    """A process or event with objects for its parameters."""

    process: Process
    binding: Binding


def iterate_bound_flows(effect: Node, binding: Binding) -> Iterator[tuple[Flow, Binding]]:
    """Yield the continuous changes of an effect, quantifiers expanded."""
    match effect:
        case Flow():
            yield effect, binding
        case Quantified():
            for o in effect.objects:
                yield from iterate_bound_flows(effect.part, {**binding, effect.variable: o})
        case _:
            for part in effect.parts():
                yield from iterate_bound_flows(part, binding)


class ContinuousExecution(Execution):
    """An execution in which numbers change between happenings, and events happen by themselves."""

    def __init__(
        self,
        task: Task,
        state: State,
        reading: str,
        separation: Fraction | None,
        world: World,
        rules: Sequence[Rule] = (),
    ) -> None:
        """Collect the processes, events and comparisons of the task and the rules."""
        super().__init__(task, state, reading, separation, world)
        self.now: Real = self.trace.times[0]
        self.processes = [Instance(p, b) for p in task.processes for b in iterate_bindings(p.domains, {})]
        self.events = [Instance(e, b) for e in task.events for b in iterate_bindings(e.domains, {})]
        self.active_processes: Places = frozenset()
        self.armed_events: Places = frozenset(range(len(self.events)))
        # The events that happened because of what holds just after now: only a later moment arms them again.
        self.disarmed_events: Places = frozenset()
        axioms = [axiom for stratum in task.axioms.strata for axiom in stratum.axioms]
        process_formulas: list[tuple[Node, Binding]] = []
        process_formulas += [(axiom.body, b) for axiom in axioms for b in iterate_bindings(axiom.domains, {})]
        process_formulas += [(x.process.condition, x.binding) for x in self.processes]
        self.process_comparisons = [c for formula in process_formulas for c in ground_comparisons(*formula)]
        other_formulas = [(x.process.condition, x.binding) for x in self.events]
        parts = [part for rule in rules for part in rule.parts]
        other_formulas += [(part.formula, b) for part in parts for b in iterate_bindings(part.params, {})]
        other_comparisons = [c for formula in other_formulas for c in ground_comparisons(*formula)]
        self.comparisons = self.process_comparisons + other_comparisons

    # Time passes

    def pass_time(self, until: Real) -> bool:
        """Let time pass up to the next happening; ``False`` if the reading *halt* ends before."""
        for _ in range(MAX_SWITCHES):
            if not self.now < until:
                return True
            if not self._pass_until_switch(until):
                return False
        raise KernelLimit("too many events or switches between two happenings")

    def _pass_until_switch(self, until: Real) -> bool:
        """Let time pass up to an event, a switch, or the next happening; ``False`` if *halt* ends before."""
        self.active_processes, courses = self._find_active_processes()
        moments = self._find_zeros(self._iterate_all_switch_functions(courses), until, courses)
        for start, end in pairwise([self.now, *moments, until]):
            between = choose_number_between(start, end)
            state_between = self._compute_state(between, courses)
            if self._find_enabled_processes(self.state) != self.active_processes:
                active_processes, _ = self._find_active_processes()
                if active_processes != self.active_processes:
                    return True
            if self._find_enabled_processes(state_between) != self.active_processes:
                return True
            if missed_events := self._find_triggered_events(state_between) & self.armed_events:
                self.disarmed_events |= missed_events
                return self._execute_events(missed_events) and self.execute_triggered_events()
            self.disarmed_events = frozenset()
            if not self._move_to_moment(between, courses, start) or not self._move_to_moment(end, courses):
                return False
            last_before = self.trace.last
            if not self.execute_triggered_events():
                return False
            if self.trace.last > last_before:
                return True
        return True

    def _find_active_processes(self) -> tuple[Places, Courses]:
        """Return the processes that are active just after now, and the courses of all fluents.

        The condition of exactly these processes holds just after now, if the fluents have their rates. The first
        candidates are those whose condition holds now.
        """
        active_processes, tried = self._find_enabled_processes(self.state), set[Places]()
        while active_processes not in tried:
            tried.add(active_processes)
            courses = self._compute_courses(active_processes)
            functions = (f for c in self.process_comparisons for f in iterate_switch_functions(*c, courses))
            moments = self._find_zeros(functions, self.now + 1, courses)
            after = choose_number_between(self.now, moments[0] if moments else self.now + 1)
            enabled_processes = self._find_enabled_processes(self._compute_state(after, courses))
            if enabled_processes == active_processes:
                return active_processes, courses
            active_processes = enabled_processes
        raise KernelLimit("processes that switch each other on and off at one moment")

    def _find_zeros(self, functions: Iterable[Course], until: Real, courses: Courses) -> list[Real]:
        """Return the zeros of functions after now and before ``until``, in order."""
        candidates = [*functions]
        self.state.work.spend(EXPONENTIAL_WORK * sum(len(f) > 1 for f in candidates))
        return find_zeros(candidates, self.now, until, courses.start)

    def _compute_courses(self, active_processes: Places) -> Courses:
        """Return the course of each fluent while these processes are active."""
        active_instances = [self.processes[place] for place in active_processes]
        flows = [flow for x in active_instances for flow in iterate_bound_flows(x.process.effect, x.binding)]
        for step, _ in self.running_steps.values():
            assert step.action is not None
            flows += iterate_bound_flows(step.action.flow, bind_durative_step(step))
        waiting = dict[Fact, list[tuple[Flow, Binding]]]()
        for flow, binding in flows:
            waiting.setdefault(ground(flow.fluent.terms, binding), []).append((flow, binding))
        numbers = self.state.numbers
        if not waiting.keys() <= numbers.keys():
            raise KernelLimit("a rate of a number without value")
        solved = {fluent: make_constant(value) for fluent, value in numbers.items() if fluent not in waiting}
        courses = Courses(self.now, solved)
        while waiting:
            group = min((self._find_dependent_fluents(fluent, waiting) for fluent in waiting), key=len)
            solved |= solve_rates({fluent: waiting.pop(fluent) for fluent in group}, numbers, courses)
        return courses

    def _find_dependent_fluents(self, fluent: Fact, waiting: Mapping[Fact, list[tuple[Flow, Binding]]]) -> list[Fact]:
        """Return a fluent and the waiting fluents that its rate reads, directly or through other rates."""
        group = [fluent]
        for member in group:
            group += (self._find_rate_reads(waiting[member]) & waiting.keys()) - {*group}
        return sorted(group)

    def _find_rate_reads(self, parts: list[tuple[Flow, Binding]]) -> set[Fact]:
        """Return the fluents that the rates of some flows read."""
        return {fact for flow, binding in parts for fact, _ in iterate_ground_reads(flow.rate, binding)}

    def _iterate_all_switch_functions(self, courses: Courses) -> Iterator[Course]:
        """Yield the functions at whose zeros a comparison may change."""
        comparisons: list[tuple[Compare, Binding]] = list(self.comparisons)
        for step, _ in self.running_steps.values():
            if step.action is not None and step.action.over_all is not None:
                comparisons += ground_comparisons(step.action.over_all, bind_durative_step(step))
        for comparison, binding in comparisons:
            yield from iterate_switch_functions(comparison, binding, courses)

    # States between happenings

    def _compute_state(self, time: Real, courses: Courses) -> State:
        """Return the state at a time: the facts stay, and the numbers follow their courses."""
        numbers = {fluent: evaluate_at(course, time, courses.start) for fluent, course in courses.of.items()}
        state = State(self.state.facts, numbers, self.state.work, self.state.literal)
        if self.task.axioms.strata:
            basic = [fact for fact in state.facts if fact[0] not in self.task.axioms.derived]
            state = State(basic, numbers, self.state.work, self.state.literal)
            self.task.axioms.derive_all(state)
        return state

    def _move_to_moment(self, time: Real, courses: Courses, after: Real | None = None) -> bool:
        """Move to a moment and append its letter; ``after``: the letter is about all moments after this time.

        ``False`` if the reading *halt* ends before, because a condition over all fails.
        """
        numbers = {
            fluent: evaluate_at(course, time, courses.start)
            for fluent, course in courses.of.items()
            if not is_constant(course)
        }
        before: dict[Fact, Real] = {fluent: self.state.numbers[fluent] for fluent in numbers}
        self.state.numbers.update(numbers)
        change = StateChange([], [], before)
        self.task.axioms.update(self.state, change.added, change.removed, before)
        return self._append_moment_letter(change, time, after)

    def _append_moment_letter(
        self,
        change: StateChange,
        time: Real,
        after: Real | None = None,
        happened_events: Places = frozenset(),
    ) -> bool:
        """Append a letter after a change; ``False`` if *halt* ends before, because a condition over all fails."""
        self.now = time
        under_way = {number for number, (step, _) in self.running_steps.items() if step.time + step.duration > time}
        broken = self._find_broken_over_all([], change) & under_way
        self.failed_steps |= broken
        if self.reading == "halt" and broken:
            self._undo(change)
            return False
        self.trace.append(time, self.trace.steps[-1], change, self.state.numbers, after)
        if after is None:  # events and happenings may follow
            self.trace.letters_with_same_time_next.add(self.trace.last)
        self._check_over_all_preferences(under_way)
        self._update_armed_events(happened_events)
        return True

    def _append_letter(self, time: Fraction, executed: list[Attempt], change: StateChange) -> None:
        super()._append_letter(time, executed, change)
        self.trace.letters_with_same_time_next.add(self.trace.last)
        self._update_armed_events()

    # Processes and events

    def _find_enabled_processes(self, state: State) -> Places:
        """Return the processes whose condition holds in a state."""
        return frozenset([i for i, x in enumerate(self.processes) if holds(x.process.condition, x.binding, state)])

    def _find_triggered_events(self, state: State) -> Places:
        """Return the events whose condition holds in a state."""
        return frozenset([i for i, x in enumerate(self.events) if holds(x.process.condition, x.binding, state)])

    def _update_armed_events(self, happened_events: Places = frozenset()) -> None:
        """After a letter: arm the events whose condition does not hold there, and disarm those that happened."""
        untriggered_events = frozenset(range(len(self.events))) - self._find_triggered_events(self.state)
        self.armed_events = (self.armed_events - happened_events) | (untriggered_events - self.disarmed_events)

    def execute_triggered_events(self) -> bool:
        """Let rounds of events happen until none is left; ``False`` if the reading *halt* ends here."""
        earlier_numbers = dict[Hashable, list[dict[Fact, Real]]]()  # by the facts, armed events and rounded numbers
        rounds = 0
        while events := self._find_triggered_events(self.state) & self.armed_events:
            numbers = dict(self.state.numbers)
            rounded_numbers = frozenset((fluent, _round(value)) for fluent, value in numbers.items())
            situation = frozenset(self.state.facts), self.armed_events, rounded_numbers
            candidates = earlier_numbers.setdefault(situation, [])
            require(numbers not in candidates and rounds < MAX_ROUNDS, "events without end", KernelLimit)
            candidates.append(numbers)
            rounds += 1
            if not self._execute_events(events):
                return False
        return True

    def _execute_events(self, events: Places) -> bool:
        """Let a round of events happen; ``False`` if the reading *halt* ends here."""
        try:
            footprints = [self._find_footprint(event) for event in map(self.events.__getitem__, sorted(events))]
            changes = [change for footprint in footprints for change in footprint.changes]
            numbers = combine_assignments(changes, self.state.numbers)
        except Undefined:
            raise KernelLimit("an event whose effects cannot be computed") from None
        require(not any(interfere(*pair) for pair in combinations(footprints, 2)), "events that interfere", KernelLimit)
        change = self._change_state(changes, numbers)
        return self._append_moment_letter(change, self.now, happened_events=events)

    def _find_footprint(self, event: Instance) -> Footprint:
        """Return what an event changes and reads."""
        condition, effect = event.process.condition, event.process.effect
        reads = {fact for part in (condition, effect) for fact, _ in iterate_ground_reads(part, event.binding)}
        reads |= {("*", *name) for fact in reads for name in self.task.axioms.find_dependencies(symbol(fact))}
        return Footprint([*iterate_effect_changes(effect, event.binding, EffectContext(self.state))], frozenset(reads))


def _round(value: Real) -> int:
    """Return a number that is the same for equal values; 0 for one that depends on an open number."""
    return 0 if depends_on_range(value) else enclose(value, NEAR)[0] // NEAR
