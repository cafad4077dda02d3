"""Compile formulas, numbers and axioms to functions that evaluate them in all worlds at once.

A formula has three values, so it needs two literals: the worlds in which it is true, and those in which it is false. If
it reads no numbers, one is the negation of the other. Quantifiers range over the bindings that :class:`PossibleCertain`
finds possible, so the cost of an evaluation depends on the facts that may matter, not on the number of objects.

The derived facts of a stratum are the least fixpoint of its axioms, computed from below: after round ``r``, the
literal of a fact is true in the worlds in which ``r`` rounds can derive the fact. A round that changes no literal has
reached the fixpoint. With cyclic derivations, literals keep growing although the functions that they denote do not. But
in one world every round before the fixpoint derives a new fact, so after more rounds than there are facts the fixpoint
is also reached.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from plansafe.verifier.model import nodes
from plansafe.verifier.model.nodes import (
    And,
    Arithmetic,
    Atom,
    Axiom,
    Compare,
    Equal,
    Expression,
    Fluent,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import find_atoms_and_fluents, has_comparison
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.symbolic_state import UNDEFINED, PossibleCertain, Quantity, SymbolicState

MAX_ROUNDS = 400
"""Maximum number of rounds for a stratum of derived predicates that depends on open facts."""

Binding = dict[int, int]
"""Slot -> object; slots are never reused in a scope, so closures share one map."""
LiteralFunction = Callable[[SymbolicState, Binding], Literal]
"""Evaluates a formula: the worlds in which it has a truth value."""
QuantityFunction = Callable[[SymbolicState, Binding], Quantity]
"""Evaluates an expression."""


class FormulaCompiler:
    """Compiles the formulas of one task. It keeps one function per formula and value, so compiling again is free."""

    def __init__(self, task: Task, circuit: Circuit) -> None:
        self.task = task
        self.circuit = circuit
        self.possible_certain = PossibleCertain(task)
        self.duration: Number = 0
        """The duration of the step whose conditions and effects are evaluated."""
        self._radix = max(len(task.objects), 1)
        self._functions: dict[tuple[int, bool], tuple[Formula, LiteralFunction]] = {}
        self._reads_numbers: dict[int, bool] = {}

    def reads_numbers(self, formula: Formula) -> bool:
        """Whether a formula reads numbers, and so may be undefined."""
        key = id(formula)
        if key not in self._reads_numbers:
            self._reads_numbers[key] = has_comparison(formula)
        return self._reads_numbers[key]

    def compile_truth(self, formula: Formula) -> LiteralFunction:
        """A function that returns the worlds in which the formula is true."""
        return self._compile(formula, True)

    def compile_falsity(self, formula: Formula) -> LiteralFunction:
        """A function that returns the worlds in which the formula is false."""
        return self._compile(formula, False)

    def compile_truth_and_falsity(
        self, formula: Formula
    ) -> Callable[[SymbolicState, Binding], tuple[Literal, Literal]]:
        """A function that returns the worlds in which the formula is true, and those in which it is false."""
        false = self._compile(formula, False)
        if self.reads_numbers(formula):
            true = self._compile(formula, True)
            return lambda state, binding: (true(state, binding), false(state, binding))

        def evaluate(state: SymbolicState, binding: Binding) -> tuple[Literal, Literal]:
            literal = false(state, binding)
            return literal ^ 1, literal

        return evaluate

    def _compile(self, formula: Formula, value: bool) -> LiteralFunction:
        key = (id(formula), value)
        if key not in self._functions:
            # The entry keeps the formula, so that its id is not used again.
            self._functions[key] = formula, self._compile_uncached(formula, value)
        return self._functions[key][1]

    def _compile_uncached(self, formula: Formula, value: bool) -> LiteralFunction:
        match formula:
            case Truth():
                constant = TRUE if formula.value == value else FALSE
                return lambda _state, _binding: constant
            case Not():
                return self._compile(formula.body, not value)
            case Compare():
                return self._compile_comparison(formula, value)
            case And() | Or():
                return self._compile_junction(formula, value)
            case Atom() if value:
                return self._compile_atom(formula)
            case Equal() if value:
                return _compile_equality(formula)
            case Quantified():
                return self._compile_quantified(formula, value)
            case Atom() | Equal():
                positive = self._compile(formula, True)
                return lambda state, binding: positive(state, binding) ^ 1
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def compile_code(self, arguments: tuple[int, ...]) -> Callable[[Binding], int]:
        """A function that returns the code of an atom's arguments under a binding."""
        constant_part = 0
        factors: dict[int, int] = {}
        power = 1
        for argument in reversed(arguments):
            if argument >= 0:
                constant_part += power * argument
            else:
                factors[-1 - argument] = factors.get(-1 - argument, 0) + power
            power *= self._radix
        slot_factors = list(factors.items())
        if not slot_factors:
            return lambda _binding: constant_part
        if len(slot_factors) == 1:
            ((slot, factor),) = slot_factors
            return lambda binding: constant_part + factor * binding[slot]
        if len(slot_factors) == 2:
            (slot, factor), (second_slot, second_factor) = slot_factors
            return lambda binding: constant_part + factor * binding[slot] + second_factor * binding[second_slot]
        return lambda binding: constant_part + sum([factor * binding[slot] for slot, factor in slot_factors])

    def _compile_atom(self, formula: Atom) -> LiteralFunction:
        predicate, certain = formula.predicate, formula.predicate + self.possible_certain.size
        compute_code = self.compile_code(formula.arguments)

        def evaluate(state: SymbolicState, binding: Binding) -> Literal:
            code = compute_code(binding)
            literal = state.literals[predicate].get(code)
            if literal is None:
                return TRUE if code in state.facts[certain] else FALSE
            return literal

        return evaluate

    def _compile_junction(self, formula: And | Or, value: bool) -> LiteralFunction:
        """``and`` and ``or``: evaluation stops at the first part that decides the value."""
        parts = [self._compile(part, value) for part in formula.parts]
        circuit = self.circuit
        flip = 0 if isinstance(formula, And) == value else 1  # a disjunction is a negated conjunction of negations

        def evaluate(state: SymbolicState, binding: Binding) -> Literal:
            literals = []
            for part in parts:
                literal = part(state, binding) ^ flip
                if literal == FALSE:
                    return FALSE ^ flip
                if literal != TRUE:
                    literals.append(literal)
            if len(literals) == 2:
                return circuit.both(*literals) ^ flip
            return circuit.conjunction(literals) ^ flip

        return evaluate

    def _compile_quantified(self, formula: Quantified, value: bool) -> LiteralFunction:
        """``exists`` over the possible bindings; ``forall`` as the negation of ``exists`` a counterexample."""
        exists = formula.universal != value
        slots = [v.slot for v in formula.variables]
        # A universal formula is true where no binding is *not true*, which is wider than false.
        possible_condition = self.possible_certain.make_possible_condition(formula.body, value if exists else not value)
        free = sorted(self.possible_certain.emitter.free_slots(possible_condition) - set(slots))
        search = self.possible_certain.compile_search(possible_condition, formula.variables, free)
        body = self._compile(formula.body, value)
        flip = 0 if exists else 1
        circuit = self.circuit

        def evaluate(state: SymbolicState, binding: Binding) -> Literal:
            candidates: list[tuple[int, ...]] = []
            search(state.facts, (), candidates, *[binding[slot] for slot in free])
            literals = set()
            for objects in candidates:
                binding.update(zip(slots, objects, strict=True))
                literal = body(state, binding) ^ flip
                if literal == TRUE:
                    return TRUE ^ flip
                literals.add(literal)
            return circuit.disjunction(literals) ^ flip

        return evaluate

    # -- numbers ------------------------------------------------------------------------------------------------------

    def _compile_comparison(self, formula: Compare, value: bool) -> LiteralFunction:
        left, right, operator = self.compile_number(formula.left), self.compile_number(formula.right), formula.operator
        circuit = self.circuit
        flip = 0 if value else 1

        def evaluate(state: SymbolicState, binding: Binding) -> Literal:
            left_value, right_value = left(state, binding), right(state, binding)
            defined = circuit.both(left_value.defined, right_value.defined)
            if defined == FALSE:
                return FALSE
            return circuit.both(defined, terms.compare(circuit, operator, left_value.value, right_value.value) ^ flip)

        return evaluate

    def compile_number(self, expression: Expression) -> QuantityFunction:
        """A function that returns the value of an expression, and the worlds in which it is defined."""
        match expression:
            case nodes.Constant():
                constant = Quantity(TRUE, terms.constant(expression.value))
                return lambda _state, _binding: constant
            case Fluent():
                function, compute_code = expression.function, self.compile_code(expression.arguments)
                return lambda state, binding: state.get_quantity(function, compute_code(binding))
            case Arithmetic():
                operands = [self.compile_number(operand) for operand in expression.operands]
                return lambda state, binding: self._encode_arithmetic(
                    expression.operator, [operand(state, binding) for operand in operands]
                )
            case nodes.Duration():
                return lambda _state, _binding: Quantity(TRUE, terms.constant(self.duration))
            case nodes.TotalTime() | nodes.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def _encode_arithmetic(self, operator: str, operands: list[Quantity]) -> Quantity:
        """The value of an operator; it is undefined where an operand is undefined or a divisor is 0."""
        circuit = self.circuit
        defined, total = operands[0]
        if len(operands) == 1:
            return Quantity(defined, terms.multiply(terms.constant(-1), total) if operator == "-" else total)
        for operand in operands[1:]:
            defined = circuit.both(defined, operand.defined)
            if defined == FALSE:
                return UNDEFINED
            if operator in ("+", "-"):
                total = terms.add(total, operand.value, 1 if operator == "+" else -1)
            elif operator == "*":
                total = terms.multiply(total, operand.value)
            else:
                defined = circuit.both(defined, terms.compare(circuit, "=", operand.value, terms.constant(0)) ^ 1)
                total = terms.divide(total, operand.value)
        return Quantity(defined, total)


