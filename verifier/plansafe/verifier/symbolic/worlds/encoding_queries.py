"""The verdict over all worlds: three values, each with a world in which it fails."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import NamedTuple

from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.literal_values import Simulation, simulate
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver, create_solver
from plansafe.verifier.symbolic.circuits.substitution import CircuitTemplate
from plansafe.verifier.symbolic.circuits.terms import constant
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes

FOLDED = "constant folding"
SIMULATED = "simulation"
MAX_VALUE_COMBINATIONS = 256
"""Combinations of values of open numbers that are looked at one by one, where a solver gave up."""


class NoPossibleWorld(Exception):
    """What the description says of its open facts contradicts itself (SC117)."""


class TruthLiterals(NamedTuple):
    """In which worlds something is true, and in which it is false; in the others it is undecided."""

    true: Literal
    false: Literal


class EncodingQueries:
    """Asks one solver about one encoding. What folds to a constant needs none."""

    def __init__(self, encoding: Encoding, engine: str = "auto", deadline: float | None = None) -> None:
        self.encoding = encoding
        self.circuit: Circuit = encoding.circuit
        self.engine = engine
        self.deadline = deadline
        self.asked = False
        self._solver: Solver | None = None
        self._known: dict[Literal, bool | None] = {}
        self._models: dict[Literal, Model] = {}
        self._simulation: Simulation | None = None
        self._simulated = False

    @property
    def solver(self) -> Solver:
        """The solver; made at first use, with the completions that are allowed."""
        if self._solver is None:
            roots = [self.encoding.allowed, *self._roots()]
            self._solver = create_solver(self.circuit, roots, self.engine, self.deadline)
            self._solver.require(self.encoding.allowed)
        return self._solver

    @property
    def name(self) -> str:
        """The name of the engine that decided."""
        if self._solver is not None and self.asked:
            return self._solver.name
        return SIMULATED if self._simulated else FOLDED

    def _roots(self) -> list[Literal]:
        e = self.encoding
        return [e.executable, e.goal, e.violated, e.undecided, *[v.literal for v in e.violations]]

    def some(self, literal: Literal) -> bool | None:
        """Whether some world that exists is one in which a literal is true; ``None`` if that was not decided."""
        if literal == FALSE:
            return False
        if literal not in self._known:
            self._known[literal] = self._by_example(literal) or self._by_solver(literal)
        return self._known[literal]

    def _by_example(self, literal: Literal) -> bool:
        """Whether one of some worlds drawn at random is one. Most of what is so in some world is so in many."""
        if self._simulation is None and self.engine == "auto":
            self._simulation = simulate(self.circuit, [self.encoding.allowed, *self._roots()])
        if literal == TRUE and self.encoding.allowed == TRUE:
            return True
        if self._simulation is None or not self._simulation.all_true([self.encoding.allowed, literal]):
            return False
        self._simulated = self._simulated or literal != TRUE
        return True

    def _by_solver(self, literal: Literal) -> bool | None:
        found = self.solver.solve([literal])
        self.asked = self.asked or literal != TRUE
        if found:
            self._models[literal] = self.solver.model()
        return self._by_values(literal) if found is None else found

    def _by_values(self, literal: Literal) -> bool | None:
        """Where a solver gave up: value by value, for open numbers that have finitely many.

        With values in their place comparisons fold, products among them.
        """
        finite = dict(self.encoding.finite)
        total = prod([len(values) for values in finite.values()])
        if not finite or total > MAX_VALUE_COMBINATIONS or set(self.encoding.values) != finite.keys():
            return None
        template = CircuitTemplate(self.circuit, [self.encoding.allowed, literal], (), self.encoding.values)
        for chosen in product(*finite.values()):
            values = dict(zip(finite, chosen, strict=True))
            roots = template.instantiate({}, {key: constant(value) for key, value in values.items()})
            solver = create_solver(self.circuit, roots, "auto", self.deadline)
            try:
                found = solver.solve(roots)
                if found:
                    self._models[literal] = Model(solver.model().inputs, values)
                if found is not False:
                    return found
            finally:
                solver.close()
        return False

    def world(self, literal: Literal) -> Completion | None:
        """A world in which a literal is true, if there is one and it was found."""
        if not self.some(literal):
            return None
        if literal in self._models:
            return self._world(self._models[literal])
        if self._simulation is None or literal == self.encoding.allowed == TRUE:
            return self._world(Model({}, {}))
        return self._world(Model(self._simulation.find_example(self.circuit, [self.encoding.allowed, literal]), {}))

    def _world(self, model: Model) -> Completion:
        facts = set()
        chosen: set[OutcomeInput] = set()
        for node, value in model.inputs.items():
            key = self.circuit.keys.get(node)
            if value and isinstance(key, FactInput):
                facts.add((key.predicate, key.code))
            elif value and isinstance(key, OutcomeInput):
                chosen.add(key)
        outcomes = {}
        for (step, number, objects), alternatives in self.encoding.outcomes.items():
            inputs = [OutcomeInput(step, number, objects, k) in chosen for k in range(alternatives - 1)]
            outcomes[step, number, objects] = inputs.index(True) if True in inputs else alternatives - 1
        values = {key: model.values.get(key, 0) for key in self.encoding.values}
        return Completion(frozenset(facts), values, complete_outcomes(self.encoding.statements, outcomes))

    def over_worlds(self, value: TruthLiterals) -> Worlds:
        """ALL, SOME, NONE or UNKNOWN (docs/worlds.md, section 2)."""
        if self.encoding.limits:
            return Worlds.UNKNOWN
        otherwise = self.circuit.both(value.true ^ 1, value.false ^ 1)
        yes, no, neither = self.some(value.true), self.some(value.false), self.some(otherwise)
        if yes and no:
            return Worlds.SOME
        if None in (yes, no, neither) or neither:
            return Worlds.UNKNOWN
        return Worlds.ALL if yes else Worlds.NONE

    def decide(self) -> WorldsVerdict:
        """The three values. Raises :class:`NoPossibleWorld`, and what :func:`.solvers.solver_for` raises."""
        if self.encoding.allowed == FALSE or self.some(TRUE) is False:
            raise NoPossibleWorld
        e = self.encoding
        safe = TruthLiterals(self.circuit.both(e.violated ^ 1, e.undecided ^ 1), e.violated)
        return WorldsVerdict(
            self.over_worlds(TruthLiterals(e.executable, e.executable ^ 1)),
            self.over_worlds(TruthLiterals(e.goal, e.goal ^ 1)),
            self.over_worlds(safe),
            self.world(e.executable ^ 1),
            self.world(e.goal ^ 1),
            self.world(e.violated),
            e.limits,
        )

    def close(self) -> None:
        """Give back the solver's memory."""
        if self._solver is not None:
            self._solver.close()
