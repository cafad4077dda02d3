"""All legal steps of a state with the instances that each would break, found by triggers, without a copy for each step.

Monitors that are due whatever step is taken are evaluated once. The others are evaluated only for the steps that affect
them, and once for all steps that change the same facts (among those that rules read).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import (
    BrokenInstance,
    StepOption,
    find_violations_since,
    remove_preferences,
)
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.dispatch import TriggerFunction
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.latch import Latch
from plansafe.verifier.execution.monitors.monitor_summary import StateMonitor
from plansafe.verifier.execution.monitors.rule_set import ActionFact
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.stepcheck import StepCheck
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import Number

BrokenInstances = frozenset[BrokenInstance]
AffectedMonitors = dict[int, list[tuple[int, ...]]]
"""The monitors (by number) that a change affects, and the bindings that its triggers found."""
DueChecks = list[tuple[StepCheck, Binding]]
"""The checks of a step to evaluate in the next state."""
NO_DUE_CHECKS: DueChecks = []


class _UnaffectedMonitors(NamedTuple):
    """The monitors after a letter for which no step matters, and the instances that each of them reports then."""

    monitors: list[StateMonitor]
    broken: dict[int, list[BrokenInstance]]
    all_broken: BrokenInstances


class StepForesight:
    """Predicts what steps from one state break. Changes of the state are undone; the monitors do not change."""

    def __init__(self, engine: Engine, state: State, runtime: Runtime, letter: int) -> None:
        self.engine = engine
        self.state = state
        self.runtime = runtime
        self.present_time = LetterTime(letter, letter, False)
        self.next_time = LetterTime(letter + 1, letter + 1, False)
        self.monitors = runtime.monitors
        departed = runtime.fork()
        engine.announce_step(departed, state, None, self.present_time)
        self._departing = self._compare(runtime, departed)
        arrived = departed.fork()
        arrived.enter_state(state, (), self.next_time)
        self._arriving = self._compare(departed, arrived)
        numbered = list(enumerate(self.monitors))
        final = {n for n, monitor in numbered if isinstance(monitor, InvariantMonitor) and monitor.final}
        latches = {n: monitor for n, monitor in numbered if isinstance(monitor, Latch)}
        self._departing_silent = frozenset(final | {n for n, latch in latches.items() if latch.of_past})
        """The monitors that a step taken in this letter does not affect."""
        self._arriving_silent = frozenset(final | {*latches} | {n for n, monitor in numbered if monitor.reads_actions})
        self._watchers: dict[tuple[int, bool, bool], tuple[list[int], list[tuple[int, TriggerFunction]]]] = {}
        self._pending = {
            n: (monitor, monitor.index_pending_bindings())
            for n, monitor in numbered
            if isinstance(monitor, Automaton) and monitor.has_pending_changes
        }
        """The monitors that have not read the changes before this state, with the bindings that read them."""
        self._same_for_all: dict[tuple[int, int | None], list[BrokenInstance]] = {}
        """The instances that monitors report in the letter of a step that no single binding reads."""
        self._broken_by_effects: dict[tuple[int, tuple[int, ...]], BrokenInstances] = {}
        """The instances broken in the next state, by effects (their identity) and objects."""
        self._broken_by_changes: dict[tuple[tuple[StateChange, ...], tuple[Number, ...]], BrokenInstances] = {}
        self._projection = engine.projection

    def _find_past_truth(self, affected: AffectedMonitors, number: int, binding: tuple[int, ...]) -> bool | None:
        """The truth of a latch after the letter that a step leaves, if the step affects the ``affected`` monitors."""
        if number not in affected:
            idle = self._departing.monitors[number]
            assert isinstance(idle, Latch)
            return idle.truth(binding)
        latch = self.monitors[number]
        assert isinstance(latch, Latch)
        return latch.predict_truth(binding, self.state, self.present_time)

    @staticmethod
    def _compare(before: Runtime, after: Runtime) -> _UnaffectedMonitors:
        broken: dict[int, list[BrokenInstance]] = {}
        for number, (old, new) in enumerate(zip(before.monitors, after.monitors, strict=True)):
            instances = find_violations_since(old, new) if old is not new else []
            if instances:
                broken[number] = instances
        all_broken = frozenset([instance for instances in broken.values() for instance in instances])
        return _UnaffectedMonitors(after.monitors, broken, all_broken)

    def list_options(self, steps: Iterable[GroundAction]) -> list[StepOption]:
        """Each step with the instances that it would break; all steps must be legal."""
        reads_actions, action_fact_of = self.engine.reads_actions, self.engine.find_action_fact
        options: list[StepOption] = []
        for step in steps:
            action_fact = action_fact_of("start", step) if reads_actions else None
            broken, due_checks = (
                (self._departing.all_broken, NO_DUE_CHECKS) if action_fact is None else self._leave_letter(action_fact)
            )
            run = self._projection.find_effect_function(step.action)
            if due_checks:
                broken |= self._enter_next_state(run, step, due_checks)
            elif run is None:
                broken |= self._arriving.all_broken
            else:
                key = (id(run), step.objects)
                broken_by_effects = self._broken_by_effects.get(key)
                if broken_by_effects is None:
                    broken_by_effects = self._broken_by_effects[key] = self._enter_next_state(run, step, due_checks)
                broken |= broken_by_effects
            options.append(StepOption(step, remove_preferences(self.runtime, broken)) if broken else StepOption(step))
        return options

    # -- the step as part of the letter that it leaves ----------------------------------------------------------------

    def _leave_letter(self, action_fact: ActionFact) -> tuple[BrokenInstances, DueChecks]:
        """The instances that a step breaks in its own letter, and the checks to evaluate in the next state."""
        predicate, code = action_fact
        state, runtime = self.state, self.runtime
        facts = state.facts[predicate]
        facts.add(code)
        is_indexed = runtime.indexes.reads(predicate)
        if is_indexed:
            runtime.indexes.update(((predicate, code, True),))
        due_checks: DueChecks = []
        try:
            # A binding with changes that are not read yet reads the step as well.
            affected: AffectedMonitors = {
                number: []
                for number in self._find_watchers(predicate, True, False)[0]
                if number in self._pending and self._pending_reads(number, predicate, code)
            }
            self._add_affected(predicate, code, True, affected, False)
            broken = (
                self._find_broken_by_others(self._departing, affected) if affected else set(self._departing.all_broken)
            )
            for number, candidates in affected.items():
                broken.update(self._predict_step_letter(number, (predicate, code, True), candidates))
            for position in runtime.dispatch.find_checks(predicate, code):
                check = runtime.checks[predicate][position]
                bindings = check.find_matching_bindings(state, runtime.indexes, code)
                if bindings:
                    violated, undecided, later = check.predict(
                        state, bindings, partial(self._find_past_truth, affected)
                    )
                    if violated or undecided:
                        broken.update(_find_broken_instances(check.part, violated, undecided))
                    due_checks += [(check, binding) for binding in later]
        finally:
            facts.discard(code)
            if is_indexed:
                runtime.indexes.update(((predicate, code, False),))
        return frozenset(broken), due_checks

    def _pending_reads(self, number: int, predicate: int, code: int) -> bool:
        """Whether a monitor with pending changes reads a fact when it evaluates them."""
        monitor, pending_readers = self._pending[number]
        return pending_readers.has_reader(predicate, code) or monitor.global_readers.matches(predicate, code)

    def _predict_step_letter(
        self, number: int, change: StateChange, candidates: list[tuple[int, ...]]
    ) -> list[BrokenInstance]:
        """The instances that a monitor reports in the letter of a step; computed once if no binding reads the step."""
        monitor = self.monitors[number]
        if (
            candidates
            or not isinstance(monitor, Automaton)
            or monitor.readers.has_reader(change[0], change[1])
            or (number in self._pending and self._pending[number][1].has_reader(change[0], change[1]))
        ):
            return self._predict(number, (change,), candidates, self.present_time)
        key = number, monitor.leaves.evaluate_global(self.state)
        broken = self._same_for_all.get(key)
        if broken is None:
            broken = self._same_for_all[key] = self._predict(number, (change,), candidates, self.present_time)
        return broken

    # -- the next letter ----------------------------------------------------------------------------------------------

    def _enter_next_state(
        self, run: Callable[..., bool] | None, step: GroundAction, due_checks: DueChecks
    ) -> BrokenInstances:
        """The instances broken in the state after a step."""
        state = self.state
        log: list[StateChange] = []
        if run is not None:
            run(state.facts, state.fluents, log, *step.objects)
            if self.engine.axioms is not None:
                self.engine.axioms.update(state.facts, state.fluents, log)
        changes = tuple(log)
        predicate_count = len(state.facts)
        # The log has the numbers from before the step.
        new_numbers = tuple(
            [state.fluents[index - predicate_count][code] for index, code, _ in changes if index >= predicate_count]
        )
        try:
            broken = self._broken_by_changes.get((changes, new_numbers))
            if broken is None:
                broken = self._broken_by_changes[changes, new_numbers] = self._evaluate_changes(changes)
            for check, binding in due_checks:
                value = check.holds(state, binding)
                if value is False or (value is None and binding not in check.undecided):
                    broken |= {BrokenInstance(check.part, binding, value is None)}
        finally:
            state.undo(log)
        return broken

    def _evaluate_changes(self, changes: tuple[StateChange, ...]) -> BrokenInstances:
        runtime = self.runtime
        runtime.indexes.update(changes)
        affected: AffectedMonitors = {}
        for predicate, code, value in changes:
            self._add_affected(predicate, code, bool(value), affected, True)
        broken = self._find_broken_by_others(self._arriving, affected)
        for number, candidates in affected.items():
            broken.update(self._predict(number, changes, candidates, self.next_time))
        runtime.indexes.update([(index, code, not value) for index, code, value in reversed(changes)])
        return frozenset(broken)

    # -- both letters -------------------------------------------------------------------------------------------------

    def _find_watchers(
        self, index: int, added: bool, arriving: bool
    ) -> tuple[list[int], list[tuple[int, TriggerFunction]]]:
        """The monitors that read a predicate (or fluent), and its triggers; silent monitors are left out."""
        watchers = self._watchers.get((index, added, arriving))
        if watchers is None:
            silent = self._arriving_silent if arriving else self._departing_silent
            readers = [number for number in self.runtime.dispatch.readers[index] if number not in silent]
            triggers = [entry for entry in self.runtime.dispatch.list_triggers(index, added) if entry[0] not in silent]
            watchers = self._watchers[index, added, arriving] = readers, triggers
        return watchers

    def _add_affected(self, predicate: int, code: int, added: bool, affected: AffectedMonitors, arriving: bool) -> None:
        """Add the monitors that a change affects."""
        state, runtime, monitors = self.state, self.runtime, self.monitors
        readers, triggers = self._find_watchers(predicate, added, arriving)
        for number in readers:
            if monitors[number].is_affected(predicate, code):
                affected.setdefault(number, [])
        bindings: list[tuple[int, ...]] = []
        for number, find in triggers:
            find(state.facts, state.fluents, runtime.indexes.tables, code, bindings)
            if bindings:
                affected.setdefault(number, []).extend(bindings)
                bindings = []

    def _predict(
        self, number: int, changes: tuple[StateChange, ...], candidates: list[tuple[int, ...]], letter_time: LetterTime
    ) -> list[BrokenInstance]:
        """The instances that an affected monitor reports in the letter of the present state."""
        monitor = self.monitors[number]
        if isinstance(monitor, Latch):
            return []  # a latch reports nothing itself
        prediction = monitor.predict(self.state, changes, candidates, letter_time)
        if prediction is not None:
            return _find_broken_instances(monitor.part, *prediction)
        copy = monitor.fork()
        for index, code, _ in changes:
            if copy.is_affected(index, code):
                copy.record_change(index, code)
        copy.candidates.extend(candidates)
        copy.step(self.state, letter_time)
        return find_violations_since(monitor, copy)

    @staticmethod
    def _find_broken_by_others(unaffected: _UnaffectedMonitors, affected: AffectedMonitors) -> set[BrokenInstance]:
        """The instances that monitors report which are not affected."""
        if not unaffected.broken:
            return set()
        return {b for number, broken in unaffected.broken.items() if number not in affected for b in broken}


def _find_broken_instances(
    part: int, violated: Iterable[Binding], undecided: Iterable[Binding]
) -> list[BrokenInstance]:
    return [BrokenInstance(part, b) for b in violated] + [BrokenInstance(part, b, undecided=True) for b in undecided]
