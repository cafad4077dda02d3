"""What a ground action may do to facts.

A fact is a pair (subject, code). Subjects are predicates, and functions numbered after the predicates; an action
predicate is the subject of the step itself. Everything here may overestimate the effects of an action, but never
underestimates them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import TRUE, Effect, Formula, Task, Variable, match_arguments

OPEN = -1
"""The place of an object that a pattern leaves open."""
ObjectPattern = tuple[int, ...] | None
"""A pattern of a fact's objects, some :data:`OPEN`; ``None`` matches all objects."""


def matches_pattern(pattern: tuple[int, ...], objects: tuple[int, ...]) -> bool:
    """Whether objects match a pattern."""
    return all([expected in (OPEN, object_) for expected, object_ in zip(pattern, objects, strict=True)])


def unify_pattern(
    task: Task,
    variables: Sequence[Variable],
    arguments: tuple[int, ...],
    pattern: ObjectPattern,
    binding: Mapping[int, int] = MappingProxyType({}),
) -> dict[int, int] | None:
    """Extend a binding by the objects of a pattern; ``None`` if the arguments cannot match it."""
    if pattern is None:
        return dict(binding)
    domains = {v.slot: task.domain_sets[v.domain] for v in variables}
    pairs = [(argument, object_) for argument, object_ in zip(arguments, pattern, strict=True) if object_ != OPEN]
    return match_arguments([argument for argument, _ in pairs], [object_ for _, object_ in pairs], domains, binding)


class ConditionalEffect(NamedTuple):
    """An effect on one fact that happens only if a condition holds (``value``), or on a fluent (``None``)."""

    fact: StateVariable
    value: bool | None
    condition: Formula
    binding: dict[int, int]


class EffectSchema(NamedTuple):
    """An effect on facts of a subject that happens under a condition; ``free_variables`` have no object yet."""

    subject: int
    arguments: tuple[int, ...]
    value: bool | None
    condition: Formula
    binding: dict[int, int]
    free_variables: list[Variable]


class GroundEffects:
    """The effects of a ground action.

    ``certain_facts``: the facts that the action certainly sets; ``action_fact``: the step itself. Conditional effects
    are computed when asked for: a step through a home may change thousands of facts, and few are usually relevant.
    """

    __slots__ = ("_conditional_effects", "_possible_values", "_step", "_task", "action_fact", "certain_facts")

    def __init__(self, task: Task, step: GroundAction, action_fact: StateVariable | None) -> None:
        self._task = task
        self._step = step
        self._conditional_effects: dict[tuple[int | None, ObjectPattern], tuple[ConditionalEffect, ...]] = {}
        self._possible_values: dict[tuple[int, ObjectPattern], set[bool | None]] = {}
        self.action_fact = action_fact
        certain_facts: dict[StateVariable, bool] = {}
        for added in (False, True):  # a fact that is deleted and added is true
            for effect in step.action.start.effects:
                if effect.condition is TRUE:
                    for binding in task.bindings(effect.variables, step.binding):
                        for atom in effect.adds if added else effect.deletes:
                            certain_facts[atom.predicate, task.code_of(atom.arguments, binding)] = added
        self.certain_facts = certain_facts

    def find_conditional_effects(
        self, subject: int | None = None, pattern: ObjectPattern = None
    ) -> tuple[ConditionalEffect, ...]:
        """The conditional and numeric effects on a predicate or fluent (``None``: all), for a pattern if given."""
        key = (subject, pattern)
        effects = self._conditional_effects.get(key)
        if effects is None:
            effects = self._conditional_effects[key] = tuple(self._ground_schemas(subject, pattern))
        return effects

    def _ground_schemas(self, subject: int | None, pattern: ObjectPattern) -> Iterator[ConditionalEffect]:
        for schema in self.find_effect_schemas(subject, pattern):
            for binding in self._task.bindings(schema.free_variables, schema.binding):
                fact = (schema.subject, self._task.code_of(schema.arguments, binding))
                yield ConditionalEffect(fact, schema.value, schema.condition, binding)

    def may_change(self, subject: int, pattern: ObjectPattern) -> bool:
        """Whether the action may change a fact of a subject that matches a pattern."""
        return self.matches_action_fact(subject, pattern) or bool(
            self.find_certain_values(subject, pattern) or self.find_possible_values(subject, pattern)
        )

    def matches_action_fact(self, subject: int, pattern: ObjectPattern) -> bool:
        """Whether taking the step is itself a fact that matches a pattern."""
        fact = self.action_fact
        if fact is None or fact[0] != subject:
            return False
        return pattern is None or matches_pattern(pattern, self._step.objects)

    def find_certain_values(self, subject: int, pattern: ObjectPattern) -> set[bool]:
        """The values that the action certainly gives to facts of a predicate that match a pattern."""
        facts = [(code, value) for (predicate, code), value in self.certain_facts.items() if predicate == subject]
        if pattern is None or not facts:
            return {value for _, value in facts}
        arity = len(pattern)
        return {value for code, value in facts if matches_pattern(pattern, self._task.decode(code, arity))}

    def find_possible_values(self, subject: int, pattern: ObjectPattern) -> set[bool | None]:
        """The values that the action may give, under a condition, to facts that match a pattern."""
        key = (subject, pattern)
        values = self._possible_values.get(key)
        if values is None:
            values = self._possible_values[key] = {
                schema.value
                for schema in self.find_effect_schemas(subject, pattern)
                if all([self._task.domains[v.domain] for v in schema.free_variables])
            }
        return values

    def find_effect_schemas(self, subject: int | None, pattern: ObjectPattern) -> Iterator[EffectSchema]:
        """The effects that may set facts of a subject (``None``: of any) and a pattern, or change such a fluent."""
        for effect in self._step.action.start.effects:
            for effect_subject, arguments, value in self._list_uncertain_changes(effect):
                if subject is None or effect_subject == subject:
                    binding = unify_pattern(self._task, effect.variables, arguments, pattern, self._step.binding)
                    if binding is not None:
                        free_variables = [v for v in effect.variables if v.slot not in binding]
                        yield EffectSchema(effect_subject, arguments, value, effect.condition, binding, free_variables)

    def _list_uncertain_changes(self, effect: Effect) -> list[tuple[int, tuple[int, ...], bool | None]]:
        """List the subjects, arguments and values of an effect whose result depends on the state."""
        predicate_count = len(self._task.predicates)
        changes: list[tuple[int, tuple[int, ...], bool | None]] = []
        if effect.condition is not TRUE:
            changes += [(atom.predicate, atom.arguments, False) for atom in effect.deletes]
            changes += [(atom.predicate, atom.arguments, True) for atom in effect.adds]
        changes += [
            (predicate_count + assignment.function, assignment.arguments, None) for assignment in effect.assignments
        ]
        return changes
