"""Fast replay of timed plans: happenings of one event that has no other event near it, so that nothing can interfere.

A generated function checks the condition and the duration of such an event, and makes its changes. The conditions over
all of the actions under way are checked only if a change could make them false. All other happenings, and all failures,
are left to :mod:`plansafe.verifier.execution.timed`. Times are whole numbers of ticks.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, lcm
from typing import NamedTuple

from plansafe.verifier.execution.actions import LiftedCode
from plansafe.verifier.execution.happening import END, ILL_FORMED, LITERAL, START, Event
from plansafe.verifier.execution.replay import HALT, STEPS_PER_DEADLINE_CHECK
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep
from plansafe.verifier.execution.timed import TimedReplay, split_by_immediate_ends
from plansafe.verifier.model.footprints import StateVariable, make_empty_footprint
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.model.nodes import Action, Number, Quantified, normal_number
from plansafe.verifier.model.operations import subformulas

MAX_TICKS = 10**18
"""The most ticks of a unit of time."""


_NO_STEPS: dict[int, GroundCode] = {}


class GroundCode(NamedTuple):
    """The code of a step with its objects; ``reads``: the facts and fluents that its condition over all reads."""

    code: LiftedCode
    objects: tuple[int, ...]
    reads: tuple[StateVariable, ...]


class TickAgenda(NamedTuple):
    """The events in order: each key is the event's tick times ``event_count``, plus the event's number.

    The start of the step at position i has number 2 i, its end 2 i + 1; the timed literals come after all steps.
    ``min_gap``: events with at least this many ticks between them are not near each other.
    """

    keys: list[int]
    event_count: int
    ticks_per_unit: int
    min_gap: int


def make_tick_agenda(run: TimedReplay) -> TickAgenda | None:
    """Return the agenda of a replay; ``None`` if its times have no common tick that is large enough."""
    steps, literals = run.plan_steps, run.literals
    denominators = {step.time.denominator for step in steps} | {literal.time.denominator for literal in literals}
    denominators |= {step.duration.denominator for step in steps if step.duration is not None}
    ticks_per_unit = run.tolerance.exact.denominator
    for denominator in denominators:
        ticks_per_unit = lcm(ticks_per_unit, denominator)
        if ticks_per_unit > MAX_TICKS:
            return None

    def count_ticks(time: Number) -> int:
        return time.numerator * (ticks_per_unit // time.denominator)

    event_count = 2 * len(steps) + len(literals)
    keys = []
    for position, step in enumerate(steps):
        tick = count_ticks(step.time)
        keys.append(tick * event_count + 2 * position)
        if isinstance(step.resolved, GroundAction) and step.resolved.action.end is not None:
            keys.append((tick + count_ticks(step.duration or 0)) * event_count + 2 * position + 1)
    for event, literal in enumerate(literals, 2 * len(steps)):
        keys.append(count_ticks(literal.time) * event_count + event)
    keys.sort()
    return TickAgenda(keys, event_count, ticks_per_unit, max(1, ceil(run.tolerance.exact * ticks_per_unit)))


def reads_only_states(run: TimedReplay) -> bool:
    """Whether only states matter to a replay: no observer or rule reads actions, and no action has preferences."""
    reads_actions = run.observer is not None or run.engine.action_predicates
    return not reads_actions and not any([action.preferences for action in run.task.actions.values()])


class FastTimedReplay(TimedReplay):
    """One reading of a timed plan, which uses the general definition only for happenings that need it."""

    def run_happenings(self) -> None:
        """Run all happenings, until one halts the trace."""
        agenda = make_tick_agenda(self) if reads_only_states(self) else None
        if agenda is None:
            super().run_happenings()
        else:
            IsolatedEvents(self, agenda).run_all()


class IsolatedEvents:
    """Runs all happenings of a timed replay: isolated events itself, the others by the general definition.

    Linear in the events, and for each in the conditions over all that its changes could make false.
    """

    def __init__(self, run: TimedReplay, agenda: TickAgenda) -> None:
        self.run = run
        self.agenda = agenda
        self._axioms = run.engine.axioms
        self._is_watched = run.runtime is not None or run.trace is not None
        self._unset_tick: int | None = None
        """The tick of the last isolated event, if the replay's time is not set to it yet."""
        self._code_by_step: dict[int, GroundCode | None] = {}
        """By identity of a resolved step; ``None``: it cannot be compiled."""
        self._running_steps: dict[int, TimedStep] = {}
        """By number, the steps under way."""
        self._over_all_readers: dict[StateVariable, dict[int, GroundCode]] = {}
        """By fact or fluent, the steps under way (by number) whose condition over all reads it."""
        self._is_regular = True
        """Whether the conditions over all of all steps under way hold and are compiled."""

    def run_all(self) -> None:
        """Run all happenings, until one halts the trace."""
        run = self.run
        keys, event_count, _, min_gap = self.agenda
        position, last_position = 0, len(keys) - 1
        tick_before = keys[0] // event_count - min_gap if keys else 0  # of the happening before
        steps, code_by_step, dropped_steps = run.plan_steps, self._code_by_step, run.dropped_steps
        while position <= last_position:
            if position % STEPS_PER_DEADLINE_CHECK == 0:
                check_deadline(self.run.deadline)
            tick, event = divmod(keys[position], event_count)
            tick_after = keys[position + 1] // event_count if position < last_position else tick + min_gap
            is_isolated = tick - tick_before >= min_gap and tick_after - tick >= min_gap
            if is_isolated and self._is_regular and event < 2 * len(steps):
                step, is_end = steps[event // 2], event % 2 == 1
                identity = id(step.resolved)
                code = code_by_step[identity] if identity in code_by_step else self._get_ground_code(step)
                if code is not None and step.number not in dropped_steps and self._take(step, code, is_end):
                    self._record_event(tick, step.number, is_end)
                    tick_before = tick
                    position += 1
                    continue
            first_position = position
            while position <= last_position and keys[position] // event_count == tick:
                position += 1
            events = [key % event_count for key in keys[first_position:position]]
            if not self._run_general_happening(tick, events):
                return
            tick_before = tick
        self._update_replay()

    # -- isolated events ----------------------------------------------------------------------------------------------

    def _take(self, step: TimedStep, ground_code: GroundCode, is_end: bool) -> bool:
        """Make the changes of an isolated event; False, without a change, if the general definition must decide."""
        state, log, number = self.run.state, self.run.log, step.number
        facts, fluents = state.facts, state.fluents
        code = ground_code.code
        take = code.end if is_end else code.start
        assert take is not None
        begins = not is_end and code.end is not None
        try:
            if not take(facts, fluents, log, step.duration, *ground_code.objects):
                return False
        except (KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        if self._axioms is not None:
            self._axioms.update(facts, fluents, log)
        try:
            holds = not begins or code.over_all is None or code.over_all(facts, fluents, *ground_code.objects)
            holds = holds and self._keeps_over_all(log, number)
        except (KeyError, ZeroDivisionError):
            holds = False
        if not holds:
            state.undo(log)
            return False
        if is_end:
            self._finish(number, ground_code)
        elif begins:
            self._begin(step, ground_code)
        return True

    def _record_event(self, tick: int, number: int, is_end: bool) -> None:
        """Start the letter after an isolated event."""
        run = self.run
        kind = END if is_end else START
        if self._is_watched:
            run.enter_isolated_state(normal_number(Fraction(tick, self.agenda.ticks_per_unit)), number, kind)
            return
        assert run.events is not None
        assert run.step_of_letter is not None
        run.log.clear()
        if not is_end:
            run.executed_count += 1
        run.letter += 1
        run.events[run.letter] = ((number, kind),)
        run.step_of_letter.append(number)
        self._unset_tick = tick

    def _keeps_over_all(self, log: list[StateChange], ending: int) -> bool:
        """Whether changes keep the conditions over all true, except for the step ``ending``, which may be ending."""
        readers = self._over_all_readers
        facts, fluents = self.run.state.facts, self.run.state.fluents
        for symbol_index, code, _ in log:
            for number, ground in readers.get((symbol_index, code), _NO_STEPS).items():
                over_all = ground.code.over_all
                if number != ending and over_all is not None and not over_all(facts, fluents, *ground.objects):
                    return False
        return True

    def _begin(self, step: TimedStep, ground_code: GroundCode) -> None:
        """Record that a step is under way from now on."""
        self._running_steps[step.number] = step
        for key in ground_code.reads:
            self._over_all_readers.setdefault(key, {})[step.number] = ground_code

    def _finish(self, number: int, ground_code: GroundCode) -> None:
        """Record that a step is not under way any more."""
        self._running_steps.pop(number, None)
        for key in ground_code.reads:
            self._over_all_readers[key].pop(number, None)

    # -- other happenings --------------------------------------------------------------------------------------------

    def _run_general_happening(self, tick: int, numbers: list[int]) -> bool:
        """Run the happenings of a tick by the general definition; False if the trace halts before one."""
        run = self.run
        check_deadline(run.deadline)
        self._update_replay()
        time = normal_number(Fraction(tick, self.agenda.ticks_per_unit))
        for batch in split_by_immediate_ends(time, [self._make_event(number) for number in numbers]):
            if not run.run_happening(time, batch):
                return False
        self._read_replay()
        return True

    def _make_event(self, number: int) -> Event:
        """Return the event with a number of the agenda."""
        steps = self.run.plan_steps
        if number >= 2 * len(steps):
            return Event(LITERAL, None, self.run.literals[number - 2 * len(steps)])
        step = steps[number // 2]
        if isinstance(step.resolved, IllFormed):
            return Event(ILL_FORMED, step)
        return Event(END if number % 2 else START, step)

    def _update_replay(self) -> None:
        """Set the time and the actions under way of the replay."""
        if self._unset_tick is not None:
            self.run.time = normal_number(Fraction(self._unset_tick, self.agenda.ticks_per_unit))
            self._unset_tick = None
        self.run.running = list(self._running_steps.values())

    def _read_replay(self) -> None:
        """Take over the steps under way from the replay, after a happening by the general definition."""
        running = {step.number: step for step in self.run.running}
        for number in [number for number in self._running_steps if number not in running]:
            ground_code = self._get_ground_code(self._running_steps[number])
            if ground_code is None:
                del self._running_steps[number]
            else:
                self._finish(number, ground_code)
        self._is_regular = not self.run.stopping_steps
        for number, step in running.items():
            ground_code = self._get_ground_code(step)
            if ground_code is None:
                self._running_steps[number] = step
                self._is_regular = self._is_regular and not _has_over_all(step)
            elif number not in self._running_steps:
                self._begin(step, ground_code)
        self._is_regular = self._is_regular and (self.run.reading == HALT or not self.run.has_false_over_all())

    # -- compilation ---------------------------------------------------------------------------------------------------

    def _get_ground_code(self, step: TimedStep) -> GroundCode | None:
        """Return the code of a step, compiled at first use; ``None`` if it cannot be compiled."""
        identity, resolved = id(step.resolved), step.resolved
        if identity not in self._code_by_step:
            self._code_by_step[identity] = self._compile(resolved) if isinstance(resolved, GroundAction) else None
        return self._code_by_step[identity]

    def _compile(self, step: GroundAction) -> GroundCode | None:
        """Return the code of a step; ``None`` if it cannot be compiled."""
        action = step.action
        timed_code, key = self.run.engine.timed_code, (id(action), self.run.tolerance.exact)
        if key not in timed_code:
            timed_code[key] = self._compile_lifted(action)
        code = timed_code[key]
        if code is None:
            return None
        footprint = make_empty_footprint()
        self.run.engine.footprints.add_reads(action.over_all, step.binding, footprint)
        return GroundCode(code, step.objects, tuple(footprint.reads))

    def _compile_lifted(self, action: Action) -> LiftedCode | None:
        """Return the code of an action; ``None`` if its start, end or condition over all cannot be compiled."""
        has_quantifier = any([isinstance(f, Quantified) for part in action.over_all for f in subformulas(part)])
        compiler, exact_tolerance = self.run.engine.full_code, self.run.tolerance.exact
        start = compiler.compile_snap(action, at_end=False, tolerance=exact_tolerance)
        end = compiler.compile_snap(action, at_end=True, tolerance=exact_tolerance)
        if has_quantifier or start is None or (end is None and action.end is not None):
            return None
        over_all = None
        if action.over_all:
            over_all = compiler.compile_conjunction(action.over_all, [v.slot for v in action.parameters])
        return LiftedCode(action, start, end, over_all)


def _has_over_all(step: TimedStep) -> bool:
    return isinstance(step.resolved, GroundAction) and bool(step.resolved.action.over_all)
