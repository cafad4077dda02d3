"""Conditions on single states in disjunctive normal form, for rules that forbid conjunctions of facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, assert_never

from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Atom, Binding, Formula, Task, ground

MAX_CONJUNCTIONS = 500


class FactLiteral(NamedTuple):
    """A fact that is true, or false."""

    predicate: int
    code: int
    positive: bool


Conjunction = frozenset[FactLiteral]
ConstantFact = Callable[[int, int], bool | None]
"""The value of a constant fact (predicate, code); ``None`` if events change it. Raises :class:`NotConjunctive`."""


class NotConjunctive(Exception):
    """The condition is about more than facts, or has too many conjunctions."""


def disjunctive_form(
    task: Task, formula: Formula, binding: Binding, truth: bool, constant: ConstantFact
) -> set[Conjunction]:
    """Conjunctions of which at least one is true exactly if the state formula has the value ``truth``.

    Raises :class:`NotConjunctive`.
    """
    match formula:
        case model.Truth():
            return {frozenset()} if formula.value is truth else set()
        case Atom():
            code = task.code_of(formula.arguments, binding)
            constant_value = constant(formula.predicate, code)
            if constant_value is None:
                return {frozenset((FactLiteral(formula.predicate, code, truth),))}
            return {frozenset()} if constant_value is truth else set()
        case model.Equal():
            left, right = ground(formula, binding)
            return {frozenset()} if (left == right) is truth else set()
        case model.Not():
            return disjunctive_form(task, formula.body, binding, not truth, constant)
        case model.And() | model.Or():
            parts = [disjunctive_form(task, part, binding, truth, constant) for part in formula.parts]
            return _joined(parts, isinstance(formula, model.And) is truth)
        case model.Quantified():
            bindings = task.bindings(formula.variables, binding)
            parts = [disjunctive_form(task, formula.body, inner, truth, constant) for inner in bindings]
            return _joined(parts, formula.universal is truth)
        case model.Compare() | model.Temporal():
            raise NotConjunctive
        case _:
            assert_never(formula)


def _joined(parts: list[set[Conjunction]], all_parts: bool) -> set[Conjunction]:
    """The disjunctive form of the conjunction (``all_parts``) or the disjunction of parts.

    Without inconsistent conjunctions and, if there are few, without conjunctions that imply another.
    """
    joined: set[Conjunction] = {frozenset()} if all_parts else set()
    for part in parts:
        joined = {a | b for a in joined for b in part if is_consistent(a | b)} if all_parts else joined | part
        if len(joined) > MAX_CONJUNCTIONS:
            raise NotConjunctive
    return {stronger for stronger in joined if not any([c < stronger for c in joined])} if len(joined) < 100 else joined


def is_consistent(conjunction: Conjunction) -> bool:
    """Whether no fact is both true and false."""
    return not any([literal._replace(positive=not literal.positive) in conjunction for literal in conjunction])
