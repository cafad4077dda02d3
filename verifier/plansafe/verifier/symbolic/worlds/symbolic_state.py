"""A state in all worlds at once, and the joins that find what may hold in some world.

A symbolic state has two sets of facts for each predicate: the facts that are possibly true and those that are certainly
true. A positive atom of a condition in negation normal form may hold if its fact is possible, a negative atom if its
fact is not certain. Over the predicates ``p`` (possible) and ``size + p`` (certain) this is an ordinary condition, so
the joins and triggers of the explicit engine find every binding under which the condition holds in some world. They
over-approximate: callers evaluate the exact literal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf_or_literal
from plansafe.verifier.model.nodes import TRUE as ALWAYS
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

Search = Callable[..., None]
"""``search(S, F, out, *bound)`` appends tuples of objects."""


class Quantity(NamedTuple):
    """The value of a fluent in the worlds in which it is defined."""

    defined: Literal
    value: Sum


UNDEFINED = Quantity(FALSE, Sum(0))


class SymbolicState(NamedTuple):
    """``facts[p]`` are the possible, ``facts[size + p]`` the certain facts of predicate ``p``, by code.

    ``literals[p]`` has a literal for each fact that is possible and not certain. ``quantities[f]`` leaves out fluents
    that are undefined in every world.
    """

    size: int
    facts: list[set[int]]
    literals: list[dict[int, Literal]]
    quantities: list[dict[int, Quantity]]

    @classmethod
    def make_empty(cls, task: Task) -> SymbolicState:
        """The state in which no fact holds and no fluent is defined, in any world."""
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
        """The worlds in which a fact is true."""
        literal = self.literals[predicate].get(code)
        if literal is None:
            return TRUE if code in self.facts[self.size + predicate] else FALSE
        return literal

    def put(self, predicate: int, code: int, literal: Literal) -> None:
        """Set a fact to true in the worlds of a literal."""
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

    def get_quantity(self, function: int, code: int) -> Quantity:
        """The value of a fluent."""
        return self.quantities[function].get(code, UNDEFINED)


class StateChanges(NamedTuple):
    """Facts with their new literals, and fluents with their new values."""

    facts: list[tuple[int, int, Literal]]
    quantities: list[tuple[int, int, Quantity]]

    def apply_to(self, state: SymbolicState) -> None:
        """Change a state."""
        for predicate, code, literal in self.facts:
            literals = state.literals[predicate]
            if literal > TRUE and code in literals:
                literals[code] = literal  # the fact stays possible and not certain
            else:
                state.put(predicate, code, literal)
        for function, code, quantity in self.quantities:
            state.quantities[function][code] = quantity


class PossibleCertain:
    """A task that has each predicate twice, as possible and as certain, and the joins over it."""

    def __init__(self, task: Task) -> None:
        self.size = len(task.predicates)
        static = [*task.static, *[False] * (self.size - len(task.static))]
        self.task = task._replace(predicates=[*task.predicates, *task.predicates], static=[*static, *static])
        self.emitter = Emitter(self.task)

    def make_possible_condition(
        self, formula: Formula, positive: bool = True, *, keep_comparisons: bool = False
    ) -> Formula:
        """A condition over both kinds of predicates that holds wherever ``formula`` may have the value ``positive``.

        Comparisons become true, because numbers are left to the exact evaluation. ``keep_comparisons`` keeps them for
        triggers, which need to know which rules read a fluent.
        """
        match formula:
            case Atom() if not positive:
                return Not(Atom(formula.predicate + self.size, formula.arguments))
            case Compare():
                return formula if keep_comparisons else ALWAYS
            case Temporal():
                return ALWAYS  # it may have any value
            case _:
                condition = partial(self.make_possible_condition, keep_comparisons=keep_comparisons)
                return push_negation(formula, positive, condition)

    def compile_search(self, formula: Formula, variables: Sequence[Variable], bound: Sequence[int]) -> Search:
        """Compile a search for the values of ``variables`` for which a condition holds; slots in ``bound`` are given.

        The search may find a value more than once.
        """
        emitter = self.emitter
        outputs = [v.slot for v in variables]
        append = [f"out.append(({''.join([f'x{slot},' for slot in outputs])}))"]
        name = emitter.make_fresh_name()
        lines: list[str] = []
        for disjunct in convert_to_dnf_or_literal(formula):
            domains = {v.slot: v.domain for v in (*variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False, guarded=True)
            lines += join.emit(disjunct.literals, frozenset(bound), outputs, append)
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in bound]]), lines or ["pass"])
        return emitter.compile_function(name)
