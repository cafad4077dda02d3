"""The ground actions that are reachable in the delete relaxation.

The relaxation also tracks false facts: a fact can be false if it is false initially or a reachable action deletes it.
Numeric comparisons and derived facts can have both values. So an action that is *not* reachable here can never be
executed; a step with such an action is an affordance fault. This code is independent of the diagnosis that it tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    And,
    Atom,
    Compare,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Truth,
    Variable,
)

Binding = dict[int, int]
Fact = tuple[int, tuple[int, ...]]


class RelaxedReachability:
    """The relaxed fixpoint of a task, for instantaneous actions.

    Cost: rounds x ground actions that satisfy the static preconditions.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.initial: set[Fact] = {
            (predicate, task.decode(code, len(task.predicates[predicate].types)))
            for predicate, codes in enumerate(task.initial_facts)
            for code in codes
        }
        self.true = set(self.initial)
        self.false: set[Fact] = set()
        self.derived = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        self.steps: set[tuple[str, tuple[int, ...]]] = set()
        self._saturate()

    def is_reachable(self, step: GroundAction) -> bool:
        """True if the step's precondition can hold in the relaxation; types are not checked."""
        binding = _action_binding(step.action, step.objects)
        return self._can_be(And(step.action.start.condition), binding)

    def step_texts(self) -> list[str]:
        """All reachable well-typed steps, sorted."""
        return sorted([" ".join([f"({name}", *self.task.names(objects)]) + ")" for name, objects in self.steps])

    def _saturate(self) -> None:
        unreached = [
            (action, _action_binding(action, objects), objects)
            for action in self.task.actions.values()
            if action.end is None
            for objects in self._candidate_bindings(action)
        ]
        conditional: list[tuple[Action, Binding]] = []
        changed = True
        while changed:
            changed = False
            still_unreached = []
            for action, binding, objects in unreached:
                if not self._can_be(And(action.start.condition), binding):
                    still_unreached.append((action, binding, objects))
                    continue
                self.steps.add((action.name, objects))
                changed = True
                if any([effect.condition is not TRUE for effect in action.start.effects]):
                    conditional.append((action, binding))
                for effect in action.start.effects:
                    self._apply_effect(effect, binding)
            unreached = still_unreached
            for action, binding in conditional:
                for effect in action.start.effects:
                    if effect.condition is not TRUE and self._apply_effect(effect, binding):
                        changed = True

    def _candidate_bindings(self, action: Action) -> Iterator[tuple[int, ...]]:
        """Bindings that satisfy the static conjuncts, extended parameter by parameter."""
        static_conjuncts = [part for part in _conjuncts(And(action.start.condition)) if self._is_static(part)]
        bound_slots: set[int] = set()
        checks: list[list[Formula]] = []
        for parameter in action.parameters:
            earlier_slots = set(bound_slots)
            bound_slots.add(parameter.slot)
            checks.append(
                [
                    conjunct
                    for conjunct in static_conjuncts
                    if _slots(conjunct) <= bound_slots and not (earlier_slots and _slots(conjunct) <= earlier_slots)
                ]
            )
        yield from self._extend_binding(action.parameters, checks, {}, ())

    def _extend_binding(
        self, parameters: tuple[Variable, ...], checks: list[list[Formula]], binding: Binding, objects: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        depth = len(objects)
        if depth == len(parameters):
            yield objects
            return
        for value in self.task.domains[parameters[depth].domain]:
            binding[parameters[depth].slot] = value
            if all([self._can_be(check, binding) for check in checks[depth]]):
                yield from self._extend_binding(parameters, checks, binding, (*objects, value))
        binding.pop(parameters[depth].slot, None)

    def _is_static(self, part: Formula) -> bool:
        match part:
            case Atom(predicate, _):
                return self.task.static[predicate]
            case Not(Atom(predicate, _)):
                return self.task.static[predicate]
            case Equal() | Not(Equal()):
                return True
        return False

    def _apply_effect(self, effect: Effect, binding: Binding) -> bool:
        """Add the possible results of an effect; returns True if one of them is new."""
        fact_count = len(self.true) + len(self.false)
        for values in product(*[self.task.domains[variable.domain] for variable in effect.variables]):
            inner_binding = {
                **binding,
                **dict(zip([variable.slot for variable in effect.variables], values, strict=True)),
            }
            if effect.condition is TRUE or self._can_be(effect.condition, inner_binding):
                self.true.update([_ground_fact(atom, inner_binding) for atom in effect.adds])
                self.false.update([_ground_fact(atom, inner_binding) for atom in effect.deletes])
        return len(self.true) + len(self.false) > fact_count

    def _can_be(self, formula: Formula, binding: Binding, expected: bool = True) -> bool:
        """True if the formula can have the expected truth value."""
        match formula:
            case Truth(value):
                return value == expected
            case Atom(predicate, _):
                if predicate in self.derived:
                    return True
                fact = _ground_fact(formula, binding)
                return fact in self.true if expected else fact not in self.initial or fact in self.false
            case Equal(left, right):
                return (_ground_object(left, binding) == _ground_object(right, binding)) == expected
            case Compare():
                return True
            case Not(body):
                return self._can_be(body, binding, not expected)
            case And(parts):
                possible_parts = (self._can_be(part, binding, expected) for part in parts)
                return all(possible_parts) if expected else any(possible_parts)
            case Or(parts):
                possible_parts = (self._can_be(part, binding, expected) for part in parts)
                return any(possible_parts) if expected else all(possible_parts)
            case Quantified(universal, variables, body):
                slots = [variable.slot for variable in variables]
                bindings = product(*[self.task.domains[variable.domain] for variable in variables])
                possible_instances = (
                    self._can_be(body, {**binding, **dict(zip(slots, values, strict=True))}, expected)
                    for values in bindings
                )
                return all(possible_instances) if universal == expected else any(possible_instances)
        raise ValueError(f"not a state formula: {formula}")


def _ground_object(argument: int, binding: Binding) -> int:
    return argument if argument >= 0 else binding[-1 - argument]


def _ground_fact(atom: Atom, binding: Binding) -> Fact:
    return atom.predicate, tuple([_ground_object(argument, binding) for argument in atom.arguments])


def _action_binding(action: Action, objects: tuple[int, ...]) -> Binding:
    return dict(zip([parameter.slot for parameter in action.parameters], objects, strict=True))


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    match formula:
        case And(parts):
            for part in parts:
                yield from _conjuncts(part)
        case _:
            yield formula


def _slots(formula: Formula) -> set[int]:
    match formula:
        case Atom(_, arguments):
            return {-1 - argument for argument in arguments if argument < 0}
        case Equal(left, right):
            return {-1 - argument for argument in (left, right) if argument < 0}
        case Not(body):
            return _slots(body)
    raise ValueError(f"not a literal: {formula}")
