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
from plansafe.verifier.execution.happening import END, ILL_FORMED, START, Event
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep
from plansafe.verifier.execution.timed import TimedReplay, split_by_immediate_ends
from plansafe.verifier.model.footprints import StateVariable, make_empty_footprint
from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.model.nodes import Action, Quantified, normal_number
from plansafe.verifier.model.operations import subformulas

MAX_TICKS = 10**18
"""The most ticks of a unit of time."""


class GroundCode(NamedTuple):
    """An action with its objects; ``reads``: the facts and fluents that its condition over all reads."""

    code: LiftedCode
    objects: tuple[int, ...]
    reads: tuple[StateVariable, ...]


class TickAgenda(NamedTuple):
    """The events in order; each key encodes a tick and the number of an event.

    Events are numbered: start and end of each step in turn, then the timed literals. ``gap``: events with at least this
    many ticks between them are not near each other.
    """

    keys: list[int]
    events: int
    unit: int
    gap: int


def make_tick_agenda(run: TimedReplay) -> TickAgenda | None:
    """The agenda of a replay; ``None`` if its times have no small common unit."""
    steps, literals = run.plan_steps, run.literals
    numbers = {step.time.denominator for step in steps} | {literal.time.denominator for literal in literals}
    numbers |= {step.duration.denominator for step in steps if step.duration is not None}
    unit = run.tolerance.exact.denominator
    for number in numbers:
        unit = lcm(unit, number)
        if unit > MAX_TICKS:
            return None
    events = 2 * len(steps) + len(literals)
    keys = []
    for position, step in enumerate(steps):
        time = step.time
        tick = time.numerator * (unit // time.denominator)
        keys.append(tick * events + 2 * position)
        if isinstance(step.resolved, GroundAction) and step.resolved.action.end is not None:
            duration = step.duration or 0
            end_tick = tick + duration.numerator * (unit // duration.denominator)
            keys.append(end_tick * events + 2 * position + 1)
    for position, literal in enumerate(literals, 2 * len(steps)):
        keys.append(literal.time.numerator * (unit // literal.time.denominator) * events + position)
    keys.sort()
    return TickAgenda(keys, events, unit, max(1, ceil(run.tolerance.exact * unit)))


def watches_only_states(run: TimedReplay) -> bool:
    """Whether only states are watched: no rule reads actions, and no action has preferences."""
    watches_actions = run.observer is not None or run.engine.action_predicates
    return not watches_actions and not any([action.preferences for action in run.task.actions.values()])


class FastTimedReplay(TimedReplay):
    """One reading of a timed plan, which uses the general definition only for happenings that need it."""

    def run_happenings(self) -> None:
        """Run all happenings, until one halts the trace."""
        agenda = make_tick_agenda(self) if watches_only_states(self) else None
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
        self._watched = run.runtime is not None or run.trace is not None
        self._tick: int | None = None  # of the last isolated event, if the replay's time is not set yet
        self._ground_code: dict[int, GroundCode | None] = {}
        self._under_way: dict[int, TimedStep] = {}
        self._watching: dict[StateVariable, dict[int, GroundCode]] = {}
        self._is_regular = True  # all conditions over all hold, and all steps under way are compiled

    def run_all(self) -> None:
        """Run all happenings, until one halts the trace."""
        run = self.run
        keys, count, _, gap = self.agenda
        position = 0
        before = keys[0] // count - gap if keys else 0  # the tick of the happening before
        last = len(keys) - 1
        steps, ground_code, dropped = run.plan_steps, self._ground_code, run.dropped
        while position <= last:
            if position % 256 == 0:
                check_deadline(self.run.deadline)
            tick, event = divmod(keys[position], count)
            after = keys[position + 1] // count if position < last else tick + gap
            if self._is_regular and tick - before >= gap and after - tick >= gap and event < 2 * len(steps):
                step = steps[event >> 1]
                identity = id(step.resolved)
                action = ground_code[identity] if identity in ground_code else self._find_ground_code(step)
                if action is not None and step.number not in dropped and self._take(step, action, event & 1):
                    self._record_event(tick, step.number, event & 1)
                    before = tick
                    position += 1
                    continue
            first = position
            while position <= last and keys[position] // count == tick:
                position += 1
            if not self._run_general(tick, [key % count for key in keys[first:position]]):
                return
            before = tick
        self._update_replay()

    # -- isolated events ----------------------------------------------------------------------------------------------

    def _take(self, step: TimedStep, ground_code: GroundCode, ends: int) -> bool:
        """Make the changes of an isolated event; False, without a change, if the general definition must decide."""
        state, log, number = self.run.state, self.run.log, step.number
        facts, fluents = state.facts, state.fluents
        code = ground_code.code
        take = code.end if ends else code.start
        assert take is not None
        starts = not ends and code.end is not None
        try:
            if not take(facts, fluents, log, step.duration, *ground_code.objects):
                return False
        except (KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        if self._axioms is not None:
            self._axioms.update(facts, fluents, log)
        try:
            holds = not starts or code.over_all is None or code.over_all(facts, fluents, *ground_code.objects)
            holds = holds and self._keeps_over_all(log, number)
        except (KeyError, ZeroDivisionError):
            holds = False
        if not holds:
            state.undo(log)
            return False
        if ends:
            self._finish(number, ground_code)
        elif starts:
            self._begin(step, ground_code)
        return True

    def _record_event(self, tick: int, number: int, ends: int) -> None:
        """Start the letter after an isolated event."""
        run = self.run
        kind = END if ends else START
        if self._watched:
            run.enter_state_alone(normal_number(Fraction(tick, self.agenda.unit)), number, kind)
            return
        assert run.events is not None
        assert run.step_of_letter is not None
        run.log.clear()
        if not ends:
            run.executed_count += 1
        run.letter += 1
        run.events[run.letter] = ((number, kind),)
        run.step_of_letter.append(number)
        self._tick = tick

    def _keeps_over_all(self, log: list[StateChange], ending: int) -> bool:
        """Whether changes keep the conditions over all true, except for the step ``ending``."""
        watching = self._watching
        facts, fluents = self.run.state.facts, self.run.state.fluents
        for index, code, _ in log:
            for number, ground in watching.get((index, code), _NO_STEPS).items():
                over_all = ground.code.over_all
                if number != ending and over_all is not None and not over_all(facts, fluents, *ground.objects):
                    return False
        return True

    def _begin(self, step: TimedStep, ground_code: GroundCode) -> None:
        self._under_way[step.number] = step
        for key in ground_code.reads:
            self._watching.setdefault(key, {})[step.number] = ground_code

    def _finish(self, number: int, ground_code: GroundCode) -> None:
        self._under_way.pop(number, None)
        for key in ground_code.reads:
            self._watching[key].pop(number, None)

    # -- other happenings --------------------------------------------------------------------------------------------

    def _run_general(self, tick: int, numbers: list[int]) -> bool:
        """A happening by the general definition; False if the trace halts before it."""
        run = self.run
        check_deadline(run.deadline)
        self._update_replay()
        time = normal_number(Fraction(tick, self.agenda.unit))
        for batch in split_by_immediate_ends(time, [self._make_event(number) for number in numbers]):
            if not run.run_happening(time, batch):
                return False
        self._read_replay()
        return True

    def _make_event(self, number: int) -> Event:
        steps = self.run.plan_steps
        if number >= 2 * len(steps):
            return Event("literal", None, self.run.literals[number - 2 * len(steps)])
        step = steps[number >> 1]
        if isinstance(step.resolved, IllFormed):
            return Event(ILL_FORMED, step)
        return Event(END if number & 1 else START, step)

    def _update_replay(self) -> None:
        """Set the time and the actions under way of the replay."""
        if self._tick is not None:
            self.run.time = normal_number(Fraction(self._tick, self.agenda.unit))
            self._tick = None
        self.run.running = list(self._under_way.values())

    def _read_replay(self) -> None:
        running = {step.number: step for step in self.run.running}
        for number in [number for number in self._under_way if number not in running]:
            ground_code = self._find_ground_code(self._under_way[number])
            if ground_code is None:
                del self._under_way[number]
            else:
                self._finish(number, ground_code)
        self._is_regular = not self.run.pending
        for number, step in running.items():
            ground_code = self._find_ground_code(step)
            if ground_code is None:
                self._under_way[number] = step
                self._is_regular = self._is_regular and not _has_over_all(step)
            elif number not in self._under_way:
                self._begin(step, ground_code)
        self._is_regular = self._is_regular and (self.run.reading == HALT or not self.run.has_false_over_all())

    # -- compilation ---------------------------------------------------------------------------------------------------

    def _find_ground_code(self, step: TimedStep) -> GroundCode | None:
        """The code of a step, which equal steps share; ``None`` if it cannot be compiled."""
        identity, resolved = id(step.resolved), step.resolved
        if identity not in self._ground_code:
            self._ground_code[identity] = self._compile(resolved) if isinstance(resolved, GroundAction) else None
        return self._ground_code[identity]

    def _compile(self, step: GroundAction) -> GroundCode | None:
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
        quantified = any([isinstance(f, Quantified) for part in action.over_all for f in subformulas(part)])
        compiler, exact_tolerance = self.run.engine.full_code, self.run.tolerance.exact
        start = compiler.compile_snap(action, False, exact_tolerance)
        end = None if action.end is None else compiler.compile_snap(action, True, exact_tolerance)
        if quantified or start is None or (end is None) != (action.end is None):
            return None
        over_all = (
            compiler.compile_conjunction(action.over_all, [v.slot for v in action.parameters])
            if action.over_all
            else None
        )
        return LiftedCode(action, start, end, over_all)


def _has_over_all(step: TimedStep) -> bool:
    return isinstance(step.resolved, GroundAction) and bool(step.resolved.action.over_all)


_NO_STEPS: dict[int, GroundCode] = {}
