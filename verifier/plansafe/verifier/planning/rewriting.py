"""What shape formulas and expressions have: what compilations of tasks need."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    And,
    Arithmetic,
    Atom,
    Compare,
    Equal,
    Expression,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import negate, subexpressions


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


def folded(task: Task, formula: Formula) -> Formula:
    """An equal formula: constants folded, quantifiers over no objects decided, junctions flat."""
    match formula:
        case Not():
            return negate(folded(task, formula.body))
        case And() | Or():
            deciding = isinstance(formula, Or)
            parts: list[Formula] = []
            for part in formula.parts:
                part = folded(task, part)
                if isinstance(part, Truth):
                    if part.value is deciding:
                        return part
                elif type(part) is type(formula):
                    parts += part.parts
                else:
                    parts.append(part)
            if len(parts) < 2:
                return parts[0] if parts else Truth(not deciding)
            return Or(tuple(parts)) if deciding else And(tuple(parts))
        case Quantified():
            if any([not task.domains[v.domain] for v in formula.variables]):
                return Truth(formula.universal)
            body = folded(task, formula.body)
            return body if isinstance(body, Truth) else Quantified(formula.universal, formula.variables, body)
        case Equal() if formula.left == formula.right:
            return model.TRUE
        case Equal() if formula.left >= 0 and formula.right >= 0:
            return model.FALSE
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)
