"""Circuits as clauses, on demand.

A gate becomes clauses in the direction in which it is used (Plaisted and Greenbaum, "A structure-preserving clause
form translation", 1986); where the other direction is used later, its clauses are added then. An assignment of the
inputs extends to a model of the clauses exactly if it makes the required literals true, whatever was asked for before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plansafe.verifier.symbolic.circuit import Circuit, Literal

CLAUSES_AT_ONCE = 20_000
"""How many clauses are handed over between two looks at the clock."""


class Clauses:
    """The clauses of a growing part of a circuit, over variables numbered from 1; variable 1 is node 0, and false.

    ``nodes[variable]`` is the node that a variable stands for; ``inputs`` are the input nodes met so far, in order.
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.nodes: list[int] = [0, 0]
        self.inputs: list[int] = []
        self._variables: list[int] = [1]
        self._done = bytearray()

    def literal(self, literal: Literal) -> int:
        """A circuit literal as a signed variable."""
        node = literal >> 1
        if node >= len(self._variables):
            self._variables.extend([0] * (len(self.circuit.gates) - len(self._variables)))
        variable = self._variables[node] or self._name(node)
        return -variable if literal & 1 else variable

    def of(self, variable: int) -> Literal:
        """The circuit literal of a signed variable."""
        return 2 * self.nodes[variable] if variable > 0 else 2 * self.nodes[-variable] + 1

    def encode(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        """The clauses that say what these literals mean, except those handed out before; in batches.

        To be run to its end: what was handed out counts as known. Linear in the new part of the cones.
        """
        gates, variables, done, nodes = self.circuit.gates, self._variables, self._done, self.nodes
        variables.extend([0] * (len(gates) - len(variables)))
        batch: list[list[int]] = []
        if not done:
            done.extend(b"\1\1")
            batch.append([-1])
        done.extend(bytes(2 * len(gates) - len(done)))
        stack = list(literals)
        while stack:
            literal = stack.pop()
            if done[literal]:
                continue
            done[literal] = 1
            node = literal >> 1
            own = variables[node] or self._name(node)
            children = gates[node]
            if children is None:
                continue
            clause = [own]
            for child in children:
                below = child >> 1
                variable = variables[below]
                if not variable:
                    nodes.append(below)
                    variable = variables[below] = len(nodes) - 1
                    if gates[below] is None:
                        self.inputs.append(below)
                if literal & 1:
                    clause.append(variable if child & 1 else -variable)
                    if not done[child ^ 1]:
                        stack.append(child ^ 1)
                else:
                    batch.append([-own, -variable if child & 1 else variable])
                    if not done[child]:
                        stack.append(child)
            if literal & 1:
                batch.append(clause)
            if len(batch) >= CLAUSES_AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch

    def _name(self, node: int) -> int:
        self.nodes.append(node)
        self._variables[node] = len(self.nodes) - 1
        if self.circuit.gates[node] is None:
            self.inputs.append(node)
        return self._variables[node]
