"""What must hold at the end for every binding, as part of the goal: literals where it comes to that."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.model.nodes import (
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
from plansafe.verifier.model.operations import (
    substitute,
)
from plansafe.verifier.planning.draft import Draft
from plansafe.verifier.planning.rewriting import folded, is_conjunction

MAX_EXPANSION = 20_000


def require_at_end(draft: Draft, parameters: tuple[Variable, ...], formula: Formula) -> None:
    """Make a formula part of the goal for every binding: as literals where it comes to that."""
    formula = draft.apart(formula)
    sizes = 1
    for v in parameters:
        sizes *= len(draft.source.domains[v.domain])
    compound = sizes > MAX_EXPANSION
    if not compound:
        budget = [MAX_EXPANSION]
        literals: list[Formula] = []
        for values in draft.source.bindings(parameters, {}):
            ground = _grounded(draft, substitute(formula, values), budget)
            if ground is None or not is_conjunction(ground):
                compound = True
                break
            literals += ground.parts if isinstance(ground, And) else (ground,)
        else:
            draft.goal += dict.fromkeys([part for part in literals if part != TRUE])
    if compound:
        whole = Quantified(True, parameters, formula) if parameters else formula
        draft.goal.append(folded(draft.source, whole))


def _grounded(draft: Draft, formula: Formula, budget: list[int]) -> Formula | None:
    """A closed formula without quantifiers, static facts folded; ``None`` if that takes too many nodes."""
    budget[0] -= 1
    if budget[0] < 0:
        return None
    match formula:
        case Atom() if draft.static(formula):
            code = draft.source.encode(formula.arguments)
            return Truth(code in draft.initial.facts[formula.predicate])
        case Not():
            inner = _grounded(draft, formula.body, budget)
            return None if inner is None else folded(draft.source, Not(inner))
        case And() | Or():
            parts: list[Formula] = []
            for part in formula.parts:
                ground = _grounded(draft, part, budget)
                if ground is None:
                    return None
                parts.append(ground)
            return folded(draft.source, And(tuple(parts)) if isinstance(formula, And) else Or(tuple(parts)))
        case Quantified():
            copies: list[Formula] = []
            for values in draft.source.bindings(formula.variables, {}):
                ground = _grounded(draft, substitute(formula.body, values), budget)
                if ground is None:
                    return None
                copies.append(ground)
            return folded(draft.source, And(tuple(copies)) if formula.universal else Or(tuple(copies)))
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return folded(draft.source, formula)
        case _:
            assert_never(formula)
