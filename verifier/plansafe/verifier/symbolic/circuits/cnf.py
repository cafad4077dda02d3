"""Clauses of circuits, generated on demand.

A gate becomes clauses in the direction in which it is used (Plaisted and Greenbaum, "A structure-preserving clause
form translation", 1986); if the other direction is used later, its clauses are added then. An assignment of the inputs
extends to a model of the clauses exactly if it makes the required literals true, whatever was required before.

A comparison whose sum has only indicators is a pseudo-Boolean constraint. It becomes gates here, so a SAT solver can
decide it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil, floor, lcm
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Comparison

BATCH_SIZE = 20_000
"""Number of clauses per batch; time and memory are checked after each."""
MAX_DIAGRAM_STATES = 30_000
"""Maximum number of states of the decision diagram of a pseudo-Boolean constraint, which solvers propagate well; a
larger constraint becomes a binary addition."""


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


# ---- pseudo-Boolean constraints -------------------------------------------------------------------------------------


class PseudoBoolean(NamedTuple):
    """The weights of the true literals add up to at most ``bound``; with ``exact``, to exactly ``bound``.

    Weights are positive integers. A constraint with a bound below zero is unsatisfiable.
    """

    exact: bool
    weights: tuple[tuple[int, Literal], ...]
    bound: int


def convert_to_pseudo_boolean(comparison: Comparison) -> PseudoBoolean | None:
    """Return a comparison as a pseudo-Boolean constraint; ``None`` if its sum has other atoms than indicators."""
    total = comparison.sum
    if any([atom[0] != "indicator" for atom, _ in total.weighted_atoms]):
        return None
    scale = lcm(total.constant.denominator, *[coefficient.denominator for _, coefficient in total.weighted_atoms])
    bound = Fraction(-total.constant * scale)
    weights: list[tuple[int, Literal]] = []
    for atom, coefficient in total.weighted_atoms:
        literal, weight = atom[1], int(coefficient * scale)
        assert isinstance(literal, int)
        if weight < 0:  # w * l = w - w * (not l)
            literal, weight = literal ^ 1, -weight
            bound += weight
        weights.append((weight, literal))
    if comparison.operator == "=":
        return PseudoBoolean(True, tuple(weights), int(bound) if bound.denominator == 1 else -1)
    return PseudoBoolean(False, tuple(weights), floor(bound) if comparison.operator == "<=" else ceil(bound) - 1)


def encode_pseudo_boolean(circuit: Circuit, constraint: PseudoBoolean) -> Literal:
    """Return a literal that is true exactly if the constraint holds.

    Adds gates linear in the states of its decision diagram, or in the bits of its weights.
    """
    if constraint.bound < 0:
        return FALSE
    weights = sorted(constraint.weights, reverse=True)
    encode = _encode_diagram if _has_few_states(weights, constraint) else _encode_addition
    return encode(circuit, weights, constraint)


def _has_few_states(weights: list[tuple[int, Literal]], constraint: PseudoBoolean) -> bool:
    """Whether the decision diagram of a constraint has at most ``MAX_DIAGRAM_STATES`` states."""
    slacks, state_count = {constraint.bound}, 0
    remaining = sum([weight for weight, _ in weights])
    for weight, _ in weights:
        slacks |= {slack - weight for slack in slacks}
        slacks = {slack for slack in slacks if _is_undecided(slack, remaining, constraint)}
        remaining -= weight
        state_count += len(slacks)
        if state_count > MAX_DIAGRAM_STATES:
            return False
    return True


def _is_undecided(slack: int, remaining: int, constraint: PseudoBoolean) -> bool:
    """Whether the constraint depends on the remaining literals.

    ``slack``: the bound minus the weights of the true literals so far. ``remaining``: the sum of the other weights.
    """
    return slack >= 0 and (slack <= remaining if constraint.exact else slack < remaining)


def _encode_diagram(circuit: Circuit, weights: list[tuple[int, Literal]], constraint: PseudoBoolean) -> Literal:
    """Return the literal of a decision diagram that decides, literal by literal, whether the weights fit the bound.

    Each layer has a literal for each possible slack before the next weight.
    """
    exact = constraint.exact
    layers, remaining = [{constraint.bound}], [sum([weight for weight, _ in weights])]
    for weight, _ in weights:
        undecided = [slack for slack in layers[-1] if _is_undecided(slack, remaining[-1], constraint)]
        layers.append({after for before in undecided for after in (before, before - weight)})
        remaining.append(remaining[-1] - weight)
    next_layer: dict[int, Literal] = {}
    for index in range(len(weights), -1, -1):
        layer: dict[int, Literal] = {}
        for slack in layers[index]:
            if slack < 0 or (exact and slack > remaining[index]):
                layer[slack] = FALSE
            elif slack >= remaining[index] and not (exact and remaining[index]):
                layer[slack] = TRUE
            else:
                weight, literal = weights[index]
                if_true, if_false = next_layer[slack - weight], next_layer[slack]
                if exact:
                    layer[slack] = circuit.choose(literal, if_true, if_false)
                else:  # weights that fit together with this weight also fit without it
                    layer[slack] = circuit.either(if_true, circuit.both(literal ^ 1, if_false))
        next_layer = layer
    return next_layer[constraint.bound]


def _encode_addition(circuit: Circuit, weights: list[tuple[int, Literal]], constraint: PseudoBoolean) -> Literal:
    """Return the literal of a binary addition, compared with the bound bit by bit, starting with the lowest bit."""
    columns: dict[int, list[Literal]] = defaultdict(list)
    for weight, literal in weights:
        for place in range(weight.bit_length()):
            if weight >> place & 1:
                columns[place].append(literal)
    at_most, equal = TRUE, TRUE
    for place in range(max(sum([weight for weight, _ in weights]), constraint.bound).bit_length()):
        column = columns[place]
        while len(column) > 1:
            first, second, third = column.pop(), column.pop(), column.pop() if column else FALSE
            half_sum = circuit.equal(first, second) ^ 1
            column.insert(0, circuit.equal(half_sum, third) ^ 1)
            columns[place + 1].append(circuit.either(circuit.both(first, second), circuit.both(half_sum, third)))
        bit = column[0] if column else FALSE
        if constraint.bound >> place & 1:
            at_most, equal = circuit.either(bit ^ 1, at_most), circuit.both(bit, equal)
        else:
            at_most, equal = circuit.both(bit ^ 1, at_most), circuit.both(bit ^ 1, equal)
    return equal if constraint.exact else at_most
