"""Values of literals: exactly in one world, or on many random assignments at once.

The simulation stores one bit of an integer per random assignment. A property that holds in some worlds mostly holds in
many, and an example costs a thousandth of a solver call. The simulation only ever yields examples: it never shows that
there is none. It does not cover circuits with comparisons of numbers.

A literal is false where the value of its node equals its sign.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import (
    OpenNumber,
    collect_references,
    evaluate_last_sum,
    find_dependencies,
    list_inner_sums,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison, is_satisfied
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OutcomeInput

BITS = 512
"""Number of random assignments."""
_ALL_BITS = (1 << BITS) - 1
MAX_COMPARED_ASSIGNMENTS = 64
"""Maximum number of assignments among which the one with the fewest true inputs is chosen."""
_RARITIES = (1, 1, 2, 5, 5, 6, -2, -4)
"""A number ``r`` for each eighth of the assignments. There an input is true with probability ``2**-r``; if ``r`` is
negative, it is false with probability ``2**r``."""
SEED = 4711


class Simulation(NamedTuple):
    """The values of nodes on :data:`BITS` assignments: bit ``i`` of a node's integer is its value on the ``i``-th."""

    values: dict[int, int]

    def find_satisfying_assignments(self, literals: Sequence[Literal]) -> int:
        """Return the assignments on which all literals are true, as bits; none if a literal was not simulated."""
        assignments = _ALL_BITS
        for literal in literals:
            value = self.values.get(literal >> 1)
            if value is None:
                return 0
            assignments &= value ^ _ALL_BITS if literal & 1 else value
        return assignments

    def find_satisfying_inputs(self, circuit: Circuit, literals: Sequence[Literal]) -> dict[int, bool]:
        """Return the inputs of an assignment on which all literals are true, with few true inputs if possible.

        There must be such an assignment.
        """
        assignments = self.find_satisfying_assignments(literals)
        inputs = circuit.find_inputs(literals)
        bits = [bit for bit in range(BITS) if assignments >> bit & 1]
        best_bit = min(
            bits[:MAX_COMPARED_ASSIGNMENTS], key=lambda bit: sum([self.values[node] >> bit & 1 for node in inputs])
        )
        return {node: bool(self.values[node] >> best_bit & 1) for node in inputs}


def simulate(circuit: Circuit, roots: Sequence[Literal]) -> Simulation | None:
    """Evaluate the nodes that the roots depend on; ``None`` if there are comparisons among them.

    Linear in the gates. The random assignments are the same in every call.
    """
    generator = random.Random(SEED)
    values: dict[int, int] = {0: 0}
    for node in circuit.find_cone(roots):
        children = circuit.gates[node]
        if children is None:
            if isinstance(circuit.keys[node], Comparison):
                return None
            values[node] = _draw_input_values(generator)
            continue
        conjunction = _ALL_BITS
        for child in children:
            value = values[child >> 1]
            conjunction &= value ^ _ALL_BITS if child & 1 else value
            if not conjunction:
                break
        values[node] = conjunction
    return Simulation(values)


def _draw_input_values(generator: random.Random) -> int:
    """Return random values of an input, as the bits of all assignments."""
    share_size = BITS // len(_RARITIES)
    all_share_bits = (1 << share_size) - 1
    input_values = 0
    for rarity in _RARITIES:
        bits = all_share_bits
        for _ in range(abs(rarity)):
            bits &= generator.getrandbits(share_size)
        input_values = input_values << share_size | (bits if rarity > 0 else bits ^ all_share_bits)
    return input_values


def evaluate_in_world(circuit: Circuit, roots: Sequence[Literal], world: Completion) -> list[bool]:
    """Return the values of literals in a world. Linear in the nodes that they depend on.

    Inputs that no part of the world corresponds to are false.
    """
    values = _evaluate_nodes(circuit, find_dependencies(circuit, roots).nodes, world)
    return [values[root >> 1] != bool(root & 1) for root in roots]


def _evaluate_nodes(circuit: Circuit, nodes: Sequence[int], world: Completion) -> dict[int, bool]:
    """Return the values of nodes in a world; ``nodes`` has every node after the nodes that it depends on."""
    values: dict[int, bool] = {0: False}
    sums: dict[int, Number] = {}  # the circuit's keys keep the sums alive
    for node in nodes:  # a comparison comes after the literals in it
        children = circuit.gates[node]
        if children is not None:
            for child in children:
                if values[child >> 1] == (child & 1):
                    values[node] = False
                    break
            else:
                values[node] = True
            continue
        match circuit.keys[node]:
            case FactInput(predicate, code):
                values[node] = (predicate, code) in world.facts
            case OutcomeInput(step, number, objects, alternative):
                values[node] = world.get_alternative(step, number, objects) == alternative
            case Comparison(operator, total):
                value = evaluate_last_sum(list_inner_sums(total, sums), values, world.values, sums)
                values[node] = is_satisfied(value, operator)
            case _:
                values[node] = False
    return values


def find_implying_literal(circuit: Circuit, literal: Literal, world: Completion) -> Literal:
    """Return a literal that is true in the world and implies ``literal``, which must be true there.

    It has only one true part of each outer disjunction, so that it depends only on inputs that matter in this world.
    """
    values = _evaluate_nodes(circuit, find_dependencies(circuit, [literal]).nodes, world)
    while literal & 1 and (children := circuit.gates[literal >> 1]) is not None:
        literal = next(child ^ 1 for child in children if values[child >> 1] == (child & 1))
    return literal


def find_sufficient_inputs(circuit: Circuit, literal: Literal, world: Completion) -> set[int | OpenNumber] | None:
    """Return inputs and numbers whose values in a world make a literal true, whatever all other values are.

    ``None`` if the literal is false there. A false conjunction needs one false child, with few such inputs; a true
    conjunction needs all its children.
    """
    nodes = find_dependencies(circuit, [literal]).nodes
    values = _evaluate_nodes(circuit, nodes, world)
    if values[literal >> 1] == (literal & 1):
        return None
    costs = {0: 0}
    for node in nodes:
        children = circuit.gates[node]
        if children is None:
            costs[node] = 1
        elif values[node]:
            costs[node] = sum([costs[child >> 1] for child in children])
        else:
            costs[node] = min([costs[child >> 1] for child in children if values[child >> 1] == (child & 1)])
    sufficient, visited, stack = set[int | OpenNumber](), set[int](), [literal >> 1]
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        children = circuit.gates[node]
        if children is not None and not values[node]:
            false_children = [child for child in children if values[child >> 1] == (child & 1)]
            children = (min(false_children, key=lambda child: costs[child >> 1]),)
        elif children is None:
            sufficient.add(node)
            if isinstance(key := circuit.keys.get(node), Comparison):
                children, numbers = collect_references(key.sum)
                sufficient |= numbers
        stack += [child >> 1 for child in children or ()]
    return sufficient
