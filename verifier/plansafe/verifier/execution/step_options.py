"""All legal steps of a state with what each would break: in place, by triggers, without a copy for each step.

What the steps have in common is asked once: monitors that are due whatever is done next. The others are asked only
about the steps that concern them, and steps that change the same facts (as far as a rule reads them) are asked about
together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import (
    BrokenInstance,
    StepOption,
    violations_since,
    without_preferences,
)
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.monitors.runtime import ActionFact, Runtime, TriggerFunction
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number

BrokenInstances = frozenset[BrokenInstance]
ConcernedMonitors = dict[int, list[tuple[int, ...]]]
"""Monitors (by number) that a change concerns, and the bindings that its triggers found."""


DueChecks = list[tuple[StepCheck, Binding]]
"""What a step leaves to be asked of the state behind it."""
NO_DUE_CHECKS: DueChecks = []


class _Common(NamedTuple):
    """What happens to the monitors that no step concerns: their later copies, and what each of them finds."""

    monitors: list[StateMonitor]
    found: dict[int, list[BrokenInstance]]
    all: BrokenInstances


class StepForesight:
    """What the steps from one state would break. The state is changed and taken back; the monitors stay as they are."""

    def __init__(self, engine: Engine, state: State, runtime: Runtime, letter: int) -> None:
        self.engine = engine
        self.state = state
        self.runtime = runtime
        self.now = LetterTime(letter, letter, False)
        self.then = LetterTime(letter + 1, letter + 1, False)
        self.monitors = runtime.monitors
        departed = runtime.fork()
        engine.depart(departed, state, None, self.now)
        self._departing = self._common(runtime, departed)
        arrived = departed.fork()
        arrived.arrive(state, (), self.then)
        self._arriving = self._common(departed, arrived)
        numbered = list(enumerate(self.monitors))
        last = {n for n, monitor in numbered if isinstance(monitor, Invariant) and monitor.final}
        latches = {n: monitor for n, monitor in numbered if isinstance(monitor, Latch)}
        self._departing_silent = frozenset(last | {n for n, latch in latches.items() if latch.of_past})
        """The monitors that a step taken here says nothing to, nor they about it."""
        self._arriving_silent = frozenset(last | {*latches} | {n for n, monitor in numbered if monitor.reads_actions})
        self._concerned: dict[tuple[int, bool, bool], tuple[list[int], list[tuple[int, TriggerFunction]]]] = {}
        self._pending = {
            n: (monitor, monitor.waiting())
            for n, monitor in enumerate(self.monitors)
            if isinstance(monitor, Automaton) and monitor.pending
        }
        """The monitors that have still to judge what led here, with the bindings that wait for it."""
        self._alike: dict[tuple[int, int | None], list[BrokenInstance]] = {}
        """What monitors find in the letter of a step that none of their bindings reads by itself."""
        self._landings: dict[tuple[int, tuple[int, ...]], BrokenInstances] = {}
        """What is broken behind effects (by identity) on some objects."""
        self._arrivals: dict[tuple[tuple[StateChange, ...], tuple[Number, ...]], BrokenInstances] = {}
        self._projection = engine.projection

    def _past(self, touched: ConcernedMonitors, number: int, binding: tuple[int, ...]) -> bool | None:
        """What a latch says of the letter that a step leaves, which concerns the ``touched`` monitors."""
        if number not in touched:
            idle = self._departing.monitors[number]
            assert isinstance(idle, Latch)
            return idle.truth(binding)
        latch = self.monitors[number]
        assert isinstance(latch, Latch)
        return latch.foretell(binding, self.state, self.now)

    @staticmethod
    def _common(before: Runtime, after: Runtime) -> _Common:
        found = {
            number: violations_since(old, new)
            for number, (old, new) in enumerate(zip(before.monitors, after.monitors, strict=True))
            if old is not new
        }
        found = {number: broken for number, broken in found.items() if broken}
        return _Common(after.monitors, found, frozenset([b for broken in found.values() for b in broken]))

    def options(self, steps: Iterable[GroundAction]) -> list[StepOption]:
        """Each step with what it would break; all steps must be legal."""
        acting, action_fact_of = self.engine.reads_actions, self.engine.action_fact
        out: list[StepOption] = []
        for step in steps:
            action_fact = action_fact_of("start", step) if acting else None
            found, due = (self._departing.all, NO_DUE_CHECKS) if action_fact is None else self._depart(action_fact)
            run = self._projection.run(step.action)
            if due:
                found |= self._arrive(run, step, due)
            elif run is None:
                found |= self._arriving.all
            else:
                place = (id(run), step.objects)
                landing = self._landings.get(place)
                if landing is None:
                    landing = self._landings[place] = self._arrive(run, step, due)
                found |= landing
            out.append(StepOption(step, without_preferences(self.runtime, found)) if found else StepOption(step))
        return out

    # -- the step as part of the letter that it leaves ----------------------------------------------------------------

    def _depart(self, action_fact: ActionFact) -> tuple[BrokenInstances, DueChecks]:
        """What is broken by taking a step here, and what is to be asked of the state behind it."""
        predicate, code = action_fact
        state, runtime = self.state, self.runtime
        facts = state.facts[predicate]
        facts.add(code)
        indexed = runtime.indexes.reads(predicate)
        if indexed:
            runtime.indexes.update(((predicate, code, True),))
        due: DueChecks = []
        try:
            # A binding that has still to be judged for what led here reads the step as well.
            touched: ConcernedMonitors = {
                number: []
                for number in self._who(predicate, True, False)[0]
                if number in self._pending and self._awaited(number, predicate, code)
            }
            self._touched(predicate, code, True, touched, False)
            found = self._without(self._departing, touched) if touched else set(self._departing.all)
            for number, candidates in touched.items():
                found.update(self._departed(number, (predicate, code, True), candidates))
            for check in runtime.checks.get(predicate, ()):
                bindings = check.matching(state, runtime.indexes, code)
                if bindings:
                    violated, undecided, later = check.foresee(state, bindings, partial(self._past, touched))
                    if violated or undecided:
                        found.update(_broken(check.part, violated, undecided))
                    due += [(check, binding) for binding in later]
        finally:
            facts.discard(code)
            if indexed:
                runtime.indexes.update(((predicate, code, False),))
        return frozenset(found), due

    def _awaited(self, number: int, predicate: int, code: int) -> bool:
        """Whether a monitor that has still to judge what led here reads a fact in judging it."""
        monitor, waiting = self._pending[number]
        return waiting.read(predicate, code) or monitor.global_readers.matches(predicate, code)

    def _departed(self, number: int, change: StateChange, candidates: list[tuple[int, ...]]) -> list[BrokenInstance]:
        """What a monitor finds in the letter of a step: asked once where all its bindings read the step alike."""
        monitor = self.monitors[number]
        if candidates or not isinstance(monitor, Automaton) or monitor.readers.read(change[0], change[1]):
            return self._foreseen(number, (change,), candidates, self.now)
        if number in self._pending and self._pending[number][1].read(change[0], change[1]):
            return self._foreseen(number, (change,), candidates, self.now)
        bits = monitor.global_bits(self.state)
        known = self._alike.get((number, bits))
        if known is None:
            known = self._alike[number, bits] = self._foreseen(number, (change,), candidates, self.now)
        return known

    # -- the letter behind it -----------------------------------------------------------------------------------------

    def _arrive(self, run: Callable[..., bool] | None, step: GroundAction, due: DueChecks) -> BrokenInstances:
        """What is broken in the state behind a step."""
        state = self.state
        log: list[StateChange] = []
        if run is not None:
            run(state.facts, state.fluents, log, *step.objects)
            if self.engine.axioms is not None:
                self.engine.axioms.update(state.facts, state.fluents, log)
        changes = tuple(log)
        base = len(state.facts)
        # The log has the numbers that were there before.
        new = tuple([state.fluents[index - base][code] for index, code, _ in changes if index >= base])
        try:
            found = self._arrivals.get((changes, new))
            if found is None:
                found = self._arrivals[changes, new] = self._arrived(changes)
            for check, binding in due:
                value = check.holds(state, binding)
                if value is False or (value is None and binding not in check.undecided):
                    found |= {BrokenInstance(check.part, binding, value is None)}
        finally:
            state.undo(log)
        return found

    def _arrived(self, changes: tuple[StateChange, ...]) -> BrokenInstances:
        runtime = self.runtime
        runtime.indexes.update(changes)
        touched: ConcernedMonitors = {}
        for predicate, code, value in changes:
            self._touched(predicate, code, bool(value), touched, True)
        found = self._without(self._arriving, touched)
        for number, candidates in touched.items():
            found.update(self._foreseen(number, changes, candidates, self.then))
        runtime.indexes.update([(index, code, not value) for index, code, value in reversed(changes)])
        return frozenset(found)

    # -- both ---------------------------------------------------------------------------------------------------------

    def _who(self, index: int, added: bool, arriving: bool) -> tuple[list[int], list[tuple[int, TriggerFunction]]]:
        """Who reads a predicate (or fluent), and what finds bindings, of the monitors that have something to say."""
        known = self._concerned.get((index, added, arriving))
        if known is None:
            silent = self._arriving_silent if arriving else self._departing_silent
            readers = [number for number in self.runtime.readers(index) if number not in silent]
            triggers = [(number, find) for number, find in self.runtime.triggers(index, added) if number not in silent]
            known = self._concerned[index, added, arriving] = readers, triggers
        return known

    def _touched(self, predicate: int, code: int, added: bool, touched: ConcernedMonitors, arriving: bool) -> None:
        """Add the monitors that a change concerns."""
        state, runtime, monitors = self.state, self.runtime, self.monitors
        readers, triggers = self._who(predicate, added, arriving)
        for number in readers:
            if monitors[number].concerned(predicate, code):
                touched.setdefault(number, [])
        found: list[tuple[int, ...]] = []
        for number, find in triggers:
            find(state.facts, state.fluents, runtime.indexes.tables, code, found)
            if found:
                touched.setdefault(number, []).extend(found)
                found = []

    def _foreseen(
        self, number: int, changes: tuple[StateChange, ...], candidates: list[tuple[int, ...]], moment: LetterTime
    ) -> list[BrokenInstance]:
        """What a monitor that is concerned finds in the letter of the present state."""
        monitor = self.monitors[number]
        if isinstance(monitor, Latch):
            return []  # a latch says nothing unless it is asked
        found = monitor.foresee(self.state, changes, candidates, moment)
        if found is None:
            return self._stepped(monitor, changes, candidates, moment)
        return _broken(monitor.part, *found)

    def _stepped(
        self,
        monitor: StateMonitor,
        changes: tuple[StateChange, ...],
        candidates: list[tuple[int, ...]],
        moment: LetterTime,
    ) -> list[BrokenInstance]:
        """What a copy of a monitor finds that really reads the letter."""
        copy = monitor.fork()
        for index, code, _ in changes:
            if copy.concerned(index, code):
                copy.read(index, code)
        copy.candidates.extend(candidates)
        copy.step(self.state, moment)
        return violations_since(monitor, copy)

    @staticmethod
    def _without(common: _Common, touched: ConcernedMonitors) -> set[BrokenInstance]:
        """What monitors find that are not concerned."""
        if not common.found:
            return set()
        return {b for number, broken in common.found.items() if number not in touched for b in broken}


def _broken(part: int, violated: Iterable[Binding], undecided: Iterable[Binding]) -> list[BrokenInstance]:
    return [BrokenInstance(part, b) for b in violated] + [BrokenInstance(part, b, True) for b in undecided]
