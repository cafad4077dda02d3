"""Interchangeable objects: a search for a shortest plan visits one of the states that differ by an exchange of objects.

Two objects are interchangeable if their exchange changes neither the types, nor the static facts, nor the goal, nor a
condition or effect. Then each plan from a state is, with the objects exchanged, a plan from the other state (Pochter,
Zohar and Rosenschein 2011).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.nodes import Atom, Equal, Task
from plansafe.verifier.model.operations import list_task_formulas, subformulas

Fact = tuple[int, tuple[int, ...]]
"""A predicate and its objects."""
OrbitKey = tuple[Fact, ...]
"""The facts of a state with renamed objects."""
_OBJECT_ITSELF = -1
"""Stands for the described object in its signature; classes without names are the numbers below."""


class ObjectSymmetry:
    """Keys of states that are equal only if an exchange of interchangeable objects makes the states equal."""

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self.predicates = [index for index in engine.changeable_symbols if index < len(self.task.predicates)]
        self.classes = find_interchangeable_objects(engine)
        self._class_by_object = {number: index for index, members in enumerate(self.classes) for number in members}

    def find_key(self, state: State) -> OrbitKey:
        """Return the key of a state: its facts, with the objects of each class renamed in a fixed order."""
        facts = list(self._list_facts(state))
        facts_by_object: dict[int, list[Fact]] = {}
        for fact in facts:
            for number in set(fact[1]):
                if number in self._class_by_object:
                    facts_by_object.setdefault(number, []).append(fact)
        names: dict[int, int] = {}
        for members in self.classes:
            signatures = {
                number: self._make_signature(number, facts_by_object.get(number, ()), names) for number in members
            }
            ordered = sorted(members, key=signatures.__getitem__)
            names.update(zip(ordered, members, strict=True))
        return tuple(sorted([_rename_objects(fact, names) for fact in facts]))

    def _make_signature(self, number: int, facts: Iterable[Fact], names: dict[int, int]) -> list[Fact]:
        """Return the facts of an object. Objects of classes that have no names yet are replaced by their class."""
        signature: list[Fact] = []
        for predicate, objects in facts:
            marks = [
                _OBJECT_ITSELF if object_ == number else names.get(object_, self._find_class_mark(object_))
                for object_ in objects
            ]
            signature.append((predicate, tuple(marks)))
        return sorted(signature)

    def _find_class_mark(self, number: int) -> int:
        """Return a negative number for the class of an object; the object itself if it is in no class."""
        return _OBJECT_ITSELF - 1 - self._class_by_object[number] if number in self._class_by_object else number

    def _list_facts(self, state: State) -> Iterator[Fact]:
        for predicate in self.predicates:
            arity = len(self.task.predicates[predicate].types)
            yield from [(predicate, self.task.decode(code, arity)) for code in state.facts[predicate]]


def find_interchangeable_objects(engine: Engine) -> list[tuple[int, ...]]:
    """Find the classes of two or more interchangeable objects; none in a task with numbers, whose values may differ."""
    task = engine.task
    if task.functions:
        return []
    named_objects = set(_list_named_objects(task))
    static_predicates = [predicate for predicate, is_static in enumerate(task.static) if is_static]
    preserved_facts: set[Fact] = set()
    for predicate in static_predicates:
        arity = len(task.predicates[predicate].types)
        preserved_facts.update([(predicate, task.decode(code, arity)) for code in task.initial_facts[predicate]])
    # Facts of the goal have negative predicates, to tell them from static facts.
    preserved_facts.update([(-1 - part.predicate, part.arguments) for part in task.goal if isinstance(part, Atom)])
    facts_by_object: dict[int, set[Fact]] = {}
    for fact in preserved_facts:
        for number in fact[1]:
            facts_by_object.setdefault(number, set()).add(fact)
    classes: list[list[int]] = []
    for number in range(len(task.objects)):
        if number in named_objects:
            continue
        for members in classes:
            if _may_exchange(task, members[0], number, facts_by_object):
                members.append(number)
                break
        else:
            classes.append([number])
    return [tuple(members) for members in classes if len(members) > 1]


def _rename_objects(fact: Fact, names: dict[int, int]) -> Fact:
    predicate, objects = fact
    return predicate, tuple([names.get(number, number) for number in objects])


def _may_exchange(task: Task, first: int, second: int, facts_by_object: dict[int, set[Fact]]) -> bool:
    """Whether the exchange of two objects changes neither their types nor the facts that must be preserved."""
    if any([(first in domain) != (second in domain) for domain in task.domain_sets]):
        return False
    exchange = {first: second, second: first}
    facts = facts_by_object.get(first, set()) | facts_by_object.get(second, set())
    return {_rename_objects(fact, exchange) for fact in facts} == facts


def _list_named_objects(task: Task) -> Iterator[int]:
    """Yield the objects that actions, axioms, or parts of the goal other than facts name."""
    formulas = list_task_formulas(task._replace(goal=tuple([part for part in task.goal if not isinstance(part, Atom)])))
    for action in task.actions.values():
        for effect in action.start.effects:
            formulas += [*effect.adds, *effect.deletes]
    for formula in formulas:
        for part in subformulas(formula):
            if isinstance(part, Atom):
                yield from [number for number in part.arguments if number >= 0]
            elif isinstance(part, Equal):
                yield from [number for number in (part.left, part.right) if number >= 0]
