"""A state in all worlds at once: for each fact a literal, for each fluent when it has a value, and which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import Disjunct, FormulaLiteral, dnf
from plansafe.verifier.model.nodes import TRUE as HOLDS
from plansafe.verifier.model.nodes import (
    Atom,
    Compare,
    Formula,
    Not,
    Task,
    Temporal,
    Variable,
)
from plansafe.verifier.model.operations import push_negation
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.terms import Sum

ZERO = Sum(0)


class Quantity(NamedTuple):
    """A fluent: in which worlds it has a value, and the value it has there."""

    defined: Literal
    value: Sum


UNDEFINED = Quantity(FALSE, ZERO)


class SymbolicState:
    """``facts[p]`` holds the possible, ``facts[size + p]`` the certain facts of predicate ``p``.

    ``literals[p]`` has a literal for the facts that are possible and not certain. ``quantities[f]`` leaves out fluents
    that are undefined in every world.
    """

    __slots__ = ("facts", "literals", "quantities", "size")

    def __init__(
        self,
        size: int,
        facts: list[set[int]],
        literals: list[dict[int, Literal]],
        quantities: list[dict[int, Quantity]],
    ) -> None:
        self.size = size
        self.facts = facts
        self.literals = literals
        self.quantities = quantities

    @classmethod
    def empty(cls, task: Task) -> SymbolicState:
        """No fact holds and no fluent has a value, in any world."""
        size = len(task.predicates)
        return cls(size, [set() for _ in range(2 * size)], [{} for _ in range(size)], [{} for _ in task.functions])

    def copy(self) -> SymbolicState:
        """An independent copy."""
        return SymbolicState(
            self.size,
            [set(facts) for facts in self.facts],
            [dict(literals) for literals in self.literals],
            [dict(quantities) for quantities in self.quantities],
        )

    def get(self, predicate: int, code: int) -> Literal:
        """In which worlds a fact is true."""
        literal = self.literals[predicate].get(code)
        if literal is None:
            return TRUE if code in self.facts[self.size + predicate] else FALSE
        return literal

    def put(self, predicate: int, code: int, literal: Literal) -> None:
        """Set a fact."""
        facts, literals = self.facts, self.literals[predicate]
        if literal > TRUE:
            literals[code] = literal
            facts[predicate].add(code)
            facts[self.size + predicate].discard(code)
            return
        literals.pop(code, None)
        if literal == TRUE:
            facts[predicate].add(code)
            facts[self.size + predicate].add(code)
        else:
            facts[predicate].discard(code)
            facts[self.size + predicate].discard(code)

    def quantity(self, function: int, code: int) -> Quantity:
        """The value of a fluent."""
        return self.quantities[function].get(code, UNDEFINED)


FactSets = list[set[int]]
Search = Callable[..., None]
"""``search(S, F, out, *bound)`` appends tuples of objects."""


class PossibleCertain:
    """A task whose predicates are there twice, as possible and as certain, and the joins over it."""

    def __init__(self, task: Task) -> None:
        self.size = len(task.predicates)
        static = [*task.static, *[False] * (self.size - len(task.static))]
        self.task = task._replace(predicates=[*task.predicates, *task.predicates], static=[*static, *static])
        self.emitter = Emitter(self.task)

    def possible_condition(self, formula: Formula, positive: bool = True, *, compared: bool = False) -> Formula:
        """A condition over both kinds of predicates that holds wherever ``formula`` may have the value ``positive``.

        Numbers are left to the exact evaluation: comparisons become true. With ``compared`` they stay as they are, for
        triggers, which want to know who reads a fluent and do not evaluate them either.
        """
        match formula:
            case Atom() if not positive:
                return Not(Atom(formula.predicate + self.size, formula.arguments))
            case Compare():
                return formula if compared else HOLDS
            case Temporal():
                return HOLDS  # whatever it is, it may be
            case _:
                return push_negation(formula, positive, partial(self.possible_condition, compared=compared))

    def compile_search(self, formula: Formula, variables: Sequence[Variable], bound: Sequence[int]) -> Search:
        """The values of ``variables`` for which such a condition holds; the slots in ``bound`` are given.

        Values may be found more than once.
        """
        emitter = self.emitter
        disjuncts = dnf(formula)
        if disjuncts is None:
            disjuncts = [Disjunct((), (FormulaLiteral(True, formula),))]
        outputs = [v.slot for v in variables]
        found = [f"out.append(({''.join([f'x{slot},' for slot in outputs])}))"]
        name = emitter.fresh_name()
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False, guarded=True)
            lines += join.emit(disjunct.literals, frozenset(bound), outputs, found)
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in bound]]), lines or ["pass"])
        return emitter.compile_function(name)
