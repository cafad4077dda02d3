"""Values of literals on many random assignments at once.

A simulation stores one bit of an integer per random assignment. A property that holds in some worlds mostly holds in
many, and an example costs a thousandth of a solver call. A simulation only ever yields examples: it never shows that
there is none. It does not cover circuits with comparisons of numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Comparison

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
