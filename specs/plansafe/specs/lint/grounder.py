"""Formulas about one letter, and the letter after it, as literals of a circuit over few objects.

``refuting``: a literal is true, for some choice of the elements that an ``exists`` names, wherever its formula has the
value asked for; so if what is required has no model, no state is like this, however many objects there are. What is
said of all objects is said of the elements in sight. Else (*exact*) there are no other objects than the elements.

A comparison of an undefined number may have either value: a formula that is true (false) in three values is true
(false) whatever the value of its undefined parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
Key = tuple[int, int, tuple[int, ...]]
"""Letter (0 or 1), predicate, elements."""
MAX_NODES = 150_000
MAX_SKOLEMS = 32
"""Elements that stand for what an ``exists`` names."""
MAX_TUPLES = 4_000
"""Instances of one quantifier or rule; of more, the first are taken, which says less."""


class LetterAction:
    """The action that is taken at letter 0, and its arguments."""

    def __init__(self, kind: str, action: model.Action, arguments: tuple[int, ...]) -> None:
        self.kind, self.action, self.arguments = kind, action, arguments

    def binding(self) -> Binding:
        """The parameters of the action."""
        return bind(self.action.parameters, self.arguments)


class Grounder:
    """Writes formulas down. ``sight``: how many elements quantifiers range over.

    ``abstracted`` says that something was written down as weaker than it is, so that a model proves nothing.
    """

    def __init__(self, words: DomainIndex, universe: Universe, refuting: bool, deadline: float | None = None) -> None:
        self.words = words
        self.universe = universe
        self.circuit = universe.circuit
        self.refuting = refuting
        self.deadline = deadline
        self.taken: LetterAction | None = None
        self.last = False
        """Whether letter 0 is the last one, so that no action is taken there."""
        self.sight = 0
        self.abstracted = False
        self.atoms: dict[Key, Literal] = {}
        self.pasts: dict[tuple[object, ...], tuple[int, Temporal, Binding, Literal]] = {}
        self.fluents: dict[tuple[int, int, tuple[int, ...]], terms.Sum] = {}
        self._skolems: dict[tuple[object, ...], int] = {}
        self._alive: list[Formula] = []
        self._codes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._nodes = 0

    # -- formulas -----------------------------------------------------------------------------------------------------

    def truth(self, formula: Formula, binding: Binding, letter: int, positive: bool) -> Literal:
        """Where a formula is true (``positive``), or false. Raises :class:`LimitReached`."""
        self._nodes += 1
        late = self.deadline is not None and not self._nodes % 256 and monotonic() > self.deadline
        if self._nodes > MAX_NODES or late:
            raise LimitReached(LimitKind.QUESTION)
        match formula:
            case Truth():
                return TRUE if formula.value == positive else FALSE
            case Atom():
                return self.atom(letter, formula.predicate, self.elements(formula.arguments, binding)) ^ (not positive)
            case Equal():
                left, right = self.elements((formula.left, formula.right), binding)
                return self.universe.equal(left, right) ^ (not positive)
            case Compare():
                return self._compare(formula, binding, letter) ^ (not positive)
            case Not():
                return self.truth(formula.body, binding, letter, not positive)
            case And() | Or():
                parts = [self.truth(part, binding, letter, positive) for part in formula.parts]
                circuit = self.circuit
                return (
                    circuit.conjunction(parts) if isinstance(formula, And) == positive else circuit.disjunction(parts)
                )
            case Quantified():
                return self._quantified(formula, binding, letter, positive)
            case Temporal():
                return self._past(formula, binding, letter, positive)
            case _:
                assert_never(formula)

    def elements(self, arguments: tuple[int, ...], binding: Binding) -> tuple[int, ...]:
        """The elements that arguments stand for."""
        return tuple([self.universe.of_object(a) if a >= 0 else binding[-1 - a] for a in arguments])

    def every(self, variables: tuple[Variable, ...], say: Callable[[Binding], Literal]) -> Literal:
        """What is said of all elements of the variables' domains."""
        circuit, member = self.circuit, self.universe.member
        out = []
        for count, elements in enumerate(self._tuples(variables)):
            if count >= MAX_TUPLES:
                self.abstracted = True
                if not self.refuting:
                    raise LimitReached(LimitKind.QUESTION)
                break
            inside = [member(e, v.domain) ^ 1 for e, v in zip(elements, variables, strict=True)]
            if TRUE not in inside:
                said = say(bind(variables, elements))
                out.append(circuit.disjunction([*inside, said]))
        return circuit.conjunction(out)

    def _tuples(self, variables: tuple[Variable, ...]) -> Iterator[tuple[int, ...]]:
        return product(range(self.sight), repeat=len(variables))

    def some(
        self, variables: tuple[Variable, ...], key: tuple[object, ...], say: Callable[[Binding], Literal]
    ) -> Literal:
        """That it is so of some elements; when refuting, of new ones that stand for them (the same for equal keys)."""
        if not self.refuting:
            return self.every(variables, lambda binding: say(binding) ^ 1) ^ 1
        return say({v.slot: self.skolem((*key, v.slot), v) for v in variables})

    def skolem(self, key: tuple[object, ...], variable: Variable) -> int:
        """The element that stands for what a variable names."""
        found = self._skolems.get(key)
        if found is None:
            if len(self._skolems) >= MAX_SKOLEMS:
                raise LimitReached(LimitKind.QUESTION)
            found = self._skolems[key] = self.universe.fresh(variable.domain, variable.name)
        return found

    def _quantified(self, formula: Quantified, binding: Binding, letter: int, positive: bool) -> Literal:
        def body(own: Binding) -> Literal:
            return self.truth(formula.body, {**binding, **own}, letter, positive)

        if formula.universal == positive:
            return self.every(formula.variables, body)
        self._alive.append(formula)  # its identity is part of a key
        return self.some(formula.variables, (id(formula), letter, positive, *sorted(binding.items())), body)

    # -- facts --------------------------------------------------------------------------------------------------------

    def atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        """A fact, or that an action is taken."""
        words = self.words
        if predicate in words.action_predicates:
            return self._action_atom(letter, predicate, elements)
        if words.static[predicate]:
            letter = 0
        key = (letter, predicate, elements)
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = self.circuit.input(("fact", *key))
        return found

    def _action_atom(self, letter: int, predicate: int, elements: tuple[int, ...]) -> Literal:
        kind, name = self.words.action_predicates[predicate]
        taken = self.taken if letter == 0 else None
        alone = not self.words.temporal
        if alone and letter == 0 and (self.last or taken is not None or not self.refuting):
            if taken is None or taken.action.name != name or taken.kind != kind:
                return FALSE
            return self.same(elements, taken.arguments)
        if letter and not self.refuting:
            return FALSE  # the letter after the step is the last one of the model
        self.abstracted = True
        key = (letter, predicate, elements)
        found = self.atoms.get(key)
        if found is None:
            found = self.atoms[key] = self.circuit.input(("fact", *key))
        if taken is not None and taken.action.name == name and taken.kind == kind:
            return self.circuit.either(found, self.same(elements, taken.arguments))
        return found

    def same(self, a: tuple[int, ...], b: tuple[int, ...]) -> Literal:
        """Whether elements are the same, one by one."""
        return self.circuit.conjunction([self.universe.equal(x, y) for x, y in zip(a, b, strict=True)])

    # -- numbers ------------------------------------------------------------------------------------------------------

    def _compare(self, formula: Compare, binding: Binding, letter: int) -> Literal:
        left, right = self._number(formula.left, binding, letter), self._number(formula.right, binding, letter)
        return terms.compare(self.circuit, formula.operator, left, right)

    def _number(self, expression: model.Expression, binding: Binding, letter: int) -> terms.Sum:
        match expression:
            case model.Constant():
                return terms.constant(expression.value)
            case model.Fluent():
                return self._fluent(letter, expression.function, self.elements(expression.arguments, binding))
            case model.Arithmetic():
                values = [self._number(operand, binding, letter) for operand in expression.operands]
                return self._arithmetic(expression.operator, values)
            case model.Duration() | model.TotalTime() | model.IsViolated():
                raise AssertionError("only durations and metrics read this")
            case _:
                assert_never(expression)

    def _arithmetic(self, operator: str, values: list[terms.Sum]) -> terms.Sum:
        result = values[0]
        if len(values) == 1:
            return terms.multiply(terms.constant(-1), result) if operator == "-" else result
        for value in values[1:]:
            if operator in ("+", "-"):
                result = terms.add(result, value, 1 if operator == "+" else -1)
            elif operator == "*":
                result = terms.multiply(result, value)
            else:
                self.abstracted = True  # the divisor may be zero
                result = terms.divide(result, value)
        return result

    def _fluent(self, letter: int, function: int, elements: tuple[int, ...]) -> terms.Sum:
        """A number. After a step that writes some number of this function, it may be any."""
        writers = self.words.writers.get(function, set())
        if letter and self.taken is not None and not self.words.temporal and self.taken.action.name not in writers:
            letter = 0
        letter = letter if writers else 0
        self.abstracted |= bool(letter)
        key = (letter, function, elements)
        found = self.fluents.get(key)
        if found is None:
            code = self._codes.setdefault((letter, elements), len(self._codes))
            found = self.fluents[key] = terms.variable(function, code)
        return found

    # -- the past -----------------------------------------------------------------------------------------------------

    def _past(self, formula: Temporal, binding: Binding, letter: int, positive: bool) -> Literal:
        if not self.refuting:
            return self._remembered(formula, binding, letter) ^ (not positive)
        key = (letter, *closed(formula, binding, self.universe))
        found = self.pasts.get(key)
        if found is None:
            self.abstracted = True
            found = self.pasts[key] = (letter, formula, binding, self.circuit.input(("past", key)))
            self._alive.append(formula)
        return found[3] ^ (not positive)

    def _remembered(self, formula: Temporal, binding: Binding, letter: int) -> Literal:
        """The value of a past operator where letter 0 is the first of the trace."""
        if formula.operator not in PAST_OPERATORS:
            raise LimitReached(LimitKind.QUESTION)  # a future operator: see :mod:`.letters`
        circuit, operator = self.circuit, past_operator(formula)

        def at(operand: int, when: int) -> Literal:
            return self.truth(formula.operands[operand], binding, when, True)

        match operator:
            case "yesterday" | "weak-yesterday":
                return at(0, 0) if letter else FALSE if operator == "yesterday" else TRUE
            case "once":
                return circuit.disjunction([at(0, when) for when in range(letter + 1)])
            case "historically":
                return circuit.conjunction([at(0, when) for when in range(letter + 1)])
            case "since":
                found = at(1, 0)
                return found if not letter else circuit.either(at(1, 1), circuit.both(at(0, 1), found))
            case _:
                assert_never(operator)