def _compile_equality(formula: Equal) -> LiteralFunction:
    left, right = formula.left, formula.right

    def evaluate(_state: SymbolicState, binding: Binding) -> Literal:
        left_object = left if left >= 0 else binding[-1 - left]
        right_object = right if right >= 0 else binding[-1 - right]
        return TRUE if left_object == right_object else FALSE

    return evaluate


# -- derived facts ----------------------------------------------------------------------------------------------------


class TooManyRounds(Exception):
    """A recursive derived predicate depends on too many open facts."""


class _CompiledAxiom:
    """An axiom with a search for the bindings of its head under which the body may hold."""

    def __init__(self, compiler: FormulaCompiler, axiom: Axiom) -> None:
        possible_certain = compiler.possible_certain
        self.predicate = axiom.predicate
        self.slots = [v.slot for v in axiom.parameters]
        self.evaluate_body: LiteralFunction = compiler.compile_truth(axiom.body)
        self.compute_code = compiler.compile_code(tuple([-1 - slot for slot in self.slots]))
        body = possible_certain.make_possible_condition(axiom.body)
        self.search = possible_certain.compile_search(body, axiom.parameters, ())


class DerivedFacts:
    """Updates the derived facts of symbolic states."""

    def __init__(self, compiler: FormulaCompiler) -> None:
        strata = compiler.task.axioms
        self._circuit = compiler.circuit
        self._strata = [[_CompiledAxiom(compiler, axiom) for axiom in stratum] for stratum in strata]
        self._derived_by_stratum = [sorted({axiom.predicate for axiom in stratum}) for stratum in strata]
        self.derived_predicates = frozenset([predicate for heads in self._derived_by_stratum for predicate in heads])
        reads = [part for stratum in strata for axiom in stratum for part in find_atoms_and_fluents(axiom.body)]
        self.input_predicates = (
            frozenset([part.predicate for part in reads if isinstance(part, Atom)]) - self.derived_predicates
        )
        self.reads_numbers = not all([isinstance(part, Atom) for part in reads])

    def update(self, state: SymbolicState) -> None:
        """Set the derived predicates of a state. Raises :class:`TooManyRounds`."""
        for axioms, heads in zip(self._strata, self._derived_by_stratum, strict=True):
            self._update_stratum(state, axioms, heads)

    def _update_stratum(self, state: SymbolicState, axioms: list[_CompiledAxiom], heads: list[int]) -> None:
        """Compute the least fixpoint of a stratum's axioms, whose derived predicates are ``heads``."""
        for predicate in heads:
            state.facts[predicate].clear()
            state.facts[state.size + predicate].clear()
            state.literals[predicate].clear()
        rounds = 0
        while True:
            literals = self._apply_axioms(state, axioms)
            changes = [(fact, literal) for fact, literal in literals.items() if literal != state.get(*fact)]
            if not changes:
                return
            for (predicate, code), literal in changes:
                state.put(predicate, code, literal)
            rounds += 1
            if rounds > sum([len(state.facts[head]) for head in heads]):
                return
            if rounds > MAX_ROUNDS and any([state.literals[head] for head in heads]):
                raise TooManyRounds

    def _apply_axioms(self, state: SymbolicState, axioms: list[_CompiledAxiom]) -> dict[tuple[int, int], Literal]:
        """For each fact, the worlds in which an axiom derives it from the facts of the state."""
        bodies: dict[tuple[int, int], set[Literal]] = {}
        for axiom in axioms:
            candidates: list[tuple[int, ...]] = []
            axiom.search(state.facts, (), candidates)
            for objects in dict.fromkeys(candidates):
                binding: Binding = dict(zip(axiom.slots, objects, strict=True))
                literal = axiom.evaluate_body(state, binding)
                if literal != FALSE:
                    bodies.setdefault((axiom.predicate, axiom.compute_code(binding)), set()).add(literal)
        return {fact: self._circuit.disjunction(literals) for fact, literals in bodies.items()}
