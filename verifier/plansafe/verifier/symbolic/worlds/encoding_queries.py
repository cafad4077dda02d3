"""Answer questions about an encoding: the verdict over all worlds, and worlds with a property."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod

from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.literal_values import evaluate_in_world
from plansafe.verifier.symbolic.circuits.simulation import Simulation, simulate
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver
from plansafe.verifier.symbolic.circuits.substitution import CircuitTemplate
from plansafe.verifier.symbolic.circuits.terms import constant
from plansafe.verifier.symbolic.worlds.encoding import Encoding, FactInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes

DECIDED_BY_FOLDING = "constant folding"
DECIDED_BY_SIMULATION = "simulation"
MAX_VALUE_COMBINATIONS = 256
"""Maximum number of combinations of values of open numbers to try one by one after a solver gave up."""


class NoPossibleWorld(Exception):
    """The statements of the description about its open facts contradict each other (SC117)."""


class EncodingQueries:
    """Asks one solver about one encoding. Literals that fold to a constant need no solver."""

    def __init__(self, encoding: Encoding, engine: str = "auto", deadline: float | None = None) -> None:
        self.encoding = encoding
        self.circuit: Circuit = encoding.circuit
        self.engine = engine
        self.deadline = deadline
        self._solver: Solver | None = None
        self._has_solver_decided = False
        self._answers: dict[Literal, bool | None] = {}
        self._models: dict[Literal, Model] = {}
        self._simulation: Simulation | None = None
        self._has_simulation_decided = False

    @property
    def solver(self) -> Solver:
        """The solver, restricted to allowed completions; created at first use."""
        if self._solver is None:
            roots = [self.encoding.allowed, *self._list_property_literals()]
            self._solver = create_solver(self.circuit, roots, self.engine, self.deadline)
            self._solver.require(self.encoding.allowed)
        return self._solver

    @property
    def engine_name(self) -> str:
        """The name of the method that decided the queries: a solver, simulation, or constant folding."""
        if self._solver is not None and self._has_solver_decided:
            return self._solver.name
        return DECIDED_BY_SIMULATION if self._has_simulation_decided else DECIDED_BY_FOLDING

    def _list_property_literals(self) -> list[Literal]:
        """The literals that queries are most often about."""
        encoding = self.encoding
        return [
            encoding.executable,
            encoding.goal,
            encoding.violated,
            encoding.undecided,
            encoding.encode_good_worlds(),
            *[v.literal for v in encoding.violations],
        ]

    def holds_in_some_world(self, literal: Literal) -> bool | None:
        """Whether a literal is true in some world that exists; ``None`` if that is undecided."""
        if literal == FALSE:
            return False
        if literal not in self._answers:
            self._answers[literal] = self._holds_in_simulation(literal) or self._ask_solver(literal)
        return self._answers[literal]

    def answer_together(self, literals: Iterable[Literal]) -> None:
        """Find which of many literals are true in some world: one query excludes all that are true in no world."""
        unanswered_literals = [
            literal
            for literal in dict.fromkeys(literals)
            if literal not in self._answers and not self._holds_in_simulation(literal)
        ]
        while len(unanswered_literals) > 1:
            some_unanswered = self.circuit.disjunction(unanswered_literals)
            answer = self.holds_in_some_world(some_unanswered)
            if answer is False:
                self._answers.update(dict.fromkeys(unanswered_literals, False))
            if not answer or some_unanswered not in self._models:
                return
            world = self._make_completion(self._models[some_unanswered])
            values = dict(
                zip(unanswered_literals, evaluate_in_world(self.circuit, unanswered_literals, world), strict=True)
            )
            if not any(values.values()):
                return
            self._answers.update([(literal, True) for literal, value in values.items() if value])
            unanswered_literals = [literal for literal, value in values.items() if not value]

    def _holds_in_simulation(self, literal: Literal) -> bool:
        """Whether a literal is true in one of a few random worlds: most properties of some world hold in many."""
        if self._simulation is None and self.engine == "auto":
            self._simulation = simulate(self.circuit, [self.encoding.allowed, *self._list_property_literals()])
        if literal == TRUE and self.encoding.allowed == TRUE:
            return True
        if self._simulation is None or not self._simulation.find_satisfying_assignments(
            [self.encoding.allowed, literal]
        ):
            return False
        self._has_simulation_decided = self._has_simulation_decided or literal != TRUE
        return True

    def _ask_solver(self, literal: Literal) -> bool | None:
        """Whether a literal is true in some world that exists, and store a model; ``None`` if that is undecided."""
        answer = self.solver.solve([literal])
        self._has_solver_decided = self._has_solver_decided or literal != TRUE
        if answer:
            self._models[literal] = self.solver.model()
        return self._try_number_values(literal) if answer is None else answer

    def _try_number_values(self, literal: Literal) -> bool | None:
        """Try all values of the open numbers, if these are finite: with constants, products and comparisons fold."""
        finite_values = dict(self.encoding.finite_numbers)
        combinations = prod([len(values) for values in finite_values.values()])
        if (
            not finite_values
            or combinations > MAX_VALUE_COMBINATIONS
            or set(self.encoding.open_numbers) != finite_values.keys()
        ):
            return None
        template = CircuitTemplate(self.circuit, [self.encoding.allowed, literal], (), self.encoding.open_numbers)
        for combination in product(*finite_values.values()):
            values = dict(zip(finite_values, combination, strict=True))
            roots = template.instantiate({}, {number: constant(value) for number, value in values.items()})
            solver = create_solver(self.circuit, roots, "auto", self.deadline)
            try:
                answer = solver.solve(roots)
                if answer:
                    self._models[literal] = Model(solver.model().inputs, values)
                if answer is not False:
                    return answer
            finally:
                solver.close()
        return False

    def find_world(self, literal: Literal) -> Completion | None:
        """A world in which a literal is true; ``None`` if there is none or none was found."""
        if not self.holds_in_some_world(literal):
            return None
        return self._make_completion(self.recall_model(literal) or Model({}, {}))

    def recall_model(self, literal: Literal) -> Model | None:
        """A world in which a literal is true, from an earlier query or the simulation; ``None`` if neither has one."""
        if literal in self._models:
            return self._models[literal]
        if literal == self.encoding.allowed == TRUE or not self._holds_in_simulation(literal):
            return None
        assert self._simulation is not None
        return Model(self._simulation.find_satisfying_inputs(self.circuit, [self.encoding.allowed, literal]), {})

    def _make_completion(self, model: Model) -> Completion:
        """The world of a model; facts and numbers without a value in it are false or 0."""
        keys = [self.circuit.keys.get(node) for node, value in model.inputs.items() if value]
        facts = frozenset([(key.predicate, key.code) for key in keys if isinstance(key, FactInput)])
        outcome_inputs = {key for key in keys if isinstance(key, OutcomeInput)}
        outcomes = {}
        for (step, number, objects), count in self.encoding.alternative_counts.items():
            alternatives = [k for k in range(count - 1) if OutcomeInput(step, number, objects, k) in outcome_inputs]
            outcomes[step, number, objects] = alternatives[0] if alternatives else count - 1
        values = {number: model.values.get(number, 0) for number in self.encoding.open_numbers}
        return Completion(facts, values, complete_outcomes(self.encoding.oneof_statements, outcomes))

    def _decide_property(self, true: Literal, false: Literal) -> Worlds:
        """The share of worlds with a property (docs/worlds.md, section 2).

        ``true`` and ``false`` are the worlds in which it holds and fails; in worlds of neither, it is undecided.
        """
        if self.encoding.limits:
            return Worlds.UNKNOWN
        literals = (true, false, self.circuit.both(true ^ 1, false ^ 1))
        is_true_somewhere, is_false_somewhere, is_undecided_somewhere = [
            self.holds_in_some_world(literal) for literal in literals
        ]
        if is_true_somewhere and is_false_somewhere:
            return Worlds.SOME
        if None in (is_true_somewhere, is_false_somewhere, is_undecided_somewhere) or is_undecided_somewhere:
            return Worlds.UNKNOWN
        return Worlds.ALL if is_true_somewhere else Worlds.NONE

    def decide_verdict(self) -> WorldsVerdict:
        """The verdict over all worlds. Raises :class:`NoPossibleWorld`, and the exceptions of ``create_solver``."""
        if self.encoding.allowed == FALSE or self.holds_in_some_world(TRUE) is False:
            raise NoPossibleWorld
        encoding = self.encoding
        safe = self.circuit.both(encoding.violated ^ 1, encoding.undecided ^ 1)
        return WorldsVerdict(
            self._decide_property(encoding.executable, encoding.executable ^ 1),
            self._decide_property(encoding.goal, encoding.goal ^ 1),
            self._decide_property(safe, encoding.violated),
            self.find_world(encoding.executable ^ 1),
            self.find_world(encoding.goal ^ 1),
            self.find_world(encoding.violated),
            encoding.limits,
        )

    def close(self) -> None:
        """Free the solver's memory."""
        if self._solver is not None:
            self._solver.close()
