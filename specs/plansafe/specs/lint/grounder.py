"""Encode formulas about a letter, and about the letter after it, as literals of a circuit over few objects.

``refuting``: the literal of a formula is true for some choice of the elements that an ``exists`` names, wherever the
formula has the required value. So if the constraints have no model, the formulas exclude each other for any number of
objects. A formula about all objects is encoded for the known elements. In exact mode, the elements are all objects.

A comparison of an undefined number may have either value: a formula that is true (false) in three-valued logic is true
(false) for all values of its undefined parts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import monotonic
from typing import assert_never

from plansafe.specs.lint.domain_index import DomainIndex
from plansafe.specs.lint.universe import Universe
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import PAST_OPERATORS, past_operator
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal

Binding = dict[int, int]
"""Slot -> element."""
AtomKey = tuple[int, int, tuple[int, ...]]
"""Letter (0 or 1), predicate, elements."""
MAX_NODES = 150_000
"""Maximum number of nodes of formulas that are grounded for one question."""
MAX_SKOLEMS = 32
"""Elements for the variables of ``exists``."""
MAX_TUPLES = 4_000
"""Instances of one quantifier or rule. Of more, only the first are encoded, which is a weaker constraint."""


class LetterAction:
    """The action that is taken at letter 0, and its arguments."""

    def __init__(self, kind: str, action: model.Action, arguments: tuple[int, ...]) -> None:
        self.kind, self.action, self.arguments = kind, action, arguments

    def binding(self) -> Binding:
        """The parameters of the action."""
        return bind(self.action.parameters, self.arguments)


class Grounder:
    """Encodes formulas. ``element_count``: how many elements quantifiers range over.

    ``abstracted``: something was encoded by a weaker constraint, so a model proves nothing.
    """

    def __init__(self, index: DomainIndex, universe: Universe, refuting: bool, deadline: float | None = None) -> None:
        self.index = index
        self.universe = universe
        self.circuit = universe.circuit
        self.refuting = refuting
        self.deadline = deadline
        self.action: LetterAction | None = None
        self.is_last = False
        """Whether letter 0 is the last one, so that no action is taken there."""
        self.element_count = 0
        self.abstracted = False
        self.atoms: dict[AtomKey, Literal] = {}
        self.pasts: dict[tuple[object, ...], tuple[int, Temporal, Binding, Literal]] = {}
        self.fluents: dict[tuple[int, int, tuple[int, ...]], terms.Sum] = {}
        self._skolems: dict[tuple[object, ...], int] = {}
        self._alive: list[Formula] = []
        """Formulas whose identity is part of a key."""
        self._codes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._nodes = 0

    # -- formulas -----------------------------------------------------------------------------------------------------

    def encode_truth(self, formula: Formula, binding: Binding, letter: int, positive: bool) -> Literal:
        """Encode that a formula is true (``positive``), or false, at a letter. Raises :class:`LimitReached`."""
        self._nodes += 1
        is_late = self.deadline is not None and not self._nodes % 256 and monotonic() > self.deadline
        if self._nodes > MAX_NODES or is_late:
            raise LimitReached(LimitKind.QUESTION)
        match formula:
            case Truth():
                return TRUE if formula.value == positive else FALSE
            case Atom():
                return self.encode_atom(letter, formula.predicate, self.find_elements(formula.arguments, binding)) ^ (
                    not positive
                )
            case Equal():
                left, right = self.find_elements((formula.left, formula.right), binding)
                return self.universe.encode_equality(left, right) ^ (not positive)
            case Compare():
                left_number = self._encode_number(formula.left, binding, letter)
                right_number = self._encode_number(formula.right, binding, letter)
                return terms.compare(self.circuit, formula.operator, left_number, right_number) ^ (not positive)
            case Not():
                return self.encode_truth(formula.body, binding, letter, not positive)
            case And() | Or():
                parts = [self.encode_truth(part, binding, letter, positive) for part in formula.parts]
                circuit = self.circuit
                return (
                    circuit.conjunction(parts) if isinstance(formula, And) == positive else circuit.disjunction(parts)
                )
            case Quantified():
                return self._encode_quantified(formula, binding, letter, positive)
            case Temporal():
                return self._encode_past(formula, binding, letter, positive)
            case _:
                assert_never(formula)

    def find_elements(self, arguments: tuple[int, ...], binding: Binding) -> tuple[int, ...]:
        """The elements of arguments."""
        return tuple([self.universe.find_element(a) if a >= 0 else binding[-1 - a] for a in arguments])

    def encode_for_all(self, variables: tuple[Variable, ...], encode: Callable[[Binding], Literal]) -> Literal:
        """Encode a condition for all elements of the variables' domains."""
        circuit, member = self.circuit, self.universe.encode_membership
        instances = []
        for count, elements in enumerate(product(range(self.element_count), repeat=len(variables))):
            if count >= MAX_TUPLES:
                self.abstracted = True
                if not self.refuting:
                    raise LimitReached(LimitKind.QUESTION)
                break
            is_outside = [member(element, v.domain) ^ 1 for element, v in zip(elements, variables, strict=True)]
            if TRUE not in is_outside:
                instances.append(circuit.disjunction([*is_outside, encode(bind(variables, elements))]))
        return circuit.conjunction(instances)

    def encode_for_some(
        self, variables: tuple[Variable, ...], key: tuple[object, ...], encode: Callable[[Binding], Literal]
    ) -> Literal:
        """Encode a condition for some elements; when refuting, for new ones (the same for equal keys)."""
        if not self.refuting:
            return self.encode_for_all(variables, lambda binding: encode(binding) ^ 1) ^ 1
        return encode({v.slot: self._find_witness_element((*key, v.slot), v) for v in variables})

    def _find_witness_element(self, key: tuple[object, ...], variable: Variable) -> int:
        """The element for a variable of an ``exists``."""
        element = self._skolems.get(key)
        if element is None:
            if len(self._skolems) >= MAX_SKOLEMS:
                raise LimitReached(LimitKind.QUESTION)
            element = self._skolems[key] = self.universe.add_element(variable.domain, variable.name)
        return element

    def _encode_quantified(self, formula: Quantified, binding: Binding, letter: int, positive: bool) -> Literal:
        def body(variables: Binding) -> Literal:
            return self.encode_truth(formula.body, {**binding, **variables}, letter, positive)

        if formula.universal == positive:
            return self.encode_for_all(formula.variables, body)
        self._alive.append(formula)
        return self.encode_for_some(formula.variables, (id(formula), letter, positive, *sorted(binding.items())), body)

    # -- facts --------------------------------------------------------------------------------------------------------

    def encode_atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        """Encode that a fact is true, or that an action is taken."""
        if predicate in self.index.action_predicates:
            return self._encode_action_atom(letter, predicate, elements)
        return self._encode_fact((0 if self.index.static[predicate] else letter, predicate, elements))

    def _encode_fact(self, key: AtomKey) -> Literal:
        literal = self.atoms.get(key)
        if literal is None:
            literal = self.atoms[key] = self.circuit.input(("fact", *key))
        return literal

    def _encode_action_atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        key = self.index.action_predicates[predicate]
        action = self.action if letter == 0 else None
        is_taken = action is not None and (action.kind, action.action.name) == key
        if not self.index.temporal and letter == 0 and (self.is_last or action is not None or not self.refuting):
            return self.encode_same_elements(elements, action.arguments) if action is not None and is_taken else FALSE
        if letter and not self.refuting:
            return FALSE  # the letter after the step is the last one of the model
        self.abstracted = True
        fact = self._encode_fact((letter, predicate, elements))
        if action is not None and is_taken:
            return self.circuit.either(fact, self.encode_same_elements(elements, action.arguments))
        return fact

    def encode_same_elements(self, a: tuple[int, ...], b: tuple[int, ...]) -> Literal:
        """Encode that elements are the same, one by one."""
        return self.circuit.conjunction(
            [self.universe.encode_equality(left, right) for left, right in zip(a, b, strict=True)]
        )

    # -- numbers ------------------------------------------------------------------------------------------------------

    def _encode_number(self, expression: model.Expression, binding: Binding, letter: int) -> terms.Sum:
        match expression:
            case model.Constant():
                return terms.constant(expression.value)
            case model.Fluent():
                return self._encode_fluent(
                    letter, expression.function, self.find_elements(expression.arguments, binding)
                )
            case model.Arithmetic():
                numbers = [self._encode_number(operand, binding, letter) for operand in expression.operands]
                return self._encode_arithmetic(expression.operator, numbers)
            case model.Duration() | model.TotalTime() | model.IsViolated():
                raise AssertionError("only durations and metrics read this")
            case _:
                assert_never(expression)

    def _encode_arithmetic(self, operator: str, numbers: list[terms.Sum]) -> terms.Sum:
        total = numbers[0]
        if len(numbers) == 1:
            return terms.multiply(terms.constant(-1), total) if operator == "-" else total
        for number in numbers[1:]:
            if operator in ("+", "-"):
                total = terms.add(total, number, 1 if operator == "+" else -1)
            elif operator == "*":
                total = terms.multiply(total, number)
            else:
                self.abstracted = True  # the divisor may be zero
                total = terms.divide(total, number)
        return total

    def _encode_fluent(self, letter: int, function: int, elements: tuple[int, ...]) -> terms.Sum:
        """A number. After a step that writes some number of this function, it may have any value."""
        writers = self.index.writers.get(function, set())
        if letter and self.action is not None and not self.index.temporal and self.action.action.name not in writers:
            letter = 0
        letter = letter if writers else 0
        self.abstracted |= bool(letter)
        key = (letter, function, elements)
        number = self.fluents.get(key)
        if number is None:
            code = self._codes.setdefault((letter, elements), len(self._codes))
            number = self.fluents[key] = terms.variable(function, code)
        return number

    # -- the past -----------------------------------------------------------------------------------------------------

    def _encode_past(self, formula: Temporal, binding: Binding, letter: int, positive: bool) -> Literal:
        if not self.refuting:
            return self._encode_past_of_first_letter(formula, binding, letter) ^ (not positive)
        key = (letter, *make_formula_key(formula, binding, self.universe))
        if key not in self.pasts:
            self.abstracted = True
            self.pasts[key] = (letter, formula, binding, self.circuit.input(("past", key)))
            self._alive.append(formula)
        return self.pasts[key][3] ^ (not positive)

    def _encode_past_of_first_letter(self, formula: Temporal, binding: Binding, letter: int) -> Literal:
        """The value of a past operator if letter 0 is the first of the trace."""
        if formula.operator not in PAST_OPERATORS:
            raise LimitReached(LimitKind.QUESTION)  # a future operator: see :mod:`.letter_sequences`
        circuit, operator = self.circuit, past_operator(formula)

        def at(operand: int, operand_letter: int) -> Literal:
            return self.encode_truth(formula.operands[operand], binding, operand_letter, True)

        match operator:
            case "yesterday" | "weak-yesterday":
                return at(0, 0) if letter else FALSE if operator == "yesterday" else TRUE
            case "once":
                return circuit.disjunction([at(0, earlier) for earlier in range(letter + 1)])
            case "historically":
                return circuit.conjunction([at(0, earlier) for earlier in range(letter + 1)])
            case "since":
                at_first = at(1, 0)
                return at_first if not letter else circuit.either(at(1, 1), circuit.both(at(0, 1), at_first))
            case _:
                assert_never(operator)


