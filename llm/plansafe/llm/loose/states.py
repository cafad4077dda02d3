"""The facts that are certain in each state of a plan: what a step's arguments contain (``plan_words``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from plansafe.verifier.model.nodes import And, Atom, Binding, Effect, Formula, Task, Truth

MAX_FACTS = 500_000
"""Facts of all states together. For a longer plan no fact is certain."""
MAX_INSTANCES = 2_000
"""Instances of an effect under quantifiers. With more, no fact is certain."""

Fact = tuple[int, int]
"""The number of a predicate, and the code of its arguments."""


def certain_facts(task: Task, steps: Sequence[Sequence[str]]) -> list[frozenset[Fact]]:
    """Return the facts that hold for certain in the initial state and after each step; an empty list if unknown."""
    first = frozenset((number, code) for number, codes in enumerate(task.initial_facts) for code in codes)
    if task.timed_literals or len(first) * (len(steps) + 1) > MAX_FACTS:
        return []
    states = [first]
    for name, *arguments in steps:
        action = task.actions.get(name)
        values = [task.object_index.get(argument, -1) for argument in arguments]
        if action is None or action.end is not None or len(values) != len(action.parameters) or -1 in values:
            return []
        binding = {variable.slot: value for variable, value in zip(action.parameters, values, strict=True)}
        following = _apply(task, states[-1], action.start.effects, binding)
        if following is None:
            return []
        states.append(following)
    return states


def _apply(task: Task, state: frozenset[Fact], effects: Sequence[Effect], binding: Binding) -> frozenset[Fact] | None:
    """Return the certain facts of the next state; ``None`` if the effects have too many instances."""
    adds: set[Fact] = set()
    deletes: set[Fact] = set()
    for effect in effects:
        instances = [binding]
        if effect.variables:
            if prod([len(task.domains[variable.domain]) for variable in effect.variables]) > MAX_INSTANCES:
                return None
            instances = [{**binding, **inner} for inner in task.bindings(effect.variables, binding)]
        for inner in instances:
            if not effect.choices and _is_certain(task, state, effect.condition, inner):
                adds |= {(atom.predicate, task.code_of(atom.arguments, inner)) for atom in effect.adds}
            deletes |= {(atom.predicate, task.code_of(atom.arguments, inner)) for atom in effect.deletes}
    return (state - deletes) | adds


def _is_certain(task: Task, state: frozenset[Fact], formula: Formula, binding: Binding) -> bool:
    """True if a formula certainly holds; other kinds of formulas are never certain."""
    if isinstance(formula, Truth):
        return formula.value
    if isinstance(formula, Atom):
        return (formula.predicate, task.code_of(formula.arguments, binding)) in state
    return isinstance(formula, And) and all([_is_certain(task, state, part, binding) for part in formula.parts])
