"""Which ground actions could ever be taken, when deletes are ignored.

The delete relaxation, with false facts beside true ones: a fact may be false if it is so at first or some action that
may be taken deletes it. Comparisons of numbers and derived facts may be either. So what is *not* reachable here can
never be taken; a step on such objects is an affordance fault. Written apart from the diagnosis it serves to judge.
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


class Reachable:
    """The relaxed fixpoint of a task; instantaneous actions alone.

    Cost: rounds x ground actions that agree with the static facts.
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

    def possible(self, step: GroundAction) -> bool:
        """Whether the step's precondition could ever hold; types are not looked at."""
        binding = _bound(step.action, step.objects)
        return self._may(And(step.action.start.condition), binding)

    def texts(self) -> list[str]:
        """All well-typed steps that could ever be taken, sorted."""
        return sorted([" ".join([f"({name}", *self.task.names(objects)]) + ")" for name, objects in self.steps])

    def _saturate(self) -> None:
        waiting = [
            (action, _bound(action, objects), objects)
            for action in self.task.actions.values()
            if action.end is None
            for objects in self._candidates(action)
        ]
        conditional: list[tuple[Action, Binding]] = []
        changed = True
        while changed:
            changed = False
            still = []
            for action, binding, objects in waiting:
                if not self._may(And(action.start.condition), binding):
                    still.append((action, binding, objects))
                    continue
                self.steps.add((action.name, objects))
                changed = True
                if any([effect.condition is not TRUE for effect in action.start.effects]):
                    conditional.append((action, binding))
                for effect in action.start.effects:
                    self._happens(effect, binding)
            waiting = still
            for action, binding in conditional:
                for effect in action.start.effects:
                    if effect.condition is not TRUE and self._happens(effect, binding):
                        changed = True

    def _candidates(self, action: Action) -> Iterator[tuple[int, ...]]:
        """Bindings that agree with the static conjuncts, parameter by parameter."""
        static = [part for part in _conjuncts(And(action.start.condition)) if self._static(part)]
        bound: set[int] = set()
        checks: list[list[Formula]] = []
        for parameter in action.parameters:
            before = set(bound)
            bound.add(parameter.slot)
            checks.append([p for p in static if _slots(p) <= bound and not (before and _slots(p) <= before)])
        yield from self._extend(action.parameters, checks, {}, ())

    def _extend(
        self, parameters: tuple[Variable, ...], checks: list[list[Formula]], binding: Binding, objects: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        depth = len(objects)
        if depth == len(parameters):
            yield objects
            return
        for value in self.task.domains[parameters[depth].domain]:
            binding[parameters[depth].slot] = value
            if all([self._may(check, binding) for check in checks[depth]]):
                yield from self._extend(parameters, checks, binding, (*objects, value))
        binding.pop(parameters[depth].slot, None)

    def _static(self, part: Formula) -> bool:
        match part:
            case Atom(predicate, _):
                return self.task.static[predicate]
            case Not(Atom(predicate, _)):
                return self.task.static[predicate]
            case Equal() | Not(Equal()):
                return True
        return False

    def _happens(self, effect: Effect, binding: Binding) -> bool:
        """Note what the effect may do; whether that is news."""
        before = len(self.true) + len(self.false)
        for values in product(*[self.task.domains[v.domain] for v in effect.variables]):
            inner = {**binding, **dict(zip([v.slot for v in effect.variables], values, strict=True))}
            if effect.condition is TRUE or self._may(effect.condition, inner):
                self.true.update([_fact(atom, inner) for atom in effect.adds])
                self.false.update([_fact(atom, inner) for atom in effect.deletes])
        return len(self.true) + len(self.false) > before

    def _may(self, formula: Formula, binding: Binding, wanted: bool = True) -> bool:
        """Whether the formula may have the wanted value."""
        match formula:
            case Truth(value):
                return value == wanted
            case Atom(predicate, _):
                if predicate in self.derived:
                    return True
                fact = _fact(formula, binding)
                return fact in self.true if wanted else fact not in self.initial or fact in self.false
            case Equal(left, right):
                return (_object(left, binding) == _object(right, binding)) == wanted
            case Compare():
                return True
            case Not(body):
                return self._may(body, binding, not wanted)
            case And(parts):
                each = (self._may(part, binding, wanted) for part in parts)
                return all(each) if wanted else any(each)
            case Or(parts):
                each = (self._may(part, binding, wanted) for part in parts)
                return any(each) if wanted else all(each)
            case Quantified(universal, variables, body):
                slots = [v.slot for v in variables]
                over = product(*[self.task.domains[v.domain] for v in variables])
                inner = (
                    self._may(body, {**binding, **dict(zip(slots, values, strict=True))}, wanted) for values in over
                )
                return all(inner) if universal == wanted else any(inner)
        raise ValueError(f"not a state formula: {formula}")


def _object(argument: int, binding: Binding) -> int:
    return argument if argument >= 0 else binding[-1 - argument]


def _fact(atom: Atom, binding: Binding) -> Fact:
    return atom.predicate, tuple([_object(argument, binding) for argument in atom.arguments])


def _bound(action: Action, objects: tuple[int, ...]) -> Binding:
    return dict(zip([v.slot for v in action.parameters], objects, strict=True))


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
