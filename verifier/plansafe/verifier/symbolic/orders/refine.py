"""Worlds in which something is so: a solver over the circuit, and orders made linear where its answers are not.

The solver knows nothing of transitivity. Where the pairs that it chose go round in a circle, the shortest circles are
forbidden and it is asked again; a choice without circles extends to a linear order, in which everything asked for has
the value that the solver gave it. That nothing is found is a proof, since fewer constraints allow more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from plansafe.verifier.symbolic.circuit import FALSE, Literal
from plansafe.verifier.symbolic.model import FactInput, OrderInput, OutcomeInput, World
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial import Pair, PartialOrder, members
from plansafe.verifier.symbolic.solvers import Model, Solver, solver_for
from plansafe.verifier.symbolic.terms import Comparison

MAX_CIRCLES = 400
"""Circles that are forbidden between two questions."""


class Answer(NamedTuple):
    """A world, if there is one; ``decided`` says whether there being none is certain."""

    world: World | None
    decided: bool


class Search:
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
        self.name = ""

    def find(self, *wanted: Literal) -> Answer:
        """A world in which all of the literals are true."""
        if FALSE in wanted:
            return Answer(None, True)
        moments, circuit = self.moments, self.moments.circuit
        meaning = [self.allowed, *moments.defining([*wanted, self.allowed])]
        roots = [*wanted, *meaning]
        inputs = circuit.inputs(roots)
        numeric = any([isinstance(circuit.keys[node], Comparison) for node in inputs])
        solver = self._solver
        if solver is None or (numeric and not self._numeric):
            self._numeric = numeric
            self._solver = solver = solver_for(circuit, roots, self.engine, moments.deadline)
            self._required.clear()
            for literal in self._circles:
                solver.require(literal)
        self.name = solver.name
        for literal in meaning:
            if literal not in self._required:
                self._required.add(literal)
                solver.require(literal)
        pairs = {node: key for node in inputs if isinstance(key := circuit.keys[node], OrderInput)}
        while True:
            self.questions += 1
            answer = solver.solve(list(wanted))
            if not answer:
                return Answer(None, answer is False)
            model = solver.model()
            chosen = [
                (key.first, key.second) if model.inputs[node] else (key.second, key.first)
                for node, key in pairs.items()
            ]
            order = moments.order.extension((), chosen)
            if order is not None:
                return Answer(self._world(model, order), True)
            for circle in circles(moments.order, chosen):
                literal = circuit.disjunction([moments.precedes(*pair) ^ 1 for pair in circle])
                self._circles.append(literal)
                solver.require(literal)
            moments.check()

    def _world(self, model: Model, order: tuple[int, ...]) -> World:
        keys = self.moments.circuit.keys
        facts: set[tuple[int, int]] = set()
        outcomes: dict[tuple[int, int, tuple[int, ...]], int] = {}
        met: dict[tuple[int, int, tuple[int, ...]], int] = {}
        for node, value in model.inputs.items():
            key = keys[node]
            if isinstance(key, FactInput):
                if value:
                    facts.add((key.predicate, key.code))
            elif isinstance(key, OutcomeInput):
                choice = (key.step, key.number, key.objects)
                met[choice] = max(met.get(choice, 0), key.alternative + 1)
                if value:
                    outcomes[choice] = min(outcomes.get(choice, key.alternative), key.alternative)
        # A choice whose inputs are all false has the first alternative without one, as far as anything was asked.
        outcomes = {**met, **outcomes}
        return World(frozenset(facts), dict(model.values), outcomes, order)


def circles(order: PartialOrder, chosen: Sequence[Pair]) -> list[list[Pair]]:
    """Circles that chosen pairs close, each as the chosen pairs on it: a shortest one for each pair, up to a bound."""
    following = [0] * (order.size + 1)
    for first, second in chosen:
        following[first] |= 1 << second
    reach = [order.after[step] | following[step] for step in range(order.size + 1)]
    out: dict[frozenset[Pair], list[Pair]] = {}
    for first, second in chosen:
        path = _path(reach, second, first)
        if path is None:
            continue
        steps = [first, *path]
        circle = [pair for pair in pairwise(steps) if not order.after[pair[0]] >> pair[1] & 1]
        out.setdefault(frozenset(circle), circle)
        if len(out) >= MAX_CIRCLES:
            break
    shortest = min([len(circle) for circle in out.values()])
    return [circle for circle in out.values() if len(circle) <= shortest + 1]


def _path(reach: list[int], start: int, goal: int) -> list[int] | None:
    """A shortest path by breadth."""
    layers = [1 << start]
    seen = layers[0]
    while not layers[-1] >> goal & 1:
        new = 0
        for step in members(layers[-1]):
            new |= reach[step]
        new &= ~seen
        if not new:
            return None
        seen |= new
        layers.append(new)
    path = [goal]
    for layer in reversed(layers[:-1]):
        path.append(next(step for step in members(layer) if reach[step] >> path[-1] & 1))
    return path[::-1]
