"""Search for good and bad completions by counterexamples, for causes and questions.

A completion is *good* if the plan is SAFE or VALID in it for all outcomes; otherwise it is *bad*. The *finder* searches
for completions that are good for all known outcomes. The *refuter* searches for another outcome that makes such a
completion bad; this outcome is then known for all later searches. This is counterexample-guided expansion of the
universal quantifier (Janota, Klieber, Marques-Silva, Clarke, "Solving QBF with counterexample guided refinement",
2016). If nothing depends on outcomes, the refuter is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.literal_values import evaluate_in_world, find_sufficient_inputs
from plansafe.verifier.symbolic.circuits.minimal_subset import GaveUp
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver
from plansafe.verifier.symbolic.circuits.substitution import (
    CircuitTemplate,
    OpenNumber,
    collect_references,
    find_dependencies,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput, FactInput

QUERY_WORK, GATE_WORK = 400, 1
"""Units of a :class:`WorkBudget` for a solver query, and for each gate that the query depends on."""

OpenVariable = int | OpenNumber
"""The input node of an open fact, or an open number (function, code)."""
OpenValues = dict[OpenVariable, bool | Number]
"""The values of open variables."""


class CompletionSearch:
    """Searches among the completions of a task. The searches of a cause and a question share its solvers.

    ``allowed`` is true if the completion exists. It depends on open facts and numbers, and is true for at least one
    completion. ``good`` is true if the plan is SAFE or VALID in the world. It depends on open facts, numbers and
    outcomes: all its other inputs are outcomes.

    ``near_variables`` are the facts and numbers that ``good`` depends on; their values determine whether a completion
    is good. ``far_variables`` are the others that ``allowed`` connects to them. The conjuncts of ``allowed`` about
    other variables are dropped, which is exact because some completion exists.

    ``work`` bounds all searches together: each query costs its gates and the solver's work. Construction is linear in
    the size of the circuit. Each search makes NP queries, and one more for every outcome that it adds.

    ``good_model`` is a known model of ``allowed`` and ``good``; it is used if nothing depends on outcomes.

    :raises Unsupported: from the solver, if ``engine`` does not support comparisons
    """

    def __init__(
        self,
        circuit: Circuit,
        allowed: Literal,
        good: Literal,
        engine: str = "auto",
        deadline: float | None = None,
        work: WorkBudget | None = None,
        good_model: Model | None = None,
    ) -> None:
        self.circuit, self.good = circuit, good
        self._engine, self._deadline, self._work = engine, deadline, work
        near = find_dependencies(circuit, [good])
        self.allowed = _select_connected_conjuncts(circuit, allowed, near.nodes, near.numbers)
        far = find_dependencies(circuit, [self.allowed])
        self.near_gate_count = len(near.nodes)
        self._size = len(near.nodes) + len(far.nodes)
        near_facts = {node for node in near.nodes if isinstance(circuit.keys.get(node), FactInput)}
        far_facts = {node for node in far.nodes if isinstance(circuit.keys.get(node), FactInput)} - near_facts
        self.near_variables: list[OpenVariable] = [*sorted(near_facts), *sorted(near.numbers)]
        self.far_variables: list[OpenVariable] = [*sorted(far_facts), *sorted(far.numbers - near.numbers)]
        self._outcomes = [
            node
            for node in near.nodes
            if circuit.gates[node] is None and not isinstance(circuit.keys[node], Comparison | FactInput)
        ]
        self.depends_on_outcomes = bool(self._outcomes)
        self._finder: Solver | None = None
        self._refuter: Solver | None = None
        self._template: CircuitTemplate | None = None
        self._bad_model: Model | None = None
        self._has_searched_bad_model = False
        self._good_model = None if self.depends_on_outcomes else good_model
        self._has_searched_good_model = self._good_model is not None

    def close(self) -> None:
        """Free the solvers."""
        for solver in (self._finder, self._refuter):
            if solver is not None:
                solver.close()
        self._finder = self._refuter = None

    # -- completions --------------------------------------------------------------------------------------------------

    def find_bad_model(self) -> Model | None:
        """A model of a bad completion; ``None`` if all are good. Raises ``GaveUp``, as do the other searches."""
        if not self._has_searched_bad_model:
            solver = self.refuter if self.depends_on_outcomes else self.finder
            if self._solve(solver, [self.allowed, self.good ^ 1]):
                self._bad_model = solver.model()
                if self.depends_on_outcomes:
                    self._add_outcome(self._bad_model)
            self._has_searched_bad_model = True
        return self._bad_model

    def find_some_good_model(self) -> Model | None:
        """A model whose completion is good; ``None`` if all are bad."""
        if not self._has_searched_good_model:
            model = self.find_good_model([])
            self._good_model = model if isinstance(model, Model) else None
            self._has_searched_good_model = True
        return self._good_model

    def find_reason(self, world: Completion) -> set[OpenVariable] | None:
        """Variables whose values in a world make the completion bad; ``None`` if it is good or depends on outcomes."""
        if self.depends_on_outcomes:
            return None
        reason = find_sufficient_inputs(self.circuit, self.good ^ 1, world)
        return None if reason is None else reason.intersection(self.near_variables)

    def find_good_values(self, values: OpenValues) -> OpenValues | None:
        """Change a known good completion to these values and return it; ``None`` if the result is bad."""
        model = self.find_some_good_model()
        if model is None or self.depends_on_outcomes:
            return None
        candidate = {**self.read_model_values(model, [*self.near_variables, *self.far_variables]), **values}
        world = self.make_world(candidate)
        return candidate if all(evaluate_in_world(self.circuit, [self.allowed, self.good], world)) else None

    def make_world(self, values: OpenValues) -> Completion:
        """The world with these values, in which all other facts are false."""
        keys = [self.circuit.keys[v] for v, value in values.items() if isinstance(v, int) and value]
        facts = frozenset([(key.predicate, key.code) for key in keys if isinstance(key, FactInput)])
        return Completion(facts, {v: value for v, value in values.items() if isinstance(v, tuple)}, {})

    def find_good_model(self, assumptions: Sequence[Literal]) -> Model | set[Literal]:
        """A model of the assumptions whose completion is good.

        If there is none, some of the assumptions that no good completion satisfies together. An assumption about
        outcomes must be true for some outcome of every good completion.
        """
        good_assumptions = [] if self.depends_on_outcomes else [self.good]
        while True:
            if not self._solve(self.finder, [*good_assumptions, *assumptions]):
                return set(self.finder.core()).intersection(assumptions)
            model = self.finder.model()
            if not self.depends_on_outcomes or not self._find_refuting_outcome(model):
                return model

    def read_world_values(self, world: Completion, variables: Iterable[OpenVariable]) -> OpenValues | None:
        """The values of variables in a world; ``None`` if it lacks the value of a number."""
        values: OpenValues = {}
        for variable in variables:
            if isinstance(variable, int):
                key = self.circuit.keys[variable]
                values[variable] = isinstance(key, FactInput) and (key.predicate, key.code) in world.facts
            elif variable in world.values:
                values[variable] = world.values[variable]
            else:
                return None
        return values

    def read_model_values(self, model: Model, variables: Iterable[OpenVariable]) -> OpenValues:
        """The values of variables in a model; false or 0 for a variable that the model lacks."""
        inputs, numbers = model
        return {v: inputs.get(v, False) if isinstance(v, int) else numbers.get(v, 0) for v in variables}

    def encode_value(self, variable: OpenVariable, value: bool | Number) -> Literal:
        """A literal that is true in the worlds in which a variable has this value."""
        if isinstance(variable, int):
            return 2 * variable if value else 2 * variable + 1
        return terms.compare(self.circuit, "=", terms.variable(*variable), terms.constant(value))

    def is_safe_in_some_bad_world(self) -> bool:
        """Whether the plan is SAFE in some world of some bad completion."""
        if not self.depends_on_outcomes:
            return False
        inputs = {node: self.circuit.input(AuxiliaryInput("other outcome", node)) for node in self._outcomes}
        (other_good_literal,) = CircuitTemplate(self.circuit, [self.good], inputs, ()).instantiate(inputs, {})
        return self._solve(self.refuter, [self.allowed, self.good ^ 1, other_good_literal])

    # -- solvers ------------------------------------------------------------------------------------------------------

    @property
    def finder(self) -> Solver:
        """The solver for allowed completions that are good for all known outcomes; created at first use."""
        if self._finder is None:
            roots = [self.allowed, self.good]
            self._finder = create_solver(self.circuit, roots, self._engine, self._deadline, self._work)
            self._finder.require(self.allowed)
        return self._finder

    @property
    def refuter(self) -> Solver:
        """The solver for worlds of all completions; created at first use."""
        if self._refuter is None:
            roots = [self.allowed, self.good]
            self._refuter = create_solver(self.circuit, roots, self._engine, self._deadline, self._work)
        return self._refuter

    def _find_refuting_outcome(self, model: Model) -> bool:
        """Whether some outcome makes the completion of a model bad. Such an outcome becomes known."""
        near_literals = [
            self.encode_value(variable, value)
            for variable, value in self.read_model_values(model, self.near_variables).items()
        ]
        if not self._solve(self.refuter, [self.good ^ 1, *near_literals]):
            return False
        self._add_outcome(self.refuter.model())
        return True

    def _add_outcome(self, model: Model) -> None:
        """Require of the finder that completions are good for the outcome of a model."""
        if self._template is None:
            self._template = CircuitTemplate(self.circuit, [self.good], self._outcomes, ())
        inputs = {node: TRUE if model.inputs.get(node, False) else FALSE for node in self._outcomes}
        try:
            (good,) = self._template.instantiate(inputs, {})
        except NumberTooLarge:
            raise GaveUp("a number grew too large") from None
        self.finder.require(good)

    def _solve(self, solver: Solver, assumptions: Sequence[Literal]) -> bool:
        """Whether a solver can satisfy the assumptions. Raises ``GaveUp``."""
        if self._work is not None:
            self._work.left -= QUERY_WORK + GATE_WORK * self._size
        answer = None if self._is_late() or self._is_work_spent() else solver.solve(assumptions)
        if answer is not None:
            return answer
        if self._is_work_spent():
            raise GaveUp("the search grew too large")
        raise GaveUp("time ran out" if self._is_late() else f"{solver.name} could not decide")

    def _is_work_spent(self) -> bool:
        return self._work is not None and self._work.left <= 0

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline


def _select_connected_conjuncts(
    circuit: Circuit, allowed: Literal, near: Iterable[int], numbers: Iterable[OpenNumber]
) -> Literal:
    """The conjuncts of ``allowed`` that are connected with ``near`` nodes and ``numbers`` by shared variables."""
    conjuncts = circuit.list_conjuncts(allowed)
    parents = list(range(len(circuit.gates)))  # a union-find forest of nodes and numbers; all near nodes are in tree 0
    number_nodes: dict[OpenNumber, int] = {}

    def get_number_node(number: OpenNumber) -> int:
        if number not in number_nodes:
            number_nodes[number] = len(parents)
            parents.append(len(parents))
        return number_nodes[number]

    def find_root(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    for node in near:
        parents[node] = 0
    for number in numbers:
        parents[get_number_node(number)] = 0
    for node in find_dependencies(circuit, conjuncts).nodes:
        children = circuit.gates[node]
        number_children: list[int] = []
        if children is None:
            key = circuit.keys[node]
            if not isinstance(key, Comparison):
                continue
            children, number_references = collect_references(key.sum)
            number_children = [get_number_node(number) for number in number_references]
        root = find_root(node)
        for child in [*[literal >> 1 for literal in children], *number_children]:
            parents[find_root(child)] = root
    near_root = find_root(0)
    return circuit.conjunction([c for c in conjuncts if c <= TRUE or find_root(c >> 1) == near_root])
