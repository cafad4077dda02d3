"""Compiled actions for searches: the legal steps of a state, and actions reduced to the effects that rules read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Extension, compile_extension
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.actions import ActionCode
from plansafe.verifier.execution.axioms import Axioms
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.nodes import TRUE, Action, And, Effect, Number, Task, Variable
from plansafe.verifier.model.operations import symbols_read


class LegalActions:
    """The searches for the legal steps of a state: joins over the atoms of each precondition, compiled once.

    Durative actions are never legal here, because their starts and ends need a clock.
    """

    def __init__(self, task: Task, emitter: Emitter, code: ActionCode) -> None:
        self.task = task
        self._emitter = emitter
        self._code = code
        self.index_specs: set[tuple[int, tuple[int, ...]]] = set()
        """The indexes of facts that the compiled searches use."""
        self._searches: dict[int, tuple[Action, Extension]] = {}
        self._numeric = bool(task.functions)

    def searches_for(self, names: tuple[str, ...]) -> list[tuple[Action, Extension]]:
        """The searches for the named actions, by default for all; afterwards ``index_specs`` covers them."""
        actions = self.task.actions
        chosen = [actions[name] for name in names if name in actions] if names else list(actions.values())
        return [self._search(action) for action in chosen if action.end is None]

    def _search(self, action: Action) -> tuple[Action, Extension]:
        compiled = self._searches.get(id(action))
        if compiled is None:
            self._emitter.requested_indexes = self.index_specs
            search = compile_extension(self._emitter, And(action.start.condition), True, action.parameters)
            compiled = self._searches[id(action)] = action, search
        return compiled

    def find(
        self, state: State, indexes: FactIndexes, searches: list[tuple[Action, Extension]]
    ) -> Iterator[GroundAction]:
        """The legal steps of a state, each once; its ``indexes`` must cover the searches. Linear in partial matches."""
        facts, fluents = state.facts, state.fluents
        for action, search in searches:
            bindings: list[tuple[int, ...]] = []
            search.find_all(facts, fluents, indexes, 0, bindings)
            if not self._numeric:
                for objects in dict.fromkeys(bindings):
                    yield GroundAction(action, objects)
                continue
            holds = self._code.compile_precondition(action)
            for objects in dict.fromkeys(bindings):
                step = GroundAction(action, objects)
                if self._is_executable(state, holds, step):
                    yield step

    def _is_executable(self, state: State, holds: Callable[..., bool], step: GroundAction) -> bool:
        """In a task with numbers: whether the precondition holds and the effects can be computed."""
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = step.binding
        try:
            if not holds(state.facts, state.fluents, *step.objects):
                return False
        except (KeyError, ZeroDivisionError):
            if evaluator.holds(And(step.action.start.condition), binding) is not True:
                return False
        if not any([e.assignments or e.condition is not TRUE for e in step.action.start.effects]):
            return True
        try:
            combine_effects(state.fluents, [interpret_effects(evaluator, step.action.start, binding)])
        except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        return True


class Projection:
    """The actions of an engine, reduced to the effects that some rule reads; each compiled at first use."""

    def __init__(self, task: Task, emitter: Emitter, prototype: Runtime, axioms: Axioms | None) -> None:
        watched = set(prototype.watched)
        for checks in prototype.checks.values():
            for check in checks:
                if check.after:
                    watched |= symbols_read(check.body)
        if axioms is not None:
            watched |= axioms.inputs
        self._watched = frozenset(watched)
        self._code = ActionCode(task, emitter, None)
        self._runs: dict[int, tuple[Action, Callable[..., bool] | None]] = {}
        self._runs_by_effects: dict[tuple[tuple[Variable, ...], tuple[Effect, ...]], Callable[..., bool]] = {}
        """One function for all actions with equal effects."""

    def find_effect_function(self, action: Action) -> Callable[..., bool] | None:
        """Return the function that makes the effects of a legal step that rules read; ``None`` if there are none."""
        compiled = self._runs.get(id(action))
        if compiled is None:
            watched = self._watched
            effects = [
                effect._replace(
                    adds=tuple([a for a in effect.adds if a.predicate in watched]),
                    deletes=tuple([a for a in effect.deletes if a.predicate in watched]),
                    assignments=tuple([a for a in effect.assignments if -1 - a.function in watched]),
                )
                for effect in action.start.effects
            ]
            read_effects = tuple([effect for effect in effects if effect.adds or effect.deletes or effect.assignments])
            run = self._runs_by_effects.get((action.parameters, read_effects)) if read_effects else None
            if read_effects and run is None:
                run = self._make_effect_function(
                    action._replace(start=action.start._replace(condition=(), effects=read_effects))
                )
                self._runs_by_effects[action.parameters, read_effects] = run
            compiled = self._runs[id(action)] = action, run
        return compiled[1]

    def _make_effect_function(self, action: Action) -> Callable[..., bool]:
        """The effects of an action; interpreted if an undefined number in them decides nothing."""
        fast, task = self._code.compile_step(action, True), self._code.task

        def run(facts: list[set[int]], fluents: list[dict[int, Number]], log: list[StateChange], *objects: int) -> bool:
            try:
                return fast(facts, fluents, log, *objects)
            except (KeyError, ZeroDivisionError):
                happening = interpret_effects(
                    Evaluator(task, facts, fluents), action.start, GroundAction(action, objects).binding
                )
                State(task, facts, fluents).apply(combine_effects(fluents, [happening]), log)
                return True

        return run
