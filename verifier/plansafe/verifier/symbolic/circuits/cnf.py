"""Circuits as clauses, on demand.

A gate becomes clauses in the direction in which it is used (Plaisted and Greenbaum, "A structure-preserving clause
form translation", 1986); where the other direction is used later, its clauses are added then. An assignment of the
inputs extends to a model of the clauses exactly if it makes the required literals true, whatever was asked for before.
Comparisons that count become gates here, so that what only counts is Boolean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.counts import counted, gates
from plansafe.verifier.symbolic.circuits.terms import Comparison

CLAUSES_AT_ONCE = 20_000
"""How many clauses are handed over between two looks at the clock."""


class Clauses:
    """The clauses of a growing part of a circuit, over variables numbered from 1; variable 1 is node 0, and false.

    ``nodes[variable]`` is the node that a variable stands for; ``inputs`` are the input nodes met so far, in order, and
    ``numeric`` those among them whose meaning the clauses do not say: comparisons that are about more than indicators.
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.nodes: list[int] = [0, 0]
        self.inputs: list[int] = []
        self.numeric: list[int] = []
        self._variables: list[int] = [1]
        self._done = bytearray()
        self._looked = 0

    def literal(self, literal: Literal) -> int:
        """A circuit literal as a signed variable."""
        node = literal >> 1
        if node >= len(self._variables):
            self._variables.extend([0] * (len(self.circuit.gates) - len(self._variables)))
        variable = self._variables[node] or self._name(node)
        return -variable if literal & 1 else variable

    def variables(self, nodes: Iterable[int]) -> list[tuple[int, int]]:
        """Nodes that were encoded, with their variables."""
        variables = self._variables
        return [(node, variables[node]) for node in nodes]

    def of(self, variable: int) -> Literal:
        """The circuit literal of a signed variable."""
        return 2 * self.nodes[variable] if variable > 0 else 2 * self.nodes[-variable] + 1

    def encode(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        """The clauses that say what these literals mean, except those handed out before; in batches.

        To be run to its end: what was handed out counts as known. Time n log n in the new part of the cones. Variables
        are numbered in the order of evaluation, which solvers try first, and which suffices astonishingly often.
        """
        if not self._done:
            self._done.extend(b"\1\1")
            yield [[-1]]
        wanted = list(literals)
        while wanted:
            yield from self._cones(wanted)
            wanted = []
            found, self._looked = self.inputs[self._looked :], len(self.inputs)
            for node in found:
                key = self.circuit.keys[node]
                if isinstance(key, Comparison):
                    count = counted(key)
                    if count is None:
                        self.numeric.append(node)
                        continue
                    meaning = gates(self.circuit, count)
                    own, same = self.literal(2 * node), self.literal(meaning)
                    yield [[-own, same], [own, -same]]
                    wanted += (meaning, meaning ^ 1)

    def _cones(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        gates = self.circuit.gates
        nodes, inputs, variables = self.nodes, self.inputs, self._variables
        batch: list[list[int]] = []
        variables.extend([0] * (len(gates) - len(variables)))
        for literal in self._fresh(literals):
            node = literal >> 1
            own = variables[node]
            children = gates[node]
            if not own:
                nodes.append(node)
                own = variables[node] = len(nodes) - 1
                if children is None:
                    inputs.append(node)
            if children is None:
                continue
            signed = [-variables[child >> 1] if child & 1 else variables[child >> 1] for child in children]
            if literal & 1:
                batch.append([own, *[-child for child in signed]])
            else:
                batch.extend([[-own, child] for child in signed])
            if len(batch) >= CLAUSES_AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch

    def _fresh(self, literals: Iterable[Literal]) -> list[Literal]:
        """What has to be said, in the order of evaluation: of each node, which of its two literals is used."""
        gates, done = self.circuit.gates, self._done
        done.extend(bytes(2 * len(gates) - len(done)))
        stack, fresh = list(literals), []
        while stack:
            literal = stack.pop()
            if done[literal]:
                continue
            done[literal] = 1
            fresh.append(literal)
            children = gates[literal >> 1]
            if children is None:
                done[literal ^ 1] = 1
            elif literal & 1:
                stack.extend([child ^ 1 for child in children])
            else:
                stack.extend(children)
        fresh.sort()
        return fresh

    def _name(self, node: int) -> int:
        self.nodes.append(node)
        self._variables[node] = len(self.nodes) - 1
        if self.circuit.gates[node] is None:
            self.inputs.append(node)
        return self._variables[node]
