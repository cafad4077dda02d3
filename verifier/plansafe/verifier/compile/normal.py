"""Formulas looked at: their free variables, the atoms they read, and their disjunctive normal form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    And,
    Arithmetic,
    Atom,
    Compare,
    Equal,
    Expression,
    Fluent,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
)


class FormulaLiteral(NamedTuple):
    """A formula or its negation. ``formula`` is an atom, an equality, a comparison or something quantified."""

    positive: bool
    formula: Formula


class Disjunct(NamedTuple):
    """``exists variables: all literals``."""

    variables: tuple[Variable, ...]
    literals: tuple[FormulaLiteral, ...]


def expression_fluents(expression: Expression) -> Iterator[Fluent]:
    """The fluents an expression reads."""
    stack = [expression]
    while stack:
        part = stack.pop()
        if isinstance(part, Fluent):
            yield part
        elif isinstance(part, Arithmetic):
            stack.extend(part.operands)


def subformulas(formula: Formula, empty: frozenset[int] = frozenset()) -> Iterator[Formula]:
    """The formula and everything in it, except what quantifiers over the domains in ``empty`` contain.

    Iterative: formulas may nest without limit.
    """
    stack: list[Formula] = [formula]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, Not):
            stack.append(part.body)
        elif isinstance(part, Quantified):
            if not any([v.domain in empty for v in part.variables]):
                stack.append(part.body)
        elif isinstance(part, And | Or):
            stack.extend(part.parts)
        elif isinstance(part, Temporal):
            stack.extend(part.operands)


def reads(formula: Formula, empty: frozenset[int] = frozenset()) -> Iterator[Atom | Fluent]:
    """Every atom and fluent that occurs in a formula; ``empty`` as for :func:`subformulas`."""
    for part in subformulas(formula, empty):
        if isinstance(part, Atom):
            yield part
        elif isinstance(part, Compare):
            yield from expression_fluents(part.left)
            yield from expression_fluents(part.right)


def slots(formula: Formula) -> frozenset[int]:
    """The slots of all variables that occur in atoms, fluents and equalities."""
    out: set[int] = set()
    for read in reads(formula):
        out.update([-1 - a for a in read.arguments if a < 0])
    for part in subformulas(formula):
        if isinstance(part, Equal):
            out.update([-1 - a for a in part if a < 0])
    return frozenset(out)


def quantified(formula: Formula) -> dict[int, int]:
    """The slots that quantifiers in a formula bind, with the domains they range over."""
    return {v.slot: v.domain for part in subformulas(formula) if isinstance(part, Quantified) for v in part.variables}


def free_slots(formula: Formula) -> frozenset[int]:
    """The slots of free variables. Slots are never reused in a scope, so this is a difference of sets."""
    return slots(formula) - quantified(formula).keys()


def negate(formula: Formula) -> Formula:
    """The negation, without doubling it."""
    if isinstance(formula, Not):
        return formula.body
    if isinstance(formula, Truth):
        return model.FALSE if formula.value else model.TRUE
    return Not(formula)


def reads_numbers(formula: Formula) -> bool:
    """Whether a formula compares numbers, and so may be undefined."""
    return any([isinstance(part, Compare) for part in subformulas(formula)])


def is_temporal(formula: Formula) -> bool:
    """Whether a temporal operator occurs."""
    return any([isinstance(part, Temporal) for part in subformulas(formula)])


def mentions(formula: Formula, predicates: frozenset[int]) -> bool:
    """Whether an atom of one of the predicates occurs."""
    return any([isinstance(read, Atom) and read.predicate in predicates for read in reads(formula)])


def without_impossible(formula: Formula, domains: dict[int, int], members: Sequence[tuple[int, ...]]) -> Formula:
    """The formula with false for each equation of things that have no object in common, and what follows from that.

    ``domains`` are those of the free variables. A mapping says of a word what it means for things of each kind, by such
    equations; for the variables of one rule, most of these cases cannot be.
    """
    match formula:
        case Equal():
            known = [{a} if a >= 0 else set(members[domains[-1 - a]]) for a in formula if a >= 0 or -1 - a in domains]
            return model.FALSE if len(known) == 2 and known[0].isdisjoint(known[1]) else formula
        case Not():
            return negate(without_impossible(formula.body, domains, members))
        case And() | Or():
            decided = model.FALSE if isinstance(formula, And) else model.TRUE
            parts = [without_impossible(part, domains, members) for part in formula.parts]
            if decided in parts:
                return decided
            return type(formula)(tuple([part for part in parts if not isinstance(part, Truth)]))
        case Quantified():
            inner = {**domains, **{v.slot: v.domain for v in formula.variables}}
            body = without_impossible(formula.body, inner, members)
            if isinstance(body, Truth) and body.value == formula.universal:
                return body
            return formula._replace(body=body)
        case _:
            return formula


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
                return [Disjunct((), (FormulaLiteral(positive, formula),))]
            inner = dnf(formula.body, positive, cap)
            if inner is None:
                return [Disjunct((), (FormulaLiteral(positive, formula),))]
            return [Disjunct(formula.variables + d.variables, d.literals) for d in inner]
        case _:
            return [Disjunct((), (FormulaLiteral(positive, formula),))]


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
