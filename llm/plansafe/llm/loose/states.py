"""The facts in each state of a plan, as far as they are certain, for sentences that describe a state."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import assert_never

from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Binding, Effect, Formula, Task

MAX_FACTS = 500_000
"""Facts of all states together; a longer plan has no states to compare with."""
MAX_INSTANCES = 2_000
"""Instances of an effect under quantifiers; with more, no state is certain."""

Fact = tuple[int, int]


class States:
    """State 0 is the initial one, state ``n`` the one after ``n`` steps. A fact holds, does not hold, or is unknown."""

    def __init__(self, task: Task, steps: Sequence[Sequence[str]]) -> None:
        self.task = task
        self.true: list[frozenset[Fact]] = []
        self.unknown: list[frozenset[Fact]] = []
        self.derived = {axiom.predicate for layer in task.axioms for axiom in layer}
        first = frozenset((number, code) for number, codes in enumerate(task.initial_facts) for code in codes)
        if task.timed_literals or len(first) * (len(steps) + 1) > MAX_FACTS:
            return
        self.true.append(first)
        self.unknown.append(self._open())
        for name, *arguments in steps:
            if not self._step(name, arguments):
                self.true.clear()  # no state is certain
                return

    def _open(self) -> frozenset[Fact]:
        """What the problem leaves open."""
        if self.task.unknowns is None:
            return frozenset()
        unknowns = self.task.unknowns
        found = {(number, code) for number, codes in enumerate(unknowns.facts) for code in codes}
        for choice in unknowns.choices:
            found |= {(each.predicate, each.code) for way in choice.alternatives for each in way if not each.fluent}
        return frozenset(found)

    def _step(self, name: str, arguments: Sequence[str]) -> bool:
        action = self.task.actions.get(name)
        values = [self.task.object_index.get(each, -1) for each in arguments]
        if action is None or action.end is not None or len(values) != len(action.parameters) or -1 in values:
            return False
        binding = {variable.slot: value for variable, value in zip(action.parameters, values, strict=True)}
        return self._apply(action.start.effects, binding)

    def _apply(self, effects: Sequence[Effect], binding: Binding) -> bool:
        """Add the next state; false if it would have too many instances."""
        adds: set[Fact] = set()
        deletes: set[Fact] = set()
        maybe: set[Fact] = set()
        for effect in effects:
            instances = [binding]
            if effect.variables:
                if prod([len(self.task.domains[v.domain]) for v in effect.variables]) > MAX_INSTANCES:
                    return False
                instances = [{**binding, **each} for each in self.task.bindings(effect.variables, binding)]
            for each in instances:
                happens = self._value(effect.condition, each) if not effect.choices else None
                if happens is False:
                    continue
                added = {(atom.predicate, self.task.code_of(atom.arguments, each)) for atom in effect.adds}
                deleted = {(atom.predicate, self.task.code_of(atom.arguments, each)) for atom in effect.deletes}
                if happens:
                    adds |= added
                    deletes |= deleted
                else:
                    maybe |= added | deleted
        self.true.append((self.true[-1] - deletes - maybe) | adds)
        self.unknown.append(((self.unknown[-1] - deletes) | maybe) - adds)
        return True

    def _value(self, formula: Formula, binding: Binding) -> bool | None:
        match formula:
            case model.Truth():
                return formula.value
            case model.Atom():
                return self.holds(formula.predicate, self.task.code_of(formula.arguments, binding), len(self.true) - 1)
            case model.Not():
                value = self._value(formula.body, binding)
                return None if value is None else not value
            case model.And() | model.Or():
                values = {self._value(part, binding) for part in formula.parts}
                deciding = isinstance(formula, model.Or)
                return deciding if deciding in values else None if None in values else not deciding
            case model.Equal() | model.Compare() | model.Quantified() | model.Temporal():
                return None  # not certain
            case _:
                assert_never(formula)

    def holds(self, predicate: int, code: int, state: int) -> bool | None:
        """Whether a fact holds in a state; ``None`` if that is not certain."""
        fact = (predicate, code)
        if not self.true or predicate in self.derived or fact in self.unknown[state]:
            return None
        return fact in self.true[state]
