"""Good and bad completions by counterexamples: the solvers that causes and questions ask.

A completion is good if the plan is safe in it for all outcomes. The *finder* looks for completions that are good for
the outcomes met so far; the *judge* looks for an outcome that makes the found one bad. Outcomes are remembered for all
later searches (counterexample-guided expansion of the universal quantifier: Janota, Klieber, Marques-Silva, Clarke,
"Solving QBF with counterexample guided refinement", 2016). Where nothing depends on outcomes the judge is not needed.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.minimal_subset import GaveUp
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver, create_solver
from plansafe.verifier.symbolic.circuits.substitution import (
    CircuitTemplate,
    OpenNumber,
    collect_references,
    find_dependencies,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput, Encoding, FactInput

OpenVariable = int | OpenNumber
"""Something open: the input node of a fact, or a number (function, code)."""


class DecisionProblem(NamedTuple):
    """Completions and outcomes.

    ``allowed`` is over facts and numbers: the completion exists; some completion must. ``good`` is over these and
    outcomes: the plan is SAFE or VALID in the world. Whatever else ``good`` depends on, inputs and numbers, is an
    outcome; ``outcomes_allowed`` says which of them are possible. A completion is good if ``good`` holds for all
    possible outcomes.
    """

    circuit: Circuit
    allowed: Literal
    good: Literal
    facts: tuple[int, ...]
    numbers: tuple[OpenNumber, ...] = ()
    outcomes_allowed: Literal = TRUE


def build_decision_problem(
    encoding: Encoding, outcomes_allowed: Literal = TRUE, outcome_numbers: Collection[OpenNumber] = ()
) -> DecisionProblem:
    """The decision about an encoding: a completion is good if the plan is SAFE, or VALID, whatever the outcomes.

    ``outcome_numbers`` are not open but chosen by the world, such as durations.
    """
    circuit = encoding.circuit
    good = circuit.conjunction([encoding.executable, encoding.goal, encoding.violated ^ 1, encoding.undecided ^ 1])
    nodes, numbers = find_dependencies(circuit, [encoding.allowed, good])
    facts = tuple([node for node in nodes if isinstance(circuit.keys.get(node), FactInput)])
    given = tuple(sorted(numbers.difference(outcome_numbers)))
    return DecisionProblem(circuit, encoding.allowed, good, facts, given, outcomes_allowed)


class PartialAssignment(NamedTuple):
    """Some open facts and numbers with values."""

    facts: tuple[tuple[FactInput, bool], ...] = ()
    numbers: tuple[tuple[OpenNumber, Number], ...] = ()


class OpenVariables(NamedTuple):
    """Some open facts and numbers."""

    facts: tuple[FactInput, ...] = ()
    numbers: tuple[OpenNumber, ...] = ()


QUESTION_WORK, GATE_WORK = 400, 1
"""Units of a :class:`WorkBudget` for a question to a solver, and for each gate that it reaches."""

OpenValues = dict[OpenVariable, bool | Number]
"""The values of what is open and matters."""


class CompletionSearch:
    """Searches among the completions of a decision. They share solvers, so ask causes and questions of one object.

    ``near`` are the facts and numbers that ``good`` depends on, ``far`` those tied to them by ``allowed``. What
    ``allowed`` says about others is left out; that is exact, since some completion exists. The values of ``near``
    determine whether a completion is good. Building is linear in what literals reach; each search asks NP questions,
    one more for every outcome met.

    ``work`` bounds all searches together: each costs the gates that it reaches, and what its solver takes.

    :raises Unsupported: from the solver, where ``engine`` cannot take the comparisons
    """

    def __init__(
        self,
        decision: DecisionProblem,
        engine: str = "auto",
        deadline: float | None = None,
        work: WorkBudget | None = None,
    ) -> None:
        circuit = decision.circuit
        self.circuit = circuit
        self.safe = circuit.both(decision.outcomes_allowed, decision.good)
        self.good = circuit.either(decision.outcomes_allowed ^ 1, decision.good)
        self._engine, self._deadline, self._work = engine, deadline, work
        near = find_dependencies(circuit, [self.good, self.safe])
        self.allowed = _relevant(circuit, decision.allowed, near.nodes, near.numbers)
        far = find_dependencies(circuit, [self.allowed])
        self._size = len(near.nodes) + len(far.nodes)
        facts, numbers = set(decision.facts), set(decision.numbers)
        self.near: list[OpenVariable] = [*sorted(facts.intersection(near.nodes)), *sorted(near.numbers & numbers)]
        self.far: list[OpenVariable] = [
            *sorted(facts.intersection(far.nodes).difference(near.nodes)),
            *sorted((far.numbers - near.numbers) & numbers),
        ]
        self.all_numbers = near.numbers | far.numbers
        self._outcomes = [
            node
            for node in near.nodes
            if circuit.gates[node] is None and node not in facts and not isinstance(circuit.keys[node], Comparison)
        ]
        self._outcome_numbers = sorted(near.numbers - numbers)
        self.decided_by_outcomes = bool(self._outcomes or self._outcome_numbers)
        self._finder: Solver | None = None
        self._judge: Solver | None = None
        self._template: CircuitTemplate | None = None
        self._bad: Model | None = None
        self._searched_bad = False
        self._some_good: bool | None = None

    def close(self) -> None:
        """Free the solvers."""
        for solver in (self._finder, self._judge):
            if solver is not None:
                solver.close()
        self._finder = self._judge = None

    # -- completions --------------------------------------------------------------------------------------------------

    def candidates(self, prefer: Sequence[OpenVariable]) -> tuple[list[OpenVariable], list[OpenVariable]]:
        """What a cause or question may consist of, best first: what is preferred and has a bearing, then ``near``.

        The first list is all of it, the second what is preferred.
        """
        known = {*self.near, *self.far}
        first = dict.fromkeys([item for item in prefer if item in known])
        return [*first, *[item for item in self.near if item not in first]], [*first]

    def bad(self) -> Model | None:
        """A model of a bad completion.

        :raises GaveUp: time is up
        """
        if not self._searched_bad:
            solver = self.judge if self.decided_by_outcomes else self.finder
            if self._ask(solver, [self.allowed, self.good ^ 1]):
                self._bad = solver.model()
                if self.decided_by_outcomes:
                    self._remember(self._bad)
            self._searched_bad = True
        return self._bad

    def some_good(self) -> bool:
        """Whether some completion is good.

        :raises GaveUp: time is up
        """
        if self._some_good is None:
            self._some_good = isinstance(self.good_model([]), Model)
        return self._some_good

    def good_model(self, assumptions: Sequence[Literal]) -> Model | set[Literal]:
        """A model of the assumptions in which the completion is good, or assumptions that no good one satisfies.

        What the assumptions say of outcomes must be true for some outcome if the completion is good.

        :raises GaveUp: time is up
        """
        goodness = [] if self.decided_by_outcomes else [self.good]
        while True:
            if not self._ask(self.finder, [*goodness, *assumptions]):
                return set(self.finder.core()).intersection(assumptions)
            model = self.finder.model()
            if not self.decided_by_outcomes or not self._refuted(model):
                return model

    def of_world(self, world: Completion, items: Iterable[OpenVariable]) -> OpenValues | None:
        """The completion of a world; ``None`` if it does not give a number."""
        found: OpenValues = {}
        for item in items:
            if isinstance(item, int):
                key = self.circuit.keys[item]
                found[item] = isinstance(key, FactInput) and (key.predicate, key.code) in world.facts
            elif item in world.values:
                found[item] = world.values[item]
            else:
                return None
        return found

    def completion(self, model: Model, items: Iterable[OpenVariable]) -> OpenValues:
        """The completion of a model; what the solver has not met does not matter to it."""
        inputs, values = model
        return {item: inputs.get(item, False) if isinstance(item, int) else values.get(item, 0) for item in items}

    def literal(self, item: OpenVariable, value: bool | Number) -> Literal:
        """That an open fact or number has a value."""
        if isinstance(item, int):
            return 2 * item + (not value)
        return terms.compare(self.circuit, "=", terms.variable(*item), terms.constant(value))

    def safe_in_bad(self) -> bool:
        """Whether some world of some bad completion is SAFE.

        :raises GaveUp: time is up
        """
        if not self.decided_by_outcomes:
            return False
        circuit = self.circuit
        beyond = 1 + max([function for function, _ in self.all_numbers], default=0)
        others = {node: circuit.input(AuxiliaryInput("other outcome", node)) for node in self._outcomes}
        numbers = {(f, c): terms.variable(f + beyond, c) for f, c in self._outcome_numbers}
        (safe,) = CircuitTemplate(circuit, [self.safe], others, numbers).instantiate(others, numbers)
        return self._ask(self.judge, [self.allowed, self.good ^ 1, safe])

    # -- solvers ------------------------------------------------------------------------------------------------------

    @property
    def finder(self) -> Solver:
        """Knows what is allowed, and what is good for the outcomes met so far."""
        if self._finder is None:
            roots = [self.allowed, self.good]
            self._finder = create_solver(self.circuit, roots, self._engine, self._deadline, self._work)
            self._finder.require(self.allowed)
        return self._finder

    @property
    def judge(self) -> Solver:
        """The solver that knows the verdict in every completion; made at first use."""
        if self._judge is None:
            roots = [self.allowed, self.good, self.safe]
            self._judge = create_solver(self.circuit, roots, self._engine, self._deadline, self._work)
        return self._judge

    def _refuted(self, model: Model) -> bool:
        """Whether some outcome makes the completion of a model bad; it is remembered."""
        fixed = [self.literal(item, value) for item, value in self.completion(model, self.near).items()]
        if not self._ask(self.judge, [self.good ^ 1, *fixed]):
            return False
        self._remember(self.judge.model())
        return True

    def _remember(self, model: Model) -> None:
        if self._template is None:
            self._template = CircuitTemplate(self.circuit, [self.good], self._outcomes, self._outcome_numbers)
        inputs = {node: TRUE if model.inputs.get(node, False) else FALSE for node in self._outcomes}
        numbers = {item: terms.constant(model.values.get(item, 0)) for item in self._outcome_numbers}
        try:
            (good,) = self._template.instantiate(inputs, numbers)
        except NumberTooLarge:
            raise GaveUp("a number grew too large") from None
        self.finder.require(good)

    def _ask(self, solver: Solver, assumptions: Sequence[Literal]) -> bool:
        if self._work is not None:
            self._work.left -= QUESTION_WORK + GATE_WORK * self._size
        answer = None if self._late() or self._spent() else solver.solve(assumptions)
        if answer is None:
            late = "time ran out" if self._late() else f"{solver.name} could not decide"
            raise GaveUp("the search grew too large" if self._spent() else late)
        return answer

    def _spent(self) -> bool:
        return self._work is not None and self._work.left <= 0

    def _late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline


def _relevant(circuit: Circuit, allowed: Literal, near: Iterable[int], numbers: Iterable[OpenNumber]) -> Literal:
    """The conjuncts that share something with ``near`` and ``numbers``, or with a conjunct that does, and so on."""
    parts: list[Literal] = []
    stack, seen = [allowed], set()
    while stack:
        literal = stack.pop()
        if literal not in seen:
            seen.add(literal)
            children = None if literal & 1 else circuit.gates[literal >> 1]
            if children is None:
                parts.append(literal)
            else:
                stack.extend(children)
    parent = list(range(len(circuit.gates)))  # of a forest: what hangs together; 0 stands for what is near
    places: dict[OpenNumber, int] = {}

    def place(number: OpenNumber) -> int:
        if number not in places:
            places[number] = len(parent)
            parent.append(len(parent))
        return places[number]

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    for node in near:
        parent[node] = 0
    for number in numbers:
        parent[place(number)] = 0
    for node in find_dependencies(circuit, parts).nodes:
        children = circuit.gates[node]
        tied: list[int] = []
        if children is None:
            key = circuit.keys[node]
            if not isinstance(key, Comparison):
                continue
            children, found = collect_references(key.sum)
            tied = [place(number) for number in found]
        own = root(node)
        for other in [*[child >> 1 for child in children], *tied]:
            parent[root(other)] = own
    centre = root(0)
    return circuit.conjunction([part for part in parts if part < 2 or root(part >> 1) == centre])
