"""Conditions in three values (Kleene), interpreted; and why a condition is not true.

The fast path is generated code (:mod:`plansafe.verifier.compile.emitter`), which knows two values. Where a number is
undefined, and wherever a reason is wanted, this slower definition decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import NamedTuple, assert_never

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

# Instances of a quantifier that are told one by one where each of them is a reason.
MANY = 8
# Instances of a quantifier that are tried one by one rather than found by the facts.
FEW = 16

Facts = list[set[int]]
Fluents = list[dict[int, Number]]

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "=": lambda a, b: a == b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
}
NO_LIMIT = 1_000_000
"""No limit on the literals that are asked for."""


class UndefinedNumber(Exception):
    """A fluent without value, or a division by zero; ``text`` says which."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Evaluator:
    """Evaluates formulas of one task in a state."""

    def __init__(self, task: Task, facts: Facts, fluents: Fluents, duration: Number | None = None) -> None:
        self.task = task
        self.facts = facts
        self.fluents = fluents
        self.duration = duration

    def evaluate(self, expression: Expression, binding: Binding) -> Number:
        """The value of an expression; raises :class:`UndefinedNumber`."""
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
        """True, false, or ``None`` for undefined."""
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
                return self._junction(formula, binding)
            case Quantified():
                return self._quantified(formula, binding)
            case Temporal():
                raise AssertionError("not a state formula")
            case _:
                assert_never(formula)

    def _junction(self, formula: And | Or, binding: Binding) -> bool | None:
        deciding = isinstance(formula, Or)
        result: bool | None = not deciding
        for part in formula.parts:
            value = self.holds(part, binding)
            if value is deciding:
                return deciding
            if value is None:
                result = None
        return result

    def _quantified(self, formula: Quantified, binding: Binding) -> bool | None:
        deciding = not formula.universal
        result: bool | None = not deciding
        for objects in self.candidate_objects(formula, binding):
            value = self.holds(formula.body, {**binding, **bind(formula.variables, objects)})
            if value is deciding:
                return deciding
            if value is None:
                result = None
        return result

    def candidate_objects(self, formula: Quantified, binding: Binding) -> Iterator[tuple[int, ...]]:
        """The objects under which the body may have another value than nearly always.

        Left out are those for which a conjunct that is an atom is false (for ``forall``, a disjunct that is a negated
        atom true): there the body is false (true) whatever the rest is. What is left is found by the facts, not by
        trying all objects: real domains quantify over four things of three hundred.
        """
        variables = formula.variables
        domains = [self.task.domains[v.domain] for v in variables]
        atoms = _deciding_atoms(formula) if prod([len(domain) for domain in domains]) > FEW else []
        if not atoms:
            return product(*domains)
        free = {v.slot: v.domain for v in variables}
        inner = {slot: value for slot, value in binding.items() if slot not in free}
        return (tuple([found[v.slot] for v in variables]) for found in self._matches(free, atoms, inner))

    @staticmethod
    def is_guided_by_atoms(formula: Quantified) -> bool:
        """Whether atoms lead to the instances, so that not all objects are tried."""
        return bool(_deciding_atoms(formula))

    def _matches(self, free: dict[int, int], atoms: list[Atom], binding: Binding) -> Iterator[Binding]:
        """Extensions of a binding to the ``free`` variables (slot -> domain) under which all atoms are true."""
        best: tuple[int, Atom, list[int]] | None = None
        for atom in atoms:
            missing = [-1 - a for a in dict.fromkeys(atom.arguments) if a < 0 and -1 - a not in binding]
            if not missing:
                if not self.holds(atom, binding):
                    return
                continue
            trials = prod([len(self.task.domains[free[slot]]) for slot in missing])
            cost = min(len(self.facts[atom.predicate]), trials)
            if best is None or cost < best[0]:
                best = cost, atom, missing
        if best is None:
            rest = [slot for slot in free if slot not in binding]
            for objects in product(*[self.task.domains[free[slot]] for slot in rest]):
                yield {**binding, **dict(zip(rest, objects, strict=True))}
            return
        _, atom, missing = best
        left = [other for other in atoms if other is not atom]
        sets = self.task.domain_sets
        trials = prod([len(self.task.domains[free[slot]]) for slot in missing])
        if trials <= len(self.facts[atom.predicate]):
            for objects in product(*[self.task.domains[free[slot]] for slot in missing]):
                inner = {**binding, **dict(zip(missing, objects, strict=True))}
                if self.holds(atom, inner):
                    yield from self._matches(free, left, inner)
            return
        arity = len(atom.arguments)
        for code in self.facts[atom.predicate]:
            inner = dict(binding)
            for argument, found in zip(atom.arguments, self.task.decode(code, arity), strict=True):
                if argument >= 0:
                    fits = argument == found
                elif -1 - argument in inner:
                    fits = inner[-1 - argument] == found
                else:
                    fits = found in sets[free[-1 - argument]]
                    inner[-1 - argument] = found
                if not fits:
                    break
            else:
                yield from self._matches(free, left, inner)

    def _reasons_of_parts(self, formula: And | Or, binding: Binding, wanted: bool, limit: int) -> list[UnmetLiteral]:
        """Of the parts that have not the wanted value; none if one part alone gives the whole its value."""
        deciding = isinstance(formula, Or)
        out: list[UnmetLiteral] = []
        for part in formula.parts:
            value = self.holds(part, binding)
            if value is wanted:
                if wanted is deciding:
                    return []
            elif len(out) >= limit:
                if wanted is not deciding:
                    break
            elif isinstance(part, Atom):
                out.append(UnmetLiteral(part, dict(binding), wanted))
            else:
                out += self.unmet_literals(part, binding, wanted, limit - len(out))
        return out

    def describe_undefined(self, formula: Formula, binding: Binding) -> str | None:
        """What makes a comparison in the formula undefined, if anything does."""
        if isinstance(formula, Compare):
            try:
                self.evaluate(formula.left, binding)
                self.evaluate(formula.right, binding)
            except UndefinedNumber as problem:
                return problem.text
        if isinstance(formula, Compare):
            return None
        for reason in self.unmet_literals(formula, binding, True):
            if isinstance(reason.formula, Compare):
                text = self.describe_undefined(reason.formula, reason.binding)
                if text:
                    return text
        return None

    def unmet_literals(self, formula: Formula, binding: Binding, wanted: bool, limit: int = 8) -> list[UnmetLiteral]:
        """Literals that keep ``formula`` from having the value ``wanted``.

        For a conjunction its false parts, for a disjunction all. That nothing fits is told as a whole: of many objects,
        the first are no better reason than the others.
        """
        if isinstance(formula, And | Or):
            return self._reasons_of_parts(formula, binding, wanted, limit)
        value = self.holds(formula, binding)
        if value is wanted:
            return []
        match formula:
            case Not():
                return self.unmet_literals(formula.body, binding, not wanted, limit)
            case Quantified():
                instances = prod([len(self.task.domains[v.domain]) for v in formula.variables])
                if value is not None and formula.universal is not wanted and instances > MANY:
                    return [UnmetLiteral(formula, dict(binding), wanted)]
                out: list[UnmetLiteral] = []
                objects_of = [self.task.domains[v.domain] for v in formula.variables]
                one_by_one = value is not None and formula.universal is wanted
                for objects in sorted(self.candidate_objects(formula, binding)) if one_by_one else product(*objects_of):
                    inner = {**binding, **bind(formula.variables, objects)}
                    out += self.unmet_literals(formula.body, inner, wanted, limit - len(out))
                    if len(out) >= limit:
                        break
                return out or [UnmetLiteral(formula, dict(binding), wanted)]
            case Truth() | Atom() | Equal() | Compare() | Temporal():
                return [UnmetLiteral(formula, dict(binding), wanted)]
            case _:
                assert_never(formula)


def _deciding_atoms(formula: Quantified) -> list[Atom]:
    """The atoms that decide a body: its conjuncts, or, below ``forall``, those whose negations are its disjuncts."""
    out: list[Atom] = []
    parts: list[Formula] = [formula.body]
    while parts:
        part = parts.pop()
        if isinstance(part, Or if formula.universal else And):
            parts += part.parts
        elif formula.universal and isinstance(part, Not) and isinstance(part.body, Atom):
            out.append(part.body)
        elif not formula.universal and isinstance(part, Atom):
            out.append(part)
    return out


class UnmetLiteral(NamedTuple):
    """A literal that has not the value it should have."""

    formula: Formula
    binding: Binding
    wanted: bool


def apply_operator(operator: str, values: list[Number]) -> Number:
    """Exact arithmetic; raises :class:`UndefinedNumber` for a division by zero."""
    result = values[0]
    if len(values) == 1:
        return -result if operator == "-" else result
    for value in values[1:]:
        if operator == "+":
            result = result + value
        elif operator == "-":
            result = result - value
        elif operator == "*":
            result = result * value
        elif value == 0:
            raise UndefinedNumber("division by zero")
        else:
            result = divide(result, value)
    return model.normal_number(result)
