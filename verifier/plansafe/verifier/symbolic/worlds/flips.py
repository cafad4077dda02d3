"""What becomes of literals when one input at a time is flipped: all flips at once, in the bits of whole numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import (
    OpenNumber,
    collect_references,
    find_dependencies,
    list_inner_sums,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum

MAX_SUMS = 20_000
"""Sums of comparisons that are computed for one call."""


class Flips:
    """Evaluates literals of one circuit around given worlds."""

    def __init__(self, circuit: Circuit, roots: Sequence[Literal]) -> None:
        self._circuit = circuit
        self._roots = tuple(roots)
        self.nodes = find_dependencies(circuit, roots).nodes

    def around(
        self, inputs: Mapping[int, bool], values: Mapping[OpenNumber, Number], flipped: Sequence[int]
    ) -> list[int] | None:
        """For each root a number whose bit ``i`` is its value if input ``flipped[i]`` is flipped and nothing else.

        Missing inputs are false, missing numbers 0. ``None`` where too many sums would have to be computed. Linear in
        gates, times one machine word for 64 flips.
        """
        circuit, count = self._circuit, len(flipped)
        everywhere = (1 << count) - 1
        place = {node: 1 << i for i, node in enumerate(flipped)}
        found: dict[int, int] = {0: 0}
        budget = MAX_SUMS
        for node in self.nodes:
            children = circuit.gates[node]
            if children is not None:
                value = everywhere
                for child in children:
                    below = found[child >> 1]
                    value &= everywhere ^ below if child & 1 else below
                found[node] = value
            elif isinstance(key := circuit.keys[node], Comparison):
                parts = list_inner_sums(key.sum)
                bits = {literal >> 1: found[literal >> 1] for literal in collect_references(key.sum)[0]}
                varies = any([value not in (0, everywhere) for value in bits.values()])
                budget -= len(parts) * (count if varies else 1)
                if budget < 0:
                    return None
                worlds = [
                    {below: bool(value >> i & 1) for below, value in bits.items()}
                    for i in range(count if varies else 1)
                ]
                truths = [_holds(key.operator, _value(parts, world, values)) for world in worlds]
                found[node] = sum([1 << i for i, t in enumerate(truths) if t]) if varies else everywhere * truths[0]
            else:
                found[node] = (everywhere if inputs.get(node, False) else 0) ^ place.get(node, 0)
        return [found[root >> 1] ^ (everywhere if root & 1 else 0) for root in self._roots]


def _holds(operator: str, value: Number) -> bool:
    return value == 0 if operator == "=" else value < 0 if operator == "<" else value <= 0


def _value(parts: Sequence[Sum], inputs: Mapping[int, bool], values: Mapping[OpenNumber, Number]) -> Number:
    """The value of the last of the sums, each of which is given after those inside it."""
    known: dict[int, Number] = {}
    for part in parts:
        total: Number = part.constant
        for atom, coefficient in part.weighted_atoms:
            value: Number
            match atom:
                case ("value", int(function), int(code)):
                    value = values.get((function, code), 0)
                case ("indicator", int(literal)):
                    value = inputs[literal >> 1] != literal & 1
                case ("choice", int(literal), Sum() as then, Sum() as otherwise):
                    value = known[id(then if inputs[literal >> 1] != literal & 1 else otherwise)]
                case ("product", Sum() as a, Sum() as b):
                    value = known[id(a)] * known[id(b)]
                case ("quotient", Sum() as a, Sum() as b):
                    value = Fraction(known[id(a)]) / known[id(b)] if known[id(b)] else 0
                case _:
                    raise AssertionError(f"not an atom: {atom[0]}")
            total += coefficient * value
        known[id(part)] = total
    return total
