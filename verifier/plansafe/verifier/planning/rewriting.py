"""What shape formulas and expressions have: what compilations of tasks need."""

from __future__ import annotations

from plansafe.verifier.model.nodes import And, Arithmetic, Atom, Compare, Equal, Expression, Formula, Not, Or, Truth
from plansafe.verifier.model.operations import subexpressions


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


def divides(expression: Expression) -> bool:
    """Whether an expression divides, which can fail."""
    return any([isinstance(part, Arithmetic) and part.operator == "/" for part in subexpressions(expression)])
