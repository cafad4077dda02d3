"""Derived predicates in all worlds at once: the least fixpoint of each stratum, as circuits.

Literals are computed in rounds from below: round ``r`` says in which worlds a fact can be derived in ``r`` rounds. A
round that changes no literal is the fixpoint. Where derivations go round in circles the literals keep growing although
their functions do not; but in one world each round derives a new fact or none ever again, so after more rounds than
there are facts the fixpoint is reached as well.
"""

from __future__ import annotations

from plansafe.verifier.model.nodes import Atom, Axiom, Task
from plansafe.verifier.model.operations import atoms_and_fluents
from plansafe.verifier.symbolic.circuits.circuit import FALSE, Literal
from plansafe.verifier.symbolic.worlds.evaluation import Binding, Evaluation, Truths
from plansafe.verifier.symbolic.worlds.possible_certain import Search
from plansafe.verifier.symbolic.worlds.state import SymbolicState

MAX_ROUNDS = 400


class TooManyRounds(Exception):
    """A recursive derived predicate depends on too many facts that are open."""


class _Rule:
    """A compiled axiom: the bindings of its head under which the body may hold, and in which worlds it does."""

    def __init__(self, evaluation: Evaluation, axiom: Axiom) -> None:
        self.predicate = axiom.predicate
        self.slots = [v.slot for v in axiom.parameters]
        self.body: Truths = evaluation.true(axiom.body)
        self.code = evaluation.coder(tuple([-1 - slot for slot in self.slots]))
        self.search: Search = evaluation.possible_certain.search(
            evaluation.possible_certain.possible(axiom.body), axiom.parameters, ()
        )


class Derived:
    """Keeps the derived facts of a symbolic state right."""

    def __init__(self, task: Task, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.circuit = evaluation.circuit
        self._strata = [[_Rule(evaluation, axiom) for axiom in stratum] for stratum in task.axioms]
        self._own = [sorted({axiom.predicate for axiom in stratum}) for stratum in task.axioms]
        self.predicates = frozenset([p for own in self._own for p in own])
        read: set[int] = set()
        self.reads_numbers = False
        for stratum in task.axioms:
            for axiom in stratum:
                for item in atoms_and_fluents(axiom.body):
                    if isinstance(item, Atom):
                        read.add(item.predicate)
                    else:
                        self.reads_numbers = True
        self.inputs = frozenset(read - self.predicates)

    def compute(self, state: SymbolicState) -> None:
        """Set the derived predicates of a state."""
        for rules, own in zip(self._strata, self._own, strict=True):
            self._stratum(state, rules, own)

    def _stratum(self, state: SymbolicState, rules: list[_Rule], own: list[int]) -> None:
        for predicate in own:
            state.facts[predicate].clear()
            state.facts[state.size + predicate].clear()
            state.literals[predicate].clear()
        rounds = 0
        while True:
            found = self._round(state, rules)
            changed = [(fact, literal) for fact, literal in found.items() if literal != state.get(*fact)]
            if not changed:
                return
            for (predicate, code), literal in changed:
                state.put(predicate, code, literal)
            rounds += 1
            if rounds > sum([len(state.facts[p]) for p in own]):
                return
            if rounds > MAX_ROUNDS and any([state.literals[p] for p in own]):
                raise TooManyRounds

    def _round(self, state: SymbolicState, rules: list[_Rule]) -> dict[tuple[int, int], Literal]:
        """One application of all rules to what is known so far."""
        parts: dict[tuple[int, int], set[Literal]] = {}
        for rule in rules:
            candidates: list[tuple[int, ...]] = []
            rule.search(state.facts, (), candidates)
            for objects in dict.fromkeys(candidates):
                binding: Binding = dict(zip(rule.slots, objects, strict=True))
                literal = rule.body(state, binding)
                if literal != FALSE:
                    parts.setdefault((rule.predicate, rule.code(binding)), set()).add(literal)
        return {fact: self.circuit.disjunction(literals) for fact, literals in parts.items()}
