"""Clauses of circuits, generated on demand.

A gate becomes clauses in the direction in which it is used (Plaisted and Greenbaum, "A structure-preserving clause
form translation", 1986); if the other direction is used later, its clauses are added then. An assignment of the inputs
extends to a model of the clauses exactly if it makes the required literals true, whatever was required before.

A pseudo-Boolean constraint becomes gates (``pseudo_boolean.py``), so that a SAT solver can decide it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.pseudo_boolean import convert_to_pseudo_boolean, encode_pseudo_boolean
from plansafe.verifier.symbolic.circuits.terms import Comparison

BATCH_SIZE = 20_000
"""Number of clauses per batch; time and memory are checked after each."""


class Clauses:
    """The clauses of a growing part of a circuit, over variables numbered from 1; variable 1 is node 0, and false.

    ``nodes[variable]`` is the node of a variable. ``inputs`` are the encoded input nodes, in order;
    ``numeric_inputs`` are the comparisons among them that are not pseudo-Boolean: the clauses do not define them.
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.nodes: list[int] = [0, 0]
        self.inputs: list[int] = []
        self.numeric_inputs: list[int] = []
        self._variables: list[int] = [1]
        self._encoded_literals = bytearray()
        self._examined_input_count = 0

    def get_signed_variable(self, literal: Literal) -> int:
        """Return the signed variable of a circuit literal."""
        node = literal >> 1
        if node >= len(self._variables):
            self._grow_variables()
        variable = self._variables[node] or self._make_variable(node)
        return -variable if literal & 1 else variable

    def pair_with_variables(self, nodes: Iterable[int]) -> list[tuple[int, int]]:
        """Pair each node with its variable. All nodes must have been encoded."""
        variables = self._variables
        return [(node, variables[node]) for node in nodes]

    def find_circuit_literal(self, variable: int) -> Literal:
        """Return the circuit literal of a signed variable."""
        return 2 * self.nodes[variable] if variable > 0 else 2 * self.nodes[-variable] + 1

    def encode(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        """Yield the clauses that define these literals, in batches, without clauses that were yielded before.

        Run it to its end: yielded clauses are never repeated. Takes time n log n in the new part of the cones.
        Variables are numbered in the order of evaluation, which solvers try first, and which often suffices.
        """
        if not self._encoded_literals:
            self._encoded_literals.extend(b"\1\1")
            yield [[-1]]
        pending = list(literals)
        while pending:
            yield from self._encode_cones(pending)
            pending = []
            new_inputs, self._examined_input_count = self.inputs[self._examined_input_count :], len(self.inputs)
            for node in new_inputs:
                key = self.circuit.keys[node]
                if isinstance(key, Comparison):
                    constraint = convert_to_pseudo_boolean(key)
                    if constraint is None:
                        self.numeric_inputs.append(node)
                        continue
                    gate_literal = encode_pseudo_boolean(self.circuit, constraint)
                    input_variable, gate_variable = (
                        self.get_signed_variable(2 * node),
                        self.get_signed_variable(gate_literal),
                    )
                    yield [[-input_variable, gate_variable], [input_variable, -gate_variable]]
                    pending += (gate_literal, gate_literal ^ 1)

    def _encode_cones(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        """Yield the clauses of the gates that literals depend on; comparisons among the inputs stay undefined."""
        gates = self.circuit.gates
        nodes, inputs, variables = self.nodes, self.inputs, self._variables
        batch: list[list[int]] = []
        self._grow_variables()
        for literal in self._collect_new_literals(literals):
            node = literal >> 1
            variable = variables[node]
            children = gates[node]
            if not variable:
                nodes.append(node)
                variable = variables[node] = len(nodes) - 1
                if children is None:
                    inputs.append(node)
            if children is None:
                continue
            signed = [-variables[child >> 1] if child & 1 else variables[child >> 1] for child in children]
            if literal & 1:
                batch.append([variable, *[-child for child in signed]])
            else:
                batch.extend([[-variable, child] for child in signed])
            if len(batch) >= BATCH_SIZE:
                yield batch
                batch = []
        if batch:
            yield batch

    def _collect_new_literals(self, literals: Iterable[Literal]) -> list[Literal]:
        """Return the literals of nodes that are used and not encoded yet, in the order of evaluation; mark them."""
        gates, encoded = self.circuit.gates, self._encoded_literals
        encoded.extend(bytes(2 * len(gates) - len(encoded)))
        stack, new_literals = list(literals), []
        while stack:
            literal = stack.pop()
            if encoded[literal]:
                continue
            encoded[literal] = 1
            new_literals.append(literal)
            children = gates[literal >> 1]
            if children is None:
                encoded[literal ^ 1] = 1
            elif literal & 1:
                stack.extend([child ^ 1 for child in children])
            else:
                stack.extend(children)
        new_literals.sort()
        return new_literals

    def _grow_variables(self) -> None:
        """Extend ``_variables`` to all nodes of the circuit; 0: the node has no variable yet."""
        self._variables.extend([0] * (len(self.circuit.gates) - len(self._variables)))

    def _make_variable(self, node: int) -> int:
        """Make and return the variable of a node."""
        self.nodes.append(node)
        self._variables[node] = len(self.nodes) - 1
        if self.circuit.gates[node] is None:
            self.inputs.append(node)
        return self._variables[node]
