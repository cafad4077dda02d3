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

    ``has_distinct_elements``: different elements are different objects. Otherwise two of them may be one object, unless
    both are named. Unless ``typed``, every object is of every type.
    """

    def __init__(
        self, circuit: Circuit, index: DomainIndex, has_distinct_elements: bool = False, typed: bool = True
    ) -> None:
        self.circuit = circuit
        self.index = index
        self.task = index.task
        self.table = index.table
        self.has_distinct_elements = has_distinct_elements
        self.typed = typed
        self.elements: list[Element] = []
        self.equalities: dict[tuple[int, int], Literal] = {}
        self._domain_by_element: dict[int, int] = {}
        """The domain for which an element was created."""
        self._tested_domains: dict[int, list[int]] = {}
        """The domains of the membership tests of each element."""
        self._element_by_object: dict[int, int] = {}
        self._undecided_domains: dict[int, dict[int, frozenset[int]]] = {}
        """For each element, the domains that it may or may not be in, with their types."""
        self._types_by_literal: dict[int, dict[Literal, int]] = {}
        """For each element, a type for the literal of each group of possible types."""
        self._members: dict[tuple[int, int], Literal] = {}

    def add_element(self, domain: int, name: str) -> int:
        """Create an element of a domain."""
        types = self.table.get_alternatives(domain)
        subtypes = range(len(self.table.names)) if types is None else self.index.find_subtypes(types)
        self.elements.append(Element(name, None, tuple(sorted(subtypes))))
        self._domain_by_element[len(self.elements) - 1] = domain
        return len(self.elements) - 1

    def get_element(self, number: int) -> int:
        """Return the element of an object of the task; create it if there is none."""
        element = self._element_by_object.get(number)
        if element is None:
            element = self._element_by_object[number] = len(self.elements)
            self.elements.append(Element(self.task.objects[number], number, self.task.object_types[number]))
        return element

    # -- types --------------------------------------------------------------------------------------------------------

    def encode_membership(self, element: int, domain: int) -> Literal:
        """Encode that an element is in a domain."""
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
        """Encode that an element has exactly one declared type, which decides its domains.

        Types that the tested domains do not distinguish form one group.
        """
        circuit, domains = self.circuit, self._undecided_domains[element]
        groups: dict[tuple[int, ...], list[int]] = {}
        for type_number in self.elements[element].types:
            key = tuple([domain for domain, subtypes in domains.items() if type_number in subtypes])
            groups.setdefault(key, []).append(type_number)
        self._types_by_literal[element] = {
            circuit.input(("kind", element, key)): types[0] for key, types in groups.items()
        }
        constraints = [circuit.exactly_one(self._types_by_literal[element])]
        for domain in domains:
            type_disjunction = circuit.disjunction(
                [circuit.input(("kind", element, key)) for key in groups if domain in key]
            )
            constraints.append(circuit.equal(self._members[element, domain], type_disjunction))
        return constraints

    def find_type_in_model(self, element: int, inputs: dict[int, bool]) -> int:
        """Return the declared type of an element in a model; any possible type, if nothing depends on it."""
        for literal, type_number in self._types_by_literal.get(element, {}).items():
            if inputs.get(literal >> 1, False):
                return type_number
        return self.elements[element].types[0]

    # -- equality -----------------------------------------------------------------------------------------------------

    def encode_equality(self, first: int, second: int) -> Literal:
        """Encode that two elements are one object."""
        if first == second:
            return TRUE
        first, second = min(first, second), max(first, second)
        if self.has_distinct_elements or not self._may_be_equal(first, second):
            return FALSE
        literal = self.equalities.get((first, second))
        if literal is None:
            literal = self.equalities[first, second] = self.circuit.input(("equal", first, second))
        return literal

    def _may_be_equal(self, first: int, second: int) -> bool:
        """Whether the types of two elements allow that they are one object."""
        if not self.typed:
            return True
        if first in self._domain_by_element and second in self._domain_by_element:
            return self.index.domains_overlap(self._domain_by_element[first], self._domain_by_element[second])
        if first not in self._domain_by_element and second not in self._domain_by_element:
            return False
        object_element, free_element = (second, first) if first in self._domain_by_element else (first, second)
        return self.encode_membership(object_element, self._domain_by_element[free_element]) != FALSE

    def _has_object_of_several_types(self, pair: tuple[int, int]) -> bool:
        return any([self.elements[e].object is not None and len(self.elements[e].types) > 1 for e in pair])

    def encode_constraints(self) -> list[Literal]:
        """Encode the constraints on types and equality, after all formulas have been encoded."""
        constraints = [*self._encode_transitivity(), *self._encode_equal_memberships()]
        for element in self._undecided_domains:
            # An element that equals an object of several types has them all.
            exceptions = [
                equality
                for pair, equality in self.equalities.items()
                if element in pair and self._has_object_of_several_types(pair)
            ]
            constraints += [self.circuit.disjunction([c, *exceptions]) for c in self._encode_type_constraints(element)]
        return constraints

    def _encode_transitivity(self) -> list[Literal]:
        """Encode that elements are equal if both equal a third element."""
        neighbours: dict[int, list[int]] = {}
        for first, second in self.equalities:
            neighbours.setdefault(first, []).append(second)
            neighbours.setdefault(second, []).append(first)
        constraints = []
        for middle, candidates in neighbours.items():
            for left, right in combinations(candidates, 2):
                premises = (self.encode_equality(left, middle), self.encode_equality(middle, right))
                conclusion = self.encode_equality(left, right)
                constraints.append(self.circuit.disjunction([*[premise ^ 1 for premise in premises], conclusion]))
        return constraints

    def _encode_equal_memberships(self) -> list[Literal]:
        """Encode that equal elements are in the same domains."""
        constraints = []
        for pair, equality in list(self.equalities.items()):
            domains = {domain for element in pair for domain in self._tested_domains.get(element, ())}
            domains.update([self._domain_by_element[element] for element in pair if element in self._domain_by_element])
            for domain in domains:
                first, second = [self.encode_membership(element, domain) for element in pair]
                constraints.append(self.circuit.either(equality ^ 1, self.circuit.equal(first, second)))
        return constraints
