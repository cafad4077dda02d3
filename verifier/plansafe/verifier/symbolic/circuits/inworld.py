"""Circuits in one world: the exact values of literals, numbers included."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.renaming import innermost_first, reach
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OutcomeInput


def in_world(circuit: Circuit, roots: Sequence[Literal], world: Completion) -> list[bool]:
    """The values of some literals in a world. Linear in what they depend on.

    Inputs that stand for nothing in the world count as false.
    """
    found: dict[int, bool] = {0: False}
    numbers: dict[int, Fraction] = {}
    for node in reach(circuit, roots).nodes:  # a comparison comes after the literals in it
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


def reason(circuit: Circuit, literal: Literal, world: Completion) -> Literal:
    """A literal that is true in the world and makes another true that is: of a disjunction, one part, and so on.

    What depends on it is what matters to the other in this world, or most of it.
    """
    while literal & 1 and (children := circuit.gates[literal >> 1]) is not None:
        parts = [child ^ 1 for child in children]
        values = in_world(circuit, parts, world)
        literal = parts[values.index(True)]
    return literal


def _number(total: Sum, world: Completion, found: dict[int, bool], numbers: dict[int, Fraction]) -> Fraction:
    for part in innermost_first(total):
        if id(part) not in numbers:  # the circuit's keys keep the parts alive
            value = Fraction(part.constant)
            for atom, coefficient in part.items:
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
