"""Formulas that mention actions, read by the actions: each with its own action fact true, the others false."""

from __future__ import annotations

from plansafe.verifier.compile.normal import dnf
from plansafe.verifier.model.nodes import (
    FALSE,
    Action,
    And,
    Atom,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    variable,
)
from plansafe.verifier.model.operations import (
    map_children,
    substitute,
    substitute_in_atom,
)
from plansafe.verifier.planning.draft import Draft
from plansafe.verifier.planning.rewriting import folded, is_plain


def distribute(draft: Draft) -> None:
    """Give each action the effects that it can have as the action of a letter; ``finish`` those without one."""
    for effect, taken, final in draft.acting:
        if final:
            draft.finishing += _of_action(draft, effect, None)
        for name, action in draft.source.actions.items() if taken else ():
            for own in _of_action(draft, effect, action):
                wanted = folded(draft.source, Not(own.condition))
                violates = any([atom.predicate == draft.safe for atom in own.deletes])
                if violates and not own.variables and is_plain(wanted):
                    draft.conditions[name].append(wanted)
                else:
                    draft.effects[name].append(own)


def _of_action(draft: Draft, effect: Effect, action: Action | None) -> list[Effect]:
    """An effect where the letter's action is the given one: its action facts are equations then, others false."""
    domains = {v.slot: v.domain for v in (*effect.variables, *(action.parameters if action else ()))}
    condition = _resolved(draft, effect.condition, action, domains)
    out = []
    for own in draft.when(effect.variables, condition, effect.adds, effect.deletes):
        known = {**domains, **{v.slot: v.domain for v in own.variables}}
        values = _solved(draft, own.condition, {v.slot for v in own.variables}, known)
        condition = folded(draft.source, substitute(own.condition, values))
        if not (isinstance(condition, Truth) and not condition.value):
            variables = tuple([v for v in own.variables if v.slot not in values])
            adds = tuple([substitute_in_atom(atom, values) for atom in own.adds])
            deletes = tuple([substitute_in_atom(atom, values) for atom in own.deletes])
            out.append(Effect(variables, condition, adds, deletes, ()))
    return out


def _resolved(draft: Draft, formula: Formula, action: Action | None, domains: dict[int, int]) -> Formula:
    match formula:
        case Atom() if formula.predicate in draft.action_predicates:
            if action is None or draft.action_of[formula.predicate] is not action:
                return FALSE
            pairs = zip(formula.arguments, action.parameters, strict=True)
            return And(tuple([Equal(argument, variable(own.slot)) for argument, own in pairs]))
        case Quantified() if draft.acts(formula.body):
            known = {**domains, **{v.slot: v.domain for v in formula.variables}}
            body = folded(draft.source, _resolved(draft, formula.body, action, known))
            return _without_equations(draft, Quantified(formula.universal, formula.variables, body), known)
        case Quantified() | Temporal():
            return formula
        case _:
            return map_children(formula, lambda part: _resolved(draft, part, action, domains))


def _without_equations(draft: Draft, formula: Quantified, domains: dict[int, int]) -> Formula:
    """An equal formula in which no quantified variable is equated with another term, where that can be had."""
    disjuncts = dnf(formula.body, not formula.universal)
    if disjuncts is None:
        return formula
    out: list[Formula] = []
    for disjunct in disjuncts:
        literals = tuple([lit.formula if lit.positive else Not(lit.formula) for lit in disjunct.literals])
        own = (*formula.variables, *disjunct.variables)
        known = {**domains, **{v.slot: v.domain for v in disjunct.variables}}
        values = _solved(draft, And(literals), {v.slot for v in own}, known)
        rest = tuple([v for v in own if v.slot not in values])
        body = substitute(And(literals), values)
        out.append(Quantified(False, rest, body) if rest else body)
    exists = Or(tuple(out))
    return folded(draft.source, Not(exists) if formula.universal else exists)


def _solved(draft: Draft, condition: Formula, open_slots: set[int], domains: dict[int, int]) -> dict[int, int]:
    """What the equations of a conjunction say about variables that may be replaced."""
    values: dict[int, int] = {}
    for part in condition.parts if isinstance(condition, And) else (condition,):
        if isinstance(part, Equal):
            _solve(draft, part, values, domains, open_slots)
    return values


def _solve(
    draft: Draft, equation: Equal, values: dict[int, int], domains: dict[int, int], open_slots: set[int]
) -> None:
    """Add what one equation says: a variable may be replaced by a term that has no values beyond its own."""
    sets = draft.source.domain_sets
    sides = [values.get(-1 - side, side) if side < 0 else side for side in equation]
    for own, other in (sides, reversed(sides)):
        if own < 0 and -1 - own in open_slots and own != other:
            objects = frozenset((other,)) if other >= 0 else sets[domains[-1 - other]]
            if objects <= sets[domains[-1 - own]]:
                for slot, value in values.items():
                    values[slot] = other if value == own else value
                values[-1 - own] = other
                open_slots.discard(-1 - own)
                return