def make_formula_key(formula: Formula, binding: Binding, universe: Universe) -> tuple[object, ...]:
    """A key that is equal for formulas that are equal under their bindings, up to names of quantified variables."""
    key: list[object] = []
    quantified: dict[int, str] = {}

    def term(argument: int) -> object:
        if argument >= 0:
            return universe.find_element(argument)
        slot = -1 - argument
        return quantified[slot] if slot in quantified else binding[slot]

    stack: list[Formula | model.Expression] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom() | model.Fluent():
                number = part.predicate if isinstance(part, Atom) else part.function
                key += [type(part).__name__, number, *map(term, part.arguments)]
            case Equal():
                key += ["=", *map(term, part)]
            case Quantified():
                key += ["all" if part.universal else "some", len(part.variables)]
                for variable in part.variables:
                    quantified[variable.slot] = f"v{len(quantified)}"
                    key.append(variable.domain)
                stack.append(part.body)
            case Temporal():
                key += [part.operator, *part.bounds]
                stack.extend(part.operands)
            case And() | Or():
                key += [type(part).__name__, len(part.parts)]
                stack.extend(part.parts)
            case Compare():
                key += ["compare", part.operator]
                stack += [part.left, part.right]
            case model.Arithmetic():
                key += ["arithmetic", part.operator, len(part.operands)]
                stack.extend(part.operands)
            case Not():
                key.append("not")
                stack.append(part.body)
            case Truth() | model.Constant() | model.Duration() | model.TotalTime() | model.IsViolated():
                key.append(part)
            case _:
                assert_never(part)
    return tuple(key)
