"""Conditions and numbers in all worlds at once: a formula becomes closures that return literals.

Three values need two literals: in which worlds a formula is true, and in which it is false. Where it reads no numbers
one is the negation of the other. Quantifiers range over what :mod:`.possible_certain` finds possible, so a closure
costs as much as there are facts that may matter, not as there are objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from plansafe.verifier.model import nodes as model
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
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import atoms_and_fluents, has_comparison
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.symbolic_state import PossibleCertain, Quantity, Search, SymbolicState

Binding = dict[int, int]
"""Slot -> object; slots are never reused in a scope, so closures share one map."""
LiteralFunction = Callable[[SymbolicState, Binding], Literal]
QuantityFunction = Callable[[SymbolicState, Binding], Quantity]


class FormulaCompiler:
    """Compiles the formulas of one task. Closures are kept per formula, so compiling twice costs nothing."""

    def __init__(self, task: Task, circuit: Circuit, possible_certain: PossibleCertain) -> None:
        self.task = task
        self.circuit = circuit
        self.possible_certain = possible_certain
        self._radix = max(len(task.objects), 1)
        self._known: dict[tuple[int, bool], tuple[Formula, LiteralFunction]] = {}
        self._numeric: dict[int, bool] = {}

    def reads_numbers(self, formula: Formula) -> bool:
        """Whether a formula reads numbers, and so may be undefined."""
        key = id(formula)
        if key not in self._numeric:
            self._numeric[key] = has_comparison(formula)
        return self._numeric[key]

    def compile_true(self, formula: Formula) -> LiteralFunction:
        """In which worlds the formula is true."""
        return self._truths(formula, True)

    def compile_false(self, formula: Formula) -> LiteralFunction:
        """In which worlds the formula is false."""
        return self._truths(formula, False)

    def _truths(self, formula: Formula, wanted: bool) -> LiteralFunction:
        key = (id(formula), wanted)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = formula, self._compile(formula, wanted)  # the formula lives as long as its key
        return known[1]

    def _compile(self, formula: Formula, wanted: bool) -> LiteralFunction:
        match formula:
            case Truth():
                value = TRUE if formula.value == wanted else FALSE
                return lambda _state, _binding: value
            case Not():
                return self._truths(formula.body, not wanted)
            case Compare():
                return self._compare(formula, wanted)
            case And() | Or():
                return self._junction(formula, wanted)
            case Atom() if wanted:
                return self._atom(formula)
            case Equal() if wanted:
                return _equal(formula)
            case Quantified():
                return self._quantified(formula, wanted)
            case Atom() | Equal():
                positive = self._truths(formula, True)
                return lambda state, binding: positive(state, binding) ^ 1
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def compile_code(self, arguments: tuple[int, ...]) -> Callable[[Binding], int]:
        """The code of an atom's arguments under a binding."""
        base = 0
        factors: dict[int, int] = {}
        power = 1
        for argument in reversed(arguments):
            if argument >= 0:
                base += power * argument
            else:
                factors[-1 - argument] = factors.get(-1 - argument, 0) + power
            power *= self._radix
        items = list(factors.items())
        if not items:
            return lambda _binding: base
        if len(items) == 1:
            ((slot, factor),) = items
            return lambda binding: base + factor * binding[slot]
        if len(items) == 2:
            (slot, factor), (other, more) = items
            return lambda binding: base + factor * binding[slot] + more * binding[other]
        return lambda binding: base + sum([factor * binding[slot] for slot, factor in items])

    def _atom(self, formula: Atom) -> LiteralFunction:
        predicate, certain = formula.predicate, formula.predicate + self.possible_certain.size
        code_of = self.compile_code(formula.arguments)

        def atom(state: SymbolicState, binding: Binding) -> Literal:
            code = code_of(binding)
            literal = state.literals[predicate].get(code)
            if literal is None:
                return TRUE if code in state.facts[certain] else FALSE
            return literal

        return atom

    def _junction(self, formula: And | Or, wanted: bool) -> LiteralFunction:
        parts = [self._truths(part, wanted) for part in formula.parts]
        circuit = self.circuit
        conjoined = isinstance(formula, And) == wanted
        flip = 0 if conjoined else 1  # a disjunction is a negated conjunction of negations

        def junction(state: SymbolicState, binding: Binding) -> Literal:
            found = []
            for part in parts:
                literal = part(state, binding) ^ flip
                if literal == FALSE:
                    return FALSE ^ flip
                if literal != TRUE:
                    found.append(literal)
            if not found:
                return TRUE ^ flip
            return circuit.conjunction(found) ^ flip

        return junction

    def _quantified(self, formula: Quantified, wanted: bool) -> LiteralFunction:
        """``exists`` over the bindings that are possible; ``forall`` as no binding under which it is not so."""
        exists = formula.universal != wanted
        slots = [v.slot for v in formula.variables]
        # A universal formula is true where no binding is *not true*, which is wider than false.
        possible = self.possible_certain.possible_condition(formula.body, wanted if exists else not wanted)
        free = sorted(self.possible_certain.emitter.free_slots(possible) - set(slots))
        search = self.possible_certain.compile_search(possible, formula.variables, free)
        body = self._truths(formula.body, wanted)
        flip = 0 if exists else 1
        circuit = self.circuit

        def quantified(state: SymbolicState, binding: Binding) -> Literal:
            candidates: list[tuple[int, ...]] = []
            search(state.facts, (), candidates, *[binding[slot] for slot in free])
            found = set()
            for objects in candidates:
                for slot, value in zip(slots, objects, strict=True):
                    binding[slot] = value
                literal = body(state, binding) ^ flip
                if literal == TRUE:
                    return TRUE ^ flip
                found.add(literal)
            return circuit.disjunction(found) ^ flip

        return quantified

    # -- numbers ------------------------------------------------------------------------------------------------------

    def _compare(self, formula: Compare, wanted: bool) -> LiteralFunction:
        left, right, operator = self.compile_number(formula.left), self.compile_number(formula.right), formula.operator
        circuit = self.circuit
        flip = 0 if wanted else 1

        def compare(state: SymbolicState, binding: Binding) -> Literal:
            a, b = left(state, binding), right(state, binding)
            defined = circuit.both(a.defined, b.defined)
            if defined == FALSE:
                return FALSE
            return circuit.both(defined, terms.compare(circuit, operator, a.value, b.value) ^ flip)

        return compare

    def compile_number(self, expression: Expression) -> QuantityFunction:
        """The value of an expression, and the worlds in which it has one."""
        match expression:
            case model.Constant():
                constant = Quantity(TRUE, terms.constant(expression.value))
                return lambda _state, _binding: constant
            case Fluent():
                function, code_of = expression.function, self.compile_code(expression.arguments)
                return lambda state, binding: state.quantity(function, code_of(binding))
            case Arithmetic():
                operands = [self.compile_number(operand) for operand in expression.operands]
                return lambda state, binding: self.arithmetic(
                    expression.operator, [operand(state, binding) for operand in operands]
                )
            case model.Duration() | model.TotalTime() | model.IsViolated():
                raise AssertionError("only durations and metrics read this")
            case _:
                assert_never(expression)

    def arithmetic(self, operator: str, values: list[Quantity]) -> Quantity:
        """``+ - * /`` in all worlds at once."""
        circuit = self.circuit
        defined, result = values[0]
        if len(values) == 1:
            return Quantity(defined, terms.multiply(terms.constant(-1), result) if operator == "-" else result)
        for value in values[1:]:
            defined = circuit.both(defined, value.defined)
            if defined == FALSE:
                return Quantity(FALSE, terms.constant(0))
            if operator in ("+", "-"):
                result = terms.add(result, value.value, 1 if operator == "+" else -1)
            elif operator == "*":
                result = terms.multiply(result, value.value)
            else:
                defined = circuit.both(defined, terms.compare(circuit, "=", value.value, terms.constant(0)) ^ 1)
                result = terms.divide(result, value.value)
        return Quantity(defined, result)


