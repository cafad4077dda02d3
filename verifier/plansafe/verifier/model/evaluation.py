"""Evaluation of conditions in three values (Kleene), and the literals that keep a condition from being true.

The fast path is generated code with two values (:mod:`plansafe.verifier.compile.emitter`). This slower evaluation
applies if a number is undefined or the unmet literals are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from operator import eq, ge, gt, le, lt
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    And,
    Arithmetic,
    Atom,
    Binding,
    Compare,
    Equal,
    Expression,
    Formula,
    Not,
    Number,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    bind,
    divide,
    ground,
)

MAX_LISTED = 8
"""The largest number of instances whose literals are listed one by one if each instance is unmet."""
MAX_TRIED = 16
"""The largest number of instances that are tried one by one; more are found by the facts."""

Facts = list[set[int]]
Fluents = list[dict[int, Number]]

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {"=": eq, "<": lt, ">": gt, "<=": le, ">=": ge}
NO_LIMIT = 1_000_000
"""A limit on the number of unmet literals that is never reached in practice."""


class UndefinedNumber(Exception):
    """A fluent without value or a division by zero; ``text`` says which."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class _AtomSearch(NamedTuple):
    """The search for the bindings of an atom's unbound slots: ``trials`` bindings, or all facts, if they are fewer."""

    atom: Atom
    unbound: list[int]
    trials: int
    cost: int


