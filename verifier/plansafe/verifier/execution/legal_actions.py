"""The legal steps of a state, found by joins over the atoms of each precondition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.compile.code_builder import IndexKey
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import Extension, compile_extension
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.actions import ActionCode
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.state import NumberTooLarge, State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.nodes import TRUE, Action, And, Task


class ActionSearch(NamedTuple):
    """The search for the bindings that satisfy an action's precondition, apart from numbers."""

    action: Action
    bindings: Extension


class LegalActions:
    """The searches for the legal steps of a state, compiled once.

    Durative actions are never legal here, because their starts and ends need a clock.
    """

    def __init__(self, task: Task, emitter: Emitter, code: ActionCode) -> None:
        self.task = task
        self._emitter = emitter
        self._code = code
        self.index_keys: set[IndexKey] = set()
        """The indexes of facts that the compiled searches use."""
        self._searches: dict[int, ActionSearch] = {}
        """By identity of the action."""
        self._has_numbers = bool(task.functions)

    def get_searches(self, names: tuple[str, ...]) -> list[ActionSearch]:
        """Return the searches for the named actions, for all if none is named; ``index_keys`` then covers them."""
        actions = self.task.actions
        selected_actions = [actions[name] for name in names if name in actions] if names else list(actions.values())
        return [self._get_search(action) for action in selected_actions if action.end is None]

    def _get_search(self, action: Action) -> ActionSearch:
        search = self._searches.get(id(action))
        if search is None:
            self._emitter.requested_indexes = self.index_keys
            bindings = compile_extension(self._emitter, And(action.start.condition), True, action.parameters)
            search = self._searches[id(action)] = ActionSearch(action, bindings)
        return search

    def find(self, state: State, indexes: FactIndexes, searches: list[ActionSearch]) -> Iterator[GroundAction]:
        """Yield the legal steps of a state, each once; ``indexes`` must cover the searches.

        Linear in the partial matches of the preconditions.
        """
        for action, search in searches:
            bindings: list[tuple[int, ...]] = []
            search.find_all(state.facts, state.fluents, indexes, 0, bindings)
            for objects in dict.fromkeys(bindings):
                step = GroundAction(action, objects)
                if not self._has_numbers or self._is_executable(state, step):
                    yield step

    def _is_executable(self, state: State, step: GroundAction) -> bool:
        """In a task with numbers: whether the precondition holds and the effects can be computed."""
        evaluator = Evaluator(self.task, state.facts, state.fluents)
        binding = step.binding
        holds = self._code.compile_precondition(step.action)
        try:
            if not holds(state.facts, state.fluents, *step.objects):
                return False
        except (KeyError, ZeroDivisionError):  # the undefined number may not matter
            if evaluator.holds(And(step.action.start.condition), binding) is not True:
                return False
        if not any([e.assignments or e.condition is not TRUE for e in step.action.start.effects]):
            return True  # unconditional changes of facts
        try:
            combine_effects(state.fluents, [interpret_effects(evaluator, step.action.start, binding)])
        except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError, NumberTooLarge):
            return False
        return True
