"""Compiled actions for searches: the legal steps of a state, and actions reduced to the effects that rules read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Extension, compile_extension
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.actions import ActionCode
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.state import NumberTooLarge, State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.nodes import TRUE, Action, And, Task


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
