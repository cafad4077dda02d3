"""The effects of a step that decide the value of a fact or fluent, and the literals that they read.

All literals are of the state before the step: :class:`EffectFinder` reads a state that the linker moves backwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.verifier.diagnose.supporting_literals import SupportFinder, SupportLiteral
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    ArgumentTuple,
    Assignment,
    Binding,
    Compare,
    Constant,
    Effect,
    Fluent,
    Formula,
    Task,
)
from plansafe.verifier.model.operations import expression_fluents, has_comparison
from plansafe.verifier.repair.ground_effects import unify_pattern


class ActionEffects(NamedTuple):
    """Effects of an action: those that read or change numbers, and ``writers`` by their predicate or function.

    Each writer has the arguments of the atoms or fluents that it writes.
    """

    numeric_effects: list[Effect]
    writers: dict[int, list[tuple[Effect, list[ArgumentTuple]]]]


class EffectInstance(NamedTuple):
    """An effect under one binding of its variables: whether it happens, and its changes."""

    condition: Formula
    binding: Binding
    value: bool | None
    adds: frozenset[StateVariable]
    deletes: frozenset[StateVariable]
    updates: dict[StateVariable, Assignment]


class EffectFinder:
    """Finds effects, and the literals that they read, in one state."""

    def __init__(self, task: Task, state: State, finder: SupportFinder) -> None:
        self._task = task
        self._state = state
        self._finder = finder
        self._effects_by_action: dict[str, ActionEffects] = {}

    def index_effects(self, action: Action) -> ActionEffects:
        """Return the effects of an action by their targets; no effects if none of them reads the state."""
        indexed = self._effects_by_action.get(action.name)
        if indexed is None:
            effects, predicate_count = action.start.effects, len(self._task.predicates)
            writers: dict[int, list[tuple[Effect, list[ArgumentTuple]]]] = {}
            if any([effect.condition is not TRUE or effect.assignments for effect in effects]):
                for effect in effects:
                    targets: dict[int, list[ArgumentTuple]] = {}
                    for atom in (*effect.adds, *effect.deletes):
                        targets.setdefault(atom.predicate, []).append(atom.arguments)
                    for assignment in effect.assignments:
                        targets.setdefault(predicate_count + assignment.function, []).append(assignment.arguments)
                    for index, arguments in targets.items():
                        writers.setdefault(index, []).append((effect, arguments))
            numeric_effects = [effect for effect in effects if effect.assignments or has_comparison(effect.condition)]
            indexed = self._effects_by_action[action.name] = ActionEffects(numeric_effects, writers)
        return indexed

    def find_matching_variables(
        self, effects: ActionEffects, binding: Binding, variables: Iterable[StateVariable]
    ) -> Iterator[StateVariable]:
        """Yield the facts and fluents, among ``variables``, that an effect may change by the objects of a step."""
        codes_by_index: dict[int, list[int]] = {}
        for index, code in variables:
            if index in effects.writers:
                codes_by_index.setdefault(index, []).append(code)
        for index, codes in codes_by_index.items():
            matching_codes: dict[int, None] = {}
            for _, targets in effects.writers[index]:
                for arguments in targets:
                    matching_codes.update(dict.fromkeys(self._select_codes(codes, arguments, binding)))
            for code in matching_codes:
                yield index, code

    def _select_codes(self, codes: list[int], arguments: ArgumentTuple, binding: Binding) -> list[int]:
        """Return the codes whose objects are the constants and bound variables among the arguments."""
        place_value, size = 1, len(self._task.objects)
        for argument in reversed(arguments):
            expected = argument if argument >= 0 else binding.get(-1 - argument)
            if expected is not None:
                codes = [code for code in codes if code // place_value % size == expected]
            place_value *= size
        return codes

    def find_writers(
        self, writers: list[tuple[Effect, list[ArgumentTuple]]], binding: Binding, variable: StateVariable
    ) -> Iterator[EffectInstance]:
        """Yield the instances of effects that may change a fact or fluent."""
        for effect, targets in writers:
            objects = self._task.decode(variable[1], len(targets[0]))
            instance_bindings: dict[tuple[int, ...], Binding] = {}
            for arguments in targets:
                determined_binding = unify_pattern(self._task, effect.variables, arguments, objects, binding)
                if determined_binding is not None:
                    free_variables = [v for v in effect.variables if v.slot not in determined_binding]
                    for full_binding in self._task.bindings(free_variables, determined_binding):
                        instance_bindings[tuple([full_binding[v.slot] for v in effect.variables])] = full_binding
            for _, full_binding in sorted(instance_bindings.items()):
                yield self.instantiate(effect, full_binding)

    def instantiate(self, effect: Effect, binding: Binding) -> EffectInstance:
        """Return an effect under a binding, evaluated in the state before its step."""
        finder, predicate_count = self._finder, len(self._task.predicates)
        updates = {
            (predicate_count + a.function, self._task.code_of(a.arguments, binding)): a for a in effect.assignments
        }
        adds = frozenset([finder.ground_atom(atom, binding) for atom in effect.adds])
        deletes = frozenset([finder.ground_atom(atom, binding) for atom in effect.deletes])
        return EffectInstance(
            effect.condition, binding, finder.holds(effect.condition, binding), adds, deletes, updates
        )

    def find_literals(
        self, variable: StateVariable, effects: list[EffectInstance], changed: bool
    ) -> Iterator[SupportLiteral]:
        """Yield the literals that, with the previous value, determine the value of a fact or fluent after a step.

        A fact is true if an effect adds it, or if it was true and no effect deletes it.
        """
        if variable[0] >= len(self._task.predicates):
            for effect in effects:
                if effect.value:
                    yield from self.find_operand_literals(effect, variable)
            return
        adding_effects = [effect for effect in effects if variable in effect.adds]
        deleting_effects = [effect for effect in effects if variable in effect.deletes]
        was_true = (variable[1] in self._state.facts[variable[0]]) is not changed
        if was_true and any([effect.value for effect in adding_effects]):
            yield from self._find_condition_literals(adding_effects)
            return
        for effect in deleting_effects if was_true else adding_effects:
            yield from self._finder.find_supporting_literals(effect.condition, effect.binding, False)
        if changed and not was_true:
            yield from self._find_condition_literals(deleting_effects)

    def _find_condition_literals(self, effects: list[EffectInstance]) -> Iterator[SupportLiteral]:
        """Yield the literals of the conditions of the effects that happen; none if one of them is unconditional."""
        happening_effects = [effect for effect in effects if effect.value]
        if not any([effect.condition is TRUE for effect in happening_effects]):
            necessary = len(happening_effects) == 1
            for effect in happening_effects:
                yield from self._finder.find_supporting_literals(effect.condition, effect.binding, True, necessary)

    def find_operand_literals(self, effect: EffectInstance, target: StateVariable) -> Iterator[SupportLiteral]:
        """Yield the literals ``(= fluent value)`` of the fluents that an assignment to a target reads."""
        assignment = effect.updates[target]
        predicate_count = len(self._task.predicates)
        operands = [
            (predicate_count + fluent.function, self._task.code_of(fluent.arguments, effect.binding))
            for fluent in expression_fluents(assignment.value)
        ]
        if assignment.operator != "assign":
            operands.append(target)
        for index, code in dict.fromkeys(operands):
            value = self._state.fluents[index - predicate_count][code]
            arguments = self._task.decode(code, len(self._task.functions[index - predicate_count].types))
            formula = Compare("=", Fluent(index - predicate_count, arguments), Constant(value))
            yield SupportLiteral(formula, {}, True, ((index, code),), True)
