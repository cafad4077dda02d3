"""The legal ground actions of a state: joins of each precondition's atoms over the facts, never a list of bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Extension, compile_extension
from plansafe.verifier.execution.actions import ActionCode, Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.axioms import Axioms
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.state import NumberTooLarge, State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.nodes import TRUE, Action, And, Effect, Number, Task, Variable
from plansafe.verifier.model.operations import symbols_read


class LegalActions:
    """The searches for legal actions of one engine: each compiled once, whoever asks.

    Durative actions are never legal here: their starts and ends need a clock.
    """

    def __init__(self, task: Task, emitter: Emitter, code: ActionCode) -> None:
        self.task = task
        self._emitter = emitter
        self._code = code
        self.index_specs: set[tuple[int, tuple[int, ...]]] = set()
        """The indexes of facts that the searches compiled so far use."""
        self._searches: dict[int, tuple[Action, Extension]] = {}
        self._numeric = bool(task.functions)

    def searches_for(self, names: tuple[str, ...]) -> list[tuple[Action, Extension]]:
        """The searches for the named actions (for all, if none is named); afterwards ``asked`` covers them."""
        actions = self.task.actions
        chosen = [actions[name] for name in names if name in actions] if names else list(actions.values())
        return [self._search(action) for action in chosen if action.end is None]

    def _search(self, action: Action) -> tuple[Action, Extension]:
        found = self._searches.get(id(action))
        if found is None:
            self._emitter.asked = self.index_specs
            search = compile_extension(self._emitter, And(action.start.condition), True, action.parameters)
            found = self._searches[id(action)] = action, search
        return found

    def find(
        self, state: State, indexes: FactIndexes, searches: list[tuple[Action, Extension]]
    ) -> Iterator[GroundAction]:
        """The legal ground actions of a state, each once; ``indexes`` are those of the state and cover the searches.

        The cost is that of the partial matches of the joins.
        """
        facts, fluents, tables = state.facts, state.fluents, indexes.tables
        for action, search in searches:
            found: list[tuple[int, ...]] = []
            search.all(facts, fluents, tables, 0, found)
            if not self._numeric:
                for objects in dict.fromkeys(found):
                    yield GroundAction(action, objects)
                continue
            holds = self._code.precondition(action, [v.slot for v in action.parameters])
            for objects in dict.fromkeys(found):
                step = GroundAction(action, objects)
                if self._confirmed(state, holds, step):
                    yield step

    def _confirmed(self, state: State, holds: Callable[..., bool], step: GroundAction) -> bool:
        """Where numbers are involved: the precondition holds, and the effects can be computed."""
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
    """The actions of an engine, cut down to the effects that some rule can notice. Compiled once, at first use."""

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
        self._alike: dict[tuple[tuple[Variable, ...], tuple[Effect, ...]], Callable[..., bool]] = {}
        """One function for all actions of equal effects."""

    def run(self, action: Action) -> Callable[..., bool] | None:
        """What changes a state as far as rules can notice; ``None`` if they cannot. For steps that are legal."""
        known = self._runs.get(id(action))
        if known is None:
            watched = self._watched
            effects = [
                effect._replace(
                    adds=tuple([a for a in effect.adds if a.predicate in watched]),
                    deletes=tuple([a for a in effect.deletes if a.predicate in watched]),
                    assignments=tuple([a for a in effect.assignments if -1 - a.function in watched]),
                )
                for effect in action.start.effects
            ]
            alike = tuple([effect for effect in effects if effect.adds or effect.deletes or effect.assignments])
            run = self._alike.get((action.parameters, alike)) if alike else None
            if alike and run is None:
                run = self._checked(action._replace(start=action.start._replace(condition=(), effects=alike)))
                self._alike[action.parameters, alike] = run
            known = self._runs[id(action)] = action, run
        return known[1]

    def _checked(self, action: Action) -> Callable[..., bool]:
        """The effects of an action; by the slow definition where something in them is undefined but decides nothing."""
        fast, task = self._code.step_function(action, True), self._code.task

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
