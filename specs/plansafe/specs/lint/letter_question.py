"""A question about any problem: can all of these things be said of one letter, and the letter after it?"""

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
from plansafe.verifier.symbolic.circuits.solvers import Model, Solver, create_solver

MAX_ROUNDS = 3
"""How often what is said of all objects is said anew of those that have come up."""
MAX_ELEMENTS = 24

Statement = Callable[[Grounder], Literal]
"""Something that is said; it is written down again when there are more elements."""


class Possibility(Enum):
    """``IMPOSSIBLE`` is proved, ``POSSIBLE`` too (there is a problem in which it is so), ``OPEN`` is neither."""

    IMPOSSIBLE = "impossible"
    POSSIBLE = "possible"
    OPEN = "open"


class LetterQuestion:
    """One question, to which statements are added, and its answers.

    ``taken`` is the action taken at letter 0, if the question is about one: its kind, its name, and the elements it is
    taken with come from :meth:`take`. A statement with a label can be left out again: :attr:`core` are the labels of
    those without which it would not be impossible, not always the fewest.
    """

    def __init__(self, words: DomainIndex, refuting: bool, deadline: float | None, typed: bool = True) -> None:
        self.words = words
        self.deadline = deadline
        self.circuit = Circuit()
        self.universe = Universe(self.circuit, words, apart=not refuting, typed=typed)
        self.grounder = Grounder(words, self.universe, refuting, deadline)
        self.core: tuple[object, ...] = ()
        self.model: Model | None = None
        """Where it is possible, as far as what was written down goes."""
        self._statements: list[tuple[object, Statement]] = []

    def choose(self, variables: Sequence[Variable]) -> Binding:
        """New elements for variables."""
        return {v.slot: self.universe.fresh(v.domain, v.name) for v in variables}

    def arguments(self, action: Action) -> tuple[int, ...]:
        """New elements for the parameters of an action; where types are lenient, any objects."""
        every = self.words.table.domain((0,))
        return tuple(
            [self.universe.fresh(every if self.words.lenient else v.domain, v.name) for v in action.parameters]
        )

    def take(self, kind: str, name: str, elements: tuple[int, ...]) -> None:
        """This action is taken, and can be."""
        action = self.words.actions[name]
        self.grounder.taken = taken = LetterAction(kind, action, elements)
        snap, read = self.words.condition(kind, action)

        def possible(grounder: Grounder) -> Literal:
            inside = (
                []
                if self.words.lenient
                else [self.universe.member(e, v.domain) for e, v in zip(elements, action.parameters, strict=True)]
            )
            if snap is None or not read:
                return self.circuit.conjunction(inside)
            condition = [grounder.truth(part, taken.binding(), 0, True) for part in snap.condition]
            return self.circuit.conjunction([*inside, *condition])

        self.say(possible)

    def say(self, statement: Statement, label: object = None) -> None:
        """Add a statement."""
        self._statements.append((label, statement))

    def answer(self) -> Possibility:
        """Whether all statements can be true together. Raises :class:`SolverMissing`."""
        try:
            return self._answer()
        except (LimitReached, NumberTooLarge):
            return Possibility.OPEN

    def _answer(self) -> Possibility:
        grounder, laws = self.grounder, StateConstraints(self.grounder)
        solver: Solver | None = None
        try:
            for _ in range(MAX_ROUNDS if grounder.refuting else 1):
                grounder.sight = len(self.universe.elements)
                said = [(label, statement(grounder)) for label, statement in self._statements]
                hard = [literal for label, literal in said if label is None] + laws.all()
                soft = [(label, literal) for label, literal in said if label is not None]
                if solver is not None:
                    solver.close()
                solver = create_solver(self.circuit, [*hard, *[literal for _, literal in soft]], "auto", self.deadline)
                for literal in hard:
                    solver.require(literal)
                found = solver.solve([literal for _, literal in soft])
                if found is None or (self.deadline is not None and monotonic() > self.deadline):
                    return Possibility.OPEN
                if not found:
                    core = set(solver.core())
                    self.core = tuple([label for label, literal in soft if literal in core])
                    return Possibility.IMPOSSIBLE
                self.model = solver.model()
                if len(self.universe.elements) == grounder.sight:
                    break
                if len(self.universe.elements) > MAX_ELEMENTS:
                    return Possibility.OPEN
            complete = len(self.universe.elements) == grounder.sight and not grounder.abstracted
            return Possibility.POSSIBLE if complete else Possibility.OPEN
        finally:
            if solver is not None:
                solver.close()
