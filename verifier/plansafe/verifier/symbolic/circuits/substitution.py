"""What literals depend on, through comparisons too, and copies of literals with other inputs and numbers.

``Circuit.cone`` ends at a comparison, which is an input of the circuit. Its sum may mention literals (indicators,
choices) and numbers, and whoever fixes or renames these must follow it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum

OpenNumber = tuple[int, int]
"""A fluent whose initial value the world chooses: (function, code)."""


class Dependencies(NamedTuple):
    """Nodes in ascending order, node 0 left out, and numbers."""

    nodes: list[int]
    numbers: set[OpenNumber]


def find_dependencies(circuit: Circuit, roots: Iterable[Literal]) -> Dependencies:
    """Everything the roots depend on, inputs and literals inside comparisons included. Linear."""
    seen = {0}
    numbers: set[OpenNumber] = set()
    stack = [root >> 1 for root in roots]
    gates, keys = circuit.gates, circuit.keys
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        children = gates[node]
        if children is None:
            key = keys[node]
            if not isinstance(key, Comparison):
                continue
            children, found = collect_references(key.sum)
            numbers |= found
        stack.extend([child >> 1 for child in children])
    seen.discard(0)
    return Dependencies(sorted(seen), numbers)


def collect_references(total: Sum) -> tuple[tuple[Literal, ...], set[OpenNumber]]:
    """The literals and numbers in a sum."""
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


def list_inner_sums(total: Sum) -> list[Sum]:
    """A sum and all sums inside it, each object once and after those inside it."""
    seen: set[int] = set()
    found: list[Sum] = []
    stack = [total]
    while stack:
        part = stack[-1]
        missing = [
            inner
            for atom, _ in part.weighted_atoms
            for inner in atom
            if isinstance(inner, Sum) and id(inner) not in seen
        ]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if id(part) not in seen:  # shared sums would be met once for every path otherwise
            seen.add(id(part))
            found.append(part)
    return found


class CircuitTemplate:
    """Literals of which copies are made, with literals for some inputs and sums for some numbers.

    Only what depends on them is built anew, so a copy costs as much as there are such gates. What is made is as right
    as the original: comparisons are normalised, and decided where they become constant.
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
        self._numbers = frozenset(numbers)
        changing = set(inputs)
        self.changing_nodes: list[tuple[int, tuple[Literal, ...] | Comparison]] = []
        """The nodes that depend on them in ascending order, with their children or their comparison."""
        for node in find_dependencies(circuit, roots).nodes:
            children = circuit.gates[node]
            if children is not None:
                if any([child >> 1 in changing for child in children]):
                    changing.add(node)
                    self.changing_nodes.append((node, children))
            elif isinstance(key := circuit.keys[node], Comparison):
                literals, found = collect_references(key.sum)
                if not found.isdisjoint(self._numbers) or any([literal >> 1 in changing for literal in literals]):
                    changing.add(node)
                    self.changing_nodes.append((node, key))

    def instantiate(self, inputs: Mapping[int, Literal], numbers: Mapping[OpenNumber, Sum]) -> list[Literal]:
        """The roots; inputs and numbers that are not named keep their place."""
        nodes = self.instantiate_nodes(inputs, numbers)
        return [nodes[root >> 1] ^ (root & 1) if root >> 1 in nodes else root for root in self._roots]

    def instantiate_nodes(self, inputs: Mapping[int, Literal], numbers: Mapping[OpenNumber, Sum]) -> dict[int, Literal]:
        """What became of each node of ``steps`` and each of the inputs."""
        circuit, conjunction = self._circuit, self._circuit.conjunction
        found: dict[int, Literal] = dict(inputs)

        def renamed(literal: Literal) -> Literal:
            node = literal >> 1
            return found[node] ^ (literal & 1) if node in found else literal

        rebuild = _Rebuild(renamed, numbers)
        for node, old in self.changing_nodes:
            if isinstance(old, Comparison):
                found[node] = terms.compare(circuit, old.operator, rebuild.sum(old.sum), terms.constant(0))
            else:
                found[node] = conjunction([renamed(child) for child in old])
        return found


class _Rebuild:
    """Copies of sums. Shared sums are copied once; the originals must stay alive meanwhile."""

    def __init__(self, renamed: Callable[[Literal], Literal], numbers: Mapping[OpenNumber, Sum]) -> None:
        self._renamed = renamed
        self._numbers = numbers
        self._known: dict[int, Sum] = {}

    def sum(self, total: Sum) -> Sum:
        """The copy of a sum."""
        known = self._known
        for part in list_inner_sums(total):
            if id(part) not in known:
                known[id(part)] = self._shallow(part)
        return known[id(total)]

    def _shallow(self, part: Sum) -> Sum:
        constant: Number = part.constant
        items: list[tuple[Atom, Number]] = []
        for atom, coefficient in part.weighted_atoms:
            new = self._atom(atom)
            constant += coefficient * new.constant
            items += [(inner, coefficient * factor) for inner, factor in new.weighted_atoms]
        return terms.add(terms.constant(0), Sum(constant, tuple(items)))

    def _atom(self, atom: Atom) -> Sum:
        known = self._known
        match atom:
            case ("value", int(function), int(code)):
                return self._numbers.get((function, code)) or terms.variable(function, code)
            case ("indicator", int(literal)):
                return terms.select(self._renamed(literal), terms.constant(1), terms.constant(0))
            case ("choice", int(literal), Sum() as then, Sum() as otherwise):
                return terms.select(self._renamed(literal), known[id(then)], known[id(otherwise)])
            case ("product", Sum() as a, Sum() as b):
                return terms.multiply(known[id(a)], known[id(b)])
            case ("quotient", Sum() as a, Sum() as b):
                return terms.divide(known[id(a)], known[id(b)])
        raise AssertionError(f"not an atom: {atom[0]}")
