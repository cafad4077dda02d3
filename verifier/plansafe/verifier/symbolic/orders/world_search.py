"""Worlds in which something is so: a solver over the circuit, and orders made linear where its answers are not.

The solver knows nothing of transitivity. Where the pairs that it chose go round in a circle, the shortest circles are
forbidden and it is asked again; a choice without circles extends to a linear order, in which everything asked for has
the value that the solver gave it. That nothing is found is a proof, since fewer constraints allow more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver, create_solver
from plansafe.verifier.symbolic.circuits.terms import Comparison
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, Precedence, bit_numbers
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OrderInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes

MAX_TRIANGLES = 200_000
"""Circles of three that are forbidden beforehand."""
MAX_CIRCLES = 3_000
MAX_LONG_CIRCLES = 400
"""Circles that are forbidden between two questions, of three steps and of more."""


class WorldAnswer(NamedTuple):
    """A world, if there is one; ``decided`` says whether there being none is certain."""

    world: Completion | None
    decided: bool


class WorldSearch:
    """Asks for worlds of one plan."""

    def __init__(self, moments: Moments, allowed: Literal, engine: str = "auto") -> None:
        self.moments = moments
        self.allowed = allowed
        self.engine = engine
        self.questions = 0
        self._numeric = False
        self._solver: Solver | None = None
        self._required: set[Literal] = set()
        self._circles: list[Literal] = []
        self._triangles: set[frozenset[int]] = set()
        self.name = ""

    def find_world(self, *wanted: Literal) -> WorldAnswer:
        """A world in which all of the literals are true."""
        if FALSE in wanted:
            return WorldAnswer(None, True)
        moments, circuit = self.moments, self.moments.circuit
        definitions, inputs = moments.meaning([*wanted, self.allowed])
        meaning = [self.allowed, *definitions]
        roots = [*wanted, *meaning]
        numeric = any([isinstance(circuit.keys[node], Comparison) for node in inputs])
        solver = self._solver
        if solver is None or (numeric and not self._numeric):
            self._numeric = numeric
            self._solver = solver = create_solver(circuit, roots, self.engine, moments.deadline)
            self._required.clear()
            for literal in self._circles:
                solver.require(literal)
        self.name = solver.name
        for literal in meaning:
            if literal not in self._required:
                self._required.add(literal)
                solver.require(literal)
        pairs = {node: key for node in inputs if isinstance(key := circuit.keys[node], OrderInput)}
        self._transitive([(key.first, key.second) for key in pairs.values()], solver)
        while True:
            self.questions += 1
            answer = solver.solve(list(wanted))
            if not answer:
                return WorldAnswer(None, answer is False)
            model = solver.model()
            chosen = [
                (key.first, key.second) if model.inputs[node] else (key.second, key.first)
                for node, key in pairs.items()
                if node in model.inputs  # what the solver was not told of may be either way
            ]
            order = moments.order.linear_extension((), chosen)
            if order is not None:
                return WorldAnswer(self._world(model, order), True)
            self._forbid(solver, find_circles(moments.order, chosen))
            moments.check()

    def _transitive(self, pairs: list[Precedence], solver: Solver) -> None:
        """Forbid the circles of three steps all of whose pairs are inputs, or given; as many as there is room for."""
        moments, order = self.moments, self.moments.order
        chosen = [0] * (order.size + 1)
        for first, second in pairs:
            chosen[first] |= 1 << second
            chosen[second] |= 1 << first
        related = [c | order.before[step] | order.after[step] for step, c in enumerate(chosen)]
        circles: list[list[Precedence]] = []
        for first, second in pairs:
            for third in bit_numbers(related[first] & related[second]):
                triangle = frozenset((first, second, third))
                if triangle in self._triangles or self._follows(chosen, first, second, third):
                    continue
                if len(self._triangles) >= MAX_TRIANGLES:
                    break
                self._triangles.add(triangle)
                circles.append([(first, second), (second, third), (third, first)])
                circles.append([(second, first), (first, third), (third, second)])
            moments.check()
        self._forbid(solver, circles)

    def _follows(self, chosen: list[int], first: int, second: int, third: int) -> bool:
        """Whether transitivity of three steps follows from that of others: a step is between two that are ordered."""
        order = self.moments.order
        for a, b, c in ((first, third, second), (second, third, first)):
            if not chosen[a] >> b & 1:
                low, high = (a, b) if order.after[a] >> b & 1 else (b, a)
                if not chosen[b] >> c & 1 or order.after[low] & order.before[high] & chosen[c]:
                    return True
        return False

    def _forbid(self, solver: Solver, circles: list[list[Precedence]]) -> None:
        moments, circuit = self.moments, self.moments.circuit
        literal = circuit.conjunction(
            [circuit.disjunction([moments.precedes(*pair) ^ 1 for pair in circle]) for circle in circles]
        )
        if literal != TRUE:
            self._circles.append(literal)
            solver.require(literal)

    def _world(self, model: Model, order: tuple[int, ...]) -> Completion:
        """The world of a model. What the model leaves open is arbitrary."""
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
        for (step, number, objects), alternatives in template.stepper.alternative_counts.items():
            outcomes[step, number, objects] = next(
                k for k in range(alternatives) if OutcomeInput(step, number, objects, k) not in rejected
            )
        values = {key: model.values.get(key, 0) for key in template.open_values}
        return Completion(frozenset(facts), values, complete_outcomes(template.statements, outcomes), order)


def find_circles(order: PartialOrder, chosen: Sequence[Precedence]) -> list[list[Precedence]]:
    """Circles that chosen pairs close, up to a bound: those of three steps, else a shortest one for each pair."""
    following = [0] * (order.size + 1)
    preceding = [0] * (order.size + 1)
    for first, second in chosen:
        following[first] |= 1 << second
        preceding[second] |= 1 << first
    reach = [order.after[step] | following[step] for step in range(order.size + 1)]
    out: list[list[Precedence]] = []
    for first, second in chosen:
        for third in bit_numbers(reach[second] & (preceding[first] | order.before[first])):
            inputs = following[second] >> third & 1 and following[third] >> first & 1
            if not inputs or first == min(first, second, third):  # a circle of three inputs is met three times
                out += [[(first, second), (second, third), (third, first)]]
        if len(out) >= MAX_CIRCLES:
            break
    if out:
        return out
    for first, second in chosen:
        path = _path(reach, second, first)
        if path is not None:
            out.append([*pairwise([first, *path])])
        if len(out) >= MAX_LONG_CIRCLES:
            break
    shortest = min([len(circle) for circle in out])
    return [circle for circle in out if len(circle) <= shortest + 1]


def _path(reach: list[int], start: int, goal: int) -> list[int] | None:
    """A shortest path by breadth."""
    layers = [1 << start]
    seen = layers[0]
    while not layers[-1] >> goal & 1:
        new = 0
        for step in bit_numbers(layers[-1]):
            new |= reach[step]
        new &= ~seen
        if not new:
            return None
        seen |= new
        layers.append(new)
    path = [goal]
    for layer in reversed(layers[:-1]):
        path.append(next(step for step in bit_numbers(layer) if reach[step] >> path[-1] & 1))
    return path[::-1]