def _equal(formula: Equal) -> LiteralFunction:
    left, right = formula.left, formula.right

    def equal(_state: SymbolicState, binding: Binding) -> Literal:
        a = left if left >= 0 else binding[-1 - left]
        b = right if right >= 0 else binding[-1 - right]
        return TRUE if a == b else FALSE

    return equal


MAX_ROUNDS = 400


class TooManyRounds(Exception):
    """A recursive derived predicate depends on too many facts that are open."""


class _Rule:
    """A compiled axiom: the bindings of its head under which the body may hold, and in which worlds it does."""

    def __init__(self, evaluation: FormulaCompiler, axiom: Axiom) -> None:
        self.predicate = axiom.predicate
        self.slots = [v.slot for v in axiom.parameters]
        self.body: LiteralFunction = evaluation.compile_true(axiom.body)
        self.code = evaluation.compile_code(tuple([-1 - slot for slot in self.slots]))
        self.search: Search = evaluation.possible_certain.compile_search(
            evaluation.possible_certain.possible_condition(axiom.body), axiom.parameters, ()
        )


class DerivedFacts:
    """Keeps the derived facts of a symbolic state right."""

    def __init__(self, task: Task, evaluation: FormulaCompiler) -> None:
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

    def update(self, state: SymbolicState) -> None:
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
