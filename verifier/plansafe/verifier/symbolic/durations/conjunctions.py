"""Conditions on single states as conjunctions of facts, for rules that hold as long as no conjunction is ever true."""

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
"""The value of a fact (predicate, code) that nothing changes; ``None`` of others. Raises :class:`NotConjunctive`."""


class NotConjunctive(Exception):
    """The condition is about more than facts, or has too many conjunctions."""


def disjunctive_form(
    task: Task, formula: Formula, binding: Binding, wanted: bool, constant: ConstantFact
) -> set[Conjunction]:
    """When a state formula has the value ``wanted``: one of these is true. Raises :class:`NotConjunctive`."""
    match formula:
        case model.Truth():
            return {frozenset()} if formula.value is wanted else set()
        case Atom():
            code = task.code_of(formula.arguments, binding)
            known = constant(formula.predicate, code)
            if known is None:
                return {frozenset((FactLiteral(formula.predicate, code, wanted),))}
            return {frozenset()} if known is wanted else set()
        case model.Equal():
            left, right = ground(formula, binding)
            return {frozenset()} if (left == right) is wanted else set()
        case model.Not():
            return disjunctive_form(task, formula.body, binding, not wanted, constant)
        case model.And() | model.Or():
            parts = [disjunctive_form(task, part, binding, wanted, constant) for part in formula.parts]
            return _joined(parts, isinstance(formula, model.And) is wanted)
        case model.Quantified():
            parts = [
                disjunctive_form(task, formula.body, inner, wanted, constant)
                for inner in task.bindings(formula.variables, binding)
            ]
            return _joined(parts, formula.universal is wanted)
        case model.Compare() | model.Temporal():
            raise NotConjunctive
        case _:
            assert_never(formula)


def _joined(parts: list[set[Conjunction]], together: bool) -> set[Conjunction]:
    """All parts together, or any of them; without conjunctions that contradict themselves or follow from others."""
    out: set[Conjunction] = {frozenset()} if together else set()
    for part in parts:
        out = {a | b for a in out for b in part if is_consistent(a | b)} if together else out | part
        if len(out) > MAX_CONJUNCTIONS:
            raise NotConjunctive
    return {one for one in out if not any([other < one for other in out])} if len(out) < 100 else out


def is_consistent(conjunction: Conjunction) -> bool:
    """Whether no fact is both true and false."""
    return not any([literal._replace(positive=not literal.positive) in conjunction for literal in conjunction])
