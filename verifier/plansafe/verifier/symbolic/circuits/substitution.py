"""The dependencies of literals, and copies of literals with other inputs and numbers.

``Circuit.find_cone`` ends at a comparison, which is an input of the circuit. The comparison's sum may have literals
(indicators, choices) and numbers, so code that fixes or renames these has to follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum

OpenNumber = tuple[int, int]
"""A fluent with an unknown initial value: (function, code)."""


class Dependencies(NamedTuple):
    """Nodes in ascending order, without node 0, and numbers."""

    nodes: list[int]
    numbers: set[OpenNumber]


def find_dependencies(circuit: Circuit, roots: Iterable[Literal]) -> Dependencies:
    """Return everything that the roots depend on, with inputs, and literals inside comparisons. Linear."""
    numbers: set[OpenNumber] = set()

    def expand_input(node: int) -> tuple[Literal, ...]:
        key = circuit.keys[node]
        if not isinstance(key, Comparison):
            return ()
        literals, sum_numbers = collect_references(key.sum)
        numbers.update(sum_numbers)
        return literals

    return Dependencies(circuit.find_cone(roots, expand_input), numbers)


def collect_references(total: Sum) -> tuple[tuple[Literal, ...], set[OpenNumber]]:
    """Return the literals and numbers in a sum."""
    literals: list[Literal] = []
    numbers: set[OpenNumber] = set()
    for part in list_inner_sums(total):
        for atom, _ in part.weighted_atoms:
            match atom:
                case ("value", int(function), int(code)):
                    numbers.add((function, code))
                case ("indicator" | "choice", int(literal), *_):
                    literals.append(literal)
    return tuple(literals), numbers


def list_inner_sums(total: Sum, known_ids: Container[int] = ()) -> list[Sum]:
    """Return a sum and all sums inside it, each once and after the sums inside it, except those with a known ``id``."""
    listed_ids: set[int] = set()
    sums: list[Sum] = []
    stack = [total]
    while stack:
        part = stack[-1]
        unlisted_sums = [
            atom_part
            for atom, _ in part.weighted_atoms
            for atom_part in atom
            if isinstance(atom_part, Sum) and id(atom_part) not in listed_ids and id(atom_part) not in known_ids
        ]
        if unlisted_sums:
            stack.extend(unlisted_sums)
            continue
        stack.pop()
        if id(part) not in listed_ids:  # a shared sum is on the stack once for every path to it
            listed_ids.add(id(part))
            sums.append(part)
    return sums


def evaluate_last_sum(
    sums: Sequence[Sum],
    nodes: Mapping[int, bool],
    numbers: Mapping[OpenNumber, Number],
    values: dict[int, Number],
) -> Number:
    """Return the value in one world of the last of some sums, in which every sum follows the sums inside it.

    Missing numbers are 0. ``nodes``: the values of circuit nodes. ``values``: the known values of sums, by ``id``; the
    values of all other sums are added.
    """
    for part in sums:
        if id(part) not in values:
            summands = [weight * _evaluate_atom(a, nodes, numbers, values) for a, weight in part.weighted_atoms]
            values[id(part)] = part.constant + sum(summands)
    return values[id(sums[-1])]


def _evaluate_atom(
    atom: Atom, nodes: Mapping[int, bool], numbers: Mapping[OpenNumber, Number], values: Mapping[int, Number]
) -> Number:
    """Return the value of an atom in one world; the sums inside it have values."""
    match atom:
        case ("value", int(function), int(code)):
            return numbers.get((function, code), 0)
        case ("indicator", int(literal)):
            return int(nodes[literal >> 1] != bool(literal & 1))
        case ("choice", int(literal), then, otherwise):
            return values[id(then if nodes[literal >> 1] != bool(literal & 1) else otherwise)]
        case ("product", a, b):
            return values[id(a)] * values[id(b)]
        case ("quotient", a, b):
            # Where the divisor is zero, the quotient is undefined; a separate literal says so.
            return Fraction(values[id(a)]) / values[id(b)] if values[id(b)] else 0
    raise AssertionError(f"not an atom: {atom[0]}")


class CircuitTemplate:
    """Creates copies of literals, with other literals for some inputs and sums for some numbers.

    A copy builds only the gates that depend on these, again simplified: comparisons are normalised, and decided where
    they become constant. ``changing_nodes`` are the dependent nodes in ascending order, with their children or their
    comparison.
    """

    def __init__(
        self,
        circuit: Circuit,
        roots: Sequence[Literal],
        inputs: Collection[int],
        numbers: Collection[OpenNumber] = (),
    ) -> None:
        self._circuit = circuit
        self._roots = tuple(roots)
        changing_numbers = frozenset(numbers)
        changing_set = set(inputs)
        self.changing_nodes: list[tuple[int, tuple[Literal, ...] | Comparison]] = []
        for node in find_dependencies(circuit, roots).nodes:
            children = circuit.gates[node]
            if children is not None:
                if any([child >> 1 in changing_set for child in children]):
                    changing_set.add(node)
                    self.changing_nodes.append((node, children))
            elif isinstance(key := circuit.keys[node], Comparison):
                literals, sum_numbers = collect_references(key.sum)
                if not changing_numbers.isdisjoint(sum_numbers) or any(
                    [part >> 1 in changing_set for part in literals]
                ):
                    changing_set.add(node)
                    self.changing_nodes.append((node, key))

    def instantiate(self, inputs: Mapping[int, Literal], numbers: Mapping[OpenNumber, Sum]) -> list[Literal]:
        """Return copies of the roots; inputs and numbers without a replacement stay."""
        nodes = self.instantiate_nodes(inputs, numbers)
        return [nodes[root >> 1] ^ (root & 1) if root >> 1 in nodes else root for root in self._roots]

    def instantiate_nodes(self, inputs: Mapping[int, Literal], numbers: Mapping[OpenNumber, Sum]) -> dict[int, Literal]:
        """Return the copy of each of ``changing_nodes``, and the replacement of each of the inputs."""
        circuit, conjunction = self._circuit, self._circuit.conjunction
        copies: dict[int, Literal] = dict(inputs)

        def copy_literal(literal: Literal) -> Literal:
            node = literal >> 1
            return copies[node] ^ (literal & 1) if node in copies else literal

        copier = _SumCopier(copy_literal, numbers)
        for node, original in self.changing_nodes:
            if isinstance(original, Comparison):
                total = copier.copy(original.sum)
                copies[node] = terms.compare(circuit, original.operator, total, terms.constant(0))
            else:
                copies[node] = conjunction([copy_literal(child) for child in original])
        return copies


class _SumCopier:
    """Copies sums. Shared sums are copied once; the originals must stay alive meanwhile."""

    def __init__(self, copy_literal: Callable[[Literal], Literal], numbers: Mapping[OpenNumber, Sum]) -> None:
        self._copy_literal = copy_literal
        self._numbers = numbers
        self._copies: dict[int, Sum] = {}

    def copy(self, total: Sum) -> Sum:
        """Return the copy of a sum."""
        copies = self._copies
        for part in list_inner_sums(total):
            if id(part) not in copies:
                copies[id(part)] = self._copy_sum(part)
        return copies[id(total)]

    def _copy_sum(self, part: Sum) -> Sum:
        """Copy a sum; the sums inside it have been copied."""
        constant: Number = part.constant
        weighted_atoms: list[tuple[Atom, Number]] = []
        for atom, coefficient in part.weighted_atoms:
            atom_copy = self._copy_atom(atom)
            constant += coefficient * atom_copy.constant
            weighted_atoms += [(atom_part, coefficient * factor) for atom_part, factor in atom_copy.weighted_atoms]
        return terms.add(terms.constant(0), Sum(constant, tuple(weighted_atoms)))

    def _copy_atom(self, atom: Atom) -> Sum:
        """Copy an atom; the sums inside it have been copied."""
        copies = self._copies
        match atom:
            case ("value", int(function), int(code)):
                return self._numbers.get((function, code)) or terms.variable(function, code)
            case ("indicator", int(literal)):
                return terms.choose(self._copy_literal(literal), terms.constant(1), terms.constant(0))
            case ("choice", int(literal), Sum() as then, Sum() as otherwise):
                return terms.choose(self._copy_literal(literal), copies[id(then)], copies[id(otherwise)])
            case ("product", Sum() as a, Sum() as b):
                return terms.multiply(copies[id(a)], copies[id(b)])
            case ("quotient", Sum() as a, Sum() as b):
                return terms.divide(copies[id(a)], copies[id(b)])
        raise AssertionError(f"not an atom: {atom[0]}")
