"""Happenings: how a plan is executed (docs/language.md, section 3), under one of the three readings."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from .effects import Deed, Reading, Undefined, combined, interfere, outcome, touched
from .evaluation import holds, row
from .formulas import (
    NOTHING,
    OFF,
    STEP_PREDICATES,
    Binding,
    Connective,
    Fact,
    Node,
    Preference,
    Quantified,
    reads,
    symbol,
)
from .plan import Step, World
from .task import Action, Phase, Task
from .trace import Change, Delta, Earlier, Interval, State, Trace, View

START, END, LITERAL = "action", "action-end", "literal"
Event = tuple[str, Step]


class Act(NamedTuple):
    """A step, its end or a timed literal at a happening. What it does is ``None`` if that cannot be computed."""

    kind: str
    step: Step
    allowed: bool
    deed: Deed | None
    unmet: list[str]  # preferences in its condition


class Run(NamedTuple):
    """The trace of a plan under a reading, its last state, the steps that failed, and the preferences not met."""

    trace: Trace
    state: State
    failed: tuple[int, ...]
    unmet: list[str]


def agenda(steps: list[Step], task: Task) -> list[tuple[Fraction, list[Event]]]:
    """What happens when. An end at the time of its start comes after it, as a happening of its own."""
    events = dict[tuple[Fraction, bool], list[Event]]()
    horizon = Fraction(0)
    for step in steps:
        events.setdefault((step.time, False), []).append((START, step))
        if step.action:
            horizon = max(horizon, step.time + step.duration if step.action.end else step.time)
            if step.action.end:
                events.setdefault((step.time + step.duration, not step.duration), []).append((END, step))
    for time, effect in task.initial:  # those of time 0 are in S0; those after the last action do not happen
        if time is not None and 0 < time <= horizon:
            action = Action("", {}, Phase(NOTHING, effect))
            literal = Step(0, time, Fraction(0), (), action, {})
            events.setdefault((time, False), []).append((LITERAL, literal))
    return [(time, found) for (time, _), found in sorted(events.items(), key=lambda item: item[0])]


def wishes(f: Node, b: Binding) -> Iterator[tuple[Preference, Binding]]:
    """The preferences of a condition or constraint, each with the objects of the quantifiers around it."""
    match f:
        case Connective("and", members):
            for part in members:
                yield from wishes(part, b)
        case Quantified("forall", variable, objects, part):
            for o in objects:
                yield from wishes(part, {**b, variable: o})
        case Preference():
            yield f, b


def is_unmet(wish: tuple[Preference, Binding], view: View) -> bool:
    """Whether a preference does not hold at letter 0."""
    return bool(row(wish[0].part, wish[1], view)[0][1] < 2)


def unmet(f: Node, b: Binding, view: View) -> list[str]:
    """The preferences of a condition or constraint that do not hold at letter 0."""
    return [wish[0].name for wish in wishes(f, b) if is_unmet(wish, view)]


def timing(step: Step) -> Binding:
    """The binding of a durative step, its duration included."""
    return {**step.binding, "?duration": step.duration, OFF: step.off}


class Execution:
    """Executes the steps of a plan from a state, under the reading "halt", "skip" or "force"."""

    def __init__(self, task: Task, state: State, reading: str, separation: Fraction | None, world: World) -> None:
        self.task = task
        self.state = state
        self.reading = reading
        self.world = world
        self.separation = separation  # the least of happenings that interfere; None: the plan has no times
        self.trace = Trace(state)
        self.failed = set[int]()
        self.dropped = set[int]()  # what failed at its start has no end
        self.unmet = list[str]()
        self.running = dict[int, tuple[Step, int]]()  # with the first letter that lies within it
        self.wishes = dict[int, list[tuple[Preference, Binding]]]()  # over all, of running actions, not yet violated
        self.started = dict[int, int]()  # the letter before the start of each durative action
        self.recent = list[tuple[Fraction, Act]]()
        self._reads = dict[tuple[str, Fact], frozenset[Fact]]()

    def run(self, events: list[tuple[Fraction, list[Event]]]) -> Run:
        """The whole plan."""
        literals = any(kind == LITERAL for _, found in events for kind, _ in found)
        self.trace.timed = self.separation is not None or literals
        for time, found in events:
            self.state.work.spend()
            if not self._happen(time, found):
                break
        for step, first in self.running.values():
            self._lay_within(step, first)
        return Run(self.trace, self.state, tuple(sorted(self.failed)), self.unmet)

    def _happen(self, time: Fraction, events: list[Event]) -> bool:
        """One happening; ``False`` where the reading *halt* ends."""
        halt = self.reading == "halt"
        acts = [self._attempt(kind, s) for kind, s in events if s.action and s.number not in self.dropped]
        mutex = self._interfering(time, acts)
        bad = mutex | {act.step.number for act in acts if not act.allowed}
        self.failed |= bad
        if halt and (bad or any(step.action is None for _, step in events)):
            return False
        done, values = self._effective(acts, bad, mutex)
        delta = self._change([c for act in done if act.deed for c in act.deed.changes], values)
        self.dropped |= {s.number for _, s in events} & bad - {act.step.number for act in done}
        self._keep_running(done)
        broken = self._over_all_broken(done, delta)
        self.failed |= broken
        if halt and broken:
            self._undo(delta)
            return False
        if done:
            self._letter(time, done, delta)
        return True

    # Before a happening: all conditions are read in the state before

    def _attempt(self, kind: str, step: Step) -> Act:
        assert step.action is not None
        phase = step.action.end if kind == END else step.action.start
        assert phase is not None
        if kind == START and step.action.end:
            self.started[step.number] = self.trace.last
        start = Earlier(self.trace, self.started[step.number]) if kind == END else None
        choose = partial(self.world.choose, step.number) if self.world.choose else None
        binding = timing(step) if step.action.end else step.binding
        allowed, deed = holds(phase.condition, binding, self.state), None
        try:
            changes = list(outcome(phase.effect, binding, Reading(self.state, start, choose)))
            combined(changes, self.state.numbers)
            deed = Deed(changes, self._read(kind, step, phase, binding))
        except Undefined:
            allowed = False
        return Act(kind, step, allowed, deed, unmet(phase.condition, binding, self.state))

    def _read(self, kind: str, step: Step, phase: Phase, b: Binding) -> frozenset[Fact]:
        """The ground facts and fluents that a condition, a duration constraint or an effect reads.

        Who reads a derived fact reads all of the predicates and functions that it depends on.
        """
        if not self.trace.timed:
            return frozenset()
        key = kind, step.terms
        if key not in self._reads or not step.number:
            seen = {f for part in phase for f, _ in reads(part, b)}
            seen |= {("*", *name) for f in seen for name in self.task.axioms.behind(symbol(f))}
            self._reads[key] = frozenset(seen)
        return self._reads[key]

    def _interfering(self, time: Fraction, acts: list[Act]) -> set[int]:
        """The steps that fail for interfering: of two the later step, or what happens later, or who is no literal."""
        if self.separation is not None:
            self.recent = [(at, act) for at, act in self.recent if time - at < self.separation]
        else:
            self.recent = []
        able = [act for act in acts if act.deed is not None and (act.allowed or self.reading == "force")]
        mutex = {max(x.step.number, y.step.number) for x, y in _pairs(able, able) if x is not y}
        mutex |= {x.step.number or y.step.number for x, y in _pairs(able, [act for _, act in self.recent])}
        return mutex - {0}

    # The effects of a happening are united

    def _effective(self, acts: list[Act], bad: set[int], mutex: set[int]) -> tuple[list[Act], dict[Fact, Fraction]]:
        """What happens, and the numbers after it; what clashes under *force* is left out."""
        force = self.reading == "force"
        done = [act for act in acts if act.deed is not None and (force or act.step.number not in bad)]
        try:
            return done, combined(_changes(done), self.state.numbers)
        except Undefined:
            done = [act for act in done if act.step.number not in mutex]
            return done, combined(_changes(done), self.state.numbers)

    def _change(self, changes: list[Change], values: dict[Fact, Fraction]) -> Delta:
        """Change the state; what is both deleted and added is true afterwards."""
        state = self.state
        come = dict.fromkeys([f for kind, f, _ in changes if kind == "add"])
        gone = dict.fromkeys([f for kind, f, _ in changes if kind == "delete" and f not in come])
        before = {f: state.numbers.get(f) for f, value in values.items() if state.numbers.get(f) != value}
        delta = Delta([f for f in come if f not in state.facts], [f for f in gone if f in state.facts], before)
        for fact in delta.removed:
            state.facts.discard(fact)
        for fact in delta.added:
            state.facts.add(fact)
        state.numbers.update(values)
        self.task.axioms.maintain(state, delta.added, delta.removed, before)
        return delta

    def _undo(self, delta: Delta) -> None:
        for fact in delta.added:
            self.state.facts.discard(fact)
        for fact in delta.removed:
            self.state.facts.add(fact)
        for fluent, value in delta.numbers.items():
            if value is None:
                del self.state.numbers[fluent]
            else:
                self.state.numbers[fluent] = value

    # Between start and end of durative actions

    def _keep_running(self, done: list[Act]) -> None:
        for act in done:
            if act.kind == START and act.step.action and act.step.action.end:
                self.running[act.step.number] = act.step, self.trace.last + 1
                self.wishes[act.step.number] = list(wishes(act.step.action.over_all or NOTHING, timing(act.step)))
        for number in [*self.dropped & {*self.running}, *(act.step.number for act in done if act.kind == END)]:
            if number in self.running:
                self._lay_within(*self.running.pop(number))

    def _lay_within(self, step: Step, first: int) -> None:
        """The letters up to the last one so far lie within a durative action."""
        if first <= self.trace.last:
            self.trace.take(STEP_PREDICATES["action-during"], step.terms, Interval(first, self.trace.last, step.number))

    def _over_all_broken(self, done: list[Act], delta: Delta) -> set[int]:
        """Running actions whose condition over all does not hold now; it is read again if what it reads changed."""
        new = {act.step.number for act in done}
        changed = {*delta.added, *delta.removed, *delta.numbers}
        result = set[int]()
        for number, (step, _) in self.running.items():
            assert step.action is not None
            over_all = step.action.over_all
            if over_all is None:
                continue
            binding = timing(step)
            unchanged = number not in new and changed.isdisjoint(self._within(step, over_all, binding))
            if (self.state.literal or not unchanged) and not holds(over_all, binding, self.state):
                result.add(number)
        return result

    def _within(self, step: Step, over_all: Node, b: Binding) -> frozenset[Fact]:
        key = "over all", step.terms
        if key not in self._reads:
            self._reads[key] = frozenset([f for f, _ in reads(over_all, b)])
        return self._reads[key]

    # Afterwards: one letter more

    def _letter(self, time: Fraction, done: list[Act], delta: Delta) -> None:
        trace = self.trace
        here = trace.last
        numbers = [act.step.number for act in done if act.step.number]
        trace.append(time, max(numbers, default=trace.steps[-1]), delta, self.state.numbers)
        for act in done:
            self.unmet += act.unmet
            if act.step.number:
                trace.take(STEP_PREDICATES[act.kind], act.step.terms, Interval(here, here, act.step.number))
            if act.kind == START and act.step.number in self.running and not act.step.duration:
                trace.shared.add(trace.last)  # its end is a letter of its own, at the same time
        for number in self.running:
            found = [(wish, is_unmet(wish, self.state)) for wish in self.wishes[number]]
            self.unmet += [wish[0].name for wish, missed in found if missed]
            self.wishes[number] = [wish for wish, missed in found if not missed]
        self.recent += [(time, act) for act in done]


def _changes(acts: Iterable[Act]) -> Iterator[Change]:
    return (change for act in acts if act.deed for change in act.deed.changes)


def _pairs(some: list[Act], others: list[Act]) -> Iterator[tuple[Act, Act]]:
    """All pairs that interfere; only those are tried that have a fact or fluent in common."""
    if not others or (len(others) == 1 and some is others):
        return
    by_fact = defaultdict[Fact, list[int]](list)
    for i, other in enumerate(others):
        for fact in touched(other.deed) if other.deed else ():
            by_fact[fact].append(i)
    for act in some:
        near = {i for fact in (touched(act.deed) if act.deed else ()) for i in by_fact.get(fact, ())}
        for i in sorted(near):
            other = others[i]
            if act.deed and other.deed and interfere(act.deed, other.deed):
                yield act, other
