"""What the rules remember at one node of a search: monitors that are shared until a step touches them.

The monitors are those of ``execution.monitors``; only the bookkeeping of :class:`Runtime` is done anew, so
that a search can branch for the price of the few monitors that a step concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import Latch, LatchedCheck, truth_of
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction

Find = Callable[..., None]
StateMonitor = Invariant | Automaton


class Broken(NamedTuple):
    """An instance of a part that is violated (or cannot be decided): at the step's departure or on its arrival."""

    part: int
    binding: tuple[int, ...]
    arrival: bool


class Dispatch:
    """From predicates to the monitors (by number) that care; shared by all nodes of a search."""

    def __init__(self, runtime: Runtime) -> None:
        size = len(runtime.plan.task.predicates) + len(runtime.plan.task.functions)
        self.readers: list[list[int]] = [[] for _ in range(size)]
        self.added: list[list[tuple[int, Find]]] = [[] for _ in range(size)]
        self.deleted: list[list[tuple[int, Find]]] = [[] for _ in range(size)]
        for number, monitor in enumerate(runtime.monitors):
            reads = {predicate for predicate, _, _ in monitor.triggers()} | set(monitor.readers.by_predicate)
            if isinstance(monitor, Automaton):
                reads |= set(monitor.everything.by_predicate)
            for predicate, added, find in monitor.triggers():
                if added is not False:
                    self.added[predicate].append((number, find))
                if added is not True:
                    self.deleted[predicate].append((number, find))
            for predicate in reads:
                self.readers[predicate].append(number)
        self.checks = runtime.checks
        plan = runtime.plan
        self.soft = frozenset([n for n, part in enumerate(plan.parts) if plan.rules[part.rule].preference])
        """Parts of preferences, which may be violated."""
        clocks = [m.program for m in runtime.monitors if isinstance(m, Automaton)]
        self.timed = any([program.timed or program.clocked for program in clocks])
        """Whether the number of a letter matters to some rule."""


class NodeMonitors:
    """The monitors at one node. Never changed once made; :meth:`after` makes the next one."""

    __slots__ = ("acting", "awake", "broken", "dispatch", "keys", "letter", "monitors", "tables")

    def __init__(self, dispatch: Dispatch, monitors: list[StateMonitor], tables: FactIndexes, letter: int) -> None:
        self.dispatch = dispatch
        self.monitors = monitors
        self.tables = tables
        self.letter = letter
        self.awake: frozenset[int] = frozenset()
        self.acting: frozenset[int] = frozenset()
        self.broken: tuple[Broken, ...] = ()
        self.keys: tuple[Hashable, ...] = ()

    @classmethod
    def start(cls, engine: Engine, state: State) -> NodeMonitors | None:
        """The monitors at S0; ``None`` if no rule watches anything."""
        runtime = engine.runtime(False, state)
        if runtime is None:
            return None
        watch = cls(Dispatch(runtime), list(runtime.monitors), runtime.indexes, 0)
        watch.awake = frozenset(runtime._awake)
        watch.acting = frozenset(runtime._acting_due)
        watch._conclude(range(len(runtime.monitors)), [(p, ()) for p in runtime.too_large])
        return watch

    def key(self) -> Hashable:
        """What decides, with the state, all that the rules will say."""
        return (self.keys, self.letter) if self.dispatch.timed else self.keys

    def after(
        self, engine: Engine, before: State, step: GroundAction, after: State, log: list[StateChange]
    ) -> NodeMonitors:
        """The monitors after ``step`` was taken in ``before`` and led to ``after`` by the changes in ``log``."""
        turn = _Turn(self)
        moment = LetterTime(self.letter, self.letter, False)
        action_fact = engine.action_fact("start", step) if engine.acting else None
        due_after: list[StepCheck] = []
        lates: list[LatchedCheck] = []
        troubled: list[tuple[int, tuple[int, ...]]] = []
        acting = dict.fromkeys(self.acting)
        if action_fact is not None:
            predicate, code = action_fact
            before.facts[predicate].add(code)
            turn.changed(before, [(predicate, code, True)], acting)
            for original in self.dispatch.checks.get(predicate, ()):
                check = original.fork()
                check.violations = []
                check.undecided = set()
                check.depart(before, turn.tables, code, moment)
                if isinstance(check, LatchedCheck):
                    lates.append(check)
                    continue
                troubled += [(v.part, v.binding) for v in check.violations]
                troubled += [(check.part, binding) for binding in check.undecided]
                if check.after:
                    due_after.append(check)
        still: dict[int, None] = {}
        for number in acting:
            monitor = turn.own(number)
            monitor.step(before, moment)
            if monitor.awake:
                still[number] = None
        acting = still
        for late in lates:
            late.conclude(before, truth_of(turn.monitors), moment)
            troubled += [(v.part, v.binding) for v in late.violations]
            troubled += [(late.part, binding) for binding in late.undecided]
        if action_fact is not None:
            before.facts[action_fact[0]].discard(action_fact[1])
            turn.changed(before, [(*action_fact, False)], acting)
        next_ = NodeMonitors(self.dispatch, turn.monitors, turn.tables, self.letter + 1)
        arrived = LetterTime(self.letter + 1, self.letter + 1, False)
        due = dict.fromkeys(self.awake)
        turn.changed(after, log, due)
        awake = set(self.awake)
        for number in due:
            monitor = turn.own(number)
            if monitor.acting:
                acting[number] = None
                continue
            monitor.step(after, arrived)
            (awake.add if monitor.awake else awake.discard)(number)
        broken = [Broken(*pair, False) for pair in troubled]
        for check in due_after:
            check.arrive(after, arrived)
            broken += [Broken(v.part, v.binding, True) for v in check.violations]
            broken += [Broken(check.part, binding, True) for binding in check.undecided]
        next_.awake, next_.acting = frozenset(awake), frozenset(acting)
        next_.keys = self.keys
        next_._conclude(turn.owned)
        next_.broken = (*[b for b in broken if b.part not in self.dispatch.soft], *next_.broken)
        return next_

    def _conclude(self, numbers: Iterable[int], broken: Iterable[tuple[int, tuple[int, ...]]] = ()) -> None:
        """Note what is violated, and the keys of the monitors that were touched."""
        keys = list(self.keys) or [None] * len(self.monitors)
        found = [Broken(*pair, True) for pair in broken]
        for number in numbers:
            monitor = self.monitors[number]
            keys[number] = _key(monitor)
            found += _violated(monitor)
        self.keys = tuple(keys)
        self.broken = tuple([b for b in found if b.part not in self.dispatch.soft])

    def finish(self, state: State) -> tuple[Broken, ...]:
        """What is violated if the plan ends here."""
        out: list[Broken] = []
        moment = LetterTime(self.letter, self.letter, False)
        for number, shared in enumerate(self.monitors):
            monitor = shared.fork()
            if number in self.acting:
                monitor.step(state, moment)
            monitor.finish(state, self.letter)
            out += [Broken(v.part, v.binding, True) for v in monitor.violations]
            out += [Broken(monitor.part, binding, True) for binding in monitor.undecided]
        return tuple([b for b in out if b.part not in self.dispatch.soft])


