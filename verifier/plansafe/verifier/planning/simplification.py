"""Formulas in a simpler form for planners, and the tests whether a formula has such a form."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import (
    negate,
)


def is_literal(formula: Formula) -> bool:
    """Whether a formula has no junctions and no quantifiers."""
    return isinstance(formula.body if isinstance(formula, Not) else formula, Truth | Atom | Equal | Compare)


def is_conjunction(formula: Formula) -> bool:
    """Whether a formula is a conjunction of literals."""
    return all([is_literal(part) for part in formula.parts]) if isinstance(formula, And) else is_literal(formula)


def is_simple_precondition(formula: Formula) -> bool:
    """Whether a precondition is a conjunction of literals and of short clauses."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    clauses = [part for part in parts if isinstance(part, Or)]
    return (
        all([is_literal(part) for part in parts if not isinstance(part, Or)])
        and len(clauses) <= 1
        and all([len(clause.parts) <= 3 and all([is_literal(part) for part in clause.parts]) for clause in clauses])
    )


def fold_constants(task: Task, formula: Formula) -> Formula:
    """Fold constants and quantifiers over no objects, and flatten conjunctions and disjunctions."""
    match formula:
        case Not():
            return negate(fold_constants(task, formula.body))
        case And() | Or():
            deciding_value = isinstance(formula, Or)
            parts: list[Formula] = []
            for part in formula.parts:
                part = fold_constants(task, part)
                if isinstance(part, Truth):
                    if part.value is deciding_value:
                        return part
                elif type(part) is type(formula):
                    parts += part.parts
                else:
                    parts.append(part)
            if len(parts) < 2:
                return parts[0] if parts else Truth(not deciding_value)
            return Or(tuple(parts)) if deciding_value else And(tuple(parts))
        case Quantified():
            if any([not task.domains[v.domain] for v in formula.variables]):
                return Truth(formula.universal)
            body = fold_constants(task, formula.body)
            return body if isinstance(body, Truth) else Quantified(formula.universal, formula.variables, body)
        case Equal() if formula.left == formula.right:
            return TRUE
        case Equal() if formula.left >= 0 and formula.right >= 0:
            return FALSE
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)
