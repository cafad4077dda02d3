"""Formulas in normal forms: without what cannot be, and as disjunctions of literals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, assert_never

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
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import negate


class FormulaLiteral(NamedTuple):
    """A formula or its negation. ``formula`` is an atom, an equality, a comparison or something quantified."""

    positive: bool
    formula: Formula


class Disjunct(NamedTuple):
    """``exists variables: all literals``."""

    variables: tuple[Variable, ...]
    literals: tuple[FormulaLiteral, ...]


def drop_impossible_equations(formula: Formula, domains: dict[int, int], members: Sequence[tuple[int, ...]]) -> Formula:
    """The formula with false for each equation of things that have no object in common, and what follows from that.

    ``domains`` are those of the free variables. A mapping says of a word what it means for things of each kind, by such
    equations; for the variables of one rule, most of these cases cannot be.
    """
    match formula:
        case Equal():
            known = [{a} if a >= 0 else set(members[domains[-1 - a]]) for a in formula if a >= 0 or -1 - a in domains]
            return FALSE if len(known) == 2 and known[0].isdisjoint(known[1]) else formula
        case Not():
            return negate(drop_impossible_equations(formula.body, domains, members))
        case And() | Or():
            decided = FALSE if isinstance(formula, And) else TRUE
            parts = [drop_impossible_equations(part, domains, members) for part in formula.parts]
            if decided in parts:
                return decided
            return type(formula)(tuple([part for part in parts if not isinstance(part, Truth)]))
        case Quantified():
            inner = {**domains, **{v.slot: v.domain for v in formula.variables}}
            body = drop_impossible_equations(formula.body, inner, members)
            if isinstance(body, Truth) and body.value == formula.universal:
                return body
            return formula._replace(body=body)
        case Truth() | Atom() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)


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
        case Atom() | Equal() | Compare() | Temporal():
            return [Disjunct((), (FormulaLiteral(positive, formula),))]
        case _:
            assert_never(formula)


def slots_bound_by_literals(disjunct: Disjunct, known: Iterable[int] = ()) -> frozenset[int]:
    """The slots that positive atoms (and equalities with what they bind) give values to, and those ``known``."""
    out = set(known)
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