class _Turn:
    """The monitors while one step is judged: copied when first touched."""

    def __init__(self, watch: NodeMonitors) -> None:
        self.dispatch = watch.dispatch
        self.monitors = list(watch.monitors)
        self.tables = watch.tables.fork()
        self.owned: set[int] = set()

    def own(self, number: int) -> StateMonitor:
        if number not in self.owned:
            self.owned.add(number)
            self.monitors[number] = self.monitors[number].fork()
        return self.monitors[number]

    def changed(self, state: State, log: Iterable[StateChange], due: dict[int, None]) -> None:
        self.tables.update(log)
        facts, fluents, tables = state.facts, state.fluents, self.tables.tables
        dispatch = self.dispatch
        for predicate, code, value in log:
            readers = dispatch.readers[predicate]
            if not readers:
                continue
            for number in readers:
                if not self.monitors[number].concerned(predicate, code):
                    continue
                self.own(number).read(predicate, code)
                due[number] = None
            for number, find in dispatch.added[predicate] if value else dispatch.deleted[predicate]:
                found: list[tuple[int, ...]] = []
                find(facts, fluents, tables, code, found)
                if found:
                    self.own(number).candidates.extend(found)
                    due[number] = None


def _key(monitor: StateMonitor) -> Hashable:
    if isinstance(monitor, Invariant):
        return None  # a node whose state violates one is dead
    default = monitor.default.state
    own = frozenset([(b, i.state) for b, i in monitor.instances.items() if i.state != default])
    unknown = frozenset(monitor.unknown) if isinstance(monitor, Latch) else None
    return (default, monitor.closed, own, frozenset(monitor.done), unknown)


def _violated(monitor: StateMonitor) -> list[Broken]:
    if isinstance(monitor, Invariant):
        if monitor.final:
            return []
        out = [Broken(monitor.part, binding, True) for binding in monitor.episodes]
        out += [Broken(monitor.part, v.binding, True) for v in monitor.violations]
    else:
        out = [Broken(monitor.part, v.binding, True) for v in monitor.violations]
    return out + [Broken(monitor.part, binding, True) for binding in monitor.undecided]
