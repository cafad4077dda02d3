"""Search for worlds in which a literal is true: a solver over the circuit, and orders made linear.

The solver does not encode transitivity. If the pairs that it chose contain cycles, the shortest cycles are excluded and
it is asked again. A choice without cycles extends to a linear order, in which every literal asked for has the value
that the solver gave it. If nothing is found, that is a proof, since fewer constraints allow more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver
from plansafe.verifier.symbolic.circuits.terms import Comparison
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, Precedence, bit_numbers
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OrderInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes

MAX_TRIANGLES = 200_000
"""Triples of steps whose cycles are excluded in advance."""
MAX_CYCLES = 3_000
MAX_LONG_CYCLES = 400
"""Cycles that are excluded between two solver calls, of three steps and of more."""


class WorldAnswer(NamedTuple):
    """A world, if there is one; ``decided``: without a world, it is certain that there is none."""

    world: Completion | None
    decided: bool


class WorldSearch:
    """Asks a solver for worlds of one plan."""

    def __init__(self, moments: Moments, allowed: Literal, engine: str = "auto") -> None:
        self.moments = moments
        self.allowed = allowed
        self.engine = engine
        self._numeric = False
        self._solver: Solver | None = None
        self._required: set[Literal] = set()
        self._cycle_exclusions: list[Literal] = []
        self._triangles: set[frozenset[int]] = set()

    def find_world(self, literal: Literal) -> WorldAnswer:
        """Find a world in which a literal is true."""
        if literal == FALSE:
            return WorldAnswer(None, True)
        moments, keys = self.moments, self.moments.circuit.keys
        definitions, inputs = moments.collect_definitions([literal, self.allowed])
        solver = self._prepare_solver(literal, [self.allowed, *definitions], inputs)
        pairs = {node: key for node in inputs if isinstance(key := keys[node], OrderInput)}
        self._exclude_triangles([(key.first, key.second) for key in pairs.values()], solver)
        while True:
            satisfiable = solver.solve([literal])
            if not satisfiable:
                return WorldAnswer(None, satisfiable is False)
            model = solver.model()
            chosen = [
                (key.first, key.second) if model.inputs[node] else (key.second, key.first)
                for node, key in pairs.items()
                if node in model.inputs  # a pair that was not encoded may have either order
            ]
            order = moments.order.extend_with(chosen)
            if order is not None:
                return WorldAnswer(self._to_world(model, order), True)
            self._exclude_cycles(solver, find_cycles(moments.order, chosen))
            moments.check_limits()

    def _prepare_solver(self, literal: Literal, required: list[Literal], inputs: list[int]) -> Solver:
        """The solver, with the required literals; a new one once numbers occur."""
        circuit = self.moments.circuit
        numeric = any([isinstance(circuit.keys[node], Comparison) for node in inputs])
        solver = self._solver
        if solver is None or (numeric and not self._numeric):
            self._numeric = numeric
            solver = create_solver(circuit, [literal, *required], self.engine, self.moments.deadline)
            self._solver = solver
            self._required.clear()
            for exclusion in self._cycle_exclusions:
                solver.require(exclusion)
        for part in required:
            if part not in self._required:
                self._required.add(part)
                solver.require(part)
        return solver

    def _exclude_triangles(self, pairs: list[Precedence], solver: Solver) -> None:
        """Exclude the cycles of three steps whose pairs are all inputs or given, up to a limit."""
        moments, order = self.moments, self.moments.order
        chosen = [0] * (order.size + 1)
        for first, second in pairs:
            chosen[first] |= 1 << second
            chosen[second] |= 1 << first
        related = [mask | order.before[step] | order.after[step] for step, mask in enumerate(chosen)]
        cycles: list[list[Precedence]] = []
        for first, second in pairs:
            for third in bit_numbers(related[first] & related[second]):
                triangle = frozenset((first, second, third))
                if triangle in self._triangles or self._is_implied(chosen, first, second, third):
                    continue
                if len(self._triangles) >= MAX_TRIANGLES:
                    break
                self._triangles.add(triangle)
                cycles.append([(first, second), (second, third), (third, first)])
                cycles.append([(second, first), (first, third), (third, second)])
            moments.check_limits()
        self._exclude_cycles(solver, cycles)

    def _is_implied(self, chosen: list[int], first: int, second: int, third: int) -> bool:
        """Whether other triples make these steps transitive: one of them is between two ordered steps."""
        order = self.moments.order
        for a, b, c in ((first, third, second), (second, third, first)):
            if not chosen[a] >> b & 1:
                low, high = (a, b) if order.after[a] >> b & 1 else (b, a)
                if not chosen[b] >> c & 1 or order.after[low] & order.before[high] & chosen[c]:
                    return True
        return False

    def _exclude_cycles(self, solver: Solver, cycles: list[list[Precedence]]) -> None:
        moments, circuit = self.moments, self.moments.circuit
        exclusion = circuit.conjunction(
            [circuit.disjunction([moments.precedes(*pair) ^ 1 for pair in cycle]) for cycle in cycles]
        )
        if exclusion != TRUE:
            self._cycle_exclusions.append(exclusion)
            solver.require(exclusion)

    def _to_world(self, model: Model, order: tuple[int, ...]) -> Completion:
        """The world of a model. Values that the model leaves open are arbitrary."""
        template, keys = self.moments.template, self.moments.circuit.keys
        facts: set[tuple[int, int]] = set()
        rejected: set[OutcomeInput] = set()
        for node, value in model.inputs.items():
            key = keys[node]
            if value and isinstance(key, FactInput):
                facts.add((key.predicate, key.code))
            elif not value and isinstance(key, OutcomeInput):
                rejected.add(key)
        outcomes = {}
        for choice, alternatives in template.step_encoder.alternative_counts.items():
            outcomes[choice] = next(k for k in range(alternatives) if OutcomeInput(*choice, k) not in rejected)
        values = {number: model.values.get(number, 0) for number in template.open_numbers}
        return Completion(frozenset(facts), values, complete_outcomes(template.oneof_statements, outcomes), order)


def find_cycles(order: PartialOrder, chosen: Sequence[Precedence]) -> list[list[Precedence]]:
    """Cycles that the chosen pairs close, up to a limit: cycles of three steps, else a shortest one for each pair."""
    successors = [0] * (order.size + 1)
    predecessors = [0] * (order.size + 1)
    for first, second in chosen:
        successors[first] |= 1 << second
        predecessors[second] |= 1 << first
    after = [order.after[step] | successors[step] for step in range(order.size + 1)]
    cycles: list[list[Precedence]] = []
    for first, second in chosen:
        for third in bit_numbers(after[second] & (predecessors[first] | order.before[first])):
            all_chosen = successors[second] >> third & 1 and successors[third] >> first & 1
            if not all_chosen or first == min(first, second, third):  # a cycle of three chosen pairs is met three times
                cycles.append([(first, second), (second, third), (third, first)])
        if len(cycles) >= MAX_CYCLES:
            break
    if cycles:
        return cycles
    for first, second in chosen:
        path = _shortest_path(after, second, first)
        if path is not None:
            cycles.append([*pairwise([first, *path])])
        if len(cycles) >= MAX_LONG_CYCLES:
            break
    shortest = min([len(cycle) for cycle in cycles])
    return [cycle for cycle in cycles if len(cycle) <= shortest + 1]


def _shortest_path(successors: list[int], start: int, goal: int) -> list[int] | None:
    """A shortest path, by breadth-first search."""
    layers = [1 << start]
    visited = layers[0]
    while not layers[-1] >> goal & 1:
        layer = 0
        for step in bit_numbers(layers[-1]):
            layer |= successors[step]
        layer &= ~visited
        if not layer:
            return None
        visited |= layer
        layers.append(layer)
    path = [goal]
    for layer in reversed(layers[:-1]):
        path.append(next(step for step in bit_numbers(layer) if successors[step] >> path[-1] & 1))
    return path[::-1]
