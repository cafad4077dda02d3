"""The objects that a question about any problem speaks of, and what is known of their types.

An element is an object that the texts name, or one of which nothing is known but a type. Each has one declared type
(docs/safety-rules.md, "Claims and proofs"), and is of all types above it.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal


class Element(NamedTuple):
    """An element. ``object`` is its number where the texts name it; ``types`` are those that it may be declared with.

    A named object has all of its ``types``.
    """

    name: str
    object: int | None
    types: tuple[int, ...]


class Universe:
    """Elements, numbered in the order in which they were made.

    ``apart``: different elements are different objects. Else two of them may be one, unless both are named. Unless
    ``typed``, every object is of every type.
    """

    def __init__(self, circuit: Circuit, words: DomainIndex, apart: bool = False, typed: bool = True) -> None:
        self.circuit = circuit
        self.words = words
        self.task = words.task
        self.table = words.table
        self.apart = apart
        self.typed = typed
        self.elements: list[Element] = []
        self.equalities: dict[tuple[int, int], Literal] = {}
        self._domains: dict[int, int] = {}
        """The domain that an element was asked to be in."""
        self._asked: dict[int, list[int]] = {}
        """The domains that were asked about, for each element."""
        self._named: dict[int, int] = {}
        self._inside: dict[int, dict[int, frozenset[int]]] = {}
        """The types within the domains that an element may or may not be in."""
        self._declared: dict[int, dict[Literal, int]] = {}
        """A type for each kind that the element may be of."""
        self._members: dict[tuple[int, int], Literal] = {}

    def fresh(self, domain: int, name: str) -> int:
        """An element that is in a domain."""
        wanted = self.table.alternatives(domain)
        below = range(len(self.table.names)) if wanted is None else self._below(wanted)
        self.elements.append(Element(name, None, tuple(sorted(below))))
        self._domains[len(self.elements) - 1] = domain
        return len(self.elements) - 1

    def of_object(self, number: int) -> int:
        """The element that is an object of the task."""
        found = self._named.get(number)
        if found is None:
            found = self._named[number] = len(self.elements)
            self.elements.append(Element(self.task.objects[number], number, self.task.object_types[number]))
        return found

    def _below(self, wanted: tuple[int, ...]) -> frozenset[int]:
        """The types below some of these."""
        return self.words.below(wanted)

    def member(self, element: int, domain: int) -> Literal:
        """Whether an element is in a domain."""
        found = self._members.get((element, domain))
        if found is None:
            found = self._members[element, domain] = self._member(element, domain)
            self._asked.setdefault(element, []).append(domain)
        return found

    def _member(self, element: int, domain: int) -> Literal:
        _, number, types = self.elements[element]
        wanted = self.table.alternatives(domain)
        if not self.typed:
            return TRUE
        if wanted is None:
            return self.circuit.input(("member", element, domain))
        inside = self._below(wanted)
        if number is not None:
            return FALSE if inside.isdisjoint(types) else TRUE
        if inside.issuperset(types):
            return TRUE
        if inside.isdisjoint(types):
            return FALSE
        self._inside.setdefault(element, {})[domain] = inside
        return self.circuit.input(("member", element, domain))

    def _kinds(self, element: int) -> list[Literal]:
        """What is so of the type that an element is declared with.

        Types that no domain asked about tells apart are one kind.
        """
        circuit, asked = self.circuit, self._inside[element]
        kinds: dict[tuple[int, ...], list[int]] = {}
        for t in self.elements[element].types:
            kinds.setdefault(tuple([domain for domain, inside in asked.items() if t in inside]), []).append(t)
        self._declared[element] = {circuit.input(("kind", element, key)): types[0] for key, types in kinds.items()}
        out = [circuit.exactly_one(self._declared[element])]
        for domain in asked:
            some = circuit.disjunction([circuit.input(("kind", element, key)) for key in kinds if domain in key])
            out.append(circuit.equal(self._members[element, domain], some))
        return out

    def chosen(self, element: int, inputs: dict[int, bool]) -> int:
        """The type that an element is declared with, in a model; any that it may have, if nothing depends on it."""
        declared = self._declared.get(element, {})
        found = [t for literal, t in declared.items() if inputs.get(literal >> 1, False)]
        return found[0] if found else self.elements[element].types[0]

    def equal(self, a: int, b: int) -> Literal:
        """Whether two elements are one object."""
        if a == b:
            return TRUE
        a, b = min(a, b), max(a, b)
        if self.apart or not self._alike(a, b):
            return FALSE
        found = self.equalities.get((a, b))
        if found is None:
            found = self.equalities[a, b] = self.circuit.input(("equal", a, b))
        return found

    def _several(self, pair: tuple[int, int]) -> bool:
        """Whether one of two elements is an object that was declared with several types."""
        return any([self.elements[e].object is not None and len(self.elements[e].types) > 1 for e in pair])

    def _alike(self, a: int, b: int) -> bool:
        """Whether two elements may be one object, as far as their types go."""
        if not self.typed:
            return True
        if a in self._domains and b in self._domains:
            return self.words.overlap(self._domains[a], self._domains[b])
        if a not in self._domains and b not in self._domains:
            return False
        named, other = (b, a) if a in self._domains else (a, b)
        return self.member(named, self._domains[other]) != FALSE

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
            asked = {*self._asked.get(a, ()), *self._asked.get(b, ())}
            asked.update([self._domains[e] for e in (a, b) if e in self._domains])
            for domain in asked:
                same = circuit.equal(self.member(a, domain), self.member(b, domain))
                out.append(circuit.either(equal ^ 1, same))
        for element in self._inside:
            # What equals an object of several types has them all.
            several = [e for pair, e in self.equalities.items() if element in pair and self._several(pair)]
            out += [circuit.disjunction([law, *several]) for law in self._kinds(element)]
        return out
