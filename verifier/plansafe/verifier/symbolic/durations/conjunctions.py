"""Conditions on single states in disjunctive normal form, for rules that forbid conjunctions of facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from plansafe.verifier.model.nodes import Atom, Binding, Equal, Formula, Task, Truth, ground
from plansafe.verifier.model.operations import fold_formula

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

    def leaf_form(leaf: Formula, leaf_binding: Binding, positive: bool) -> set[Conjunction]:
        value: bool | None
        match leaf:
            case Truth():
                value = leaf.value
            case Equal():
                left, right = ground(leaf, leaf_binding)
                value = left == right
            case Atom():
                code = task.code_of(leaf.arguments, leaf_binding)
                value = constant(leaf.predicate, code)
                if value is None:
                    return {frozenset((FactLiteral(leaf.predicate, code, positive),))}
            case _:
                raise NotConjunctive
        return {frozenset()} if value is positive else set()

    return fold_formula(task, formula, binding, truth, leaf_form, _joined)


def _joined(parts: Iterator[set[Conjunction]], all_parts: bool) -> set[Conjunction]:
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
