"""Timed plans without the general definition where it is not needed: happenings of one event that no other is near.

Nothing can interfere there. A generated function tests the condition and the duration, and makes the changes; the
conditions over all of the actions under way are tested where a change could make them false. Whatever else there is,
and whatever is not as it should be, is left to :mod:`plansafe.verifier.execution.timed`, in the same state. Times are
counted in ticks, of which every time of the plan is a whole number.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf, lcm
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.actions import LiftedCode
from plansafe.verifier.execution.replay import HALT
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed, TimedStep
from plansafe.verifier.execution.timed import END, ILL_FORMED, START, Event, TimedReplay
from plansafe.verifier.model.footprints import StateVariable, empty_footprint
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Action, Quantified, normal_number
from plansafe.verifier.model.operations import subformulas

MAX_TICKS = 10**18
"""The most ticks of a unit of time."""


class GroundCode(NamedTuple):
    """An action with its objects. ``reads``: what its condition over all depends on."""

    code: LiftedCode
    objects: tuple[int, ...]
    reads: tuple[StateVariable, ...]


class TickAgenda(NamedTuple):
    """What happens, in order: the tick of each event and the event, in one number.

    Events are numbered: start and end of the steps in turn, then the timed literals. ``gap``: the ticks apart from
    which on two events are not near each other.
    """

    keys: list[int]
    events: int
    unit: int
    gap: int


def tick_agenda(run: TimedReplay) -> TickAgenda | None:
    """The agenda of a run; ``None`` if its times have no small common unit."""
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
    for place, step in enumerate(steps):
        time = step.time
        tick = time.numerator * (unit // time.denominator)
        keys.append(tick * events + 2 * place)
        taken = step.resolved
        if isinstance(taken, GroundAction) and taken.action.end is not None:
            lasts = step.duration or 0
            keys.append((tick + lasts.numerator * (unit // lasts.denominator)) * events + 2 * place + 1)
    for place, literal in enumerate(literals, 2 * len(steps)):
        keys.append(literal.time.numerator * (unit // literal.time.denominator) * events + place)
    keys.sort()
    return TickAgenda(keys, events, unit, max(1, ceil(run.tolerance.exact * unit)))


def watches_only_states(run: TimedReplay) -> bool:
    """Whether only states are watched: no rule reads which actions happen, and no preference counts them."""
    watched = run.observer is not None or run.engine.action_predicates
    return not watched and not any([action.preferences for action in run.task.actions.values()])


class FastTimedReplay(TimedReplay):
    """One reading of a timed plan that leaves to the general definition only the happenings which need it."""

    def happenings(self) -> None:
        """Run all happenings, until one halts the trace."""
        agenda = tick_agenda(self) if watches_only_states(self) else None
        if agenda is None:
            super().happenings()
        else:
            IsolatedEvents(self, agenda).all()


class IsolatedEvents:
    """Runs all happenings of a timed run, itself those that are apart.

    Linear in the events; at each, in the conditions over all that what changes could make false.
    """

    def __init__(self, run: TimedReplay, agenda: TickAgenda) -> None:
        self.run = run
        self.agenda = agenda
        self._axioms = run.engine.axioms
        self._watched = run.runtime is not None or run.trace is not None
        self._tick: int | None = None  # of the last event taken here, of which the run has not been told
        self._ground: dict[int, GroundCode | None] = {}
        self._under_way: dict[int, TimedStep] = {}
        self._watching: dict[StateVariable, dict[int, GroundCode]] = {}
        self._free = True  # whether all conditions over all hold, and no action has been dropped that is under way

    def all(self) -> None:
        """Run all happenings, until one halts the trace."""
        run = self.run
        keys, count, _, gap = self.agenda
        position, before = 0, -inf  # before: the tick of the happening before
        last = len(keys) - 1
        steps, ground, dropped = run.plan_steps, self._ground, run.dropped
        while position <= last:
            if position % 256 == 0:
                self._mind_the_time()
            tick, event = divmod(keys[position], count)
            after = keys[position + 1] // count if position < last else inf
            if self._free and tick - before >= gap and after - tick >= gap and event < 2 * len(steps):
                step = steps[event >> 1]
                known = id(step.resolved)
                action = ground[known] if known in ground else self._resolve(step)
                if action is not None and step.number not in dropped and self._take(step, action, event & 1):
                    self._record_event(tick, step.number, event & 1)
                    before = tick
                    position += 1
                    continue
            first = position
            while position <= last and keys[position] // count == tick:
                position += 1
            if not self._general(tick, [key % count for key in keys[first:position]]):
                return
            before = tick
        self._hand_over()

    def _mind_the_time(self) -> None:
        if self.run.deadline is not None and monotonic() > self.run.deadline:
            raise LimitReached(LimitKind.TIME)

    # -- apart --------------------------------------------------------------------------------------------------------

    def _take(self, step: TimedStep, ground: GroundCode, ends: int) -> bool:
        """Make the changes of an event; False, with nothing changed, if that is not for here to decide."""
        state, log, number = self.run.state, self.run.log, step.number
        facts, fluents = state.facts, state.fluents
        code = ground.code
        take = code.end if ends else code.start
        assert take is not None
        starts = not ends and code.end is not None
        try:
            if not take(facts, fluents, log, step.duration, *ground.objects):
                return False
        except (KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        if self._axioms is not None:
            self._axioms.update(facts, fluents, log)
        try:
            holds = not starts or code.over_all is None or code.over_all(facts, fluents, *ground.objects)
            holds = holds and self._still(log, number)
        except (KeyError, ZeroDivisionError):
            holds = False
        if not holds:
            state.undo(log)
            return False
        if ends:
            self._finish(number, ground)
        elif starts:
            self._begin(step, ground)
        return True

    def _record_event(self, tick: int, number: int, ends: int) -> None:
        """The letter that an event has led to."""
        run = self.run
        kind = END if ends else START
        if self._watched:
            run.arrive_alone(normal_number(Fraction(tick, self.agenda.unit)), number, kind)
            return
        assert run.events is not None
        assert run.step_of_letter is not None
        run.log.clear()
        if not ends:
            run.executed += 1
        run.letter += 1
        run.events[run.letter] = ((number, kind),)
        run.step_of_letter.append(number)
        self._tick = tick

    def _still(self, log: list[StateChange], but: int) -> bool:
        """Whether changes leave the conditions over all true, ``but`` that of a step which ends."""
        watching = self._watching
        facts, fluents = self.run.state.facts, self.run.state.fluents
        for index, code, _ in log:
            for number, ground in watching.get((index, code), _NONE).items():
                over_all = ground.code.over_all
                if number != but and over_all is not None and not over_all(facts, fluents, *ground.objects):
                    return False
        return True

    def _begin(self, step: TimedStep, ground: GroundCode) -> None:
        self._under_way[step.number] = step
        for key in ground.reads:
            self._watching.setdefault(key, {})[step.number] = ground

    def _finish(self, number: int, ground: GroundCode) -> None:
        self._under_way.pop(number, None)
        for key in ground.reads:
            self._watching[key].pop(number, None)

    # -- everything else ----------------------------------------------------------------------------------------------

    def _general(self, tick: int, numbers: list[int]) -> bool:
        """A happening by the general definition; False if the trace halts before it."""
        run = self.run
        self._mind_the_time()
        self._hand_over()
        time = normal_number(Fraction(tick, self.agenda.unit))
        for batch in run.at_one_time(time, [self._event(number) for number in numbers]):
            if not run.happening(time, batch):
                return False
        self._take_back()
        return True

    def _event(self, number: int) -> Event:
        steps = self.run.plan_steps
        if number >= 2 * len(steps):
            return Event("literal", None, self.run.literals[number - 2 * len(steps)])
        step = steps[number >> 1]
        if isinstance(step.resolved, IllFormed):
            return Event(ILL_FORMED, step)
        return Event(END if number & 1 else START, step)

    def _hand_over(self) -> None:
        """Give the run what is known here: the time, and the actions under way."""
        if self._tick is not None:
            self.run.time = normal_number(Fraction(self._tick, self.agenda.unit))
            self._tick = None
        self.run.running = list(self._under_way.values())

    def _take_back(self) -> None:
        running = {step.number: step for step in self.run.running}
        for number in [number for number in self._under_way if number not in running]:
            ground = self._resolve(self._under_way[number])
            if ground is None:
                del self._under_way[number]
            else:
                self._finish(number, ground)
        self._free = not self.run.pending
        for number, step in running.items():
            ground = self._resolve(step)
            if ground is None:
                self._under_way[number] = step
                self._free = self._free and not _lasting(step)
            elif number not in self._under_way:
                self._begin(step, ground)
        self._free = self._free and (self.run.reading == HALT or not self.run.broken_over_all())

    # -- what is compiled ---------------------------------------------------------------------------------------------

    def _resolve(self, step: TimedStep) -> GroundCode | None:
        """The code of a step with what it reads over all; ``None`` if there is none. Equal steps share it."""
        known = id(step.resolved)
        if known not in self._ground:
            self._ground[known] = self._compile(step.resolved) if isinstance(step.resolved, GroundAction) else None
        return self._ground[known]

    def _compile(self, taken: GroundAction) -> GroundCode | None:
        action = taken.action
        lifted, key = self.run.engine.timed_code, (id(action), self.run.tolerance.exact)
        if key not in lifted:
            lifted[key] = self._lift(action)
        code = lifted[key]
        if code is None:
            return None
        found = empty_footprint()
        self.run.engine.footprints.add_reads(action.over_all, taken.binding, found)
        return GroundCode(code, taken.objects, tuple(found.reads))

    def _lift(self, action: Action) -> LiftedCode | None:
        quantified = any([isinstance(f, Quantified) for part in action.over_all for f in subformulas(part)])
        compiler, within = self.run.engine.full_code, self.run.tolerance.exact
        start = compiler.snap_function(action, False, within)
        end = None if action.end is None else compiler.snap_function(action, True, within)
        if quantified or start is None or (end is None) != (action.end is None):
            return None
        over_all = compiler.condition(action.over_all, [v.slot for v in action.parameters]) if action.over_all else None
        return LiftedCode(action, start, end, over_all)


def _lasting(step: TimedStep) -> bool:
    return isinstance(step.resolved, GroundAction) and bool(step.resolved.action.over_all)


_NONE: dict[int, GroundCode] = {}