class Evaluator:
    """Evaluates formulas of one task in a state."""

    def __init__(self, task: Task, facts: Facts, fluents: Fluents, duration: Number | None = None) -> None:
        self.task = task
        self.facts = facts
        self.fluents = fluents
        self.duration = duration

    def evaluate(self, expression: Expression, binding: Binding) -> Number:
        """Return the value of an expression; raises :class:`UndefinedNumber`."""
        match expression:
            case model.Constant():
                return expression.value
            case model.Fluent():
                code = self.task.code_of(expression.arguments, binding)
                if code not in self.fluents[expression.function]:
                    raise UndefinedNumber(f"`{self.task.fluent_text(expression.function, code)}` has no value")
                return self.fluents[expression.function][code]
            case Arithmetic():
                values = [self.evaluate(operand, binding) for operand in expression.operands]
                return apply_operator(expression.operator, values)
            case model.Duration():
                if self.duration is None:
                    raise UndefinedNumber("`?duration` has no value")
                return self.duration
            case model.TotalTime() | model.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        """Return the value of a formula; ``None`` for undefined."""
        match formula:
            case Truth():
                return formula.value
            case Atom():
                return self.task.code_of(formula.arguments, binding) in self.facts[formula.predicate]
            case Equal():
                left, right = ground(formula, binding)
                return left == right
            case Compare():
                try:
                    return _COMPARE[formula.operator](
                        self.evaluate(formula.left, binding), self.evaluate(formula.right, binding)
                    )
                except UndefinedNumber:
                    return None
            case Not():
                value = self.holds(formula.body, binding)
                return None if value is None else not value
            case And() | Or():
                return self._evaluate_junction(formula, binding)
            case Quantified():
                return self._evaluate_quantified(formula, binding)
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def _evaluate_junction(self, formula: And | Or, binding: Binding) -> bool | None:
        deciding_value = isinstance(formula, Or)
        combined_value: bool | None = not deciding_value
        for part in formula.parts:
            value = self.holds(part, binding)
            if value is deciding_value:
                return deciding_value
            if value is None:
                combined_value = None
        return combined_value

    def _evaluate_quantified(self, formula: Quantified, binding: Binding) -> bool | None:
        deciding_value = not formula.universal
        combined_value: bool | None = not deciding_value
        for objects in self.find_candidate_objects(formula, binding):
            value = self.holds(formula.body, {**binding, **bind(formula.variables, objects)})
            if value is deciding_value:
                return deciding_value
            if value is None:
                combined_value = None
        return combined_value

    def find_candidate_objects(self, formula: Quantified, binding: Binding) -> Iterator[tuple[int, ...]]:
        """Yield the objects for the variables for which the body may have the deciding value, or be undefined.

        Objects are left out if a conjunct that is an atom is false (for ``forall``: a disjunct that is a negated atom
        is true), since the body is false (true) there. Many objects are found by the facts: real domains quantify
        over four variables with three hundred objects each.
        """
        variables = formula.variables
        domains = [self.task.domains[v.domain] for v in variables]
        atoms = _find_deciding_atoms(formula) if prod([len(domain) for domain in domains]) > MAX_TRIED else []
        if not atoms:
            return product(*domains)
        domain_by_slot = {v.slot: v.domain for v in variables}
        outer = {slot: value for slot, value in binding.items() if slot not in domain_by_slot}
        return (
            tuple([full_binding[v.slot] for v in variables])
            for full_binding in self._match_atoms(domain_by_slot, atoms, outer)
        )

    @staticmethod
    def is_guided_by_atoms(formula: Quantified) -> bool:
        """Whether atoms restrict the candidates, so that not all objects are tried."""
        return bool(_find_deciding_atoms(formula))

    def _match_atoms(self, domain_by_slot: dict[int, int], atoms: list[Atom], binding: Binding) -> Iterator[Binding]:
        """Yield the extensions of a binding to the variables of ``domain_by_slot`` under which all atoms are true."""
        domains = self.task.domains
        cheapest: _AtomSearch | None = None
        for atom in atoms:
            unbound = [-1 - a for a in dict.fromkeys(atom.arguments) if a < 0 and -1 - a not in binding]
            if not unbound:
                if not self.holds(atom, binding):
                    return
                continue
            trials = prod([len(domains[domain_by_slot[slot]]) for slot in unbound])
            cost = min(len(self.facts[atom.predicate]), trials)
            if cheapest is None or cost < cheapest.cost:
                cheapest = _AtomSearch(atom, unbound, trials, cost)
        if cheapest is None:
            unbound = [slot for slot in domain_by_slot if slot not in binding]
            for objects in product(*[domains[domain_by_slot[slot]] for slot in unbound]):
                yield {**binding, **dict(zip(unbound, objects, strict=True))}
            return
        atom, unbound = cheapest.atom, cheapest.unbound
        remaining_atoms = [candidate for candidate in atoms if candidate is not atom]
        if cheapest.trials > len(self.facts[atom.predicate]):
            for extended_binding in self._match_facts(domain_by_slot, atom, binding):
                yield from self._match_atoms(domain_by_slot, remaining_atoms, extended_binding)
            return
        for objects in product(*[domains[domain_by_slot[slot]] for slot in unbound]):
            extended_binding = {**binding, **dict(zip(unbound, objects, strict=True))}
            if self.holds(atom, extended_binding):
                yield from self._match_atoms(domain_by_slot, remaining_atoms, extended_binding)

    def _match_facts(self, domain_by_slot: dict[int, int], atom: Atom, binding: Binding) -> Iterator[Binding]:
        """Yield the extensions of a binding under which an atom is one of the facts."""
        arity, sets = len(atom.arguments), self.task.domain_sets
        for code in self.facts[atom.predicate]:
            extended_binding = dict(binding)
            for argument, value in zip(atom.arguments, self.task.decode(code, arity), strict=True):
                if argument >= 0:
                    matches = argument == value
                elif -1 - argument in extended_binding:
                    matches = extended_binding[-1 - argument] == value
                else:
                    matches = value in sets[domain_by_slot[-1 - argument]]
                    extended_binding[-1 - argument] = value
                if not matches:
                    break
            else:
                yield extended_binding

    def describe_undefined(self, formula: Formula, binding: Binding) -> str | None:
        """Describe what makes a comparison in the formula undefined; ``None`` if none is undefined."""
        if isinstance(formula, Compare):
            try:
                self.evaluate(formula.left, binding)
                self.evaluate(formula.right, binding)
            except UndefinedNumber as undefined:
                return undefined.text
            return None
        for literal in self.find_unmet_literals(formula, binding, True):
            if isinstance(literal.formula, Compare):
                text = self.describe_undefined(literal.formula, literal.binding)
                if text:
                    return text
        return None

    def find_unmet_literals(
        self, formula: Formula, binding: Binding, required_value: bool, limit: int = 8
    ) -> list[UnmetLiteral]:
        """Return the literals that keep ``formula`` from having ``required_value``.

        For a conjunction: its false parts; for a disjunction: all parts. A quantifier without any fitting instance is
        one literal if it has many instances, because no few instances explain it better than others.
        """
        if isinstance(formula, And | Or):
            return self._find_unmet_parts(formula, binding, required_value, limit)
        value = self.holds(formula, binding)
        if value is required_value:
            return []
        match formula:
            case Not():
                return self.find_unmet_literals(formula.body, binding, not required_value, limit)
            case Quantified():
                formula_as_literal = [UnmetLiteral(formula, dict(binding), required_value)]
                domains = [self.task.domains[v.domain] for v in formula.variables]
                is_defined, is_unmet_everywhere = value is not None, formula.universal is not required_value
                if is_defined and is_unmet_everywhere and prod([len(domain) for domain in domains]) > MAX_LISTED:
                    return formula_as_literal
                skips_met_instances = is_defined and not is_unmet_everywhere
                literals: list[UnmetLiteral] = []
                for objects in (
                    sorted(self.find_candidate_objects(formula, binding)) if skips_met_instances else product(*domains)
                ):
                    full_binding = {**binding, **bind(formula.variables, objects)}
                    literals += self.find_unmet_literals(
                        formula.body, full_binding, required_value, limit - len(literals)
                    )
                    if len(literals) >= limit:
                        break
                return literals or formula_as_literal
            case Truth() | Atom() | Equal() | Compare() | Temporal():
                return [UnmetLiteral(formula, dict(binding), required_value)]
            case _:
                assert_never(formula)

    def _find_unmet_parts(
        self, formula: And | Or, binding: Binding, required_value: bool, limit: int
    ) -> list[UnmetLiteral]:
        """Return the unmet literals of the parts; none if one part alone gives the formula its value."""
        one_part_suffices = required_value is isinstance(formula, Or)
        literals: list[UnmetLiteral] = []
        for part in formula.parts:
            value = self.holds(part, binding)
            if value is required_value:
                if one_part_suffices:
                    return []
            elif len(literals) >= limit:
                if not one_part_suffices:
                    break
            elif isinstance(part, Atom):
                literals.append(UnmetLiteral(part, dict(binding), required_value))
            else:
                literals += self.find_unmet_literals(part, binding, required_value, limit - len(literals))
        return literals


def _find_deciding_atoms(formula: Quantified) -> list[Atom]:
    """Return the conjuncts of a body that are atoms; for ``forall``, the atoms whose negations are its disjuncts."""
    atoms: list[Atom] = []
    parts: list[Formula] = [formula.body]
    while parts:
        part = parts.pop()
        if isinstance(part, Or if formula.universal else And):
            parts += part.parts
        elif formula.universal and isinstance(part, Not) and isinstance(part.body, Atom):
            atoms.append(part.body)
        elif not formula.universal and isinstance(part, Atom):
            atoms.append(part)
    return atoms


class UnmetLiteral(NamedTuple):
    """A literal that does not have the value that it should have."""

    formula: Formula
    binding: Binding
    required_value: bool


def apply_operator(operator: str, values: list[Number]) -> Number:
    """Apply an arithmetic operator exactly; raises :class:`UndefinedNumber` for a division by zero."""
    total = values[0]
    if len(values) == 1:
        return -total if operator == "-" else total
    for value in values[1:]:
        if operator == "+":
            total = total + value
        elif operator == "-":
            total = total - value
        elif operator == "*":
            total = total * value
        elif value == 0:
            raise UndefinedNumber("division by zero")
        else:
            total = divide(total, value)
    return model.normal_number(total)
