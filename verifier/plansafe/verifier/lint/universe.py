"""The objects that a question about any problem speaks of, and what is known of their types.

An element is an object that the texts name, or one of which nothing is known but a type. Each has one declared type
(docs/lint.md, section 1), and is of all types above it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plansafe.verifier.elaborate.types import TypeTable
from plansafe.verifier.model import Task
from plansafe.verifier.symbolic.circuit import FALSE, TRUE, Circuit, Literal


class TooLarge(Exception):
    """A question became larger than the limits allow, or late."""


class Element(NamedTuple):
    """An element. ``object`` is its number where the texts name it; ``types`` are those that it may be declared with.

    A named object has all of its ``types``.
    """

    name: str
    object: int | None
    types: tuple[int, ...]


class Universe:
    """Elements, numbered in the order in which they were made.

    ``apart``: different elements are different objects. Else two of them may be one, unless both are named.
    """

    def __init__(self, circuit: Circuit, task: Task, table: TypeTable, apart: bool = False) -> None:
        self.circuit = circuit
        self.task = task
        self.table = table
        self.apart = apart
        self.elements: list[Element] = []
        self.equalities: dict[tuple[int, int], Literal] = {}
        self._named: dict[int, int] = {}
        self._declared: dict[int, dict[int, Literal]] = {}
        self._members: dict[tuple[int, int], Literal] = {}

    def fresh(self, domain: int, name: str) -> int:
        """An element that is in a domain."""
        wanted = self.table.alternatives(domain)
        below = range(len(self.table.names)) if wanted is None else self._below(wanted)
        self.elements.append(Element(name, None, tuple(below)))
        return len(self.elements) - 1

    def of_object(self, number: int) -> int:
        """The element that is an object of the task."""
        found = self._named.get(number)
        if found is None:
            found = self._named[number] = len(self.elements)
            self.elements.append(Element(self.task.objects[number], number, self.task.object_types[number]))
        return found

    def _below(self, wanted: tuple[int, ...]) -> list[int]:
        if 0 in wanted:
            return list(range(len(self.table.names)))
        ancestors = self.table.ancestors
        return [t for t in range(len(self.table.names)) if not ancestors[t].isdisjoint(wanted)]

    def member(self, element: int, domain: int) -> Literal:
        """Whether an element is in a domain."""
        found = self._members.get((element, domain))
        if found is None:
            found = self._members[element, domain] = self._member(element, domain)
        return found

    def _member(self, element: int, domain: int) -> Literal:
        _, number, types = self.elements[element]
        wanted = self.table.alternatives(domain)
        if wanted is None:
            return self.circuit.input(("member", element, domain))
        inside = set(self._below(wanted))
        if number is not None:
            return FALSE if inside.isdisjoint(types) else TRUE
        if inside.issuperset(types):
            return TRUE
        declared = self._types(element)
        return self.circuit.disjunction([declared[t] for t in types if t in inside])

    def _types(self, element: int) -> dict[int, Literal]:
        """For each type, whether the element is declared with it."""
        found = self._declared.get(element)
        if found is None:
            _, number, types = self.elements[element]
            if number is not None:
                found = dict.fromkeys(types, TRUE)
            else:
                found = {t: self.circuit.input(("declared", element, t)) for t in types}
            self._declared[element] = found
        return found

    def chosen(self, element: int, inputs: dict[int, bool]) -> int:
        """The type that an element is declared with, in a model; any that it may have, if nothing depends on it."""
        declared = self._declared.get(element, {})
        found = [t for t, literal in declared.items() if inputs.get(literal >> 1, False)]
        return found[0] if found else self.elements[element].types[0]

    def equal(self, a: int, b: int) -> Literal:
        """Whether two elements are one object."""
        if a == b:
            return TRUE
        a, b = min(a, b), max(a, b)
        first, second = self.elements[a], self.elements[b]
        known = first.object is not None and second.object is not None
        if self.apart or known or not (self._alike(first, second)):
            return FALSE
        found = self.equalities.get((a, b))
        if found is None:
            found = self.equalities[a, b] = self.circuit.input(("equal", a, b))
        return found

    def _several(self, pair: tuple[int, int]) -> bool:
        """Whether one of two elements is an object that was declared with several types."""
        return any([self.elements[e].object is not None and len(self.elements[e].types) > 1 for e in pair])

    @staticmethod
    def _alike(first: Element, second: Element) -> bool:
        return not set(first.types).isdisjoint(second.types)

    def laws(self) -> list[Literal]:
        """What is so of types and of equality; to be asked for when all else has been written down."""
        circuit = self.circuit
        out = []
        near: dict[int, list[int]] = {}
        for a, b in self.equalities:
            near.setdefault(a, []).append(b)
            near.setdefault(b, []).append(a)
        for y, others in near.items():
            for x, z in combinations(others, 2):
                out.append(circuit.disjunction([self.equal(x, y) ^ 1, self.equal(y, z) ^ 1, self.equal(x, z)]))
        for (a, b), equal in list(self.equalities.items()):
            mine, other = self._types(a), self._types(b)
            for t in mine.keys() | other.keys():
                same = circuit.equal(mine.get(t, FALSE), other.get(t, FALSE))
                out.append(circuit.either(equal ^ 1, same))
        for element, declared in self._declared.items():
            if self.elements[element].object is None:
                # What equals an object of several types has them all.
                several = [e for pair, e in self.equalities.items() if element in pair and self._several(pair)]
                out.append(circuit.disjunction([circuit.exactly_one(declared.values()), *several]))
        return out
