"""Values of literals: exactly in one world, or on many random assignments at once.

The simulation stores one bit of an integer per random assignment. A property that holds in some worlds mostly holds in
many, and an example costs a thousandth of a solver call. The simulation only ever yields examples: it never shows that
there is none. It does not cover circuits with comparisons of numbers.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import find_dependencies, list_inner_sums
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OutcomeInput

BITS = 512
_RARITIES = (1, 1, 2, 5, 5, 6, -2, -4)
"""In each eighth of the assignments an input is true once in two to this power, or, if negative, is false so seldom."""
SEED = 4711


class Simulation(NamedTuple):
    """The values of the nodes under some roots, on :data:`BITS` assignments."""

    values: dict[int, int]

    def all_true(self, literals: Sequence[Literal]) -> int:
        """The assignments on which literals are all true. Literals that were not simulated are true on none."""
        everywhere = (1 << BITS) - 1
        found = everywhere
        for literal in literals:
            value = self.values.get(literal >> 1)
            if value is None:
                return 0
            found &= value ^ everywhere if literal & 1 else value
        return found

    def find_example(self, circuit: Circuit, literals: Sequence[Literal]) -> dict[int, bool]:
        """The inputs under some literals that are true on one of the assignments: on one with few true inputs."""
        together = self.all_true(literals)
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


def evaluate_in_world(circuit: Circuit, roots: Sequence[Literal], world: Completion) -> list[bool]:
    """The values of some literals in a world. Linear in what they depend on.

    Inputs that stand for nothing in the world count as false.
    """
    found: dict[int, bool] = {0: False}
    numbers: dict[int, Fraction] = {}
    for node in find_dependencies(circuit, roots).nodes:  # a comparison comes after the literals in it
        children = circuit.gates[node]
        if children is not None:
            found[node] = all([found[child >> 1] != bool(child & 1) for child in children])
            continue
        match circuit.keys[node]:
            case FactInput(predicate, code):
                found[node] = (predicate, code) in world.facts
            case OutcomeInput(step, number, objects, alternative):
                found[node] = world.alternative(step, number, objects) == alternative
            case Comparison(operator, total):
                value = _number(total, world, found, numbers)
                found[node] = value < 0 or (value == 0 and operator != "<") if operator != "=" else value == 0
            case _:
                found[node] = False
    return [found[root >> 1] != bool(root & 1) for root in roots]


def find_reason(circuit: Circuit, literal: Literal, world: Completion) -> Literal:
    """A literal that is true in the world and makes another true that is: of a disjunction, one part, and so on.

    What depends on it is what matters to the other in this world, or most of it.
    """
    while literal & 1 and (children := circuit.gates[literal >> 1]) is not None:
        parts = [child ^ 1 for child in children]
        values = evaluate_in_world(circuit, parts, world)
        literal = parts[values.index(True)]
    return literal


def _number(total: Sum, world: Completion, found: dict[int, bool], numbers: dict[int, Fraction]) -> Fraction:
    for part in list_inner_sums(total):
        if id(part) not in numbers:  # the circuit's keys keep the parts alive
            value = Fraction(part.constant)
            for atom, coefficient in part.weighted_atoms:
                value += coefficient * _atom(atom, world, found, numbers)
            numbers[id(part)] = value
    return numbers[id(total)]


def _atom(atom: Atom, world: Completion, found: dict[int, bool], numbers: dict[int, Fraction]) -> Fraction:
    def holds(literal: int) -> bool:
        return found[literal >> 1] != bool(literal & 1)

    match atom:
        case ("value", int(function), int(code)):
            return Fraction(world.values[function, code])
        case ("indicator", int(literal)):
            return Fraction(holds(literal))
        case ("choice", int(literal), then, otherwise):
            return numbers[id(then if holds(literal) else otherwise)]
        case ("product", a, b):
            return numbers[id(a)] * numbers[id(b)]
        case ("quotient", a, b):
            # Where the divisor is zero the quotient has no meaning, and whoever divides has said so.
            return numbers[id(a)] / numbers[id(b)] if numbers[id(b)] else Fraction(0)
    raise AssertionError(f"not an atom: {atom[0]}")
