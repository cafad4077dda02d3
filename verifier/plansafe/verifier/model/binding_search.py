"""The bindings of variables under which a condition has a value, found by the facts, where they are few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import prod
from typing import NamedTuple, assert_never

from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import free_slots

MAX_TRIED = 3_000
"""Bindings that are tried to find those under which a condition has a value."""

SignedFormula = tuple[Formula, bool]
"""A condition, and the value it should have."""


class SelectedBindings(NamedTuple):
    """The slots that are bound, and the bindings."""

    slots: frozenset[int]
    bindings: list[Binding]


def flatten_goals(
    task: Task, variables: Iterable[Variable], goals: Iterable[SignedFormula], binding: Binding
) -> tuple[list[Variable], list[SignedFormula], Binding] | None:
    """Goals as a conjunction of parts, with the variables of quantifiers that ask for one object; ``None``: impossible.

    A quantifier whose variable has the slot of another one stays as it is. Variables with one object are bound.
    """
    known: list[Variable] = list(variables)
    used = {v.slot for v in known} | binding.keys()
    stack, parts = list(goals), list[SignedFormula]()
    while stack:
        formula, wanted = stack.pop()
        match formula:
            case Truth():
                if formula.value is not wanted:
                    return None
            case Not():
                stack.append((formula.body, not wanted))
            case And() | Or() if isinstance(formula, And) is wanted:
                stack += [(part, wanted) for part in formula.parts]
            case Quantified() if formula.universal is not wanted and not used & {v.slot for v in formula.variables}:
                used |= {v.slot for v in formula.variables}
                known += formula.variables
                stack.append((formula.body, wanted))
            case And() | Or() | Quantified() | Atom() | Equal() | Compare() | Temporal():
                parts.append((formula, wanted))
            case other:
                assert_never(other)
    if not all([task.domains[v.domain] for v in known]):
        return None
    single = {v.slot: task.domains[v.domain][0] for v in known if len(task.domains[v.domain]) == 1}
    return [v for v in known if v.slot not in single], parts, {**binding, **single}


def satisfying_bindings(
    evaluator: Evaluator, variables: tuple[Variable, ...], formula: Formula, value: bool, binding: Binding
) -> Iterator[Binding]:
    """The bindings of variables under which a formula has a value, or none since a number is undefined."""
    for objects in evaluator.candidate_objects(Quantified(not value, variables, formula), binding):
        inner = {**binding, **bind(variables, objects)}
        if evaluator.holds(formula, inner) is not (not value):
            yield inner


def select_bindings(
    evaluator: Evaluator, variables: Iterable[Variable], part: SignedFormula, binding: Binding, most: int
) -> SelectedBindings | None:
    """The bindings of those variables that a part reads under which it holds, if these are at most so many.

    ``None`` also where looking for them would take too many trials.
    """
    formula, wanted = part
    read = free_slots(formula)
    own = tuple([v for v in variables if v.slot in read])
    found: dict[tuple[tuple[int, int], ...], Binding] = {}
    for piece in _pieces(formula, wanted):
        if not {v.slot for v in own} <= free_slots(piece):
            return None
        if not is_searchable(evaluator, own, piece, wanted):
            return None
        for inner in islice(satisfying_bindings(evaluator, own, piece, wanted, binding), most + 1):
            found[tuple([(v.slot, inner[v.slot]) for v in own])] = inner
        if len(found) > most:
            return None
    return SelectedBindings(frozenset([v.slot for v in own]), list(found.values()))


def _pieces(formula: Formula, wanted: bool) -> Iterator[Formula]:
    """The parts of a disjunction, or the formula itself."""
    if isinstance(formula, And | Or) and isinstance(formula, Or) is wanted:
        for part in formula.parts:
            yield from _pieces(part, wanted)
    else:
        yield formula


def is_searchable(evaluator: Evaluator, variables: tuple[Variable, ...], piece: Formula, wanted: bool) -> bool:
    """Whether few enough bindings are tried to find those under which a condition has a value."""
    if prod([len(evaluator.task.domains[v.domain]) for v in variables]) <= MAX_TRIED:
        return True
    return evaluator.is_guided_by_atoms(Quantified(not wanted, variables, piece))
