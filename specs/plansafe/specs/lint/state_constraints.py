"""Literals that are true in every state of every problem: about derived facts, actions, their effects, and the past.

Constraints about all objects are encoded for the known elements only, so some are missing; in the exact mode of
:mod:`.grounder` none is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import assert_never

from plansafe.specs.lint.domain_index import depends_on_numbers
from plansafe.specs.lint.grounder import AtomKey, Binding, Grounder, PastValue
from plansafe.verifier.model.nodes import And, Atom, Axiom, Effect, Formula, Variable, bind, variable
from plansafe.verifier.model.operations import PAST_OPERATORS, find_atoms, past_operator
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal

MAX_DEPTH = 3
"""Facts that only the constraints of other facts mention have constraints of their own down to this depth."""


class StateConstraints:
    """The constraints on what a grounder has encoded; call :meth:`encode_all` again when it has encoded more."""

    def __init__(self, grounder: Grounder) -> None:
        self.grounder = grounder
        self.index = grounder.index
        self.circuit = grounder.circuit
        self._depths: dict[object, int] = {}
        self._recursive_predicates = _find_recursive_predicates(self.index.axioms)

    def encode_all(self) -> list[Literal]:
        """Encode all constraints. Raises :class:`LimitReached`."""
        grounder, universe = self.grounder, self.grounder.universe
        constraints: list[Literal] = []
        encoded: set[object] = set()
        while True:
            new_facts = [(key, partial(self._constrain_fact, key)) for key in grounder.atoms if key not in encoded]
            new_pasts = [
                (key, partial(self._constrain_past, past)) for key, past in grounder.pasts.items() if key not in encoded
            ]
            if not new_facts and not new_pasts:
                break
            for key, encode in (*new_facts, *new_pasts):
                encoded.add(key)
                depth = self._depths.setdefault(key, 0)
                if depth > MAX_DEPTH:
                    grounder.abstracted = True
                    continue
                constraints += encode()
                for new_key in (*grounder.atoms, *grounder.pasts):
                    self._depths.setdefault(new_key, depth + 1)
        constraints += self._constrain_action_count()
        equality_count: int | None = None
        while equality_count != len(universe.equalities):  # the constraints may create equalities
            equality_count = len(universe.equalities)
            constraints += universe.encode_constraints()
            constraints += self._constrain_equal_objects()
        return constraints

    # -- facts --------------------------------------------------------------------------------------------------------

    def _constrain_fact(self, key: AtomKey) -> Iterator[Literal]:
        """Constrain a fact by types, and by the axioms, the action, or the step before that decide it."""
        letter, predicate, elements = key
        index, grounder = self.index, self.grounder
        fact = grounder.atoms[key]
        if predicate in index.action_predicates:
            yield from self._constrain_action(fact, letter, predicate, elements)
            return
        if index.has_typed_facts[predicate]:
            for element, domain in zip(elements, index.task.predicates[predicate].domains, strict=True):
                yield self.circuit.either(fact ^ 1, grounder.universe.encode_membership(element, domain))
        if predicate in index.axioms:
            yield from self._constrain_derived_fact(fact, letter, predicate, elements)
        elif letter and grounder.action is not None and not index.temporal:
            yield from self._constrain_successor_fact(fact, predicate, elements)
        elif letter:
            grounder.abstracted = True

    def _constrain_derived_fact(
        self, fact: Literal, letter: int, predicate: int, elements: tuple[int, ...]
    ) -> Iterator[Literal]:
        """Require that a derived fact is true exactly if a body is true."""
        grounder, circuit = self.grounder, self.circuit
        if predicate in self._recursive_predicates:
            grounder.abstracted = True  # the meaning of a recursive definition is its least solution
        bodies = []
        for axiom in self.index.axioms[predicate]:
            binding = bind(axiom.parameters, elements)
            membership = self._encode_membership(axiom.parameters, elements)
            is_false = grounder.encode_truth(axiom.body, binding, letter, False)
            yield circuit.disjunction([fact, is_false, membership ^ 1])
            bodies.append(circuit.both(membership, grounder.encode_truth(axiom.body, binding, letter, True)))
        yield circuit.disjunction([fact ^ 1, *bodies])

    def _encode_membership(self, variables: tuple[Variable, ...], elements: tuple[int, ...]) -> Literal:
        member = self.grounder.universe.encode_membership
        return self.circuit.conjunction([member(e, v.domain) for e, v in zip(elements, variables, strict=True)])

    # -- actions ------------------------------------------------------------------------------------------------------

    def _constrain_action(
        self, fact: Literal, letter: int, predicate: int, elements: tuple[int, ...]
    ) -> Iterator[Literal]:
        """Require that the precondition of an action is true where it is taken."""
        kind, name = self.index.action_predicates[predicate]
        action = self.index.actions[name]
        if not self.index.lenient:
            yield self.circuit.either(fact ^ 1, self._encode_membership(action.parameters, elements))
        snap = self.index.find_snap(kind, action)
        if snap is not None:
            condition = snap.condition[0] if len(snap.condition) == 1 else And(snap.condition)
            binding = bind(action.parameters, elements)
            yield self.circuit.either(fact ^ 1, self.grounder.encode_truth(condition, binding, letter, True))

    def _constrain_action_count(self) -> Iterator[Literal]:
        """Require that at most one action is taken at a letter, unless there are durative actions."""
        grounder = self.grounder
        if self.index.temporal:
            return
        actions = [(key, fact) for key, fact in grounder.atoms.items() if key.predicate in self.index.action_predicates]
        for (first_key, first), (second_key, second) in combinations(actions, 2):
            if first_key.letter == second_key.letter:
                equality = FALSE
                if first_key.predicate == second_key.predicate:
                    equality = grounder.encode_same_elements(first_key.elements, second_key.elements)
                yield self.circuit.disjunction([first ^ 1, second ^ 1, equality])

    def _constrain_successor_fact(self, fact: Literal, predicate: int, elements: tuple[int, ...]) -> Iterator[Literal]:
        """Require that a fact after the step is as before, or as the step makes it; adding wins over deleting."""
        grounder, circuit = self.grounder, self.circuit
        assert grounder.action is not None
        before = grounder.encode_atom(0, predicate, elements)
        parameters = grounder.action.make_binding()
        adding_literals: list[Literal] = []
        deleting_literals: list[Literal] = []
        atoms: list[tuple[bool, Effect, Atom]] = []
        for effect in grounder.action.action.start.effects:
            for adds, effect_atoms in ((True, effect.adds), (False, effect.deletes)):
                for atom in effect_atoms:
                    if atom.predicate == predicate:
                        (adding_literals if adds else deleting_literals).append(
                            self._encode_change(effect, atom, elements, parameters)
                        )
                        atoms.append((adds, effect, atom))
        may_add, may_delete = circuit.disjunction(adding_literals), circuit.disjunction(deleting_literals)
        yield circuit.disjunction([fact ^ 1, before, may_add])
        yield circuit.disjunction([fact, before ^ 1, may_delete])
        for adds, effect, atom in atoms:
            if effect.choices or (grounder.is_refutation and depends_on_numbers(effect)):
                grounder.abstracted = True  # it is not certain to happen
                continue
            missed = self._encode_no_change(effect, atom, elements, parameters)
            yield circuit.disjunction([missed, fact] if adds else [missed, fact ^ 1, may_add])

    def _encode_change(self, effect: Effect, atom: Atom, elements: tuple[int, ...], parameters: Binding) -> Literal:
        """Encode that an effect changes a fact, for some values of the effect's variables."""
        grounder = self.grounder
        grounder.abstracted |= depends_on_numbers(effect)
        binding, free_variables = _match_variables(effect, atom, elements, parameters)
        return grounder.encode_for_some(
            free_variables,
            ("effect", id(effect), id(atom), elements),
            lambda free_binding: self._encode_bound_change(effect, atom, elements, {**binding, **free_binding}),
        )

    def _encode_no_change(self, effect: Effect, atom: Atom, elements: tuple[int, ...], parameters: Binding) -> Literal:
        """Encode that an effect does not change a fact, for all values of the effect's variables."""
        binding, free_variables = _match_variables(effect, atom, elements, parameters)
        return self.grounder.encode_for_all(
            free_variables,
            lambda free_binding: self._encode_bound_change(
                effect, atom, elements, {**binding, **free_binding}, positive=False
            ),
        )

    def _encode_bound_change(
        self, effect: Effect, atom: Atom, elements: tuple[int, ...], binding: Binding, positive: bool = True
    ) -> Literal:
        """Encode that an effect changes a fact (``positive``), or does not, under a binding of its variables."""
        grounder = self.grounder
        equal = grounder.encode_same_elements(grounder.get_elements(atom.arguments, binding), elements)
        membership = self._encode_membership(effect.variables, tuple([binding[v.slot] for v in effect.variables]))
        if equal == FALSE:
            condition = TRUE if positive else FALSE
        else:
            condition = grounder.encode_truth(effect.condition, binding, 0, positive)
        if positive:
            return self.circuit.conjunction([equal, membership, condition])
        return self.circuit.disjunction([equal ^ 1, membership ^ 1, condition])

    # -- the past -----------------------------------------------------------------------------------------------------

    def _constrain_past(self, value: PastValue) -> Iterator[Literal]:
        """Constrain the value of a past operator by its operands and its value at the letter before."""
        letter, formula, binding, past = value
        if formula.operator not in PAST_OPERATORS:
            return
        grounder, circuit, operator = self.grounder, self.circuit, past_operator(formula)

        operand = formula.operands[0]

        def encode_true(part: Formula, part_letter: int) -> Literal:
            return grounder.encode_truth(part, binding, part_letter, True)

        def encode_false(part: Formula, part_letter: int) -> Literal:
            return grounder.encode_truth(part, binding, part_letter, False)

        def encode_clause(*literals: Literal) -> Literal:
            return circuit.disjunction(literals)

        before = letter - 1
        has_step_before = letter > 0 and grounder.action is not None and not self.index.temporal
        match operator:
            case "yesterday" | "weak-yesterday":
                if has_step_before:
                    yield encode_clause(past ^ 1, encode_true(operand, before))
                    yield encode_clause(past, encode_false(operand, before))
            case "once":
                if has_step_before:
                    yield encode_clause(past ^ 1, encode_true(formula, before), encode_true(operand, letter))
                    yield encode_clause(past, encode_true(formula, before) ^ 1)
                yield encode_clause(past, encode_false(operand, letter))
            case "historically":
                if has_step_before:
                    yield encode_clause(past ^ 1, encode_true(formula, before))
                    yield encode_clause(past, encode_true(formula, before) ^ 1, encode_false(operand, letter))
                yield encode_clause(past ^ 1, encode_true(operand, letter))
            case "since":
                trigger = formula.operands[1]
                if has_step_before:
                    yield encode_clause(past ^ 1, encode_true(formula, before), encode_true(trigger, letter))
                    yield encode_clause(past, encode_true(formula, before) ^ 1, encode_false(operand, letter))
                yield encode_clause(past, encode_false(trigger, letter))
                yield encode_clause(past ^ 1, encode_true(trigger, letter), encode_true(operand, letter))
            case _:
                assert_never(operator)

    # -- equality -----------------------------------------------------------------------------------------------------

    def _constrain_equal_objects(self) -> Iterator[Literal]:
        """Require that facts about equal objects have the same value, and that their numbers are the same."""
        grounder, circuit = self.grounder, self.circuit
        if not grounder.universe.equalities:
            return
        groups: dict[tuple[int, int], list[tuple[tuple[int, ...], Literal]]] = {}
        for (letter, predicate, elements), fact in grounder.atoms.items():
            groups.setdefault((letter, predicate), []).append((elements, fact))
        for facts in groups.values():
            for (first_elements, first), (second_elements, second) in combinations(facts, 2):
                equality = grounder.encode_same_elements(first_elements, second_elements)
                if equality != FALSE:
                    yield circuit.either(equality ^ 1, circuit.equal(first, second))
        for (first_key, first_sum), (second_key, second_sum) in combinations(grounder.fluents.items(), 2):
            if (first_key.letter, first_key.function) == (second_key.letter, second_key.function):
                equality = grounder.encode_same_elements(first_key.elements, second_key.elements)
                if equality != FALSE:
                    yield circuit.either(equality ^ 1, terms.compare(circuit, "=", first_sum, second_sum))


def _match_variables(
    effect: Effect, atom: Atom, elements: tuple[int, ...], parameters: Binding
) -> tuple[Binding, tuple[Variable, ...]]:
    """Bind the variables of an effect to which a fact gives values; also return the variables without a value."""
    fixed_binding: Binding = {}
    effect_variables = {variable(v.slot) for v in effect.variables}
    for argument, element in zip(atom.arguments, elements, strict=True):
        if argument in effect_variables:
            fixed_binding.setdefault(variable(argument), element)
    return {**parameters, **fixed_binding}, tuple([v for v in effect.variables if v.slot not in fixed_binding])


def _find_recursive_predicates(axioms: dict[int, list[Axiom]]) -> frozenset[int]:
    """Find the derived predicates that depend on themselves."""
    inputs = {
        head: {atom.predicate for axiom in bodies for atom in find_atoms(axiom.body)} & axioms.keys()
        for head, bodies in axioms.items()
    }
    for _ in inputs:  # a chain of dependencies is not longer than the number of predicates
        for head, predicates in inputs.items():
            inputs[head] = predicates | {p for predicate in predicates for p in inputs[predicate]}
    return frozenset([head for head, predicates in inputs.items() if head in predicates])
