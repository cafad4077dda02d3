"""Formulas looked at: their free variables, the atoms they read, and their disjunctive normal form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier import model
from plansafe.verifier.model import And, Arithmetic, Atom, Compare, Equal, Expression, Fluent, Formula, Not, Or, Quantified, Temporal, Truth, Variable


class Literal(NamedTuple):
    """A formula or its negation. ``formula`` is an atom, an equality, a comparison or something quantified."""

    positive: bool
    formula: Formula


class Disjunct(NamedTuple):
    """``exists variables: all literals``."""

    variables: tuple[Variable, ...]
    literals: tuple[Literal, ...]


def expression_fluents(expression: Expression) -> Iterator[Fluent]:
    """The fluents an expression reads."""
    stack = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, Fluent):
            yield part
        elif isinstance(part, Arithmetic):
            stack.extend(part.operands)


def reads(formula: Formula) -> Iterator[Atom | Fluent]:
    """Every atom and fluent that occurs in a formula."""
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom():
                yield part
            case Compare():
                yield from expression_fluents(part.left)
                yield from expression_fluents(part.right)
            case Not() | Quantified():
                stack.append(part.body)
            case And() | Or():
                stack.extend(part.parts)
            case Temporal():
                stack.extend(part.operands)
            case _:
                pass


def slots(formula: Formula) -> frozenset[int]:
    """The slots of all variables that occur, bound or free."""
    out: set[int] = set()
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Atom():
                out.update([-1 - a for a in part.arguments if a < 0])
            case Equal():
                out.update([-1 - a for a in part if a < 0])
            case Compare():
                for side in (part.left, part.right):
                    for fluent in expression_fluents(side):
                        out.update([-1 - a for a in fluent.arguments if a < 0])
            case Not() | Quantified():
                stack.append(part.body)
            case And() | Or():
                stack.extend(part.parts)
            case Temporal():
                stack.extend(part.operands)
            case _:
                pass
    return frozenset(out)


def bound_slots(formula: Formula) -> frozenset[int]:
    """The slots that quantifiers inside bind."""
    out: set[int] = set()
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Quantified():
                out.update([v.slot for v in part.variables])
                stack.append(part.body)
            case Not():
                stack.append(part.body)
            case And() | Or():
                stack.extend(part.parts)
            case Temporal():
                stack.extend(part.operands)
            case _:
                pass
    return frozenset(out)


def free_slots(formula: Formula) -> frozenset[int]:
    """The slots of free variables. Slots are never reused in a scope, so this is a difference of sets."""
    return slots(formula) - bound_slots(formula)


def negate(formula: Formula) -> Formula:
    """The negation, without doubling it."""
    if isinstance(formula, Not):
        return formula.body
    if isinstance(formula, Truth):
        return model.FALSE if formula.value else model.TRUE
    return Not(formula)


def is_temporal(formula: Formula) -> bool:
    """Whether a temporal operator occurs."""
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        match part:
            case Temporal():
                return True
            case Not() | Quantified():
                stack.append(part.body)
            case And() | Or():
                stack.extend(part.parts)
            case _:
                pass
    return False


def dnf(formula: Formula, positive: bool = True, cap: int = 32) -> list[Disjunct] | None:
    """The disjunctive normal form of a formula (or of its negation), or ``None`` beyond ``cap`` disjuncts.

    Existential quantifiers are pulled to the front of a disjunct; universal ones stay literals.
    """
    match formula:
        case Truth():
            return [Disjunct((), ())] if formula.value == positive else []
        case Not():
            return dnf(formula.body, not positive, cap)
        case And() | Or():
            if isinstance(formula, Or) == positive:
                out: list[Disjunct] = []
                for part in formula.parts:
                    inner = dnf(part, positive, cap)
                    if inner is None or len(out) + len(inner) > cap:
                        return None
                    out += inner
                return out
            product = [Disjunct((), ())]
            for part in formula.parts:
                inner = dnf(part, positive, cap)
                if inner is None or len(product) * len(inner) > cap:
                    return None
                product = [Disjunct(a.variables + b.variables, a.literals + b.literals) for a in product for b in inner]
            return product
        case Quantified():
            if formula.universal == positive:
                return [Disjunct((), (Literal(positive, formula),))]
            inner = dnf(formula.body, positive, cap)
            if inner is None:
                return [Disjunct((), (Literal(positive, formula),))]
            return [Disjunct(formula.variables + d.variables, d.literals) for d in inner]
        case _:
            return [Disjunct((), (Literal(positive, formula),))]


def generated_slots(disjunct: Disjunct) -> frozenset[int]:
    """The slots that positive atoms (and equalities with what they bind) give values to."""
    out: set[int] = set()
    for literal in disjunct.literals:
        if literal.positive and isinstance(literal.formula, Atom):
            out.update([-1 - a for a in literal.formula.arguments if a < 0])
    changed = True
    while changed:
        changed = False
        for literal in disjunct.literals:
            if literal.positive and isinstance(literal.formula, Equal):
                sides = [a for a in literal.formula if a < 0 and -1 - a not in out]
                if len(sides) == 1:
                    out.add(-1 - sides[0])
                    changed = True
    return frozenset(out)
