"""Changes without a step: instances of processes and events, and comparisons whose value changes over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import prod
from typing import NamedTuple
from weakref import WeakKeyDictionary

from plansafe.verifier.execution.continuous.courses import Comparison, GroundRate
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, TimedStep
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Binding,
    Compare,
    Formula,
    Number,
    Process,
    RateEffect,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import expression_fluents, find_bound_domains, find_variable_slots, subformulas
from plansafe.verifier.rules.model import RulePart

MAX_INSTANCES = 100_000
"""The most instances of processes and events, and the most ground comparisons."""


class Instance(NamedTuple):
    """A process or event with its objects. ``is_satisfied`` tests the precondition."""

    schema: Process | Action
    objects: tuple[int, ...]
    binding: Binding
    text: str
    is_satisfied: Callable[[State], bool]


class ExogenousChanges:
    """The instances of processes and events of a task, and the ground comparisons of the task and its rules.

    Raises :class:`Undecided` above a limit.
    """

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        rates = [rate for process in self.task.processes for rate in process.rates]
        rates += [rate for action in self.task.actions.values() for rate in action.rates]
        self._changing_functions = frozenset([rate.function for rate in rates])
        self.processes = list(self._ground(self.task.processes, engine))
        self.events = list(self._ground(self.task.events, engine))
        self.comparisons = list(self._list_comparisons(engine.rule_set.parts))
        self._step_comparisons: dict[int, tuple[TimedStep, list[Comparison]]] = {}
        """By identity of a step, the step (which keeps the identity valid) and its comparisons."""

    # -- instances ----------------------------------------------------------------------------------------------------

    def _ground(self, schemas: Iterable[Process | Action], engine: Engine) -> Iterator[Instance]:
        """Yield all instances whose static conditions hold."""
        count = 0
        for schema in schemas:
            condition = schema.start.condition if isinstance(schema, Action) else schema.condition
            domains = [self.task.domains[v.domain] for v in schema.parameters]
            count += prod([len(domain) for domain in domains])
            if count > MAX_INSTANCES:
                raise Undecided(f"there are more than {MAX_INSTANCES:,} instances of processes or events")
            static_atoms = [p for p in condition if isinstance(p, Atom) and self.task.static[p.predicate]]
            holds = engine.code.compile_conjunction(condition, [v.slot for v in schema.parameters])
            for objects in product(*domains):
                binding = bind(schema.parameters, objects)
                facts = [(atom.predicate, self.task.code_of(atom.arguments, binding)) for atom in static_atoms]
                if all([code in self.task.initial_facts[predicate] for predicate, code in facts]):
                    text = f"({' '.join([schema.name, *self.task.names(objects)])})"
                    test = _make_test(holds, And(condition), objects, binding)
                    yield Instance(schema, objects, binding, text, test)

    def find_satisfied(self, instances: list[Instance], state: State) -> frozenset[int]:
        """Return the numbers of the instances whose precondition holds in a state."""
        return frozenset([number for number, instance in enumerate(instances) if instance.is_satisfied(state)])

    def list_rates(self, running: Iterable[int], steps: Iterable[TimedStep]) -> list[GroundRate]:
        """Return the rates of running processes, by number, and of durative actions under way."""
        rates: list[GroundRate] = []
        for number in running:
            instance = self.processes[number]
            assert isinstance(instance.schema, Process)
            owner = f"process `{instance.text}`"
            rates += self._bind_rates(instance.schema.rates, instance.binding, None, owner)
        for step in steps:
            assert isinstance(step.resolved, GroundAction)
            owner = f"step {step.number}"
            rates += self._bind_rates(step.resolved.action.rates, step.resolved.binding, step.duration, owner)
        return rates

    def _bind_rates(
        self, effects: Iterable[RateEffect], binding: Binding, duration: Number | None, owner: str
    ) -> Iterator[GroundRate]:
        """Yield the rates of continuous effects for all objects of their variables."""
        for effect in effects:
            for inner in self.task.bindings(effect.variables, binding):
                yield GroundRate(effect, inner, duration, owner)

    # -- comparisons --------------------------------------------------------------------------------------------------

    def _list_comparisons(self, parts: Iterable[RulePart]) -> Iterator[Comparison]:
        """Yield the comparisons of processes, events, derived predicates and rules that may change over time."""
        for instance in (*self.processes, *self.events):
            schema = instance.schema
            condition = schema.start.condition if isinstance(schema, Action) else schema.condition
            yield from self.ground_comparisons(condition, (), instance.binding)
        for stratum in self.task.axioms:
            for axiom in stratum:
                yield from self.ground_comparisons((axiom.body,), axiom.parameters)
        for part in parts:
            formulas = (part.body,) if part.guard is None else (part.body, part.guard)
            yield from self.ground_comparisons(formulas, part.parameters)

    def list_step_comparisons(self, step: TimedStep) -> list[Comparison]:
        """Return the comparisons of the conditions and preferences over all of a step that may change over time."""
        cached = self._step_comparisons.get(id(step))
        if cached is None:
            assert isinstance(step.resolved, GroundAction)
            action, binding = step.resolved.action, step.resolved.binding
            comparisons = [*self.ground_comparisons(action.over_all, (), binding, step.duration)]
            for preference in action.preferences:
                if preference.moment == "all":
                    comparisons += self.ground_comparisons(
                        (preference.body,), preference.variables, binding, step.duration
                    )
            cached = self._step_comparisons[id(step)] = step, comparisons
        return cached[1]

    def ground_comparisons(
        self,
        formulas: Iterable[Formula],
        parameters: Iterable[Variable],
        binding: Binding | None = None,
        duration: Number | None = None,
    ) -> Iterator[Comparison]:
        """Yield the ground comparisons of formulas that may change over time, for all values of the parameters."""
        count = 0
        for formula in formulas:
            domains = {v.slot: v.domain for v in parameters}
            compares = [part for part in subformulas(formula) if isinstance(part, Compare) and self._may_change(part)]
            if compares:
                domains |= find_bound_domains(formula)
            for compare in compares:
                for inner in self._list_bindings(compare, domains, binding or {}):
                    count += 1
                    if count > MAX_INSTANCES:
                        raise Undecided(
                            f"a condition has more than {MAX_INSTANCES:,} comparisons that change over time"
                        )
                    yield self._make_comparison(compare, inner, duration)

    def _may_change(self, compare: Compare) -> bool:
        """Whether a comparison reads a function that changes continuously."""
        fluents = [*expression_fluents(compare.left), *expression_fluents(compare.right)]
        return any([fluent.function in self._changing_functions for fluent in fluents])

    def _list_bindings(self, compare: Compare, domains: Mapping[int, int], binding: Binding) -> Iterator[Binding]:
        """Yield the bindings of the variables that a comparison reads, for all values of those without a value."""
        slots = sorted(find_variable_slots(compare))
        free_slots = [slot for slot in slots if slot not in binding]
        bound_values = {slot: binding[slot] for slot in slots if slot in binding}
        for objects in product(*[self.task.domains[domains[slot]] for slot in free_slots]):
            yield {**bound_values, **dict(zip(free_slots, objects, strict=True))}

    def _make_comparison(self, compare: Compare, binding: Binding, duration: Number | None) -> Comparison:
        fluents = [*expression_fluents(compare.left), *expression_fluents(compare.right)]
        keys = dict.fromkeys([(f.function, self.task.code_of(f.arguments, binding)) for f in fluents])
        return Comparison(compare.left, compare.right, binding, duration, tuple(keys))


def _make_test(
    holds: Callable[..., bool], condition: Formula, objects: tuple[int, ...], binding: Binding
) -> Callable[[State], bool]:
    """Return a test of a precondition, which is not satisfied if its value is undefined."""

    def is_satisfied(state: State) -> bool:
        try:
            return holds(state.facts, state.fluents, *objects)
        except (KeyError, ZeroDivisionError):
            return Evaluator(state.task, state.facts, state.fluents).holds(condition, binding) is True

    return is_satisfied


_CHANGES_OF_ENGINE: WeakKeyDictionary[Engine, ExogenousChanges] = WeakKeyDictionary()


def get_exogenous_changes(engine: Engine) -> ExogenousChanges:
    """Return the exogenous changes of an engine's task, computed once for all replays."""
    exogenous_changes = _CHANGES_OF_ENGINE.get(engine)
    if exogenous_changes is None:
        exogenous_changes = _CHANGES_OF_ENGINE[engine] = ExogenousChanges(engine)
    return exogenous_changes


def name_instances(instances: Iterable[Instance]) -> str:
    """Return the names of instances, for messages."""
    return ", ".join([f"`{instance.text}`" for instance in instances])
