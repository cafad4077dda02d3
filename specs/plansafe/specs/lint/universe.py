"""The objects that a question about any problem refers to, and the constraints on their types.

An element is an object that the texts name, or any object of some type. Each has one declared type
(docs/safety-rules.md, "Claims and proofs"), and is of all types above it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal


class Element(NamedTuple):
    """An element. ``object`` is its number if the texts name it; ``types`` are its possible declared types.

    A named object has all of its ``types``.
    """

    name: str
    object: int | None
    types: tuple[int, ...]


class Universe:
    """Elements, numbered in the order of their creation.

    ``distinct``: different elements are different objects. Otherwise two of them may be one object, unless both are
    named. Unless ``typed``, every object is of every type.
    """

    def __init__(self, circuit: Circuit, index: DomainIndex, distinct: bool = False, typed: bool = True) -> None:
        self.circuit = circuit
        self.index = index
        self.task = index.task
        self.table = index.table
        self.distinct = distinct
        self.typed = typed
        self.elements: list[Element] = []
        self.equalities: dict[tuple[int, int], Literal] = {}
        self._own_domains: dict[int, int] = {}
        """The domain for which an element was created."""
        self._tested_domains: dict[int, list[int]] = {}
        """The domains of the membership tests of each element."""
        self._object_elements: dict[int, int] = {}
        self._undecided_domains: dict[int, dict[int, frozenset[int]]] = {}
        """For each element, the domains that it may or may not be in, with their types."""
        self._type_literals: dict[int, dict[Literal, int]] = {}
        """For each element, a type for each group of possible types."""
        self._members: dict[tuple[int, int], Literal] = {}

    def add_element(self, domain: int, name: str) -> int:
        """Create an element of a domain."""
        types = self.table.get_alternatives(domain)
        subtypes = range(len(self.table.names)) if types is None else self.index.find_subtypes(types)
        self.elements.append(Element(name, None, tuple(sorted(subtypes))))
        self._own_domains[len(self.elements) - 1] = domain
        return len(self.elements) - 1

    def find_element(self, number: int) -> int:
        """The element of an object of the task."""
        element = self._object_elements.get(number)
        if element is None:
            element = self._object_elements[number] = len(self.elements)
            self.elements.append(Element(self.task.objects[number], number, self.task.object_types[number]))
        return element

    # -- types --------------------------------------------------------------------------------------------------------

    def encode_membership(self, element: int, domain: int) -> Literal:
        """Whether an element is in a domain."""
        literal = self._members.get((element, domain))
        if literal is None:
            literal = self._members[element, domain] = self._encode_membership(element, domain)
            self._tested_domains.setdefault(element, []).append(domain)
        return literal

    def _encode_membership(self, element: int, domain: int) -> Literal:
        _, number, types = self.elements[element]
        domain_types = self.table.get_alternatives(domain)
        if not self.typed:
            return TRUE
        if domain_types is None:
            return self.circuit.input(("member", element, domain))
        subtypes = self.index.find_subtypes(domain_types)
        if number is not None:
            return FALSE if subtypes.isdisjoint(types) else TRUE
        if subtypes.issuperset(types):
            return TRUE
        if subtypes.isdisjoint(types):
            return FALSE
        self._undecided_domains.setdefault(element, {})[domain] = subtypes
        return self.circuit.input(("member", element, domain))

    def _encode_type_constraints(self, element: int) -> list[Literal]:
        """An element has exactly one declared type, which decides its domains.

        Types that the tested domains do not distinguish form one group.
        """
        circuit, domains = self.circuit, self._undecided_domains[element]
        groups: dict[tuple[int, ...], list[int]] = {}
        for type_number in self.elements[element].types:
            key = tuple([domain for domain, subtypes in domains.items() if type_number in subtypes])
            groups.setdefault(key, []).append(type_number)
        self._type_literals[element] = {
            circuit.input(("kind", element, key)): types[0] for key, types in groups.items()
        }
        constraints = [circuit.exactly_one(self._type_literals[element])]
        for domain in domains:
            any_type = circuit.disjunction([circuit.input(("kind", element, key)) for key in groups if domain in key])
            constraints.append(circuit.equal(self._members[element, domain], any_type))
        return constraints

    def find_type_in_model(self, element: int, inputs: dict[int, bool]) -> int:
        """The declared type of an element in a model; any possible type, if nothing depends on it."""
        for literal, type_number in self._type_literals.get(element, {}).items():
            if inputs.get(literal >> 1, False):
                return type_number
        return self.elements[element].types[0]

    # -- equality -----------------------------------------------------------------------------------------------------

    def encode_equality(self, first: int, second: int) -> Literal:
        """Whether two elements are one object."""
        if first == second:
            return TRUE
        first, second = min(first, second), max(first, second)
        if self.distinct or not self._may_be_equal(first, second):
            return FALSE
        literal = self.equalities.get((first, second))
        if literal is None:
            literal = self.equalities[first, second] = self.circuit.input(("equal", first, second))
        return literal

    def _may_be_equal(self, first: int, second: int) -> bool:
        """Whether the types of two elements allow that they are one object."""
        if not self.typed:
            return True
        if first in self._own_domains and second in self._own_domains:
            return self.index.domains_overlap(self._own_domains[first], self._own_domains[second])
        if first not in self._own_domains and second not in self._own_domains:
            return False
        object_element, free_element = (second, first) if first in self._own_domains else (first, second)
        return self.encode_membership(object_element, self._own_domains[free_element]) != FALSE

    def _has_object_of_several_types(self, pair: tuple[int, int]) -> bool:
        return any([self.elements[e].object is not None and len(self.elements[e].types) > 1 for e in pair])

    def list_constraints(self) -> list[Literal]:
        """The constraints on types and equality, after all formulas have been encoded."""
        circuit = self.circuit
        constraints = []
        neighbours: dict[int, list[int]] = {}
        for first, second in self.equalities:
            neighbours.setdefault(first, []).append(second)
            neighbours.setdefault(second, []).append(first)
        for middle, equal_candidates in neighbours.items():
            for left, right in combinations(equal_candidates, 2):
                constraints.append(
                    circuit.disjunction(
                        [
                            self.encode_equality(left, middle) ^ 1,
                            self.encode_equality(middle, right) ^ 1,
                            self.encode_equality(left, right),
                        ]
                    )
                )
        for (first, second), equal in list(self.equalities.items()):
            domains = {*self._tested_domains.get(first, ()), *self._tested_domains.get(second, ())}
            domains.update([self._own_domains[element] for element in (first, second) if element in self._own_domains])
            for domain in domains:
                has_same_membership = circuit.equal(
                    self.encode_membership(first, domain), self.encode_membership(second, domain)
                )
                constraints.append(circuit.either(equal ^ 1, has_same_membership))
        for element in self._undecided_domains:
            # An element that equals an object of several types has them all.
            exceptions = [
                equal
                for pair, equal in self.equalities.items()
                if element in pair and self._has_object_of_several_types(pair)
            ]
            constraints += [circuit.disjunction([c, *exceptions]) for c in self._encode_type_constraints(element)]
        return constraints