def closed(formula: Formula, binding: Binding, universe: Universe) -> tuple[object, ...]:
    """A key of a formula under a binding: equal for formulas that say the same, variables of quantifiers renamed."""
    out: list[object] = []
    own: dict[int, str] = {}
    stack: list[Formula | model.Expression] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom() | model.Fluent():
                name = part.predicate if isinstance(part, Atom) else part.function
                out += [type(part).__name__, name]
                out += [_term(a, binding, own, universe) for a in part.arguments]
            case Equal():
                out += ["=", *[_term(a, binding, own, universe) for a in part]]
            case Quantified():
                out += ["all" if part.universal else "some", len(part.variables)]
                for variable in part.variables:
                    own[variable.slot] = f"v{len(own)}"
                    out.append(variable.domain)
                stack.append(part.body)
            case Temporal():
                out += [part.operator, *part.bounds]
                stack.extend(part.operands)
            case And() | Or():
                out += [type(part).__name__, len(part.parts)]
                stack.extend(part.parts)
            case Compare():
                out += ["compare", part.operator]
                stack += [part.left, part.right]
            case model.Arithmetic():
                out += ["arithmetic", part.operator, len(part.operands)]
                stack.extend(part.operands)
            case Not():
                out.append("not")
                stack.append(part.body)
            case Truth() | model.Constant() | model.Duration() | model.TotalTime() | model.IsViolated():
                out.append(part)
            case _:
                assert_never(part)
    return tuple(out)


def _term(argument: int, binding: Binding, own: dict[int, str], universe: Universe) -> object:
    if argument >= 0:
        return universe.of_object(argument)
    slot = -1 - argument
    return own[slot] if slot in own else binding[slot]
