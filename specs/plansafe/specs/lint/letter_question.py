"""Questions about any problem of a domain: can statements be true together at a letter and the letter after it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from time import monotonic

from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.grounder import Binding, Grounder, LetterAction
from plansafe.specs.lint.state_constraints import StateConstraints
from plansafe.specs.lint.universe import Universe
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Action, Variable
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import Model

MAX_ROUNDS = 3
"""How often statements about all objects are encoded again for the elements that were created meanwhile."""
MAX_ELEMENTS = 24
"""Maximum number of elements of a question."""

Statement = Callable[[Grounder], Literal]
"""Encodes a statement; it is called again when there are more elements."""


class Possibility(Enum):
    """``IMPOSSIBLE`` and ``POSSIBLE`` (in some problem) are proved, ``UNDECIDED`` is neither."""

    IMPOSSIBLE = "impossible"
    POSSIBLE = "possible"
    UNDECIDED = "undecided"


class LetterQuestion:
    """One question: its statements, and the answer.

    ``is_refutation``: the question is whether a contradiction can be proved (see :mod:`.grounder`). After the answer
    ``IMPOSSIBLE``, :attr:`core` has the labels of statements that contradict each other and the statements without a
    label; it is not always minimal. :attr:`model` is a model of the encoded statements.
    """

    def __init__(self, index: DomainIndex, is_refutation: bool, deadline: float | None, typed: bool = True) -> None:
        self.index = index
        self.deadline = deadline
        self.circuit = Circuit()
        self.universe = Universe(self.circuit, index, has_distinct_elements=not is_refutation, typed=typed)
        self.grounder = Grounder(index, self.universe, is_refutation, deadline)
        self.core: tuple[object, ...] = ()
        self.model: Model | None = None
        self._statements: list[tuple[object, Statement]] = []

    def add_elements(self, variables: Sequence[Variable]) -> Binding:
        """Create elements for variables."""
        return {v.slot: self.universe.add_element(v.domain, v.name) for v in variables}

    def add_argument_elements(self, action: Action) -> tuple[int, ...]:
        """Create elements for the parameters of an action: of any type, if types are lenient."""
        any_object = self.index.table.get_domain((0,))
        domains = [any_object if self.index.lenient else v.domain for v in action.parameters]
        return tuple([self.universe.add_element(d, v.name) for d, v in zip(domains, action.parameters, strict=True)])

    def require_action(self, kind: str, name: str, elements: tuple[int, ...]) -> None:
        """Require that this action is taken at letter 0, and is executable."""
        action = self.index.actions[name]
        self.grounder.action = letter_action = LetterAction(kind, action, elements)
        snap = self.index.find_snap(kind, action)

        def encode_executability(grounder: Grounder) -> Literal:
            typed_elements = () if self.index.lenient else zip(elements, action.parameters, strict=True)
            conditions = [self.universe.encode_membership(element, v.domain) for element, v in typed_elements]
            if snap is not None:
                binding = letter_action.make_binding()
                conditions += [grounder.encode_truth(part, binding, 0, True) for part in snap.condition]
            return self.circuit.conjunction(conditions)

        self.require(encode_executability)

    def require(self, statement: Statement, label: object = None) -> None:
        """Add a statement."""
        self._statements.append((label, statement))

    def solve(self) -> Possibility:
        """Whether all statements can be true together. Raises :class:`SolverMissing`."""
        try:
            return self._solve()
        except (LimitReached, NumberTooLarge):
            return Possibility.UNDECIDED

    def _solve(self) -> Possibility:
        universe, grounder, state_constraints = self.universe, self.grounder, StateConstraints(self.grounder)
        for _ in range(MAX_ROUNDS if grounder.is_refutation else 1):
            grounder.element_count = len(universe.elements)
            answer = self._solve_encoding(state_constraints)
            if answer is not Possibility.POSSIBLE:
                return answer
            if len(universe.elements) == grounder.element_count:
                break
            if len(universe.elements) > MAX_ELEMENTS:
                return Possibility.UNDECIDED
        is_exact = len(universe.elements) == grounder.element_count and not grounder.abstracted
        return Possibility.POSSIBLE if is_exact else Possibility.UNDECIDED

    def _solve_encoding(self, state_constraints: StateConstraints) -> Possibility:
        """Encode the statements for the known elements, and solve; ``POSSIBLE``: this encoding has a model."""
        literals = [(label, statement(self.grounder)) for label, statement in self._statements]
        unlabelled_literals = [literal for label, literal in literals if label is None]
        unlabelled_literals += state_constraints.encode_all()
        labelled_literals = [(label, literal) for label, literal in literals if label is not None]
        assumptions = [literal for _, literal in labelled_literals]
        solver = create_solver(self.circuit, [*unlabelled_literals, *assumptions], "auto", self.deadline)
        try:
            for literal in unlabelled_literals:
                solver.require(literal)
            satisfiable = solver.solve(assumptions)
            if satisfiable is None or (self.deadline is not None and monotonic() > self.deadline):
                return Possibility.UNDECIDED
            if satisfiable:
                self.model = solver.model()
                return Possibility.POSSIBLE
            core = set(solver.core())
            self.core = tuple([label for label, literal in labelled_literals if literal in core])
            return Possibility.IMPOSSIBLE
        finally:
            solver.close()
