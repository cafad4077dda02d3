"""Pseudo-Boolean constraints, and their gates.

A comparison whose sum has only indicators is a pseudo-Boolean constraint. Its gates are a decision diagram, or a binary
addition if the diagram would be too large.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor, lcm
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Comparison

MAX_DIAGRAM_STATES = 30_000
"""Maximum number of states of the decision diagram of a pseudo-Boolean constraint, which solvers propagate well; a
larger constraint becomes a binary addition."""


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

    ``slack``: the bound minus the weights of the literals that are known to be true. ``remaining``: the sum of the
    weights of the remaining literals.
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
