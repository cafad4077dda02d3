"""Sums of indicators that are compared with a number, as gates."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import ceil, floor, lcm
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Comparison

MANY_STATES = 30_000
"""Up to here a count is a table of what is left, which solvers propagate well; beyond it is addition in binary."""


class Count(NamedTuple):
    """The weights of the true literals add up to at most the bound, or (``exact``) to the bound.

    Weights are positive integers. A bound below zero cannot be kept.
    """

    exact: bool
    weights: tuple[tuple[int, Literal], ...]
    bound: int


def counted(comparison: Comparison) -> Count | None:
    """A comparison as a count, or ``None`` if it is about more than indicators."""
    total = comparison.sum
    if any([atom[0] != "indicator" for atom, _ in total.items]):
        return None
    scale = lcm(total.constant.denominator, *[coefficient.denominator for _, coefficient in total.items])
    bound = Fraction(-total.constant * scale)
    weights: list[tuple[int, Literal]] = []
    for atom, coefficient in total.items:
        literal, weight = atom[1], int(coefficient * scale)
        assert isinstance(literal, int)
        if weight < 0:  # w * l = w - w * (not l)
            literal, weight = literal ^ 1, -weight
            bound += weight
        weights.append((weight, literal))
    if comparison.operator == "=":
        return Count(True, tuple(weights), int(bound) if bound.denominator == 1 else -1)
    return Count(False, tuple(weights), floor(bound) if comparison.operator == "<=" else ceil(bound) - 1)


def gates(circuit: Circuit, count: Count) -> Literal:
    """A literal that is true exactly if the count is. Gates linear in the states, or in the bits of the weights."""
    if count.bound < 0:
        return FALSE
    weights = sorted(count.weights, reverse=True)
    return _table(circuit, weights, count) if _few_states(weights, count) else _binary(circuit, weights, count)


def _few_states(weights: list[tuple[int, Literal]], count: Count) -> bool:
    states, total = {count.bound}, 0
    rest = sum([weight for weight, _ in weights])
    for weight, _ in weights:
        states = {left for state in states for left in (state, state - weight) if _open(left, rest, count)}
        rest -= weight
        total += len(states)
        if total > MANY_STATES:
            return False
    return True


def _open(left: int, rest: int, count: Count) -> bool:
    """Whether it is not decided yet, if ``left`` is left of the bound and ``rest`` is to come at most."""
    return left >= 0 and (left <= rest if count.exact else left < rest)


def _table(circuit: Circuit, weights: list[tuple[int, Literal]], count: Count) -> Literal:
    """Literal by literal: whether the rest fits into what is left of the bound (a decision diagram)."""
    layers, rest = [{count.bound}], sum([weight for weight, _ in weights])
    rests = [rest]
    for weight, _ in weights:
        layers.append(
            {left for state in layers[-1] if _open(state, rests[-1], count) for left in (state, state - weight)}
        )
        rests.append(rests[-1] - weight)
    known: dict[int, Literal] = {}
    for index in range(len(weights), -1, -1):
        found: dict[int, Literal] = {}
        for left in layers[index]:
            if left < 0 or (count.exact and left > rests[index]):
                found[left] = FALSE
            elif left >= rests[index] and not (count.exact and rests[index]):
                found[left] = TRUE
            else:
                weight, literal = weights[index]
                with_it, without = known[left - weight], known[left]
                if count.exact:
                    found[left] = circuit.choose(literal, with_it, without)
                else:  # what fits with it fits without it
                    found[left] = circuit.either(with_it, circuit.both(literal ^ 1, without))
        known = found
    return known[count.bound]


def _binary(circuit: Circuit, weights: list[tuple[int, Literal]], count: Count) -> Literal:
    """The sum in binary, compared bit by bit."""
    columns: dict[int, list[Literal]] = defaultdict(list)
    for weight, literal in weights:
        for place in range(weight.bit_length()):
            if weight >> place & 1:
                columns[place].append(literal)
    places = max(sum([weight for weight, _ in weights]), count.bound).bit_length()
    fits, same = TRUE, TRUE
    for place in range(places):  # from the lowest: what is higher decides
        column = columns[place]
        while len(column) > 1:
            x, y, z = column.pop(), column.pop(), column.pop() if column else FALSE
            half = circuit.equal(x, y) ^ 1
            column.insert(0, circuit.equal(half, z) ^ 1)
            columns[place + 1].append(circuit.either(circuit.both(x, y), circuit.both(half, z)))
        bit = column[0] if column else FALSE
        if count.bound >> place & 1:
            fits, same = circuit.either(bit ^ 1, fits), circuit.both(bit, same)
        else:
            fits, same = circuit.both(bit ^ 1, fits), circuit.both(bit ^ 1, same)
    return same if count.exact else fits
