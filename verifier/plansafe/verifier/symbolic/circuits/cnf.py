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
"""How many clauses are handed over between two looks at the clock."""


class Clauses:
    """The clauses of a growing part of a circuit, over variables numbered from 1; variable 1 is node 0, and false.

    ``nodes[variable]`` is the node that a variable stands for; ``inputs`` are the input nodes met so far, in order, and
    ``numeric`` those among them whose meaning the clauses do not say: comparisons that are about more than indicators.
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.nodes: list[int] = [0, 0]
        self.inputs: list[int] = []
        self.numeric: list[int] = []
        self._variables: list[int] = [1]
        self._done = bytearray()
        self._looked = 0

    def literal(self, literal: Literal) -> int:
        """A circuit literal as a signed variable."""
        node = literal >> 1
        if node >= len(self._variables):
            self._variables.extend([0] * (len(self.circuit.gates) - len(self._variables)))
        variable = self._variables[node] or self._name(node)
        return -variable if literal & 1 else variable

    def variables(self, nodes: Iterable[int]) -> list[tuple[int, int]]:
        """Nodes that were encoded, with their variables."""
        variables = self._variables
        return [(node, variables[node]) for node in nodes]

    def of(self, variable: int) -> Literal:
        """The circuit literal of a signed variable."""
        return 2 * self.nodes[variable] if variable > 0 else 2 * self.nodes[-variable] + 1

    def encode(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        """The clauses that say what these literals mean, except those handed out before; in batches.

        To be run to its end: what was handed out counts as known. Time n log n in the new part of the cones. Variables
        are numbered in the order of evaluation, which solvers try first, and which suffices astonishingly often.
        """
        if not self._done:
            self._done.extend(b"\1\1")
            yield [[-1]]
        wanted = list(literals)
        while wanted:
            yield from self._cones(wanted)
            wanted = []
            found, self._looked = self.inputs[self._looked :], len(self.inputs)
            for node in found:
                key = self.circuit.keys[node]
                if isinstance(key, Comparison):
                    count = to_pseudo_boolean(key)
                    if count is None:
                        self.numeric.append(node)
                        continue
                    meaning = encode_pseudo_boolean(self.circuit, count)
                    own, same = self.literal(2 * node), self.literal(meaning)
                    yield [[-own, same], [own, -same]]
                    wanted += (meaning, meaning ^ 1)

    def _cones(self, literals: Iterable[Literal]) -> Iterator[list[list[int]]]:
        encode_pseudo_boolean = self.circuit.gates
        nodes, inputs, variables = self.nodes, self.inputs, self._variables
        batch: list[list[int]] = []
        variables.extend([0] * (len(encode_pseudo_boolean) - len(variables)))
        for literal in self._fresh(literals):
            node = literal >> 1
            own = variables[node]
            children = encode_pseudo_boolean[node]
            if not own:
                nodes.append(node)
                own = variables[node] = len(nodes) - 1
                if children is None:
                    inputs.append(node)
            if children is None:
                continue
            signed = [-variables[child >> 1] if child & 1 else variables[child >> 1] for child in children]
            if literal & 1:
                batch.append([own, *[-child for child in signed]])
            else:
                batch.extend([[-own, child] for child in signed])
            if len(batch) >= BATCH_SIZE:
                yield batch
                batch = []
        if batch:
            yield batch

    def _fresh(self, literals: Iterable[Literal]) -> list[Literal]:
        """What has to be said, in the order of evaluation: of each node, which of its two literals is used."""
        encode_pseudo_boolean, done = self.circuit.gates, self._done
        done.extend(bytes(2 * len(encode_pseudo_boolean) - len(done)))
        stack, fresh = list(literals), []
        while stack:
            literal = stack.pop()
            if done[literal]:
                continue
            done[literal] = 1
            fresh.append(literal)
            children = encode_pseudo_boolean[literal >> 1]
            if children is None:
                done[literal ^ 1] = 1
            elif literal & 1:
                stack.extend([child ^ 1 for child in children])
            else:
                stack.extend(children)
        fresh.sort()
        return fresh

    def _name(self, node: int) -> int:
        self.nodes.append(node)
        self._variables[node] = len(self.nodes) - 1
        if self.circuit.gates[node] is None:
            self.inputs.append(node)
        return self._variables[node]


MAX_TABLE_STATES = 30_000
"""Up to here a count is a table of what is left, which solvers propagate well; beyond it is addition in binary."""


class PseudoBoolean(NamedTuple):
    """The weights of the true literals add up to at most the bound, or (``exact``) to the bound.

    Weights are positive integers. A bound below zero cannot be kept.
    """

    exact: bool
    weights: tuple[tuple[int, Literal], ...]
    bound: int


def to_pseudo_boolean(comparison: Comparison) -> PseudoBoolean | None:
    """A comparison as a count, or ``None`` if it is about more than indicators."""
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


def encode_pseudo_boolean(circuit: Circuit, count: PseudoBoolean) -> Literal:
    """A literal that is true exactly if the count is. Gates linear in the states, or in the bits of the weights."""
    if count.bound < 0:
        return FALSE
    weights = sorted(count.weights, reverse=True)
    return _table(circuit, weights, count) if _few_states(weights, count) else _binary(circuit, weights, count)


def _few_states(weights: list[tuple[int, Literal]], count: PseudoBoolean) -> bool:
    states, total = {count.bound}, 0
    rest = sum([weight for weight, _ in weights])
    for weight, _ in weights:
        states = {left for state in states for left in (state, state - weight) if _open(left, rest, count)}
        rest -= weight
        total += len(states)
        if total > MAX_TABLE_STATES:
            return False
    return True


def _open(left: int, rest: int, count: PseudoBoolean) -> bool:
    """Whether it is not decided yet, if ``left`` is left of the bound and ``rest`` is to come at most."""
    return left >= 0 and (left <= rest if count.exact else left < rest)


def _table(circuit: Circuit, weights: list[tuple[int, Literal]], count: PseudoBoolean) -> Literal:
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


def _binary(circuit: Circuit, weights: list[tuple[int, Literal]], count: PseudoBoolean) -> Literal:
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
