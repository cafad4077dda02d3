"""Formulas with other variables, and what shape they have: what compilations of tasks need."""

from __future__ import annotations

from collections.abc import Mapping

from plansafe.verifier.compile.normal import subformulas
from plansafe.verifier.model import nodes as model
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
)


def mapped(formula: Formula, values: Mapping[int, int], functions: Mapping[int, int] | None = None) -> Formula:
    """A formula with other arguments for some slots (quantified ones become other variables), functions renumbered."""

    def term(argument: int) -> int:
        return values.get(-1 - argument, argument) if argument < 0 else argument

    match formula:
        case Atom():
            return mapped_atom(formula, values)
        case Equal():
            return Equal(term(formula.left), term(formula.right))
        case Compare():
            return Compare(
                formula.operator,
                mapped_expression(formula.left, values, functions),
                mapped_expression(formula.right, values, functions),
            )
        case Not():
            return Not(mapped(formula.body, values, functions))
        case And() | Or():
            parts = tuple([mapped(part, values, functions) for part in formula.parts])
            return And(parts) if isinstance(formula, And) else Or(parts)
        case Temporal():
            parts = tuple([mapped(part, values, functions) for part in formula.operands])
            return Temporal(formula.operator, parts, formula.bounds)
        case Quantified():
            variables = tuple([v._replace(slot=-1 - values.get(v.slot, -1 - v.slot)) for v in formula.variables])
            return Quantified(formula.universal, variables, mapped(formula.body, values, functions))
        case _:
            return formula


def mapped_atom(atom: Atom, values: Mapping[int, int]) -> Atom:
    """An atom with other arguments for some slots."""
    return Atom(atom.predicate, tuple([values.get(-1 - a, a) if a < 0 else a for a in atom.arguments]))


def mapped_expression(
    expression: model.Expression, values: Mapping[int, int], functions: Mapping[int, int] | None
) -> model.Expression:
    """A numeric expression with other arguments for some slots, functions renumbered."""
    match expression:
        case model.Fluent():
            number = expression.function if functions is None else functions[expression.function]
            return model.Fluent(number, tuple([values.get(-1 - a, a) if a < 0 else a for a in expression.arguments]))
        case model.Arithmetic():
            return model.Arithmetic(
                expression.operator, tuple([mapped_expression(o, values, functions) for o in expression.operands])
            )
        case _:
            return expression


def binders(formula: Formula) -> list[Variable]:
    """The variables that quantifiers in a formula bind, each once."""
    return list({v.slot: v for p in subformulas(formula) if isinstance(p, Quantified) for v in p.variables}.values())


def is_literal(formula: Formula) -> bool:
    """Whether a formula has no junctions and no quantifiers."""
    return isinstance(formula.body if isinstance(formula, Not) else formula, Truth | Atom | Equal | Compare)


def is_conjunction(formula: Formula) -> bool:
    """Whether a formula is a conjunction of literals."""
    return all([is_literal(p) for p in formula.parts]) if isinstance(formula, And) else is_literal(formula)


def is_plain(formula: Formula) -> bool:
    """Whether a precondition is a conjunction of literals and of short clauses."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    clauses = [p for p in parts if isinstance(p, Or)]
    return (
        all([is_literal(p) for p in parts if not isinstance(p, Or)])
        and len(clauses) <= 1
        and all([len(c.parts) <= 3 and all([is_literal(p) for p in c.parts]) for c in clauses])
    )


def divides(expression: model.Expression) -> bool:
    """Whether an expression divides, which can fail."""
    stack = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, model.Arithmetic):
            if part.operator == "/":
                return True
            stack += part.operands
    return False
