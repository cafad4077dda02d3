"""Encode formulas about a letter, and about the letter after it, as literals of a circuit over few objects.

In a refutation (``is_refutation``), the literal of a formula is true for some choice of the elements that an ``exists``
names, wherever the formula has the required value. So if the constraints have no model, the formulas exclude each other
for any number of objects. A formula about all objects is encoded for the known elements. In exact mode, the elements
are all objects.

A comparison of an undefined number may have either value: a formula that is true (false) in three-valued logic is true
(false) for all values of its undefined parts.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from time import monotonic
from typing import NamedTuple, assert_never

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
MAX_NODES = 150_000
"""Maximum number of nodes of formulas that are grounded for one question."""
CLOCK_PERIOD = 256
"""The clock is read once per this number of nodes."""
MAX_SKOLEMS = 32
"""Maximum number of elements for the variables of ``exists``."""
MAX_TUPLES = 4_000
"""Instances of one quantifier or rule. Of more, only the first are encoded, which is a weaker constraint."""


class AtomKey(NamedTuple):
    """A fact at a letter (0 or 1)."""

    letter: int
    predicate: int
    elements: tuple[int, ...]


class FluentKey(NamedTuple):
    """A number at a letter (0 or 1)."""

    letter: int
    function: int
    elements: tuple[int, ...]


class PastValue(NamedTuple):
    """The literal of a formula with a past operator at a letter, under a binding."""

    letter: int
    formula: Temporal
    binding: Binding
    literal: Literal


class LetterAction:
    """The action that is taken at letter 0, and its arguments."""

    def __init__(self, kind: str, action: model.Action, arguments: tuple[int, ...]) -> None:
        self.kind, self.action, self.arguments = kind, action, arguments

    def make_binding(self) -> Binding:
        """Bind the parameters of the action."""
        return bind(self.action.parameters, self.arguments)


class Grounder:
    """Encodes formulas. Quantifiers range over the first ``element_count`` elements.

    ``abstracted``: something was encoded by a weaker constraint, so a model proves nothing.
    """

    def __init__(
        self, index: DomainIndex, universe: Universe, is_refutation: bool, deadline: float | None = None
    ) -> None:
        self.index = index
        self.universe = universe
        self.circuit = universe.circuit
        self.is_refutation = is_refutation
        self.deadline = deadline
        self.action: LetterAction | None = None
        self.is_last = False
        """Whether letter 0 is the last one, so that no action is taken there."""
        self.element_count = 0
        self.abstracted = False
        self.atoms: dict[AtomKey, Literal] = {}
        self.pasts: dict[tuple[object, ...], PastValue] = {}
        self.fluents: dict[FluentKey, terms.Sum] = {}
        self._skolems: dict[tuple[object, ...], int] = {}
        self._identified_formulas: list[Formula] = []
        """Formulas whose identity is part of a key; they must not be freed."""
        self._codes: dict[tuple[int, tuple[int, ...]], int] = {}
        """A number for each pair of a letter and elements."""
        self._node_count = 0

    # -- formulas -----------------------------------------------------------------------------------------------------

    def encode_truth(self, formula: Formula, binding: Binding, letter: int, positive: bool) -> Literal:
        """Encode that a formula is true (``positive``), or false, at a letter. Raises :class:`LimitReached`."""
        self._node_count += 1
        if self._node_count > MAX_NODES or (self._node_count % CLOCK_PERIOD == 0 and self._is_past_deadline()):
            raise LimitReached(LimitKind.QUESTION)
        match formula:
            case Truth():
                return TRUE if formula.value == positive else FALSE
            case Atom():
                elements = self.get_elements(formula.arguments, binding)
                return self.encode_atom(letter, formula.predicate, elements) ^ (not positive)
            case Equal():
                left, right = self.get_elements((formula.left, formula.right), binding)
                return self.universe.encode_equality(left, right) ^ (not positive)
            case Compare():
                left_number = self._encode_number(formula.left, binding, letter)
                right_number = self._encode_number(formula.right, binding, letter)
                return terms.compare(self.circuit, formula.operator, left_number, right_number) ^ (not positive)
            case Not():
                return self.encode_truth(formula.body, binding, letter, not positive)
            case And() | Or():
                parts = [self.encode_truth(part, binding, letter, positive) for part in formula.parts]
                is_conjunction = isinstance(formula, And) == positive
                return self.circuit.conjunction(parts) if is_conjunction else self.circuit.disjunction(parts)
            case Quantified():
                return self._encode_quantified(formula, binding, letter, positive)
            case Temporal():
                return self._encode_past(formula, binding, letter, positive)
            case _:
                assert_never(formula)

    def _is_past_deadline(self) -> bool:
        return self.deadline is not None and monotonic() > self.deadline

    def get_elements(self, arguments: tuple[int, ...], binding: Binding) -> tuple[int, ...]:
        """Find the elements of arguments."""
        return tuple([self.universe.get_element(a) if a >= 0 else binding[-1 - a] for a in arguments])

    def encode_for_all(self, variables: tuple[Variable, ...], encode: Callable[[Binding], Literal]) -> Literal:
        """Encode a condition for all elements of the variables' domains."""
        circuit, member = self.circuit, self.universe.encode_membership
        instances = []
        for count, elements in enumerate(product(range(self.element_count), repeat=len(variables))):
            if count >= MAX_TUPLES:
                self.abstracted = True
                if not self.is_refutation:
                    raise LimitReached(LimitKind.QUESTION)
                break
            outside_literals = [member(element, v.domain) ^ 1 for element, v in zip(elements, variables, strict=True)]
            if TRUE not in outside_literals:
                instances.append(circuit.disjunction([*outside_literals, encode(bind(variables, elements))]))
        return circuit.conjunction(instances)

    def encode_for_some(
        self, variables: tuple[Variable, ...], key: tuple[object, ...], encode: Callable[[Binding], Literal]
    ) -> Literal:
        """Encode a condition for some elements; in a refutation, for new elements (the same for equal keys)."""
        if not self.is_refutation:
            return self.encode_for_all(variables, lambda binding: encode(binding) ^ 1) ^ 1
        return encode({v.slot: self._get_witness_element((*key, v.slot), v) for v in variables})

    def _get_witness_element(self, key: tuple[object, ...], variable: Variable) -> int:
        """Return the element for a variable of an ``exists``; create it if there is none."""
        element = self._skolems.get(key)
        if element is None:
            if len(self._skolems) >= MAX_SKOLEMS:
                raise LimitReached(LimitKind.QUESTION)
            element = self._skolems[key] = self.universe.add_element(variable.domain, variable.name)
        return element

    def _encode_quantified(self, formula: Quantified, binding: Binding, letter: int, positive: bool) -> Literal:
        def encode_body(quantified: Binding) -> Literal:
            return self.encode_truth(formula.body, {**binding, **quantified}, letter, positive)

        if formula.universal == positive:
            return self.encode_for_all(formula.variables, encode_body)
        self._identified_formulas.append(formula)
        key = (id(formula), letter, positive, *sorted(binding.items()))
        return self.encode_for_some(formula.variables, key, encode_body)

    # -- facts --------------------------------------------------------------------------------------------------------

    def encode_atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        """Encode that a fact is true, or that an action is taken."""
        if predicate in self.index.action_predicates:
            return self._encode_action_atom(letter, predicate, elements)
        return self._encode_fact(AtomKey(0 if self.index.static[predicate] else letter, predicate, elements))

    def _encode_fact(self, key: AtomKey) -> Literal:
        literal = self.atoms.get(key)
        if literal is None:
            literal = self.atoms[key] = self.circuit.input(("fact", *key))
        return literal

    def _encode_action_atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        action = self.action if letter == 0 else None
        if action is not None and (action.kind, action.action.name) != self.index.action_predicates[predicate]:
            action = None
        is_known = self.is_last or self.action is not None or not self.is_refutation
        if not self.index.temporal and letter == 0 and is_known:
            return FALSE if action is None else self.encode_same_elements(elements, action.arguments)
        if letter and not self.is_refutation:
            return FALSE  # the letter after the step is the last one of the model
        self.abstracted = True
        fact = self._encode_fact(AtomKey(letter, predicate, elements))
        if action is not None:
            return self.circuit.either(fact, self.encode_same_elements(elements, action.arguments))
        return fact

    def encode_same_elements(self, a: tuple[int, ...], b: tuple[int, ...]) -> Literal:
        """Encode that the elements of two tuples are the same."""
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
                    letter, expression.function, self.get_elements(expression.arguments, binding)
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
        """Encode a number. After a step that writes some number of this function, it may have any value."""
        writers = self.index.writers.get(function, set())
        if letter and self.action is not None and not self.index.temporal and self.action.action.name not in writers:
            letter = 0
        letter = letter if writers else 0
        self.abstracted |= bool(letter)
        key = FluentKey(letter, function, elements)
        number = self.fluents.get(key)
        if number is None:
            code = self._codes.setdefault((letter, elements), len(self._codes))
            number = self.fluents[key] = terms.variable(function, code)
        return number

    # -- the past -----------------------------------------------------------------------------------------------------

    def _encode_past(self, formula: Temporal, binding: Binding, letter: int, positive: bool) -> Literal:
        if not self.is_refutation:
            return self._encode_past_from_start(formula, binding, letter) ^ (not positive)
        key = (letter, *make_formula_key(formula, binding, self.universe))
        if key not in self.pasts:
            self.abstracted = True
            self.pasts[key] = PastValue(letter, formula, binding, self.circuit.input(("past", key)))
            self._identified_formulas.append(formula)
        return self.pasts[key].literal ^ (not positive)

    def _encode_past_from_start(self, formula: Temporal, binding: Binding, letter: int) -> Literal:
        """Encode the value of a past operator if letter 0 is the first of the trace."""
        if formula.operator not in PAST_OPERATORS:
            raise LimitReached(LimitKind.QUESTION)  # a future operator: see :mod:`.letter_sequences`
        circuit, operator = self.circuit, past_operator(formula)

        operand = formula.operands[0]

        def encode_part(part: Formula, part_letter: int) -> Literal:
            return self.encode_truth(part, binding, part_letter, True)

        match operator:
            case "yesterday" | "weak-yesterday":
                if letter == 0:
                    return FALSE if operator == "yesterday" else TRUE
                return encode_part(operand, 0)
            case "once":
                return circuit.disjunction([encode_part(operand, earlier) for earlier in range(letter + 1)])
            case "historically":
                return circuit.conjunction([encode_part(operand, earlier) for earlier in range(letter + 1)])
            case "since":
                trigger = formula.operands[1]
                first_value = encode_part(trigger, 0)
                if letter == 0:
                    return first_value
                still_true = circuit.both(encode_part(operand, 1), first_value)
                return circuit.either(encode_part(trigger, 1), still_true)
            case _:
                assert_never(operator)


def make_formula_key(formula: Formula, binding: Binding, universe: Universe) -> tuple[object, ...]:
    """Make a key that is the same for formulas that are equal under their bindings, up to names of bound variables."""
    key: list[object] = []
    quantified: dict[int, str] = {}

    def make_term_key(argument: int) -> object:
        if argument >= 0:
            return universe.get_element(argument)
        slot = -1 - argument
        return quantified[slot] if slot in quantified else binding[slot]

    stack: list[Formula | model.Expression] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom() | model.Fluent():
                number = part.predicate if isinstance(part, Atom) else part.function
                key += [type(part).__name__, number, *map(make_term_key, part.arguments)]
            case Equal():
                key += ["=", *map(make_term_key, part)]
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
