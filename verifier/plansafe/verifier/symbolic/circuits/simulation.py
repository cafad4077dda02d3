"""Circuits on many random assignments at once: one bit of an integer for each.

What is so in some worlds is mostly so in many, and an example costs a thousandth of a solver's. Only an example is ever
concluded from it, never that there is none. Circuits with comparisons of numbers are left to solvers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Comparison

BITS = 512
_RARITIES = (1, 1, 2, 5, 5, 6, -2, -4)
"""In each eighth of the assignments an input is true once in two to this power, or, if negative, is false so seldom."""
SEED = 4711


class Simulation(NamedTuple):
    """The values of the nodes under some roots, on :data:`BITS` assignments."""

    values: dict[int, int]

    def together(self, literals: Sequence[Literal]) -> int:
        """The assignments on which literals are all true. Literals that were not simulated are true on none."""
        everywhere = (1 << BITS) - 1
        found = everywhere
        for literal in literals:
            value = self.values.get(literal >> 1)
            if value is None:
                return 0
            found &= value ^ everywhere if literal & 1 else value
        return found

    def example(self, circuit: Circuit, literals: Sequence[Literal]) -> dict[int, bool]:
        """The inputs under some literals that are true on one of the assignments: on one with few true inputs."""
        together = self.together(literals)
        inputs = circuit.inputs(literals)
        bits = [bit for bit in range(BITS) if together >> bit & 1]
        best = min(bits[:64], key=lambda bit: sum([self.values[node] >> bit & 1 for node in inputs]))
        return {node: bool(self.values[node] >> best & 1) for node in inputs}


def simulate(circuit: Circuit, roots: Sequence[Literal]) -> Simulation | None:
    """Evaluate what is under some roots; ``None`` if comparisons are. Linear in the gates. Always the same numbers."""
    draw = random.Random(SEED)
    everywhere = (1 << BITS) - 1
    values: dict[int, int] = {0: 0}
    for node in circuit.cone(roots):
        children = circuit.gates[node]
        if children is None:
            if isinstance(circuit.keys[node], Comparison):
                return None
            values[node] = _drawn(draw)
            continue
        found = everywhere
        for child in children:
            value = values[child >> 1]
            found &= value ^ everywhere if child & 1 else value
            if not found:
                break
        values[node] = found
    return Simulation(values)


def _drawn(draw: random.Random) -> int:
    share = BITS // len(_RARITIES)
    out = 0
    for rarity in _RARITIES:
        bits = everywhere = (1 << share) - 1
        for _ in range(abs(rarity)):
            bits &= draw.getrandbits(share)
        out = out << share | (bits if rarity > 0 else bits ^ everywhere)
    return out
