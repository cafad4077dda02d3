"""Normal forms of formulas: without impossible equations, and as disjunctions of literals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
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
from plansafe.verifier.model.operations import free_slots, has_comparison, negate


class FormulaLiteral(NamedTuple):
    """A formula or its negation. ``formula`` is an atom, an equality, a comparison or a quantifier."""

    positive: bool
    formula: Formula


class Disjunct(NamedTuple):
    """``exists variables: all literals``."""

    variables: tuple[Variable, ...]
    literals: tuple[FormulaLiteral, ...]


def drop_impossible_equations(formula: Formula, domains: dict[int, int], members: Sequence[tuple[int, ...]]) -> Formula:
    """Simplify a formula by replacing equations between terms without a common object by false.

    ``domains``: the domains of the free variables, by slot. A mapping defines a word by cases on the kinds of its
    arguments, with such equations; for the variables of one rule, most of these cases are impossible.
    """
    match formula:
        case Equal():
            objects = [{a} if a >= 0 else set(members[domains[-1 - a]]) for a in formula if a >= 0 or -1 - a in domains]
            return FALSE if len(objects) == 2 and objects[0].isdisjoint(objects[1]) else formula
        case Not():
            return negate(drop_impossible_equations(formula.body, domains, members))
        case And() | Or():
            deciding_value = FALSE if isinstance(formula, And) else TRUE
            parts = [drop_impossible_equations(part, domains, members) for part in formula.parts]
            if deciding_value in parts:
                return deciding_value
            return formula._replace(parts=tuple([part for part in parts if not isinstance(part, Truth)]))
        case Quantified():
            inner_domains = {**domains, **{v.slot: v.domain for v in formula.variables}}
            body = drop_impossible_equations(formula.body, inner_domains, members)
            if isinstance(body, Truth) and body.value == formula.universal:
                return body
            return formula._replace(body=body)
        case Truth() | Atom() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)


def push_quantifiers_inwards(formula: Formula, members: Sequence[tuple[int, ...]]) -> Formula:
    """Move each quantifier to the parts that read its variable (miniscoping); ``members`` are the domains' objects.

    Then a part without the variable is evaluated once, and a change of a fact in it concerns fewer bindings. Formulas
    with comparisons are returned as they are, because a number may be undefined.
    """
    match formula:
        case Not():
            return negate(push_quantifiers_inwards(formula.body, members))
        case And() | Or():
            return formula._replace(parts=tuple([push_quantifiers_inwards(part, members) for part in formula.parts]))
        case Quantified() if not has_comparison(formula):
            if not all([members[v.domain] for v in formula.variables]):
                return TRUE if formula.universal else FALSE
            body = push_quantifiers_inwards(formula.body, members)
            for v in reversed(formula.variables):
                body = _quantify(formula.universal, v, body)
            return body
        case Quantified() | Truth() | Atom() | Equal() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)


def _quantify(universal: bool, v: Variable, body: Formula) -> Formula:
    """Quantify a variable as far inside a formula as possible; its domain is not empty."""
    if v.slot not in free_slots(body):
        return body
    match body:
        case Not():
            return negate(_quantify(not universal, v, body.body))
        case And() | Or() if isinstance(body, And) is universal:
            return body._replace(parts=tuple([_quantify(universal, v, part) for part in body.parts]))
        case And() | Or():
            parts_without_variable = tuple([part for part in body.parts if v.slot not in free_slots(part)])
            parts_with_variable = tuple([part for part in body.parts if v.slot in free_slots(part)])
            if len(parts_with_variable) == 1 or parts_without_variable:
                narrowed_body = body._replace(parts=parts_with_variable)
                quantified = _quantify(
                    universal, v, narrowed_body.parts[0] if len(narrowed_body.parts) == 1 else narrowed_body
                )
                if not parts_without_variable:
                    return quantified
                return body._replace(parts=(*parts_without_variable, quantified))
        case Quantified() if body.universal is universal:
            return body._replace(variables=(v, *body.variables))
        case Quantified() | Truth() | Atom() | Equal() | Compare() | Temporal():
            pass
        case _:
            assert_never(body)
    return Quantified(universal, (v,), body)


def convert_to_dnf_or_literal(formula: Formula, positive: bool = True) -> list[Disjunct]:
    """Return the disjunctive normal form of a formula or its negation; one literal if it has too many disjuncts."""
    disjuncts = convert_to_dnf(formula, positive)
    return [Disjunct((), (FormulaLiteral(positive, formula),))] if disjuncts is None else disjuncts


def convert_to_dnf(formula: Formula, positive: bool = True, cap: int = 32) -> list[Disjunct] | None:
    """Return the disjunctive normal form of a formula or its negation; ``None`` beyond ``cap`` disjuncts.

    Existential quantifiers are pulled to the front of a disjunct; universal ones stay literals.
    """
    match formula:
        case Truth():
            return [Disjunct((), ())] if formula.value == positive else []
        case Not():
            return convert_to_dnf(formula.body, not positive, cap)
        case And() | Or():
            return _convert_junction(formula, positive, cap)
        case Quantified() if formula.universal != positive:
            part_disjuncts = convert_to_dnf(formula.body, positive, cap)
            if part_disjuncts is not None:
                return [
                    Disjunct(formula.variables + disjunct.variables, disjunct.literals) for disjunct in part_disjuncts
                ]
            return [Disjunct((), (FormulaLiteral(positive, formula),))]
        case Quantified() | Atom() | Equal() | Compare() | Temporal():
            return [Disjunct((), (FormulaLiteral(positive, formula),))]
        case _:
            assert_never(formula)


def _convert_junction(formula: And | Or, positive: bool, cap: int) -> list[Disjunct] | None:
    """Return the disjunctive normal form of a junction or its negation, without redundant disjuncts."""
    is_disjunction = isinstance(formula, Or) == positive
    disjuncts = [] if is_disjunction else [Disjunct((), ())]
    for part in formula.parts:
        part_disjuncts = convert_to_dnf(part, positive, cap)
        if part_disjuncts is None:
            return None
        size = len(disjuncts) + len(part_disjuncts) if is_disjunction else len(disjuncts) * len(part_disjuncts)
        if size > cap:
            return None
        if is_disjunction:
            disjuncts += part_disjuncts
        else:
            disjuncts = [
                Disjunct(left.variables + right.variables, left.literals + right.literals)
                for left in disjuncts
                for right in part_disjuncts
            ]
        if len(disjuncts) > 2:
            disjuncts = _drop_redundant_disjuncts(disjuncts)
    return disjuncts


def _drop_redundant_disjuncts(disjuncts: list[Disjunct]) -> list[Disjunct]:
    """Drop each disjunct that implies another disjunct, because it has all literals and variables of that disjunct.

    A formula made of macros has many such disjuncts, for example in ``(or (inside ?x ?y) (on ?x ?y) (inside ?x ?y))``.
    """
    minimal: list[tuple[frozenset[object], Disjunct]] = []
    """The disjuncts that imply no other disjunct, each with its variables and the keys of its literals."""
    for disjunct in disjuncts:
        content = frozenset([*disjunct.variables, *map(_make_literal_key, disjunct.literals)])
        if not any([minimal_content <= content for minimal_content, _ in minimal]):
            minimal = [
                (minimal_content, minimal_disjunct)
                for minimal_content, minimal_disjunct in minimal
                if not content <= minimal_content
            ]
            minimal.append((content, disjunct))
    return [disjunct for _, disjunct in minimal]


def _make_literal_key(literal: FormulaLiteral) -> object:
    """Return a key that is equal for equal atoms and equalities; other formulas are compared by identity."""
    formula = literal.formula
    return (literal.positive, type(formula), formula if isinstance(formula, Atom | Equal) else id(formula))


def find_bound_slots(disjunct: Disjunct, bound: Iterable[int] = ()) -> frozenset[int]:
    """Return ``bound`` and the slots to which positive atoms, and equalities with bound terms, give values."""
    slots = set(bound)
    for literal in disjunct.literals:
        if literal.positive and isinstance(literal.formula, Atom):
            slots.update([-1 - argument for argument in literal.formula.arguments if argument < 0])
    has_changed = True
    while has_changed:
        has_changed = False
        for literal in disjunct.literals:
            if literal.positive and isinstance(literal.formula, Equal):
                unbound = [argument for argument in literal.formula if argument < 0 and -1 - argument not in slots]
                if len(unbound) == 1:
                    slots.add(-1 - unbound[0])
                    has_changed = True
    return frozenset(slots)
