"""Search for worlds in which a literal is true: a solver chooses the order of pairs of steps, which is then extended.

The solver does not know that an order is transitive. If the pairs that it chose contain cycles, the shortest cycles are
excluded and the solver is asked again. A choice without cycles extends to a linear order. In this order, the literal
has the value that the solver gave it. If the solver finds no choice, no such world exists: the solver has fewer
constraints than the worlds have.
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
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, Precedence, iterate_bits
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OrderInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes

MAX_TRIANGLES = 200_000
"""Maximum number of triples of steps whose cycles are excluded in advance."""
MAX_CYCLES = 3_000
"""Maximum number of cycles of three steps that are excluded between two solver calls."""
MAX_LONG_CYCLES = 400
"""Maximum number of longer cycles that are excluded between two solver calls."""


class WorldAnswer(NamedTuple):
    """The world that was found, or ``None``.

    ``is_decided``: if there is no world, this is certain. It is false if the solver gave up.
    """

    world: Completion | None
    is_decided: bool


class WorldSearch:
    """Asks one solver for worlds of one plan. ``allowed``: the literal that the world exists.

    ``solver_name``: ``auto``, ``sat`` or ``smt``.
    """

    def __init__(self, timeline: FactTimeline, allowed: Literal, solver_name: str = "auto") -> None:
        self.timeline = timeline
        self.allowed = allowed
        self.solver_name = solver_name
        self._has_numbers = False
        self._solver: Solver | None = None
        self._required_literals: set[Literal] = set()
        self._cycle_exclusions: list[Literal] = []
        self._triangles: set[frozenset[int]] = set()

    def find_world(self, literal: Literal) -> WorldAnswer:
        """Find a world in which a literal is true."""
        if literal == FALSE:
            return WorldAnswer(None, True)
        timeline, keys = self.timeline, self.timeline.circuit.keys
        definitions, inputs = timeline.collect_definitions([literal, self.allowed])
        solver = self._prepare_solver(literal, [self.allowed, *definitions], inputs)
        order_inputs = {node: key for node in inputs if isinstance(key := keys[node], OrderInput)}
        self._exclude_triangles([(key.first, key.second) for key in order_inputs.values()], solver)
        while True:
            satisfiable = solver.solve([literal])
            if not satisfiable:
                return WorldAnswer(None, satisfiable is False)
            model = solver.model()
            chosen_pairs = [
                (key.first, key.second) if model.inputs[node] else (key.second, key.first)
                for node, key in order_inputs.items()
                if node in model.inputs  # a pair that was not encoded may have either order
            ]
            order = timeline.order.find_extension_with(chosen_pairs)
            if order is not None:
                return WorldAnswer(self._make_world(model, order), True)
            self._exclude_cycles(solver, find_cycles(timeline.order, chosen_pairs))
            timeline.check_limits()

    def _prepare_solver(self, literal: Literal, required: list[Literal], inputs: list[int]) -> Solver:
        """Return the solver, with the required literals; create a new one when numbers first occur."""
        circuit = self.timeline.circuit
        has_numbers = any([isinstance(circuit.keys[node], Comparison) for node in inputs])
        solver = self._solver
        if solver is None or (has_numbers and not self._has_numbers):
            self._has_numbers = has_numbers
            solver = create_solver(circuit, [literal, *required], self.solver_name, self.timeline.deadline)
            self._solver = solver
            self._required_literals.clear()
            for exclusion in self._cycle_exclusions:
                solver.require(exclusion)
        for part in required:
            if part not in self._required_literals:
                self._required_literals.add(part)
                solver.require(part)
        return solver

    def _exclude_triangles(self, pairs: list[Precedence], solver: Solver) -> None:
        """Exclude cycles of three steps, up to :data:`MAX_TRIANGLES` triples of steps.

        ``pairs`` are the pairs whose order is an input of the circuit; all other pairs of a triple must be ordered by
        the plan.
        """
        timeline, order = self.timeline, self.timeline.order
        input_partners = [0] * (order.size + 1)
        for first, second in pairs:
            input_partners[first] |= 1 << second
            input_partners[second] |= 1 << first
        comparable_steps = [mask | order.before[step] | order.after[step] for step, mask in enumerate(input_partners)]
        cycles: list[list[Precedence]] = []
        for first, second in pairs:
            for third in iterate_bits(comparable_steps[first] & comparable_steps[second]):
                triangle = frozenset((first, second, third))
                if triangle in self._triangles or self._is_triangle_redundant(input_partners, first, second, third):
                    continue
                if len(self._triangles) >= MAX_TRIANGLES:
                    break
                self._triangles.add(triangle)
                cycles.append([(first, second), (second, third), (third, first)])
                cycles.append([(second, first), (first, third), (third, second)])
            timeline.check_limits()
        self._exclude_cycles(solver, cycles)

    def _is_triangle_redundant(self, input_partners: list[int], first: int, second: int, third: int) -> bool:
        """Whether the plan's order, or the exclusion of other triples, already excludes cycles of these three steps.

        ``input_partners``: for each step, the steps (as a mask) with which its order is an input.
        """
        order = self.timeline.order
        # If the plan orders two of the steps, ``low`` before ``high``, the triple adds nothing in two cases: the plan
        # also orders another pair, or some step between ``low`` and ``high`` forms triples with the third step.
        for left, right, third_step in ((first, third, second), (second, third, first)):
            if not (input_partners[left] >> right) & 1:
                low, high = (left, right) if (order.after[left] >> right) & 1 else (right, left)
                if (
                    not (input_partners[right] >> third_step) & 1
                    or (order.after[low] & order.before[high]) & input_partners[third_step]
                ):
                    return True
        return False

    def _exclude_cycles(self, solver: Solver, cycles: list[list[Precedence]]) -> None:
        """Require that in each cycle some pair has the opposite order."""
        timeline, circuit = self.timeline, self.timeline.circuit
        exclusion = circuit.conjunction(
            [circuit.disjunction([timeline.encode_precedence(*pair) ^ 1 for pair in cycle]) for cycle in cycles]
        )
        if exclusion != TRUE:
            self._cycle_exclusions.append(exclusion)
            solver.require(exclusion)

    def _make_world(self, model: Model, order: tuple[int, ...]) -> Completion:
        """The world of a model and an order. Facts and numbers without a value in the model are false or 0."""
        template, keys = self.timeline.template, self.timeline.circuit.keys
        facts: set[tuple[int, int]] = set()
        rejected_alternatives: set[OutcomeInput] = set()
        for node, value in model.inputs.items():
            key = keys[node]
            if value and isinstance(key, FactInput):
                facts.add((key.predicate, key.code))
            elif not value and isinstance(key, OutcomeInput):
                rejected_alternatives.add(key)
        outcomes = {}
        for choice, alternatives in template.step_encoder.alternative_counts.items():
            outcomes[choice] = next(
                k for k in range(alternatives) if OutcomeInput(*choice, k) not in rejected_alternatives
            )
        values = {number: model.values.get(number, 0) for number in template.open_numbers}
        return Completion(frozenset(facts), values, complete_outcomes(template.oneof_statements, outcomes), order)


def find_cycles(order: PartialOrder, chosen_pairs: Sequence[Precedence]) -> list[list[Precedence]]:
    """Find cycles of the plan's order and the chosen pairs. A cycle is a list of pairs, each of which follows the last.

    Returns cycles of three steps (about :data:`MAX_CYCLES`) if there are any. Otherwise it returns a shortest cycle
    through each chosen pair (at most :data:`MAX_LONG_CYCLES`), if it is at most one step longer than the shortest.
    """
    successors = [0] * (order.size + 1)
    predecessors = [0] * (order.size + 1)
    for first, second in chosen_pairs:
        successors[first] |= 1 << second
        predecessors[second] |= 1 << first
    after = [order.after[step] | successors[step] for step in range(order.size + 1)]
    cycles: list[list[Precedence]] = []
    for first, second in chosen_pairs:
        for third in iterate_bits(after[second] & (predecessors[first] | order.before[first])):
            are_all_chosen = (successors[second] >> third) & 1 and (successors[third] >> first) & 1
            if not are_all_chosen or first == min(first, second, third):  # three chosen pairs are visited three times
                cycles.append([(first, second), (second, third), (third, first)])
        if len(cycles) >= MAX_CYCLES:
            break
    if cycles:
        return cycles
    for first, second in chosen_pairs:
        path = _find_shortest_path(after, second, first)
        if path is not None:
            cycles.append([*pairwise([first, *path])])
        if len(cycles) >= MAX_LONG_CYCLES:
            break
    shortest_length = min([len(cycle) for cycle in cycles])
    return [cycle for cycle in cycles if len(cycle) <= shortest_length + 1]


def _find_shortest_path(successors: list[int], start: int, goal: int) -> list[int] | None:
    """A shortest path from ``start`` to ``goal``, by breadth-first search; ``None`` if there is none."""
    layers = [1 << start]
    visited = layers[0]
    while not (layers[-1] >> goal) & 1:
        layer = 0
        for step in iterate_bits(layers[-1]):
            layer |= successors[step]
        layer &= ~visited
        if not layer:
            return None
        visited |= layer
        layers.append(layer)
    path = [goal]
    for layer in reversed(layers[:-1]):
        path.append(next(step for step in iterate_bits(layer) if (successors[step] >> path[-1]) & 1))
    return path[::-1]
